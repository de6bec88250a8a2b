"""Every label of a row held against what follows from the row's text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from storyproof.errors import ParseError
from storyproof.example import story_of_id
from storyproof.families.belief.benchmarks.base import breach
from storyproof.families.belief.derivation import Proved, prove
from storyproof.families.belief.plots import distinct_rows
from storyproof.families.belief.text import parse
from storyproof.families.belief.trace import observers, trace
from storyproof.findings import Finding, TableReport

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


def verify_table(table: pa.Table, where: str) -> TableReport:
    """Hold the rows of a table against what follows from their text."""
    coded = _combined(table, "story")
    if not pa.types.is_dictionary(coded.type):
        coded = coded.dictionary_encode()
    ids = _combined(table, "id").to_pylist()
    used, story_of = np.unique(coded.indices.to_numpy(), return_inverse=True)
    stories = coded.dictionary.take(pa.array(used))
    proved = prove(stories, story_of, _combined(table, "question"))
    report = TableReport()
    report.findings += [Finding(where, ids[each.row], each.what, each.found, each.expected) for each in proved.problems]
    if not len(proved.rows):
        return report
    for name in LABELS:
        if name in table.column_names:
            given = _combined(table, name).take(pa.array(proved.rows))
            report.findings += _differing(given, proved.columns[name], name, where, ids, proved, report)
    if "benchmark" in table.column_names:
        report.findings += _off_recipe(table, where, ids, proved)
    if "trace" in table.column_names:
        report.findings += _wrong_traces(table, where, ids, proved)
    if "observers" in table.column_names:
        report.findings += _wrong_observers(table, where, ids)
    return report


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
    report: TableReport,
) -> Iterator[Finding]:
    """Find the rows whose given value differs; rows without one, or without a right one, are only counted."""
    given, expected = _plain(given), _plain(expected)
    missing = given.null_count
    if not missing and given.cast(expected.type).equals(expected):
        return
    report.unchecked[name] += missing
    for place, (found, right) in enumerate(zip(given.to_pylist(), expected.to_pylist(), strict=True)):
        if found is None or found == right:
            continue
        if right is None and name == "story_type":
            report.unchecked[name] += 1  # nobody says whom the story is about
            continue
        yield Finding(
            where, ids[proved.rows[place]], name, _shown(found), "no belief" if right is None else _shown(right)
        )


def _shown(value: Any) -> str:
    return "[" + ", ".join(map(str, value)) + "]" if isinstance(value, list) else str(value)


def _off_recipe(table: pa.Table, where: str, ids: list[str], proved: Proved) -> Iterator[Finding]:
    """Find stories that their benchmark would not tell."""
    benchmarks = _combined(table, "benchmark").take(pa.array(proved.rows))
    if not pa.types.is_dictionary(benchmarks.type):
        benchmarks = benchmarks.dictionary_encode()
    names = benchmarks.dictionary.to_pylist()
    codes = np.asarray(benchmarks.indices.fill_null(-1))
    first, which = distinct_rows(np.column_stack([codes, proved.plot, proved.thing]))
    for number, place in enumerate(first.tolist()):
        plot, thing = proved.plots[proved.plot[place]], int(proved.thing[place])
        if codes[place] < 0:
            continue
        benchmark = names[codes[place]]
        told = [breach(benchmark, plot, thing, ours=ours) for ours in (False, True)]
        if not any(told):
            continue
        for row in proved.rows[which == number].tolist():
            if (what := told[story_of_id(ids[row] or "") is not None]) is not None:
                yield Finding(where, ids[row], "story", what, f"a story of {benchmark}")


def _wrong_traces(table: pa.Table, where: str, ids: list[str], proved: Proved) -> Iterator[Finding]:
    known: dict[tuple[int, int, int], str] = {}
    traces = table.column("trace").to_pylist()
    keys = zip(proved.plot.tolist(), proved.mover.tolist(), proved.other.tolist(), strict=True)
    for row, key in zip(proved.rows.tolist(), keys, strict=True):
        if traces[row] is None:
            continue
        if key not in known:
            plot = proved.plots[key[0]]
            mover, other = (dict(enumerate(plot.names.agents)).get(agent) for agent in key[1:])
            known[key] = ",".join(trace(plot.events, mover, other))
        if known[key] != traces[row]:
            yield Finding(where, ids[row], "trace", traces[row], known[key])


def _wrong_observers(table: pa.Table, where: str, ids: list[str]) -> Iterator[Finding]:
    """Check that the numbers after each sentence fit one numbering of the agents who are there."""
    stories = table.column("story").to_pylist()
    for row, marks in enumerate(table.column("observers").to_pylist()):
        if marks is None:
            continue
        try:
            watching = observers(parse(stories[row]))
        except ParseError:
            continue  # said already
        number_of: dict[str, str] = {}
        for sentence, (mark, seen) in enumerate(zip(marks.split("\n"), watching, strict=True), start=1):
            numbers = mark.split()
            fits = len(numbers) == len(seen) and all(
                number_of.setdefault(agent, number) == number for agent, number in zip(seen, numbers, strict=True)
            )
            if not fits or len(set(number_of.values())) < len(number_of):
                expected = " ".join(number_of.get(agent, agent) for agent in seen) or "nobody"
                yield Finding(where, ids[row], f"observers of sentence {sentence}", mark or "nobody", expected)
                break
