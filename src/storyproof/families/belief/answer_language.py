"""How replies speak of minds: "Milo will look in the drawer" says nothing about where Julia will."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple

from storyproof.language.answer_language import NO_NAMES, Mention, Talk, language_of, people_in

if TYPE_CHECKING:
    from storyproof.families.belief.speech import Speech

_ASKED = re.compile(r"where (?:will|would|does|do|might|should) (?P<rest>[^?]+)\?", re.IGNORECASE)
# A name reaches to the end of its word. Before it stands what its word has before the first part with a capital letter,
# so that a word is read once: a pattern that may start at each hyphen takes minutes for a long row of them.
_BEFORE = r"(?<![\w-])(?:(?![A-Z])\w*-)*"
_NAME = r"[A-Z][\w-]*\w(?![\w-])"
_MINDED = re.compile(
    rf"{_BEFORE}(?P<who>{_NAME})(?:'ll\b|\s+(?:also\s+|still\s+|probably\s+|first\s+|now\s+)?(?:will|would|might|may|must|"
    r"should|could|can|looks|searches|thinks|believes|knows|goes|is\s+(?:going|looking|searching))\b)"
)
_THINKS = re.compile(
    rf"{_BEFORE}(?P<who>{_NAME}|she|he|they)(?:'ll|\s+(?:will|would|should|must|might|is\s+going\s+to))?\s+"
    r"(?:(?:still|probably|likely|first|then|therefore|also|wrongly|mistakenly)\s+)*"
    r"(?:look|search|check|go|think|believe|expect|assume)(?:s|es)?\b"
)
_CLAUSE_END = re.compile(
    r"[.;!?\n]|\b(?:although|because|before|after|but|even|instead|since|though|unaware|when|whereas|while)\b"
)
_SENTENCE = re.compile(r"[^.!?;\n]+")


@cache
def _speech_of(language: str) -> Speech | None:
    """Return how people speak of minds in a language other than English; None in English."""
    if language == "en":
        return None
    from storyproof.families.belief.speech import CHINESE, GERMAN, SPANISH  # whose patterns take a while to compile

    return {"de": GERMAN, "es": SPANISH, "zh": CHINESE}.get(language)


class AskedMinds(NamedTuple):
    """The people whose minds a question asks about, and all its words, in lower case."""

    people: frozenset[str]
    words: frozenset[str]


class BeliefTalk(Talk):
    """Replies that say where things are, and where people think they are or look for them."""

    def set_aside_first(self, said: str, mentions: Sequence[Mention], question: str) -> Collection[Mention]:
        """Return mentions in sentences about what others do or think that name nobody who was asked about."""
        speech = _speech_of(language_of(question))
        if speech is not None:
            return speech.outsiders(said, mentions, question)
        minds = asked_minds(question)
        if minds is None or _MINDED.search(said) is None:
            return ()
        others: list[Mention] = []
        starts = [mention.start for mention in mentions]
        names = frozenset(starts)  # "Drawer will be where she looks" is about nobody
        for sentence in _SENTENCE.finditer(said):
            start, end = sentence.span()
            who = {
                match["who"].lower() for match in _MINDED.finditer(said, start, end) if match.start("who") not in names
            } - NO_NAMES
            if who - minds.words and minds.people.isdisjoint(people_in(sentence[0])):
                others += mentions[bisect_left(starts, start) : bisect_left(starts, end)]
        return others

    def decisive(self, said: str, mentions: Sequence[Mention], question: str) -> Sequence[Mention]:
        """Return mentions in clauses that say where somebody who was asked about looks, or what they think."""
        speech = _speech_of(language_of(question))
        if speech is not None:
            return speech.decisive(said, mentions, question)
        minds = asked_minds(question)
        if minds is None:
            return ()
        begins = [
            match.end()
            for match in _THINKS.finditer(said)
            if match["who"].lower() in minds.people or match["who"].lower() in ("she", "he", "they")
        ]
        return _in_clauses(said, mentions, begins)


def _in_clauses(said: str, mentions: Sequence[Mention], begins: Sequence[int]) -> Sequence[Mention]:
    """Return the mentions in clauses that begin at some places."""
    if not begins:
        return ()
    ends = [match.start() for match in _CLAUSE_END.finditer(said, begins[0])]
    stated = []
    for mention in mentions:
        begun, ended = bisect_right(begins, mention.start), bisect_right(ends, mention.start)
        if begun and not (ended and ends[ended - 1] >= begins[begun - 1]):  # no clause has ended since it began
            stated.append(mention)
    return stated


@lru_cache(maxsize=1024)
def asked_minds(question: str) -> AskedMinds | None:
    """Parse a question; None if it asks how things are, or something else."""
    match = _ASKED.search(question)
    people = people_in(match["rest"]) if match is not None else None
    return AskedMinds(frozenset(people), frozenset(re.findall(r"\w+", question.lower()))) if people else None


TALK = BeliefTalk()
