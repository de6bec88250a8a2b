"""Procedures that a solver may follow instead of composing all facts between the two people of a kinship question.

Those that follow facts walk the shortest way between the two; on the way relations are composed by the strict rules.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from storyproof.example import Example
from storyproof.families.kinship.baselines import checked_answer, read_rows, rules_answer
from storyproof.families.kinship.mistakes import BY_MARRIAGE, GENERATIONS, compose, shortest_way
from storyproof.families.kinship.oracle import derive
from storyproof.families.kinship.relations import FEMALE, MALE, WORDS, Fact, inverse, word
from storyproof.families.kinship.row import KinshipRow
from storyproof.families.kinship.rules import published_rules

_WORD = re.compile(r"\b(?:" + "|".join(sorted(map(re.escape, WORDS), key=len, reverse=True)) + r")\b")
_BY_GENERATION = {-2: "grand", -1: "child", 0: "sibling", 1: "inv-child", 2: "inv-grand"}


class _Case(NamedTuple):
    """A question with all that procedures look at."""

    row: KinshipRow
    way: Sequence[Fact]

    def relation(self, way: Sequence[Fact]) -> str:
        """Return the one relation that follows along a way; empty if there is none, or several."""
        found = compose(way).get((0, len(way)), set()) if way else set()
        return next(iter(found)) if len(found) == 1 else ""

    @property
    def right(self) -> str:
        """The relation that follows along the whole way."""
        return self.relation(self.way)

    def says(self, predicate: str, person: int) -> str:
        """Return the word for a relation of a person."""
        return word(predicate, self.row.genders[person]) if predicate else ""

    def of_asked(self, predicate: str) -> str:
        """Return the word for a relation of the person asked about."""
        return self.says(predicate, self.row.pair[1])


def _other_gender(case: _Case) -> str:
    is_male = case.row.genders[case.row.pair[1]] == MALE
    return word(case.right, FEMALE if is_male else MALE) if case.right else ""


def _shorter(case: _Case, start: int, end: int) -> str:
    """Return the relation along a part of the way."""
    way = case.way[start : len(case.way) + end]
    return case.says(case.relation(way), way[-1].second) if way else ""


def _without(predicate: str) -> Callable[[_Case], str]:
    return lambda case: case.of_asked(case.relation([fact for fact in case.way if fact.predicate != predicate]))


def _shifted(case: _Case, step: int) -> str:
    level = GENERATIONS[case.right] + step if case.right else 9
    return case.of_asked(_BY_GENERATION.get(level, ""))


def _backwards(case: _Case) -> str:
    return case.of_asked(case.relation([Fact(each.first, inverse(each.predicate), each.second) for each in case.way]))


def _by_published_rules(case: _Case) -> str:
    rules = published_rules()
    known = [fact for fact in case.row.facts if fact.predicate in rules.number]
    found = derive(rules, [known], len(case.row.genders)).relations(0, *case.row.pair)
    return case.of_asked(found[0]) if len(found) == 1 else ""


class _Procedure(NamedTuple):
    description: str
    answer: Callable[[_Case], str]


PROVED, RULES, FIRST_WORD, LAST_WORD = "proved", "rules", "first_relation", "last_relation"
_ON_THE_WAY: Mapping[str, _Procedure] = {
    "published": _Procedure("follows the sixteen rules of the CLUTRR paper", _by_published_rules),
    "other_gender": _Procedure("takes men for women and women for men", _other_gender),
    "all_men": _Procedure("takes everybody for a man", lambda case: word(case.right, MALE) if case.right else ""),
    "all_women": _Procedure("takes everybody for a woman", lambda case: word(case.right, FEMALE) if case.right else ""),
    "reversed": _Procedure(
        "answers what the first person is to the second",
        lambda case: case.says(inverse(case.right), case.row.pair[0]) if case.right else "",
    ),
    "backwards": _Procedure("reads every fact in the wrong direction", _backwards),
    "stops_early": _Procedure("stops one person before the end", lambda case: _shorter(case, 0, -1)),
    "starts_late": _Procedure("starts one person after the beginning", lambda case: _shorter(case, 1, 0)),
    "first_two": _Procedure(
        "combines the first two facts only", lambda case: _shorter(case, 0, min(0, 2 - len(case.way)))
    ),
    "last_two": _Procedure(
        "combines the last two facts only", lambda case: _shorter(case, max(0, len(case.way) - 2), 0)
    ),
    "first_fact": _Procedure(
        "answers with the first fact on the way", lambda case: _shorter(case, 0, 1 - len(case.way))
    ),
    "last_fact": _Procedure("answers with the last fact on the way", lambda case: _shorter(case, len(case.way) - 1, 0)),
    "by_marriage": _Procedure(
        "takes kin by blood for kin by marriage, and the reverse",
        lambda case: case.of_asked(BY_MARRIAGE.get(case.right, "")),
    ),
    "ignores_marriage": _Procedure("takes husband and wife for one person", _without("SO")),
    "ignores_siblings": _Procedure("takes brothers and sisters for one person", _without("sibling")),
    "generations": _Procedure("counts generations only", lambda case: _shifted(case, 0)),
    "one_up": _Procedure("answers one generation too high", lambda case: _shifted(case, 1)),
    "one_down": _Procedure("answers one generation too low", lambda case: _shifted(case, -1)),
}
DESCRIPTIONS = {
    PROVED: "follows all facts between the two people",
    **{name: each.description for name, each in _ON_THE_WAY.items()},
    FIRST_WORD: "answers with the first relation that the text names",
    LAST_WORD: "answers with the last relation that the text names",
    RULES: "follows the sixteen rules of the CLUTRR paper, else the last fact about the person",
}


def procedure_answers(example: Example) -> dict[str, str]:
    """Return what each procedure answers; nothing for those that give no answer.

    Raises:
        ParseError: If the example's columns do not fit together, or its text cannot be read.
    """
    row = read_rows(example)[0]
    case = _Case(row, shortest_way(row.facts, *row.pair))
    named = _WORD.findall(example.story)
    answers = {
        PROVED: checked_answer(example),
        **{name: each.answer(case) if case.way else "" for name, each in _ON_THE_WAY.items()},
        FIRST_WORD: named[0] if named else "",
        LAST_WORD: named[-1] if named else "",
        RULES: rules_answer(example),
    }
    return {name: answer for name, answer in answers.items() if answer}
