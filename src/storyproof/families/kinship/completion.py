"""Fill in what kinship rows lack, from their facts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pyarrow as pa

from storyproof.errors import DataError, ParseError
from storyproof.example import plain_schema
from storyproof.families.kinship.checker import CONTRADICTED
from storyproof.families.kinship.judgement import entailed, judge
from storyproof.families.kinship.relations import WORDS, word
from storyproof.families.kinship.rows import Case, read_case, without_label
from storyproof.families.kinship.schema import KINSHIP_SCHEMA


def complete(table: pa.Table, *, proved: bool = False) -> pa.Table:
    """Fill in the columns that a table lacks; facts are taken as given.

    With `proved` all labels are replaced, and rows from whose facts no answer follows are left out.
    """
    rows = list(_complete(table.to_pylist(), proved))
    return pa.Table.from_pylist(rows, schema=plain_schema(KINSHIP_SCHEMA))


def _unlabelled(row: dict[str, Any]) -> Case:
    """Read a row whose label cannot be right, say for its gender; raises DataError if something else is wrong."""
    try:
        return read_case(without_label(row))
    except ParseError as error:
        raise DataError(f"row {row['id']}: {error}") from error


def _complete(rows: list[dict[str, Any]], proved: bool) -> Iterator[dict[str, Any]]:
    """Yield rows with what they lack; with `proved`, leave those out from which no answer follows."""
    cases, kept = [], []
    for row in rows:
        try:
            case = read_case(row)
            fits = True
        except ParseError:
            case, fits = _unlabelled(row), False
        answer = entailed(case) if proved else case.answer
        if answer is not None:
            cases.append(replace(case, answer=answer))
            kept.append((row, fits or proved))
    for (row, fits), case, judged in zip(kept, cases, judge(cases), strict=True):
        label = {
            "answer": word(case.answer, case.genders[case.asked[1]]),
            "readings": judged.readings(case.answer) if fits else [],
            "status": judged.status if fits else CONTRADICTED,
        }
        found = {
            "story_id": row["id"],
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
            "pattern": " ".join(fact.predicate for fact in case.chain),
            "k": case.k,
            **label,
        }
        given = {name: value for name, value in row.items() if value is not None and not (proved and name in label)}
        yield {**found, **given}
