"""The verb `verify`: read a dataset's text, ask oracle and checker, and list every disagreement."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from storyproof.datasets.manifest import MANIFEST, changed_files, read_manifest
from storyproof.datasets.reading import Source, find_sources
from storyproof.tom.proving import Proved, prove
from storyproof.tom.tellings import Telling
from storyproof.tom.text import parse
from storyproof.tom.trace import observers, trace

LABELS = (
    "answer",
    "candidates",
    "question_type",
    "order",
    "chain",
    "story_type",
    "false_belief",
    "readings",
    "proof",
)


@dataclass(frozen=True, slots=True)
class Finding:
    """One disagreement.

    Attributes:
        where: The split or file it is in.
        id: The row's id; empty if it is about the file.
        field: What is wrong.
        found: What the data say.
        expected: What follows from the text.
    """

    where: str
    id: str
    field: str
    found: str
    expected: str

    def __str__(self) -> str:
        row = f" {self.id}" if self.id else ""
        return f"{self.where}{row}: {self.field}: found {self.found}, expected {self.expected}"


@dataclass(slots=True)
class Verification:
    """What verify saw.

    Attributes:
        stories: How many distinct tellings.
        questions: How many rows.
        findings: All disagreements.
        unchecked: How many rows had no value to hold against the proof, by column.
    """

    stories: int = 0
    questions: int = 0
    findings: list[Finding] = field(default_factory=list)
    unchecked: Counter[str] = field(default_factory=Counter)

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.findings

    def by_field(self) -> dict[str, int]:
        """Count the findings by what is wrong."""
        return dict(Counter(finding.field for finding in self.findings).most_common())


def verify(path: str | Path, *, progress: Callable[[int], None] = lambda rows: None) -> Verification:
    """Read a dataset, parse its text, ask oracle and checker, and hold every label against them.

    Args:
        path: A dataset folder, all of whose splits are verified, or a single file.
        progress: Told how many rows are done since the last time.

    Raises:
        DataError: If the data cannot be read.
    """
    path = Path(path)
    result = Verification()
    if path.is_dir() and (manifest := read_manifest(path)) is not None:
        for problem in changed_files(path, manifest):
            result.findings.append(Finding(MANIFEST, "", "file", problem, "the file as it was written"))
    seen_ids: set[int] = set()
    for source in find_sources(path):
        _verify_source(source, result, seen_ids, progress)
    return result


def _verify_source(source: Source, result: Verification, seen_ids: set[int], progress: Callable[[int], None]) -> None:
    where = source.split or source.files[0].name
    for table in source.tables():
        with _no_collection():
            result.findings += verify_table(table, where, result)
        if "id" in table.column_names:
            _check_ids(table, where, result, seen_ids)
        result.questions += table.num_rows
        progress(table.num_rows)


@contextmanager
def _no_collection() -> Iterator[None]:
    """Keep the cyclic collector out: parsing makes many small objects and no cycles."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _check_ids(table: pa.Table, where: str, result: Verification, seen_ids: set[int]) -> None:
    for name in table.column("id").to_pylist():
        if name is not None:
            number = hash((where, name))
            if number in seen_ids:
                result.findings.append(Finding(where, name, "id", "the same id twice", "an id of its own"))
            seen_ids.add(number)


def verify_table(table: pa.Table, where: str, result: Verification) -> Iterator[Finding]:
    """Hold the rows of a table against what follows from their text."""
    coded = _combined(table, "story")
    if not pa.types.is_dictionary(coded.type):
        coded = coded.dictionary_encode()
    ids = _combined(table, "id").to_pylist()
    used, numbers = np.unique(coded.indices.to_numpy(), return_inverse=True)
    stories, story_of = coded.dictionary.take(pa.array(used)).to_pylist(), numbers.tolist()
    result.stories += len(stories)
    proved = prove(stories, story_of, _combined(table, "question").to_pylist())
    for problem in proved.problems:
        yield Finding(where, ids[problem.row], problem.what, problem.found, problem.expected)
    if not len(proved.rows):
        return
    for name in LABELS:
        if name in table.column_names:
            given = _combined(table, name).take(pa.array(proved.rows))
            yield from _differing(given, proved.columns[name], name, where, ids, proved, result)
    if "trace" in table.column_names:
        yield from _wrong_traces(table, where, ids, proved, story_of)
    if "observers" in table.column_names:
        yield from _wrong_observers(table, where, ids, stories, story_of)


def _combined(table: pa.Table, name: str) -> pa.Array:
    column = table.column(name).combine_chunks()
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def _plain(array: pa.Array) -> pa.Array:
    return array.dictionary.take(array.indices) if pa.types.is_dictionary(array.type) else array


def _differing(
    given: pa.Array,
    expected: pa.Array,
    name: str,
    where: str,
    ids: list[str],
    proved: Proved,
    result: Verification,
) -> Iterator[Finding]:
    """Find the rows whose given value differs; rows without one, or without a right one, are only counted."""
    given, expected = _plain(given), _plain(expected)
    missing = given.null_count
    if not missing and given.cast(expected.type).equals(expected):
        return
    result.unchecked[name] += missing
    for place, (found, right) in enumerate(zip(given.to_pylist(), expected.to_pylist(), strict=True)):
        if found is None or found == right:
            continue
        if right is None and name == "story_type":
            result.unchecked[name] += 1  # nobody says whom the story is about
            continue
        yield Finding(
            where, ids[proved.rows[place]], name, _shown(found), "no belief" if right is None else _shown(right)
        )


def _shown(value: Any) -> str:
    return "[" + ", ".join(map(str, value)) + "]" if isinstance(value, list) else str(value)


def _wrong_traces(
    table: pa.Table, where: str, ids: list[str], proved: Proved, story_of: list[int]
) -> Iterator[Finding]:
    known: dict[tuple[int, str | None, str | None], str] = {}
    traces = table.column("trace").to_pylist()
    for row, pair in zip(proved.rows.tolist(), proved.pairs, strict=True):
        telling: Telling | None = proved.tellings[story_of[row]]
        if traces[row] is None or telling is None:
            continue
        key = story_of[row], *pair
        if key not in known:
            known[key] = ",".join(trace(telling.events, *pair))
        if known[key] != traces[row]:
            yield Finding(where, ids[row], "trace", traces[row], known[key])


def _wrong_observers(
    table: pa.Table, where: str, ids: list[str], stories: list[str], story_of: list[int]
) -> Iterator[Finding]:
    """Check that the numbers after each sentence fit one numbering of the agents who are there."""
    for row, marks in enumerate(table.column("observers").to_pylist()):
        if marks is None:
            continue
        number_of: dict[str, str] = {}
        for sentence, (mark, seen) in enumerate(
            zip(marks.split("\n"), observers(parse(stories[story_of[row]])), strict=True), start=1
        ):
            numbers = mark.split()
            fits = len(numbers) == len(seen) and all(
                number_of.setdefault(agent, number) == number for agent, number in zip(seen, numbers, strict=True)
            )
            if not fits or len(set(number_of.values())) < len(number_of):
                expected = " ".join(number_of.get(agent, agent) for agent in seen) or "nobody"
                yield Finding(where, ids[row], f"observers of sentence {sentence}", mark or "nobody", expected)
                break
