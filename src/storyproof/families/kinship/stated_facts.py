"""The story of a row: which facts its text states, and whom it mentions.

A text is read in one of three ways. Lines with a recorded placeholder are compared with it. Synthetic lines are parsed.
Everything else is natural text, which the reader understands or refuses, from its words alone (see `language.reader`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from itertools import pairwise
from typing import NamedTuple

from storyproof.errors import ParseError
from storyproof.families.kinship.language.reading import NotUnderstood, Reading
from storyproof.families.kinship.placeholders.collection import Key
from storyproof.families.kinship.placeholders.files import ours
from storyproof.families.kinship.relations import Fact, inverse, predicate_of, word
from storyproof.families.kinship.row import KinshipRow, read_fact
from storyproof.families.kinship.rules import RuleSet, strict_rules
from storyproof.families.kinship.templates import StatedFact, is_synthetic, parse_line, synthetic_line

Piece = tuple[str, frozenset[int]]  # a piece of text, and the numbers of the facts that it states

_BRACKETS = re.compile(r"\[([^\[\]]+)\]")
_WORD = re.compile(r"@?\w[\w-]*")


class Text(NamedTuple):
    """A text and what is needed to read it: the recorded placeholder of each line, if any, and everybody's names."""

    story: str
    placeholders: Sequence[str]
    names: Sequence[str]

    @property
    def is_natural(self) -> bool:
        """Whether it has to be understood: nothing is recorded about its lines, and none of them is synthetic."""
        return not self.placeholders and not any(map(is_synthetic, self.story.split("\n")))


def read_texts(texts: Iterable[Text | None]) -> list[Reading | NotUnderstood | None]:
    """Read the natural texts among some, all at once, which is much faster; None for all others."""
    given = list(texts)
    results: list[Reading | NotUnderstood | None] = [None] * len(given)
    natural = [(number, text) for number, text in enumerate(given) if text is not None and text.is_natural]
    if natural:
        from storyproof.families.kinship.language.reader import read_many  # takes a while to import

        readings = read_many([text.story for _, text in natural], [text.names for _, text in natural])
        for (number, _), reading in zip(natural, readings, strict=True):
            results[number] = reading
    return results


def parse_story(text: Text, reading: Reading | NotUnderstood | None = None) -> list[list[StatedFact]]:
    """Return the facts that each line of a story states.

    Args:
        text: The text, with one or more facts per line; natural text may have lines without a fact.
        reading: What the reader found in natural text; by default it is read now.

    Raises:
        ParseError: If a line is not in the expected form or not understood, or their number is not that of the
            placeholders.
    """
    story, placeholders, _ = text
    lines = story.split("\n")
    if placeholders:
        if len(placeholders) != len(lines):
            raise ParseError(f"the story has {len(lines)} lines, but {len(placeholders)} placeholders are recorded.")
        return [parse_line(*each) for each in zip(lines, placeholders, strict=True)]
    if not text.is_natural:
        return [parse_line(line) for line in lines]
    understood = _understood(text, reading)
    facts: list[list[StatedFact]] = [[] for _ in lines]
    stated = set()
    for fact in understood.facts:
        same = fact.second, inverse(fact.predicate), fact.first, fact.sentence
        if same not in stated:  # "brothers" states one fact in both directions
            stated.add((fact.first, fact.predicate, fact.second, fact.sentence))
            gender = understood.genders.get(fact.first)
            facts[fact.line - 1].append(StatedFact(fact.first, fact.word, fact.second, gender))
    return facts


@lru_cache(maxsize=256)  # what is derived from an example one by one reads it every time
def _read(story: str, names: tuple[str, ...]) -> Reading:
    from storyproof.families.kinship.language.reader import read  # takes a while to import

    return read(story, names)


def _understood(text: Text, reading: Reading | NotUnderstood | None) -> Reading:
    """Return what natural text says.

    Raises:
        NotUnderstood: If it is not understood.
    """
    if reading is None:
        return _read(text.story, tuple(text.names))
    if isinstance(reading, NotUnderstood):
        raise reading
    return reading


def turn(stated: StatedFact, gender: str) -> StatedFact:
    """Return the same fact from the side of the second person, of whom the first, of this gender, is a relative."""
    return StatedFact(stated.second, word(inverse(predicate_of(stated.word)), gender), stated.first, None)


def stated_facts(
    row: KinshipRow,
    text: Text,
    rules: RuleSet | None = None,
    reading: Reading | NotUnderstood | None = None,
) -> list[list[Fact]]:
    """Return the facts that each line of a story states about the people of a row.

    A natural text may state a fact from either side; it is returned from that of the row's edge.

    Args:
        row: The people.
        text: The text.
        rules: The rules that define its relations, if they are not all relations of strict kinship.
        reading: What the reader found in natural text; by default it is read now.

    Raises:
        ParseError: If a line cannot be read, mentions an unknown person, or does not fit somebody's gender.
    """
    vocabulary = (rules or strict_rules()).by_word
    number = {name: place for place, name in enumerate(row.names)}
    pairs = set(row.edges) if text.is_natural else set()
    facts_of_lines = []
    for place, line in enumerate(parse_story(text, reading), start=1):
        facts = []
        for stated in line:
            for name in (stated.first, stated.second):
                if name not in number:
                    raise ParseError(f"line {place} mentions '{name}', who is not in genders.")
            first, second = number[stated.first], number[stated.second]
            if stated.first_gender not in (None, row.genders[first]):
                raise ParseError(f"line {place} describes {stated.first} as {stated.first_gender}.")
            fact = read_fact([first, second], stated.word, row.genders, vocabulary, f"line {place}")
            if (first, second) not in pairs and (second, first) in pairs:
                fact = Fact(second, inverse(fact.predicate), first)
            facts.append(fact)
        facts_of_lines.append(facts)
    return facts_of_lines


