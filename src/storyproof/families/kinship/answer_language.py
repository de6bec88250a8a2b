"""How replies speak of kin: informal words, kin that only sounds like ours, and whose kin is meant."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from storyproof.families.kinship.relations import WORDS
from storyproof.language.answer_language import Mention, Talk, other_forms, parts_of, people_in

_WORDS = frozenset(WORDS)
_CALLED = {  # what people say in speech
    "mother": ("mom", "mum", "mommy", "mummy", "mama"),
    "father": ("dad", "daddy", "papa"),
    "grandmother": ("grandma", "granny"),
    "grandfather": ("grandpa", "granddad"),
}
_ASKED = re.compile(r"what is (?P<who>[^?]+?) to (?P<whom>[^?]+?)\s*\?", re.IGNORECASE)
_LINKS = ("is", "was", "are", "must be", "would be", "will be", "becomes", "=")
_FILLERS = (
    *("also", "therefore", "thus", "hence", "actually", "really", "probably", "not"),
    *("the", "a", "an", "his", "her", "their"),
)


def _any_of(phrases: Collection[str]) -> str:
    return "(?:" + "|".join(phrase.replace(" ", r"\s+") for phrase in phrases) + ")"


def _any_back(phrases: Collection[str]) -> str:
    return _any_of([phrase[::-1] for phrase in phrases])


_OWNER_AFTER = re.compile(r"\s+(?:of|to|for)\s+(?P<owner>[\w-]+)(?!['\w-])")
_SIDE = re.compile(r"'s\s+side\b")  # "his grandmother on his mother's side"
_SUBJECT_AFTER = re.compile(rf"(?:\s+{_any_of(_LINKS)}\s+|,?\s+)(?:(?:named|called)\s+)?(?P<who>[\w-]+)(?!['\w-])")
# What stands before a mention is read from its end, in the reversed text: so it begins at the mention, and nothing is
# tried from every word before. Owner: "Ada's (two words)". Subject: "Ada is (fillers) (Ben's) (a word)".
_OWNER_BEFORE = re.compile(rf"(?:\s+(?!{_any_back(('is', 'was', 'and'))}\b)\w+){{0,2}}\s+s?'(?P<owner>[\w-]+)")
_SUBJECT_BEFORE = re.compile(
    rf"(?:\s+\w+)?(?:\s+s?'[\w-]+)?(?:\s+{_any_back(_FILLERS)})*\s+{_any_back(_LINKS)}\s+,?(?P<who>[\w-]+)"
)


_POSSESSIVE_BEFORE = re.compile(rf"\s+{_any_back(('his', 'her', 'their'))}\b")


class AskedPair(NamedTuple):
    """The two people of a question of kinship, in lower case: what is `who` to `whom`?"""

    who: str
    whom: str


class KinTalk(Talk):
    """Replies that name kin.

    "Mom" is the mother, a great-aunt is not an aunt, a cousin is an answer that no question has, and "Ada is Ben's
    mother" says nothing about what Cid is to Ben.
    """

    further = (*WORDS, "cousin")
    lookalikes = (
        r"(?:great|step|half|foster|god|adoptive|adopted|ex|former)[\s_-]*(?:grand[\s_-]*)?"
        rf"(?:{'|'.join(WORDS)})s?"
    )
    reads_always = True

    def claims(self, candidates: Collection[str]) -> bool:
        """Return whether a candidate is a word of kinship."""
        return any(candidate.lower() in _WORDS for candidate in candidates)

    def forms(self, name: str) -> list[str]:
        """Return other forms of a name, and what people also call such kin."""
        parts, word = parts_of(name), name.lower()
        if parts[-2:] == ["in", "law"]:
            return [f"{parts[0]}s-in-law", f"{parts[0]}-inlaw", f"{parts[0]}-in-laws"]
        forms = other_forms(name)
        if word in _WORDS and word.startswith("grand"):
            forms += [f"grand-{word[5:]}", f"grand-{word[5:]}s"]
        return [*forms, *(form for called in _CALLED.get(word, ()) for form in (called, f"{called}s"))]

    def decisive(self, said: str, mentions: Sequence[Mention], question: str) -> Sequence[Mention]:
        """Return mentions that say what the one who was asked about is to the other: "Ada is Ben's mother"."""
        pair = asked_pair(question)
        if pair is None:
            return ()
        text = said.lower()
        people, back = people_in(said) | {pair.who, pair.whom}, text[::-1]
        stated = []
        for mention in mentions:
            before = len(text) - mention.start
            subject = _person(_SUBJECT_BEFORE.match(back, before), None, people=people)
            owners = _OWNER_BEFORE.match(back, before), _OWNER_AFTER.match(text, mention.end)
            theirs = _person(*owners, people=people) == pair.whom or _POSSESSIVE_BEFORE.match(back, before)
            if subject == pair.who and theirs and not text.startswith("'s", mention.end):
                stated.append(mention)
        return stated

    def set_aside_last(self, said: str, text: str, mentions: Sequence[Mention], question: str) -> Collection[Mention]:
        """Return mentions that say what somebody is to somebody, but of another pair than was asked about."""
        pair = asked_pair(question)
        if pair is None:
            return ()
        people, back = people_in(said) | {pair.who, pair.whom}, text[::-1]
        aside = [mention for mention in mentions if _of_another_pair(text, back, mention, people, pair)]
        composed = _composed(text, mentions)
        return aside if len(composed) + len(aside) == len(mentions) else [*aside, *composed]


@lru_cache(maxsize=1024)
def asked_pair(question: str) -> AskedPair | None:
    """Parse a question; None if it asks something else."""
    match = _ASKED.search(question)
    return None if match is None else AskedPair(match["who"].lower(), match["whom"].lower())


def _of_another_pair(text: str, back: str, mention: Mention, people: Collection[str], asked: AskedPair) -> bool:
    """Return whether a mention is about other people; `back` is the text reversed."""
    if _SIDE.match(text, mention.end):
        return True
    before, after = len(text) - mention.start, mention.end
    owners = _OWNER_BEFORE.match(back, before), _OWNER_AFTER.match(text, after)
    owner = _person(*owners, people=people)
    if owner is not None and owner != asked.whom:
        return True
    subjects = _SUBJECT_BEFORE.match(back, before), _SUBJECT_AFTER.match(text, after)
    who = _person(*subjects, people=people)
    return who is not None and who != asked.who


def _composed(text: str, mentions: Sequence[Mention]) -> list[Mention]:
    """Return the words of kin that are said in several steps: "her mother's brother"."""
    found = []
    for before, after in pairwise(mentions):
        if text[before.end : after.start] == "'s ":
            found += [before, after]
    return list(dict.fromkeys(found))


def _person(before: re.Match[str] | None, after: re.Match[str] | None, people: Collection[str]) -> str | None:
    """Return the person that a pattern found before a mention, else after it."""
    for name in (before[1][::-1] if before is not None else "", after[1] if after is not None else ""):
        if name in people:
            return name
    return None


TALK = KinTalk()
