"""Replies that list people: "Bruno, Elena and Malik", in any order, "nobody", "everybody except Malik".

Where the candidates are sets of people, a reply names one by naming its members.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise

from storyproof.evaluation.matching.denials import weigh
from storyproof.evaluation.matching.kinds import CONTAINED, NEGATED, NO_MATCH, NORMALIZED, PREFIX, Match
from storyproof.evaluation.matching.languages import Language
from storyproof.replies import Mention, PeopleSets

_LONGEST = 2000  # characters of a list
_LETTER = re.compile(r"[^\W\d_]")
_THAT = re.compile(r"\b(?:that|dass|daß|que)\b|(?<=认为)")
_CLAUSE = re.compile(r"[^,;，；]+")


def is_bare_list(text: str, sets: PeopleSets, wanted: str, language: Language) -> bool:
    """Return whether a reply is the wanted list of people and nothing else, in any order."""
    text = language.fold(text.lower())
    found = _find(text, sets, language)
    named = frozenset(mention.name for mention in found)
    return bool(found) and sets.names.get(named) == wanted and not _left_over(text, found, language)


def read_people(text: str, question: str, sets: PeopleSets, language: Language) -> tuple[Match, str | None]:
    """Read a reply in lower case, with folded letters, to a question for people.

    What counts is, in this order: what is said to be the answer; a line or sentence that is a list and nothing else,
    the last or else the first; the conclusion; else all sentences. Of a sentence those who think count, not what they
    think about others, and neither denials nor reasons do.
    """
    corrections = [match.end() for match in language.correction.finditer(text)]
    text = text[corrections[-1] :] if corrections else text
    asked = _THAT.search(question)
    if asked is not None:  # what they all are asked to think is no list
        text = text.replace(language.fold(question[asked.start() :].lower().strip(" ?？")), " … ")
    for part in (*_said_to_be_answers(text, language), *_lists(text, sets, language), *_conclusions(text, language)):
        _, name = _read(part, sets, language)
        if name is not None:
            return (NORMALIZED if part is text else CONTAINED), name
    return _read(text, sets, language)


def _said_to_be_answers(text: str, language: Language) -> list[str]:
    places = [match.end() for match in language.answer.finditer(text)]
    return [text[place : place + _LONGEST].lstrip().split("\n\n")[0] for place in reversed(places[-3:])]


def _lists(text: str, sets: PeopleSets, language: Language) -> list[str]:
    """Return the whole text, the last and the first sentence, where they are nothing but a list."""
    ends = [0, *(match.end() for match in language.sentence_end.finditer(text)), len(text)]
    parts = [text[start:end] for start, end in pairwise(ends)]
    parts = [part for part in parts if _LETTER.search(part)]
    found = []
    for part in (text, *parts[-1:], *parts[:1]):
        mentions = _find(part, sets, language)
        if (mentions or language.nobody.search(part)) and not _left_over(part, mentions, language):
            found.append(part)
    return found


def _conclusions(text: str, language: Language) -> list[str]:
    return [text[match.end() :] for match in list(language.hence.finditer(text))[-1:]]


def _read(text: str, sets: PeopleSets, language: Language) -> tuple[Match, str | None]:
    nobody = sets.names.get(frozenset())
    named: set[str] = set()
    everybody = denied = none = False
    sentences = [part for part in _sentences(text, language) if _LETTER.search(part)]
    thinking = [part for part in sentences if language.thinks.search(part)]
    for sentence in thinking or sentences:
        mentions = _subjects(sentence, _find(sentence, sets, language), language)
        if language.nobody.search(sentence) and not mentions:
            none = True
            continue
        stated, _, some_denied = weigh(_join(sentence, mentions, language), mentions, language)
        all_of_them = language.everybody.search(sentence)
        if all_of_them is not None:
            saved = language.save.search(sentence)
            if saved is not None or not mentions:
                everybody = True
                excepted = {mention.name for mention in mentions} if saved is not None else set()
                named |= set(sets.people) - excepted
                continue
        denied = denied or some_denied
        named |= {mention.name for mention in stated}
    if named:
        name = sets.names.get(frozenset(named))
        return (PREFIX if text.startswith(min(named).lower()) else CONTAINED) if name else NO_MATCH, name
    if none and nobody is not None and not everybody:
        return CONTAINED, nobody
    return (NEGATED if denied else NO_MATCH), None


def _sentences(text: str, language: Language) -> list[str]:
    """Return sentences; a line of a list is none of its own."""
    joined = re.sub(r"\n\s*(?:[-*•]|\d+[.)])\s*", ", ", "\n" + text)
    ends = [0, *(match.end() for match in language.sentence_end.finditer(joined)), len(joined)]
    return [joined[start:end] for start, end in pairwise(ends)]


def _subjects(sentence: str, mentions: list[Mention], language: Language) -> list[Mention]:
    """Return who thinks: the people before the verb, and those who think so, too; else those after it."""
    verb = language.thinks.search(sentence)
    if verb is None:
        return mentions
    before = [mention for mention in mentions if mention.start < verb.start()]
    starts, further = [mention.start for mention in mentions], []
    for clause in _CLAUSE.finditer(sentence, verb.end()):
        if language.also.search(clause[0]) and not language.negation.search(clause[0]):
            further += mentions[bisect_left(starts, clause.start()) : bisect_left(starts, clause.end())]
    return [*before, *further] if before else mentions


def _join(text: str, mentions: Sequence[Mention], language: Language) -> str:
    """Return a text with spaces for what joins names: "como" and "als auch" give no reason here."""
    parts, read = [], 0
    for before, after in pairwise(mentions):
        gap = text[before.end : after.start]
        if not _LETTER.search(language.joints.sub(" ", gap)):
            parts += [text[read : before.end], " " * len(gap)]
            read = after.start
    return "".join([*parts, text[read:]])


def _find(text: str, sets: PeopleSets, language: Language) -> list[Mention]:
    forms = {language.fold(name.lower()): name for name in sets.people}
    pattern = "|".join(re.escape(form) for form in sorted(forms, key=len, reverse=True))
    edge = r"(?![^\W_])" if language.spaced else ""
    start = r"(?<![^\W_])" if language.spaced else ""
    return [Mention(*match.span(), forms[match[0]]) for match in re.finditer(f"{start}(?:{pattern}){edge}", text)]


def _left_over(text: str, mentions: list[Mention], language: Language) -> bool:
    """Return whether a text has words besides names and what joins them."""
    edges = [0, *(edge for mention in mentions for edge in (mention.start, mention.end)), len(text)]
    text = ",".join(text[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True))
    text = language.joints.sub(" ", language.nobody.sub(" ", text) if not mentions else text)
    return _LETTER.search(text) is not None