def split_sentences(row: KinshipRow, story: str, reading: Reading) -> list[Piece] | None:
    """Split a natural text into its sentences.

    Returns:
        The sentences in order, each with the numbers of the facts that it states, which may be none; None if the text
        states other facts than those of the row, or one of them twice.
    """
    sentences = [f"{each}." for each in " ".join(story.split()).removesuffix(".").split(". ")]
    number = {fact: place for place, fact in enumerate(row.facts)}
    person = {name: place for place, name in enumerate(row.names)}
    numbers: list[set[int]] = [set() for _ in sentences]
    for stated in reading.facts:
        fact = Fact(person[stated.first], stated.predicate, person[stated.second])
        fact = fact if fact in number else Fact(fact.second, inverse(fact.predicate), fact.first)
        if fact not in number or stated.sentence > len(sentences):
            return None
        numbers[stated.sentence - 1].add(number[fact])
    if sorted(fact for each in numbers for fact in each) != list(range(len(row.facts))):
        return None
    return [(sentence, frozenset(facts)) for sentence, facts in zip(sentences, numbers, strict=True)]


@lru_cache(maxsize=4096)  # asked for twice: to find out who can read a text, and what it says
def split_story(row: KinshipRow, story: str) -> list[Piece] | None:
    """Split a running text that states exactly a row's facts, each once, in the words of the shipped placeholders.

    Returns:
        Its pieces in order, each with the numbers of the facts that it states; None if the text is not of this form.
    """
    wordings = _wordings(row)
    text = " ".join(story.split())
    reached: dict[tuple[int, frozenset[int]], tuple[Piece, ...]] = {(0, frozenset()): ()}
    while reached:
        at, done = max(reached, key=lambda each: each[0])
        before = reached.pop((at, done))
        if at >= len(text):
            if len(done) == len(row.facts):
                return list(before)
            continue
        for wording, facts in wordings:
            end = at + len(wording)
            if not facts & done and text.startswith(wording, at) and text[end : end + 1] in " ":
                reached[end + 1, done | facts] = (*before, (wording, facts))
    return None


def _wordings(row: KinshipRow) -> list[Piece]:
    """Word all facts in all ways: each alone, and two or three consecutive ones together."""
    wordings = []
    for place, fact in enumerate(row.facts):
        for length in (1, 2, 3):
            run = row.facts[place : place + length]
            if len(run) < length or any(one.second != other.first for one, other in pairwise(run)):
                break
            people = [fact.first, *(each.second for each in run)]
            key = tuple(row.word(each) for each in run), tuple(row.genders[person] for person in people)
            names, facts = _names_by_slot(row, people), frozenset(range(place, place + length))
            wordings += [(_replace(template, names), facts) for template in _templates(key)]
    return wordings


@cache
def _templates(key: Key) -> tuple[str, ...]:
    """Return the shipped templates for some relations and genders, and the synthetic one."""
    shipped = ours().templates.get(key, ())
    return tuple(dict.fromkeys([*shipped, *([synthetic_line(key)] if len(key[0]) == 1 else [])]))


def fill(template: str, row: KinshipRow, people: Sequence[int]) -> str:
    """Return a template with people's names in its slots."""
    return _replace(template, _names_by_slot(row, people))


def _names_by_slot(row: KinshipRow, people: Sequence[int]) -> list[tuple[str, str]]:
    return [(f"ENT_{slot}_{row.genders[person]}", row.names[person]) for slot, person in enumerate(people)]


def _replace(template: str, names: Sequence[tuple[str, str]]) -> str:
    for slot, name in names:
        template = template.replace(slot, name)
    return template


def add_brackets(text: str, names: Sequence[str]) -> str:
    """Put every name in brackets, as CLUTRR's CSV files have them."""
    any_name = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    return re.sub(rf"(?<![\w@])({any_name})(?![\w-])", r"[\1]", text)


def remove_brackets(text: str) -> str:
    """Remove the brackets around names."""
    return _BRACKETS.sub(r"\1", text)


def find_mentions(text: str, names: Sequence[str], *, bracketed: bool) -> frozenset[str]:
    """Return the names that a text mentions.

    Args:
        text: The text.
        names: The people of the row, who are also found outside of brackets unless all names are bracketed.
        bracketed: Whether the text has every name in brackets, as in CLUTRR's CSV files.
    """
    mentioned = set(_BRACKETS.findall(text))
    if not bracketed:
        words = set(_WORD.findall(text))
        mentioned |= {name for name in names if (name in words if _WORD.fullmatch(name) else name in text)}
    return frozenset(mentioned)
