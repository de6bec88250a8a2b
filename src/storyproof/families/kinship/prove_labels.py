"""What oracle and checker say about the labels of rows; each distinct structure is examined once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from storyproof.families.kinship.checker import ENTAILED, status
from storyproof.families.kinship.oracle import derive
from storyproof.families.kinship.relations import NAMES
from storyproof.families.kinship.row import KinshipRow, Structure
from storyproof.families.kinship.rules import STRICT, RuleSet, published_rules, strict_rules


@dataclass(frozen=True, slots=True)
class LabelJudgement:
    """What oracle and checker say about a label.

    Attributes:
        status: The status of the label in the families that fit all facts; None if strict kinship does not define all
            relations.
        derived: The relations that each reading's rules derive for the asked pair.
        size: The smallest number of facts from which the label follows by the first of these rules; None if it does
            not follow.
    """

    status: str | None
    derived: dict[str, list[str]]
    size: int | None

    def readings(self, answer: str) -> list[str]:
        """Return the readings under which the label holds: entailed, or derived by the rules of the others."""
        readings = [STRICT] if self.status == ENTAILED else []
        return [*readings, *(name for name, each in self.derived.items() if name != STRICT and each == [answer])]


def judge(structures: Iterable[Structure], rules: RuleSet | None = None) -> list[LabelJudgement]:
    """Ask oracle and checker about labels.

    Args:
        structures: Genders, facts and query of each.
        rules: What the oracle derives by; the rules of both readings by default.
    """
    asked = list(structures)
    distinct = dict.fromkeys(asked)
    if not distinct:
        return []
    people = max(len(genders) for genders, _, _ in distinct)
    stories = [facts for _, facts, _ in distinct]
    used = (strict_rules(), published_rules()) if rules is None else (rules,)
    derived = {each.name: derive(each, stories, people) for each in used}
    judged = {}
    for number, (genders, facts, query) in enumerate(distinct):
        relations = {name: each.relations(number, query.first, query.second) for name, each in derived.items()}
        size = derived[used[0].name].size(number, query)
        defined = all(fact.predicate in NAMES for fact in (*facts, query))
        judged[genders, facts, query] = LabelJudgement(
            status(genders, facts, query) if defined else None, relations, size
        )
    return [judged[each] for each in asked]


def entailed_relation(row: KinshipRow) -> str | None:
    """Return the relation that holds between the asked people in every family that fits; None if there is none."""
    for predicate in NAMES:
        if status(row.genders, row.facts, row.asking(predicate)) == ENTAILED:
            return predicate
    return None
