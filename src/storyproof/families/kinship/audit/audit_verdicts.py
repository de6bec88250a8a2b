"""Verdicts: what strict kinship and the rules say about the label of a row under audit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from storyproof.families.kinship.audit.audited_row import AuditedRow
from storyproof.families.kinship.checker import (
    AMBIGUOUS,
    CONTRADICTED,
    ENTAILED,
    IMPOSSIBLE,
    find_witnesses,
    fitting_families,
    status,
)
from storyproof.families.kinship.prove_labels import LabelJudgement, judge
from storyproof.families.kinship.relations import NAMES, Fact
from storyproof.families.kinship.row import Structure

_ANY = "child"  # asked for where the label is not a kinship term
_MOST_KEPT = 20_000  # structures that are cached

Key = tuple[tuple[str, ...], tuple[Fact, ...], tuple[int, int], str | None]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the families that fit a row's facts, and the rules, say about its label.

    Attributes:
        status: One of STATUSES.
        derived: The relations that each reading's rules derive for the asked pair.
        right: The relation that holds in every family that fits; None if there is none, or if the facts are doubtful.
        instead: What the second person is to the first in a family in which the label does not hold.
    """

    status: str
    derived: dict[str, list[str]]
    right: str | None
    instead: tuple[str, ...]


class Verdicts:
    """Asks oracle and checker about rows; each distinct structure is examined once."""

    def __init__(self) -> None:
        self._known: dict[Key, Verdict] = {}
        self._judged: dict[Structure, LabelJudgement] = {}

    def on(self, rows: Sequence[AuditedRow]) -> list[Verdict | None]:
        """Return the verdict on each row; None if it does not tell who is asked about."""
        keys = [_key(each) for each in rows]
        if len(self._known) > _MOST_KEPT:
            self._known.clear()
        new = list({key: None for key in keys if key is not None and key not in self._known})
        structures = [_structure(key) for key in new]
        for key, structure, judged in zip(new, structures, self.judge(structures), strict=True):
            row_status = judged.status or IMPOSSIBLE
            if key[3] is None and row_status != IMPOSSIBLE:
                row_status = CONTRADICTED  # a label that is not a kinship term holds in no family
            self._known[key] = Verdict(row_status, judged.derived, *_truth(structure, key[3], row_status))
        found_verdicts = [None if key is None else self._known[key] for key in keys]
        return [
            replace(verdict, right=None) if verdict and verdict.status != ENTAILED and row.doubtful else verdict
            for row, verdict in zip(rows, found_verdicts, strict=True)
        ]

    def judge(self, structures: Iterable[Structure]) -> list[LabelJudgement]:
        """Return what oracle and checker say about labels, by strict and published rules; see `judgement.judge`."""
        labels = list(structures)
        if len(self._judged) > _MOST_KEPT:
            self._judged.clear()
        new = {each for each in labels if each not in self._judged}
        for people in {len(each[0]) for each in new}:  # the oracle's tables are as large as the largest story needs
            part = [each for each in new if len(each[0]) == people]
            self._judged.update(zip(part, judge(part), strict=True))
        return [self._judged[each] for each in labels]


def _key(audited: AuditedRow) -> Key | None:
    row = audited.row
    return None if row.asked is None else (row.genders, row.facts, row.asked, row.answer)


def _structure(key: Key) -> Structure:
    genders, facts, (first, second), answer = key
    return genders, facts, Fact(first, answer or _ANY, second)


def _truth(structure: Structure, answer: str | None, found: str) -> tuple[str | None, tuple[str, ...]]:
    """Return what is right, and what the second person is to the first where the label does not hold."""
    if found not in (AMBIGUOUS, CONTRADICTED):
        return (answer if found == ENTAILED else None), ()
    genders, facts, query = structure
    witnesses = find_witnesses(genders, facts, query)
    family = witnesses.against or witnesses.fits
    relations = family.relations(query.first, query.second) if family else frozenset()
    instead = tuple(name for name in NAMES if name in relations)
    for name in instead:  # what holds in every family that fits holds in this one
        if status(genders, facts, Fact(query.first, name, query.second)) == ENTAILED:
            return name, instead
    return None, instead


def first_misfit(audited: AuditedRow) -> Fact | None:
    """Return the first fact of an impossible story that fits no family together with those before it."""
    row = audited.row
    for count, fact in enumerate(row.facts, start=1):
        if next(fitting_families(row.genders, row.facts[:count]), None) is None:
            return fact
    return None
