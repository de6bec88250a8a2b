"""How the oracle baseline and the CLUTRR paper's rules answer kinship questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from storyproof.errors import ParseError
from storyproof.example import Example
from storyproof.families.kinship.checker import IMPOSSIBLE, status
from storyproof.families.kinship.oracle import derive
from storyproof.families.kinship.people import UNKNOWN, choose_genders, split_person
from storyproof.families.kinship.prove_labels import entailed_relation
from storyproof.families.kinship.relations import word
from storyproof.families.kinship.row import KinshipRow, read_row
from storyproof.families.kinship.rules import published_rules
from storyproof.families.kinship.stated_facts import Text, stated_facts

_ANY = "child"  # whether any family fits does not depend on what is asked


def checked_answer(example: Example) -> str:
    """Answer by the families that fit the stated facts; the answer is empty where they disagree."""
    return common_answer(read_rows(example))


def common_answer(rows: Sequence[KinshipRow]) -> str:
    """Return the relation that is entailed in all of some rows; empty if there is none."""
    answers = set()
    for row in rows:
        relation = entailed_relation(row)
        answers.add("" if relation is None else row.word(row.asking(relation)))
    return answers.pop() if len(answers) == 1 else ""


def rules_answer(example: Example) -> str:
    """Answer by the paper's sixteen rules; where they derive nothing, by the last relation stated of the person."""
    row = read_rows(example)[0]
    first, second = row.pair
    relations = derive(published_rules(), [row.facts], len(row.genders)).relations(0, first, second)
    stated = [fact.predicate for fact in row.facts if fact.second == second]
    return word((*relations, *stated[::-1])[0], row.genders[second]) if relations or stated else ""


def read_rows(example: Example) -> Sequence[KinshipRow]:
    """Read an example; one that has nothing but its text is one row for each choice of genders that it leaves open."""
    values = example.as_row()
    if example.get("genders") is None:
        from storyproof.families.kinship.user_text import rows_of_text  # takes a while to import

        choices = rows_of_text(example.story, example.question)
    elif (choices := _choices_of(values)) == [values]:
        return [read_stated(example)]
    return possible_rows([read_row(each, labelled=False) for each in choices])


def _choices_of(values: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the columns of a row once for each choice of the genders that it leaves open."""
    return [{**values, "genders": genders} for genders in choose_genders(values["genders"])]


def decide_genders(values: dict[str, Any]) -> dict[str, Any]:
    """Return the columns of a row with a gender for everybody.

    Of those that are possible, such are taken from which no answer follows, if there are any: an answer that only some
    of them entail is not entailed.
    """
    if not any(split_person(each)[1] == UNKNOWN for each in values.get("genders") or () if each):
        return values
    rows = possible_rows([read_row(each, labelled=False) for each in _choices_of(values)])
    row = next((each for each in rows if entailed_relation(each) is None), rows[0])
    people = zip(row.names, row.genders, strict=True)
    return {**values, "genders": [f"{name}:{gender}" for name, gender in people]}


def possible_rows(rows: Sequence[KinshipRow]) -> Sequence[KinshipRow]:
    """Return the rows that some family fits; all of them if none does."""
    return [row for row in rows if status(row.genders, row.facts, row.asking(_ANY)) != IMPOSSIBLE] or rows


def read_stated(example: Example) -> KinshipRow:
    """Read an example without its label, with the facts of its text where that can be read, else those recorded."""
    row = read_row(example.as_row(), labelled=False)
    placeholders = example.get("placeholders")
    if placeholders is None or (not placeholders and "\n" not in example.story):
        return row  # a running text that is not in our wording
    try:
        lines = stated_facts(row, Text(example.story, placeholders, row.names))
    except ParseError:
        return row
    return replace(row, facts=tuple(fact for line in lines for fact in line))
