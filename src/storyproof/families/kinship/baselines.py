"""How the solvers that mark the ends of the scale, and the paper's rules, answer questions of kinship."""

from __future__ import annotations

from storyproof.errors import ParseError
from storyproof.example import Example
from storyproof.families.kinship.judgement import entailed
from storyproof.families.kinship.oracle import derive
from storyproof.families.kinship.relations import Fact, word
from storyproof.families.kinship.rows import Case, read_case, told_facts, without_label
from storyproof.families.kinship.rules import published_rules


def oracle_answer(example: Example) -> str:
    """Answer by the families that fit what the story tells; an empty answer where they do not agree."""
    case = _as_told(example)
    found = entailed(case)
    return "" if found is None else word(found, case.genders[case.asked[1]])


def rules_answer(example: Example) -> str:
    """Answer by the paper's sixteen rules; where they give none, by the last relation told of the asked person."""
    case = _as_told(example)
    first, second = case.asked
    found = derive(published_rules(), [case.facts], len(case.genders)).relations(0, first, second)
    told = [fact.predicate for fact in case.facts if fact.second == second]
    return word((*found, *told[::-1])[0], case.genders[second]) if found or told else ""


def _as_told(example: Example) -> Case:
    """Read an example's facts: from its text where that can be read, else as they are given.

    The label is not looked at: any will do to read the rest.
    """
    case = read_case(without_label(example.as_row()))
    if example.get("placeholders") is None or (not example.get("placeholders") and "\n" not in example.story):
        return case  # a running text in other words than ours
    try:
        lines = told_facts(case, example.story.split("\n"), example.get("placeholders"))
    except ParseError:
        return case
    facts: tuple[Fact, ...] = tuple(fact for line in lines for fact in line)
    return Case(case.names, case.genders, facts, case.edges, case.k, case.asked, case.answer, case.steps)
