"""Fill in columns that kinship rows lack, from their facts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pyarrow as pa

from storyproof.errors import DataError, ParseError
from storyproof.example import plain_schema
from storyproof.families.kinship.checker import CONTRADICTED
from storyproof.families.kinship.prove_labels import entailed_relation, judge
from storyproof.families.kinship.relations import WORDS
from storyproof.families.kinship.row import KinshipRow, read_row
from storyproof.families.kinship.schema import KINSHIP_SCHEMA
from storyproof.families.kinship.tasks import TASK_NUMBERS, noise_types, story_type

_ANY = "child"  # stands for a label that does not fit; which one does not matter


def complete(table: pa.Table, *, proved: bool = False) -> pa.Table:
    """Fill in the columns that a table lacks; facts are taken as given.

    With `proved` all labels are replaced, and rows from whose facts no answer follows are left out.
    """
    rows = list(_complete(table.to_pylist(), proved))
    return pa.Table.from_pylist(rows, schema=plain_schema(KINSHIP_SCHEMA))


def _read_unlabelled(values: dict[str, Any]) -> KinshipRow:
    """Read a row whose label cannot be right; raise DataError if something else is wrong with it."""
    try:
        return read_row(values, labelled=False)
    except ParseError as error:
        raise DataError(f"row {values['id']}: {error}") from error


def _complete(table: list[dict[str, Any]], proved: bool) -> Iterator[dict[str, Any]]:
    """Yield complete rows; with `proved`, leave out those from which no answer follows."""
    kept: list[tuple[KinshipRow, bool]] = []  # each with whether its label can be right
    for values in table:
        try:
            row, fits = read_row(values), True
        except ParseError:
            row, fits = _read_unlabelled(values), False
        answer = entailed_relation(row) if proved else row.answer or _ANY
        if answer is not None:
            kept.append((replace(row, answer=answer), fits or proved))
    for (row, fits), judged in zip(kept, judge(row.structure for row, _ in kept), strict=True):
        label = {
            "answer": row.word(row.query),
            "readings": judged.readings(row.query.predicate) if fits else [],
            "status": judged.status if fits else CONTRADICTED,
        }
        kind = story_type(noise_types(row.edges, row.k), row.pair, row.edges)
        task = row.values.get("task")
        found = {
            "story_id": row.values["id"],
            "story_type": kind,
            "question_type": f"task_{TASK_NUMBERS.get(task or kind, TASK_NUMBERS[kind])}.{row.k}",
            "benchmark": "clutrr",
            "split": "",
            "candidates": sorted(WORDS),
            "order": 0,
            "chain": [],
            "false_belief": False,
            "proof": [],
            "noise_types": [],
            "placeholders": [],
            "proof_steps": [],
            "proof_relations": [],
            "pattern": " ".join(fact.predicate for fact in row.chain),
            "k": row.k,
            **label,
        }
        unproved = ("proof_relations",) if row.steps is None else ()  # relations without steps are no proof
        given = {
            name: value
            for name, value in row.values.items()
            if value is not None and name not in unproved and not (proved and name in label)
        }
        yield {**found, **given}
