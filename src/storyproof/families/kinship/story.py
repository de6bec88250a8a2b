"""The story of a row: which facts its text states, and whom it mentions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from itertools import pairwise

from storyproof.errors import ParseError
from storyproof.families.kinship.editions import EDITIONS
from storyproof.families.kinship.placeholders.collection import Key
from storyproof.families.kinship.placeholders.files import ours
from storyproof.families.kinship.relations import Fact
from storyproof.families.kinship.row import KinshipRow, read_fact
from storyproof.families.kinship.rules import RuleSet, strict_rules
from storyproof.families.kinship.text import StatedFact, parse_line, synthetic_line

Piece = tuple[str, frozenset[int]]  # a piece of text, and the numbers of the facts that it states

_BRACKETS = re.compile(r"\[([^\[\]]+)\]")
_WORD = re.compile(r"@?\w[\w-]*")


def parse_story(story: str, placeholders: Sequence[str] | None) -> list[list[StatedFact]]:
    """Return the facts that each line of a story states.

    Args:
        story: One or more facts per line.
        placeholders: The placeholder by which each line was worded; none for synthetic text.

    Raises:
        ParseError: If a line is not in the expected form, or their number is not that of the placeholders.
    """
    lines = story.split("\n")
    if placeholders and len(placeholders) != len(lines):
        raise ParseError(f"the story has {len(lines)} lines, but {len(placeholders)} placeholders are recorded.")
    return [parse_line(line, placeholders[place] if placeholders else None) for place, line in enumerate(lines)]


def stated_facts(
    row: KinshipRow, story: str, placeholders: Sequence[str], rules: RuleSet | None = None
) -> list[list[Fact]]:
    """Return the facts that each line of a story states about the people of a row.

    Args:
        row: The people.
        story: The text.
        placeholders: The placeholder by which each line was worded; none for synthetic text.
        rules: The rules that define its relations, if they are not all relations of strict kinship.

    Raises:
        ParseError: If a line cannot be read, mentions an unknown person, or does not fit somebody's gender.
    """
    known = (rules or strict_rules()).by_word
    number = {name: place for place, name in enumerate(row.names)}
    found = []
    for place, line in enumerate(parse_story(story, placeholders), start=1):
        facts = []
        for stated in line:
            for name in (stated.first, stated.second):
                if name not in number:
                    raise ParseError(f"line {place} mentions '{name}', who is not in genders.")
            first, second = number[stated.first], number[stated.second]
            if stated.first_gender not in (None, row.genders[first]):
                raise ParseError(f"line {place} describes {stated.first} as {stated.first_gender}.")
            facts.append(read_fact([first, second], stated.word, row.genders, known, f"line {place}"))
        found.append(facts)
    return found


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
    found = []
    for place, fact in enumerate(row.facts):
        for length in (1, 2, 3):
            run = row.facts[place : place + length]
            if len(run) < length or any(one.second != other.first for one, other in pairwise(run)):
                break
            people = [fact.first, *(each.second for each in run)]
            key = tuple(row.word(each) for each in run), tuple(row.genders[person] for person in people)
            names, facts = _names_by_slot(row, people), frozenset(range(place, place + length))
            found += [(_replace(template, names), facts) for template in _templates(key)]
    return found


@cache
def _templates(key: Key) -> tuple[str, ...]:
    """Return the templates of all editions for some relations and genders, and the synthetic one."""
    shipped = [template for edition in reversed(EDITIONS) for template in ours(edition).templates.get(key, ())]
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
    found = set(_BRACKETS.findall(text))
    if not bracketed:
        words = set(_WORD.findall(text))
        found |= {name for name in names if (name in words if _WORD.fullmatch(name) else name in text)}
    return frozenset(found)
