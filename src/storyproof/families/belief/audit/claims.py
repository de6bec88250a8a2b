"""Every label of a row against what follows from the row's text: what `verify` asks of theory-of-mind data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from storyproof.errors import ParseError
from storyproof.example import story_of_id
from storyproof.families.belief.audit.kinds import IMPOSSIBLE_STORY, QUESTION_TYPE, SEMANTIC, STRUCTURAL
from storyproof.families.belief.audit.rows import ProvedRows, combined
from storyproof.families.belief.babi_format import OBSERVERS, TRACE
from storyproof.families.belief.benchmarks.base import breach
from storyproof.families.belief.columns import LABELS
from storyproof.families.belief.plots import distinct_rows
from storyproof.families.belief.tomi_text import parse
from storyproof.families.belief.trace import observers
from storyproof.findings import COLUMN, TEXT, Finding
from storyproof.formats.format import numbers_of

_KINDS = {"answer": STRUCTURAL, "question_type": QUESTION_TYPE, "story_type": SEMANTIC}


def find_broken_claims(part: ProvedRows, name: str, unchecked: Counter[str]) -> Iterator[Finding]:
    """Yield what rows claim and does not follow from their text.

    Args:
        part: The rows.
        name: What findings call their file.
        unchecked: Counts of rows without a value to compare, by column; added to.
    """
    claims = _Claims(part, name, unchecked)
    yield from claims.problems()
    if not len(part.proved.rows):
        return
    for column in LABELS:
        if column in part.table.column_names:
            yield from claims.wrong_labels(column)
    if "benchmark" in part.table.column_names:
        yield from claims.off_recipe()
    if TRACE in part.table.column_names:
        yield from claims.wrong_traces()
    if OBSERVERS in part.table.column_names:
        yield from claims.wrong_observers()


class _Claims:
    """The claims of some rows, compared one kind after another."""

    def __init__(self, part: ProvedRows, name: str, unchecked: Counter[str]) -> None:
        self._part, self._table, self._proved = part, part.table, part.proved
        self._name, self._unchecked = name, unchecked
        self._ids: list[str] = combined(part.table, "id").to_pylist()

    def _finding(self, row: int, kind: str, field: str, found: str, expected: str) -> Finding:
        rows, lines = self._numbers
        at: dict[str, Any] = {"row": rows[row], "line": lines[row], "id": self._ids[row]}
        return Finding(file=self._name, kind=kind, field=field, found=found, expected=expected, **at)

    @cached_property
    def _numbers(self) -> tuple[list[int], list[int]]:
        return numbers_of(self._table)

    def problems(self) -> Iterator[Finding]:
        """Yield texts and questions that cannot be read or cannot happen, and where oracle and checker differ."""
        for each in self._proved.problems:
            kind = IMPOSSIBLE_STORY if each.expected == "a story that can happen" else TEXT
            yield self._finding(each.row, kind, each.what, each.found, each.expected)

    def wrong_labels(self, name: str) -> Iterator[Finding]:
        """Yield the rows whose value differs; rows without one, or without a right one, are only counted."""
        differing, missing = self._part.differing(name)
        if missing:
            self._unchecked[name] += missing
        for row, found, right in differing:
            if right is None and name == "story_type":
                self._unchecked[name] += 1  # nothing tells whom the story is about
                continue
            shown = "no belief" if right is None else _shown(right)
            yield self._finding(row, _KINDS.get(name, COLUMN), name, _shown(found), shown)

    def off_recipe(self) -> Iterator[Finding]:
        """Yield stories that their benchmark would not tell."""
        proved = self._proved
        benchmarks = combined(self._table, "benchmark").take(pa.array(proved.rows))
        if not pa.types.is_dictionary(benchmarks.type):
            benchmarks = benchmarks.dictionary_encode()
        names = benchmarks.dictionary.to_pylist()
        codes = np.asarray(benchmarks.indices.fill_null(-1))
        first, which = distinct_rows(np.column_stack([codes, proved.plot, proved.thing]))
        distinct = zip(codes[first].tolist(), proved.plot[first].tolist(), proved.thing[first].tolist(), strict=True)
        for number, (code, plot_number, thing) in enumerate(distinct):
            plot = proved.plots[plot_number]
            if code < 0:
                continue
            benchmark = names[code]
            if plot.announced and breach(benchmark, plot, thing, ours=True) is None:
                continue
            breaches = [breach(benchmark, plot, thing, ours=ours) for ours in (False, True)]
            for row in proved.rows[which == number].tolist():
                if (what := breaches[story_of_id(self._ids[row] or "") is not None]) is not None:
                    yield self._finding(row, TEXT, "story", what, f"a story of {benchmark}")

    def wrong_traces(self) -> Iterator[Finding]:
        """Yield traces that list other actions than the text."""
        for row, found, right in self._part.differing(TRACE)[0]:
            yield self._finding(row, TRACE, TRACE, found, right)

    def wrong_observers(self) -> Iterator[Finding]:
        """Yield sentences with numbers that do not fit one numbering of the agents who are there."""
        stories = self._table.column("story").to_pylist()
        for row, marks in enumerate(self._table.column(OBSERVERS).to_pylist()):
            if marks is None:
                continue
            try:
                watching = observers(parse(stories[row]))
            except ParseError:
                continue  # already reported
            number_of: dict[str, str] = {}
            for sentence, (mark, seen) in enumerate(zip(marks.split("\n"), watching, strict=True), start=1):
                numbers = mark.split()
                fits = len(numbers) == len(seen) and all(
                    number_of.setdefault(agent, number) == number for agent, number in zip(seen, numbers, strict=True)
                )
                if not fits or len(set(number_of.values())) < len(number_of):
                    owners = {number: agent for agent, number in reversed(number_of.items())}
                    own = {agent: number for number, agent in owners.items()}
                    expected = " ".join(own.get(agent, agent) for agent in seen) or "nobody"
                    field = f"observers of sentence {sentence}"
                    yield self._finding(row, OBSERVERS, field, mark or "nobody", expected)
                    break


def _shown(value: Any) -> str:
    return "[" + ", ".join(map(str, value)) + "]" if isinstance(value, list) else str(value)
