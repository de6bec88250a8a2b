"""Rows under audit: what a row says, and what it says once its columns have been checked against each other."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, NoReturn

from storyproof.errors import DataError, ParseError
from storyproof.families.kinship.clutrr_records import STATUS, ClutrrRow, PublishedStep
from storyproof.families.kinship.language.reading import NotUnderstood, Reading
from storyproof.families.kinship.people import parse_people
from storyproof.families.kinship.relations import WORDS, gender_of
from storyproof.families.kinship.row import MOST_EDGES, MOST_PEOPLE, KinshipRow, build_row, known_facts
from storyproof.families.kinship.stated_facts import Text, find_mentions, parse_story, turn
from storyproof.families.kinship.tasks import TASK_NUMBERS

_ANY_WORD = re.compile("(?:" + "|".join(sorted(WORDS, key=len, reverse=True)) + ")(?=-|$)")


@dataclass(frozen=True, slots=True)
class AuditedRow:
    """A row of a file under audit.

    Attributes:
        number: Its number in the file, from 0.
        line: Its line in the file, from 1; 0 if the format has no lines.
        id: Its id; may be empty.
        task_name: Its task and length, such as `task_1.3`.
        split: Its split; may be empty.
        status: What it says itself about its label, in a column `status`; empty if it says nothing.
        label: Its label, as given.
        given: The row as it is in the file.
        row: The row with corrections. Relations on which `f_comb` and the proof agree replace those in `edge_types`
            that differ or are not kinship terms; genders are those that the relations imply, unless they contradict
            each other.
        mentions: The names that its story mentions.
        published: The columns that only CLUTRR's CSV files have, as text; empty for other files.
        query_edge: The numbers of the people asked about, where a column gives them.
        proof: The steps of a proof in CLUTRR's form.
        reading: What the reader found in natural text; None for other text.
        is_stated: Whether the text states just its facts.
    """

    number: int
    line: int
    id: str
    task_name: str
    split: str
    status: str
    label: str
    given: KinshipRow
    row: KinshipRow
    mentions: frozenset[str]
    published: Mapping[str, str] = field(default_factory=dict)
    query_edge: tuple[int, int] | None = None
    proof: tuple[PublishedStep, ...] = ()
    reading: Reading | NotUnderstood | None = None
    is_stated: bool = False

    @property
    def doubtful(self) -> bool:
        """Whether the chain has gaps, so that its facts cannot be what the story states."""
        if self.is_stated:
            return False
        row = self.row
        steps, people = row.edges[: row.k], range(len(row.names))
        return (
            min(len(steps), len(row.words)) < row.k
            or any(relation not in WORDS for relation in row.words)
            or any(person not in people for step in steps for person in step)
            or any(one[1] != other[0] for one, other in pairwise(steps))
        )


def audit_clutrr_row(given: ClutrrRow) -> AuditedRow:
    """Return a row of a CLUTRR CSV file with corrections."""
    values = given.values
    row = _with_words(given, _voted_words(given))
    if row.asked is None and set(given.query_edge) <= set(range(len(given.names))):
        row = replace(row, asked=given.query_edge)
    return AuditedRow(
        given.record.row,
        given.record.line,
        values["id"],
        values["task_name"],
        values["task_split"],
        values.get(STATUS, ""),
        values["target"],
        given,
        row,
        find_mentions(values["story"], given.names, bracketed=True),
        values,
        given.query_edge,
        given.proof,
    )


def audit_example_row(
    path: Path,
    values: dict[str, Any],
    number: int,
    line: int,
    reading: Reading | NotUnderstood | None = None,
) -> AuditedRow:
    """Return a row in the columns of examples, with corrections.

    Args:
        path: The file, for messages.
        values: Its columns.
        number: Its number in the file.
        line: Its line in the file; 0 if it has none.
        reading: What the reader found in natural text; None for other text.

    Raises:
        DataError: If it is not a kinship row, or its columns cannot be read; the message says what was found where.
    """
    where = f"{path}, line {line}, row {number}" if line else f"{path}, row {number}"

    def refuse(name: str, expected: str) -> NoReturn:
        shown = json.dumps(values.get(name), ensure_ascii=False)
        raise DataError(f"{where}: {name} is {shown[:120]}, expected {expected}.")

    for name in ("genders", "edges", "edge_types", "query"):
        if values.get(name) is None or None in values[name]:
            refuse(name, "a value, which every kinship row must have")
    try:
        people = parse_people(values["genders"])
    except ParseError:
        refuse("genders", "'Name:male' or 'Name:female' for everybody, each name once")
    if len(people[0]) > MOST_PEOPLE:
        refuse("genders", f"at most {MOST_PEOPLE} people")
    if len(values["query"]) != 2:
        refuse("query", "a pair of names")
    edges = values["edges"]
    if len(edges) > MOST_EDGES or any(len(edge) != 2 or None in edge for edge in edges):
        refuse("edges", f"a list of at most {MOST_EDGES} pairs of numbers")
    if len(values["edge_types"]) > MOST_EDGES:
        refuse("edge_types", f"a list of at most {MOST_EDGES} relations")
    k = values.get("k")
    k = k if k is not None else len(edges) - len(values.get("noise_types") or ())
    if k < 1:
        refuse("k", "the number of facts in the chain, at least 1")
    return _audit_values(values, people, k, reading, number=number, line=line)


def _audit_values(
    values: Mapping[str, Any],
    people: tuple[tuple[str, ...], tuple[str, ...]],
    k: int,
    reading: Reading | NotUnderstood | None,
    *,
    number: int,
    line: int,
) -> AuditedRow:
    """Return a row in the columns of examples, with corrections; relations are those of its text, if it can be parsed.

    Args:
        values: Its columns.
        people: Names and genders.
        k: The number of facts in its chain.
        reading: What the reader found in natural text; None for other text.
        number: Its number in the file.
        line: Its line in the file; 0 if it has none.
    """
    edges = tuple((edge[0], edge[1]) for edge in values["edges"])
    stated = _stated_words(values, people, edges, reading)
    words = stated or tuple(values["edge_types"])
    query = values["query"][0], values["query"][1]
    given = build_row(values, people, edges, words, k, query, values["answer"])
    task = TASK_NUMBERS.get(values.get("task") or "", 1)
    return AuditedRow(
        number,
        line,
        values["id"] or "",
        values.get("question_type") or f"task_{task}.{k}",
        values.get("split") or "",
        values.get(STATUS) or "",
        values["answer"],
        given,
        _with_words(given, words),
        find_mentions(values["story"], given.names, bracketed=False),
        reading=reading,
        is_stated=stated is not None,
    )


def _with_words(given: KinshipRow, words: tuple[str, ...]) -> KinshipRow:
    """Return a row with other relations, and the genders that these imply."""
    people = range(len(given.names))
    implied: list[set[str]] = [set() for _ in people]
    for (first, second), relation in zip(given.edges, words, strict=False):
        if first in people and second in people and relation in WORDS:
            implied[second].add(gender_of(relation))
    genders = tuple(
        min(each) if len(each) == 1 else gender for each, gender in zip(implied, given.genders, strict=True)
    )
    return replace(given, words=words, genders=genders, facts=known_facts(given.edges, words, len(people)))


def _voted_words(row: ClutrrRow) -> tuple[str, ...]:
    """Return the relations of the edges as two of the columns `edge_types`, `f_comb` and `proof_state` give them."""
    combined = _ANY_WORD.findall(row.values["f_comb"])
    if "-".join(row.words[: row.k]) == row.values["f_comb"] or "-".join(combined) != row.values["f_comb"]:
        return row.words
    concluded = {(step.head[0], step.head[2]) for step in row.proof}
    used = {(part[0], part[2]): part[1] for step in row.proof for part in (step.left, step.right)}
    words = list(row.words)
    for place, (first, second) in enumerate(row.edges[: min(row.k, len(words), len(combined))]):
        if max(first, second) < len(row.names) and min(first, second) >= 0:
            pair = row.names[first], row.names[second]
            backed = pair not in concluded and used.get(pair) == combined[place]
            if backed or words[place] not in WORDS:
                words[place] = combined[place]
    return tuple(words)


def text_of(values: Mapping[str, Any], names: Sequence[str]) -> Text | None:
    """Return the text of a row; None if it does not say how its lines were worded, as in CLUTRR's CSV files."""
    placeholders = values.get("placeholders")
    return None if placeholders is None else Text(values["story"], placeholders, names)


def _stated_words(
    values: Mapping[str, Any],
    people: tuple[tuple[str, ...], tuple[str, ...]],
    edges: Sequence[tuple[int, int]],
    reading: Reading | NotUnderstood | None,
) -> tuple[str, ...] | None:
    """Return the relations of the edges as the text states them; None if it cannot be parsed or states other pairs."""
    names, genders = people
    text = text_of(values, names)
    if text is None:
        return None
    try:
        stated = [each for line in parse_story(text, reading) for each in line]
        pairs = [(names[first], names[second]) for first, second in edges]
    except (ParseError, IndexError):
        return None
    if reading is not None:  # natural text states a fact from either side
        wanted, gender = set(pairs), dict(zip(names, genders, strict=True))
        stated = [
            turn(each, each.first_gender or gender[each.first])
            if (each.first, each.second) not in wanted and (each.second, each.first) in wanted
            else each
            for each in stated
        ]
    words = {(each.first, each.second): each.word for each in stated}
    if len(words) < len(stated) or len(set(pairs)) < len(pairs) or set(words) != set(pairs):
        return None
    return tuple(words[pair] for pair in pairs)
