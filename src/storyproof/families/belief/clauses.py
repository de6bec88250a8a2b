"""What the sentences of a story that people write may say, by the patterns of `language/rewordings.yaml`.

A sentence is divided into clauses. A clause may fit several patterns; `rewording` takes the one that suits the rest of
the story. "It" is the object of the clause before, or the only one so far.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from functools import cache, lru_cache
from typing import Any, NamedTuple

from storyproof.errors import ParseError, quoted
from storyproof.io.bounded_input import load_shipped

_LONGEST = 300  # characters of a sentence
_MOST_CLAUSES = 6  # of a sentence
NAME = r"[A-Z][\w-]*(?: [A-Z][\w-]*)?(?: [A-Z][\w-]*)?"
_DETERMINER = rf"(?:[Tt]he|[Aa]n?|[Ss]ome|(?:[Hh]is|[Hh]er|[Tt]heir)(?: own)?|{NAME}'s)"
_WORD = r"(?!(?:{function_words})\b)[a-z][\w-]*"
_NOUN = rf"(?:TV[ _])?{_WORD}(?: {_WORD}(?<!ly))?(?: {_WORD}(?<!ly))?"  # treasure chest
_PHRASE = rf"{_DETERMINER} {_NOUN}"
PRONOUNS = ("He", "he", "She", "she", "They", "they")
_PRONOUN = "|".join(PRONOUNS)
_LETTERS = "ABCDEFGHJKLMNOPQRSTUVWXYZ"  # names too, but for I
_SLOTS = {
    "agents": rf"{NAME}(?:(?:, {NAME})*,? and {NAME})?|{_PRONOUN}",
    "agent": rf"{NAME}|{_PRONOUN}",
    "hearer": NAME,
    "thing": rf"{_PHRASE}|[A-Z]|[a-z][\w-]*",  # an object may have no article: O, cabbage
    "said": rf"{_PHRASE}|[A-Z]|[a-z][\w-]*",
    "container": rf"{_PHRASE}|[a-z]+_\w+",
    "from": rf"{_PHRASE}|[a-z]+_\w+",
    "room": _PHRASE,
    "place": _PHRASE,
    "word": rf"{_PHRASE}|{_NOUN}",
    "wish": _PHRASE,
    "list": rf"{_DETERMINER} {_NOUN}(?:, {_DETERMINER} {_NOUN})*,? and {_DETERMINER} {_NOUN}",
    "words": rf"(?:{_PHRASE}|[a-z]+s)(?:(?:, (?:{_DETERMINER} )?{_NOUN})*,? and (?:{_DETERMINER} )?{_NOUN})?",
}
_PEOPLE = ("agent", "agents", "hearer")
_SLOT = re.compile(r"\{(\w+)\}")
_LABEL = re.compile(r"^\s*(?:[-*•]\s+)?(?:\d+[.):]?\s+)?(?:[-*•]\s+)?")
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"”]?\s+")
_BETWEEN = re.compile(r",? and then |, then |, and |, | and | (?=[A-Z])")  # the last if full stops were lost
_BESIDE = re.compile(r" (?:under|underneath|below|behind|beside|near|next to|on top of|onto|on|above) (?=\w)")
IDLE = ("like", "idle", "own")  # kinds of clauses that change nothing
LEAVING = ("exit", "go", "depart")
COMING = ("enter", "return", "come")


class Clause(NamedTuple):
    """What a clause may say: the kind of its pattern, and what stands in the slots."""

    kind: str
    slots: dict[str, str]

    @property
    def people(self) -> str:
        """Who does it, as written."""
        return self.slots.get("agents") or self.slots.get("agent") or ""

    @property
    def nouns(self) -> list[str]:
        """All nouns in it."""
        return [noun for slot, each in self.slots.items() if slot not in _PEOPLE for noun in nouns_in(each)]

    def noun(self, slot: str) -> str:
        """Return the noun of a slot without its article."""
        return nouns_in(self.slots[slot])[0]


def load_tables() -> Any:
    """Read the patterns, and the lists of words for them."""
    return load_shipped("storyproof.families.belief.language", "rewordings.yaml")


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple(
        (kind, re.compile(_fill(each))) for kind, patterns in load_tables()["sentences"].items() for each in patterns
    )


@cache
def _openings() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    tables = load_tables()
    away, once = rf"{_fill(tables['away'])}, ", rf"{tables['once']} ([^,]+), "
    return re.compile(rf"{tables['connectives']},? "), re.compile(away), re.compile(once)


@cache
def _spellings() -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(written), read) for written, read in load_tables()["respelled"].items())


@cache
def _function_words() -> frozenset[str]:
    """Return words that are neither names nor nouns: nobody, it, not."""
    return frozenset(load_tables()["words"].split())


def _fill(pattern: str) -> str:
    words = "|".join(sorted(_function_words() - {"back"}))
    pattern = pattern.replace("{purpose}", load_tables()["purpose"])
    return _SLOT.sub(lambda match: f"(?P<{match[1]}>{_SLOTS[match[1]].format(function_words=words)})", pattern)


def split_sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a text without numbers and bullets."""
    for line in text.split("\n"):
        for sentence in _SENTENCE_END.split(_LABEL.sub("", line).strip()):
            if sentence.strip():
                yield " ".join(sentence.split())


