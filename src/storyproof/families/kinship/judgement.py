"""What oracle and checker say of the cases of a dataset, each different one looked at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from storyproof.families.kinship.checker import ENTAILED, status
from storyproof.families.kinship.oracle import derive
from storyproof.families.kinship.relations import NAMES, Fact
from storyproof.families.kinship.rows import Case
from storyproof.families.kinship.rules import STRICT, Rules, published_rules, strict_rules


@dataclass(frozen=True, slots=True)
class Judged:
    """What oracle and checker say of a case.

    Attributes:
        status: Of the label, in the families that fit all facts; None if they have relations that families have not.
        derived: What the facts make of the asked pair, by reading.
        size: From how few facts the label follows by the first of them; None if it does not.
    """

    status: str | None
    derived: dict[str, list[str]]
    size: int | None

    def readings(self, answer: str) -> list[str]:
        """List the readings under which the label holds: entailed, or derived by the rules of the others."""
        found = [STRICT] if self.status == ENTAILED else []
        return [*found, *(name for name, each in self.derived.items() if name != STRICT and each == [answer])]


def judge(cases: Sequence[Case], rules: Rules | None = None) -> list[Judged]:
    """Ask the oracle, by the rules of both readings and others if given, and the checker."""
    different = dict.fromkeys((case.genders, case.facts, case.query) for case in cases)
    if not different:
        return []
    people = max(len(genders) for genders, _, _ in different)
    stories = [facts for _, facts, _ in different]
    used = (strict_rules(), published_rules()) if rules is None else (rules,)
    derived = {each.name: derive(each, stories, people) for each in used}
    judged = {}
    for number, (genders, facts, query) in enumerate(different):
        found = {name: each.relations(number, query.first, query.second) for name, each in derived.items()}
        size = derived[used[0].name].size(number, query)
        defined = all(fact.predicate in NAMES for fact in (*facts, query))
        judged[genders, facts, query] = Judged(status(genders, facts, query) if defined else None, found, size)
    return [judged[case.genders, case.facts, case.query] for case in cases]


def entailed(case: Case) -> str | None:
    """Give the relation that holds between the asked people in every family that fits; None if there is none."""
    first, second = case.asked
    for predicate in NAMES:
        if status(case.genders, case.facts, Fact(first, predicate, second)) == ENTAILED:
            return predicate
    return None
