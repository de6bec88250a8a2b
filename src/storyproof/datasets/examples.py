"""Rows as examples, with whatever a format leaves out worked out from the text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from storyproof.datasets.reading import CHUNK_ROWS, Source
from storyproof.errors import DataError, ParseError
from storyproof.example import Example, is_kinship, plain_schema, schema_of
from storyproof.kinship.judging import entailed, judge
from storyproof.kinship.models_of import CONTRADICTED
from storyproof.kinship.relations import WORDS, word
from storyproof.kinship.rows import Case, read_case, without_label
from storyproof.seeds import digest
from storyproof.tom.proving import prove


def read_examples(source: Source, *, proved: bool = False, max_stories: int | None = None) -> list[Example]:
    """Read all examples of a source.

    Args:
        source: Where they are.
        proved: Replace all labels by those that follow from the text.
        max_stories: Stop after so many stories.

    Raises:
        DataError: If the data cannot be read, or lack something that their text does not tell either.
    """
    return list(iterate_examples(source, proved=proved, max_stories=max_stories))


def iterate_examples(
    source: Source, *, proved: bool = False, max_stories: int | None = None, rows: int = CHUNK_ROWS
) -> Iterator[Example]:
    """Read the examples of a source one after the other, as `read_examples` does, without holding all of them.

    Args:
        source: Where they are.
        proved: Replace all labels by those that follow from the text.
        max_stories: Stop after so many stories.
        rows: About how many to hold at a time.
    """
    stories: set[tuple[str, str]] = set()
    for table in source.tables(rows):
        try:
            found = complete(table, proved=proved).to_pylist()
        except DataError as error:
            raise DataError(f"{source.name}: {error}") from error
        for row in found:
            if max_stories is not None:
                stories.add((row["split"], row["story_id"]))
                if len(stories) > max_stories:
                    return
            yield Example.from_row(row)


def complete(table: pa.Table, *, proved: bool = False) -> pa.Table:
    """Fill in the columns that a table lacks, or with `proved` replace all labels, from the text.

    Of kinship, the facts are taken as given, and with `proved` rows from whose facts no answer follows are left out.
    """
    schema = schema_of(table.column_names)
    lacking = [
        name
        for name in schema.names
        if name not in table.column_names or (table.column(name).null_count and name != "status")  # it may have none
    ]
    if not lacking and not proved:
        return table
    rows = table.to_pylist()
    if is_kinship(table.column_names):
        rows = list(_complete_kinship(rows, proved))
        return pa.Table.from_pylist(rows, schema=plain_schema(schema))
    stories: dict[str, int] = {}
    story_of = [stories.setdefault(row["story"], len(stories)) for row in rows]
    asked = pa.array([row["question"] for row in rows], pa.string())
    found = prove(pa.array(stories, pa.string()), np.array(story_of), asked, check=False)
    readable = set(found.rows.tolist())
    for problem in found.problems:
        if problem.row not in readable:
            raise DataError(f"row {rows[problem.row].get('id')}: {problem.what}: {problem.found}.")
    expected = {name: column.to_pylist() for name, column in found.columns.items()}
    for place, number in enumerate(found.rows.tolist()):
        row = rows[number]
        for name, values in expected.items():
            if row.get(name) is None or (proved and values[place] is not None):
                row[name] = values[place]
        row["story_id"] = row.get("story_id") or f"story-{digest(row['story']).hex()[:16]}"
    return pa.Table.from_pylist(rows, schema=plain_schema())


def _unlabelled(row: dict[str, Any]) -> Case:
    """Read a row whose label cannot be right, say for its gender; raises DataError if something else is wrong."""
    try:
        return read_case(without_label(row))
    except ParseError as error:
        raise DataError(f"row {row['id']}: {error}") from error


def _complete_kinship(rows: list[dict[str, Any]], proved: bool) -> Iterator[dict[str, Any]]:
    """Fill in what rows of kinship lack; with `proved`, leave those out from which no answer follows."""
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
