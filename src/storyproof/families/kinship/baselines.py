"""How the oracle baseline and the CLUTRR paper's rules answer kinship questions."""

from __future__ import annotations

from dataclasses import replace

from storyproof.errors import ParseError
from storyproof.example import Example
from storyproof.families.kinship.judgement import entailed_relation
from storyproof.families.kinship.oracle import derive
from storyproof.families.kinship.relations import word
from storyproof.families.kinship.row import KinshipRow, read_row
from storyproof.families.kinship.rules import published_rules
from storyproof.families.kinship.story import stated_facts


def oracle_answer(example: Example) -> str:
    """Answer by the families that fit the stated facts; the answer is empty where they disagree."""
    row = read_stated(example)
    found = entailed_relation(row)
    return "" if found is None else row.word(row.asking(found))


def rules_answer(example: Example) -> str:
    """Answer by the paper's sixteen rules; where they derive nothing, by the last relation stated of the person."""
    row = read_stated(example)
    first, second = row.pair
    found = derive(published_rules(), [row.facts], len(row.genders)).relations(0, first, second)
    stated = [fact.predicate for fact in row.facts if fact.second == second]
    return word((*found, *stated[::-1])[0], row.genders[second]) if found or stated else ""


def read_stated(example: Example) -> KinshipRow:
    """Read an example without its label, with the facts of its text where that can be read, else those recorded."""
    row = read_row(example.as_row(), labelled=False)
    placeholders = example.get("placeholders")
    if placeholders is None or (not placeholders and "\n" not in example.story):
        return row  # a running text that is not in our wording
    try:
        lines = stated_facts(row, example.story, placeholders)
    except ParseError:
        return row
    return replace(row, facts=tuple(fact for line in lines for fact in line))