def read_clauses(sentence: str, number: int, before: Sequence[list[Clause]]) -> list[list[Clause]]:
    """Return for each clause of a sentence what it may say, after the clauses before it."""
    bare = sentence.rstrip(".!").rstrip()
    for written, read in _spellings() if len(bare) <= _LONGEST else ():
        bare = written.sub(read, bare)
    opening: list[list[Clause]] = []
    connective, away, once = _openings()
    if match := connective.match(bare):
        bare = bare[match.end() :]
    if match := away.match(bare):
        opening.append([Clause("away", match.groupdict())])
        bare = bare[match.end() :]
    elif (match := once.match(bare)) and len(first := _match(match[1])) == 1 and first[0].kind in (*COMING, *LEAVING):
        is_told = first[0].kind in LEAVING  # perhaps by the sentence before
        opening.append([first[0]._replace(kind="gone" if is_told else first[0].kind)])
        bare = bare[match.end() :]
    before = [*before, *opening]
    clauses = _divide(bare, before) if len(bare) <= _LONGEST else None
    if clauses is None:
        hint = _suggest(bare, before) if len(sentence) <= _LONGEST else ""
        raise ParseError(f"sentence {number}: not understood: {quoted(sentence)}.{hint}")
    return [*opening, *clauses]


def _suggest(sentence: str, before: Sequence[list[Clause]]) -> str:
    """Return what may have been meant by a sentence that differs little from one that is understood; or nothing."""
    words = sentence.split(" ")
    for end in range(2, 5) if re.match(r"(?:The|An?|His|Her|Their) [a-z]", sentence) else ():
        if _divide(" ".join(["Ann", *words[end:]]), before):
            return f" People need a name, such as 'Ann' instead of {quoted(' '.join(words[:end]))}."
    beside = _BESIDE.search(sentence)
    if beside and _divide(_BESIDE.sub(" in ", sentence), before):
        return f" Objects can only be in something, not '{beside[0].strip()}' it."
    for place, word in enumerate(words):
        near = _near_words(word) if word.islower() and len(word) > 2 else []
        for each in near if word not in near else ():
            meant = " ".join([*words[:place], each, *words[place + 1 :]])
            if _divide(meant, before) is not None:
                return f" Did you mean {quoted(f'{meant}.')}?"
    return ""


@lru_cache(maxsize=1 << 12)
def _near_words(word: str) -> list[str]:
    return get_close_matches(word, known_words(), 2, 0.75)


@cache
def known_words() -> tuple[str, ...]:
    """Return all words that patterns are made of, and not those of their slots."""
    words = set()
    for patterns in load_tables()["sentences"].values():
        for word, optional in re.findall(r"(?<![\w{{\\])([a-z]+)(\??)(?![\w}}])", " ".join(patterns)):
            words |= {word, word[:-1]} if optional else {word}
    return tuple(sorted(word for word in words if len(word) > 1))


def _divide(text: str, before: Sequence[list[Clause]], depth: int = 1) -> list[list[Clause]] | None:
    """Return the clauses of a sentence; None if it cannot be divided into clauses that are understood.

    A clause without a subject has the subject of the clause before: "Sally hid the marble in the box and left."
    """
    whole = _match_after(text, before)
    if whole:
        return [whole]
    for between in _BETWEEN.finditer(text) if depth < _MOST_CLAUSES else ():
        first = _match_after(text[: between.start()], before)
        if not first:
            continue
        rest, subject = text[between.end() :], first[0].people
        for each in (rest, f"{subject} {rest}") if subject else (rest,):
            following = _divide(each, [*before, first], depth + 1)
            if following is not None:
                return [first, *following]
    return None


def _match_after(text: str, before: Sequence[list[Clause]]) -> list[Clause]:
    """Return what a clause may say; "it" is the object of the clause before, or the only one so far."""
    clauses = _match(text)
    if clauses or not before or not re.search(r"\bit\b", text):
        return clauses
    last = {_thing(each, text) for each in before[-1]}
    so_far = {_thing(each, text) for options in before for each in options if each.kind not in IDLE} - {""}
    thing = next(iter(last)) if len(last) == 1 else ""
    if not thing and len(so_far) == 1 and before[-1][0].kind in (*COMING, *LEAVING, "gone", "away", "is_in"):
        [thing] = so_far
    return _match(re.sub(r"\bit\b", f"the {thing.replace('_', ' ')}", text, count=1)) if thing else []


def _thing(clause: Clause, following: str) -> str:
    """Return the object that a clause is about; of what somebody has, only for a clause about the same person."""
    if "thing" in clause.slots:
        return clause.noun("thing")
    is_same = following.startswith((*PRONOUNS[:4], clause.people)) if clause.people else False
    return clause.noun("wish") if "wish" in clause.slots and is_same else ""


@lru_cache(maxsize=1 << 12)
def _match(text: str) -> list[Clause]:
    """Return what a clause may say; that it says nothing, only if it says nothing else."""
    clauses = []
    for kind, pattern in _patterns():
        match = pattern.fullmatch(text)
        if match is None:
            continue
        clause = Clause(kind, {name: value for name, value in match.groupdict().items() if value})
        names = (name for slot, each in clause.slots.items() if slot in _PEOPLE for name in names_in(each))
        words = [part for name in names if name not in PRONOUNS for part in name.split("_")]
        words += clause.nouns
        if _function_words().isdisjoint(word.lower() for word in words if word not in _LETTERS):
            clauses.append(clause)
    return [each for each in clauses if each.kind != "idle"] or clauses[:1]


def names_in(value: str) -> list[str]:
    """Return the people of a slot; two words of one name become one word."""
    return [name.replace(" ", "_") for name in re.split(r", and |, | and ", value)]


def nouns_in(value: str) -> list[str]:
    """Return the nouns of a slot without their articles."""
    phrases = re.split(rf", and |, | and (?={_DETERMINER} )", value)
    return [re.sub(rf"^{_DETERMINER} ", "", phrase).replace(" ", "_") for phrase in phrases]
