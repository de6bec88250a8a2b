"""Rows of theory of mind looked at together, with what follows from their text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from storyproof.example import story_of_id
from storyproof.families.belief import provers
from storyproof.families.belief.arrays import NOBODY, distinct_rows, encode_plots, encode_questions
from storyproof.families.belief.audit.causes import Stage, set_stage
from storyproof.families.belief.babi_format import TRACE, observers, trace
from storyproof.families.belief.benchmarks.base import breach
from storyproof.families.belief.columns import LABELS
from storyproof.families.belief.questions import BeliefQuestion
from storyproof.families.belief.readings import BeliefReading
from storyproof.families.belief.rows import POSSIBLE
from storyproof.families.belief.tomi_rows import BeliefProofs, RowProblem, prove
from storyproof.families.belief.tomi_text import parse
from storyproof.families.belief.world import EventKind, PlotEvent
from storyproof.formats.chunks import story_starts
from storyproof.formats.format import PLACE, Place, place_of
from storyproof.generation.seeds import Indices

_TEXTS = ("story", "question")  # the columns that are read


def combined(table: pa.Table, name: str) -> pa.Array:
    """Return a column in one piece."""
    column = table.column(name).combine_chunks()
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def plain(array: pa.Array) -> pa.Array:
    """Return words instead of their codes."""
    return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array


def asked_of(question_type: str) -> str:
    """Return a question type without agent number and mark."""
    return "_".join(question_type.split("_")[:2])


@lru_cache(maxsize=64)  # the questions of a story stand side by side
def events_of(story: str) -> tuple[PlotEvent, ...]:
    """Read a story."""
    return tuple(parse(story))


@lru_cache(maxsize=64)
def stage_of(story: str, thing: str) -> Stage:
    """Read a story with a thing in view."""
    return set_stage(events_of(story), thing)


class ProvedRows:
    """Rows that are judged together, with what follows from their text.

    Attributes:
        table: The rows, with their places.
        proved: What follows from their text.
        run: The number of each row's story, see `number_stories`.
    """

    def __init__(self, table: pa.Table, run: Indices | None = None) -> None:
        self.table = table
        self.run: Indices = np.zeros(0, np.intp) if run is None else run
        story = combined(table, "story")
        if not pa.types.is_dictionary(story.type):
            story = story.dictionary_encode()
        used, story_of = np.unique(story.indices.to_numpy(), return_inverse=True)
        self.proved = prove(story.dictionary.take(pa.array(used)), story_of, combined(table, "question"))

    @cached_property
    def possible(self) -> npt.NDArray[np.bool_]:
        """Which of the rows that could be read have stories that can happen."""
        return np.array([plot.possible for plot in self.proved.plots], np.bool_)[self.proved.plot]

    def number_stories(self, first: int) -> None:
        """Number the stories: runs of rows that tell one story or continue it."""
        run = np.zeros(self.table.num_rows, np.intp)
        run[story_starts(self.table)] = 1
        self.run = first + run.cumsum() - 1

    @cached_property
    def unread(self) -> dict[int, RowProblem]:
        """The rows that cannot be read, with what is wrong with story or question."""
        if len(self.proved.rows) == self.table.num_rows:
            return {}
        story = combined(self.table, "story").to_pylist()
        problems = [each for each in self.proved.problems if each.what in _TEXTS and each.expected != POSSIBLE]
        by_row = {each.row: each for each in problems}
        by_story = {story[each.row]: each for each in problems if each.what == "story"}
        rows = np.setdiff1d(np.arange(self.table.num_rows), self.proved.rows).tolist()
        return {row: by_row.get(row) or by_story[story[row]] for row in rows}

    @property
    def doubts(self) -> list[RowProblem]:
        """Where oracle and checker differ, or a proof does not hold."""
        return [each for each in self.proved.problems if each.what not in _TEXTS]

    def keep(self, kept: npt.NDArray[np.bool_]) -> ProvedRows:
        """Return some of the rows only, proved without the others."""
        return ProvedRows(self.table.filter(pa.array(kept)), self.run[kept])

    def place(self, row: int) -> Place:
        """Return where a row stands in its file."""
        return place_of(self.table, row)

    def differing(self, name: str) -> tuple[list[tuple[int, Any, Any]], int]:
        """Return rows whose value is not what follows, with it and what is right, and how many rows have no value.

        What is right is None where nobody knows it: a belief about a place that the agent never saw, the type of a
        story that does not tell whom it is about. Only rows that could be read are compared.
        """
        rows = self.proved.rows
        given = plain(combined(self.table, name).take(pa.array(rows)))
        right = (
            pa.array(expected_traces(self.proved), pa.string()) if name == TRACE else plain(self.proved.columns[name])
        )
        if not given.null_count and given.cast(right.type).equals(right):
            return [], 0
        if given.null_count == len(given):
            return [], len(given)
        if pa.types.is_list(right.type):  # Arrow does not compare lists one by one
            pairs = zip(given.to_pylist(), right.to_pylist(), strict=True)
            found = np.array([said is not None and said != best for said, best in pairs], np.bool_)
        else:
            found = np.asarray(pc.and_(pc.fill_null(pc.not_equal(given, right), True), given.is_valid()))
        places = np.flatnonzero(found)
        said, expected = (values.take(pa.array(places)).to_pylist() for values in (given, right))
        return list(zip(rows[places].tolist(), said, expected, strict=True)), given.null_count

    def wrong(self, name: str) -> list[tuple[int, Any]]:
        """Return rows with a wrong value, of stories that can happen, and what is right."""
        if name not in self.table.column_names:
            return []
        found, _ = self.differing(name)
        # Where nobody knows the answer every answer is wrong; a story type that nobody knows is left alone.
        return [
            (row, right)
            for row, _, right in found
            if self.possible[row] and (right is not None or name != "story_type")
        ]

    def count_unchecked(self, unchecked: Counter[str]) -> None:
        """Count the rows without a value to compare, or without one to compare it with, by column."""
        for name in LABELS:
            if name in self.table.column_names and (missing := self.table.column(name).null_count):
                unchecked[name] += missing
        if "story_type" in self.table.column_names and self.proved.columns["story_type"].null_count:
            # nothing tells whom the story is about
            given = np.asarray(combined(self.table, "story_type").is_valid())
            unknown = given & np.asarray(self.proved.columns["story_type"].is_null())
            if unknown.any():
                unchecked["story_type"] += int(unknown.sum())

    def off_recipe(self) -> Iterator[tuple[int, str, str]]:
        """Yield stories that their benchmark would not tell: the row, the benchmark and what is unlike it."""
        proved = self.proved
        if "benchmark" not in self.table.column_names:
            return
        ids: list[str | None] = combined(self.table, "id").to_pylist()
        benchmarks = combined(self.table, "benchmark")
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
            for row in np.flatnonzero(which == number).tolist():
                if (what := breaches[story_of_id(ids[row] or "") is not None]) is not None:
                    yield row, benchmark, what

    def values(self, rows: Sequence[int]) -> dict[int, dict[str, Any]]:
        """Return what rows say."""
        return dict(zip(rows, self.table.take(pa.array(rows, pa.int64())).to_pylist(), strict=True))

    def pair(self, row: int, story: str) -> tuple[str | None, str | None]:
        """Return the names of agent 0 and agent 1."""
        acting = (event.agent for event in events_of(story) if event.kind is not EventKind.FEEL and event.agent)
        agents = dict(enumerate(dict.fromkeys(acting)))
        return agents.get(int(self.proved.mover[row])), agents.get(int(self.proved.other[row]))


def expected_traces(proved: BeliefProofs) -> list[str]:
    """Return the trace of each proved row, as its text gives it."""
    traces: dict[tuple[int, int, int], str] = {}
    found = []
    for key in zip(proved.plot.tolist(), proved.mover.tolist(), proved.other.tolist(), strict=True):
        if key not in traces:
            plot = proved.plots[key[0]]
            agents = dict(enumerate(plot.names.agents))
            traces[key] = ",".join(trace(plot.events, agents.get(key[1]), agents.get(key[2])))
        found.append(traces[key])
    return found


@dataclass(slots=True)
class WrongLabel:
    """A wrong value of a row.

    Attributes:
        part: The rows that it is among.
        row: Which of them it is.
        name: The value's column.
        right: What it should be; None if nobody knows.
        values: All that the row says.
        question: What it asks.
        stage: Its story, with the object asked about in view.
        pair: Agent 0 and agent 1.
        believed: What the answer is under other readings.
    """

    part: ProvedRows
    row: int
    name: str
    right: Any
    values: dict[str, Any]
    question: BeliefQuestion
    stage: Stage
    pair: tuple[str | None, str | None]
    believed: dict[str, str | None]

    @property
    def place(self) -> Place:
        """Where the row stands."""
        return Place.from_value(self.values[PLACE])

    @property
    def asked(self) -> str:
        """What kind of question it is."""
        return asked_of(self.part.proved.columns["question_type"][self.row].as_py())

    @property
    def proof(self) -> tuple[int, ...]:
        """The sentences that decide the answer."""
        return tuple(self.part.proved.columns["proof"][self.row].as_py())


def answers_under(
    cases: Sequence[tuple[Sequence[PlotEvent], BeliefQuestion]], readings: Sequence[str]
) -> list[dict[str, str | None]]:
    """Return the answers to questions about beliefs under some readings."""
    if not cases:
        return []
    stories, names = encode_plots([events for events, _ in cases])
    asked = encode_questions(names, range(len(cases)), [question for _, question in cases])
    answers: list[dict[str, str | None]] = [{} for _ in cases]
    for reading in readings:
        for column, place in enumerate(provers.answer(stories, asked, BeliefReading(reading)).tolist()):
            answers[column][reading] = None if place == NOBODY else tuple(names[column].containers)[place]
    return answers


def right_marks(events: Sequence[PlotEvent], marks: Sequence[str]) -> list[str]:
    """Return the numbers that should follow each sentence, where each agent has the number that it has most often."""
    seen = observers(events)
    votes: Counter[tuple[str, str]] = Counter()
    for mark, agents in zip(marks, seen, strict=True):
        numbers = mark.split()
        if len(numbers) == len(agents) and mark != "-":
            votes.update(zip(agents, numbers, strict=True))
    number_of: dict[str, str] = {}
    for (agent, number), _ in votes.most_common():
        if agent not in number_of and number not in number_of.values():
            number_of[agent] = number
    for agent in dict.fromkeys(agent for agents in seen for agent in agents):
        taken = set(number_of.values())
        number_of.setdefault(
            agent, next(str(number) for number in range(1, len(taken) + 2) if str(number) not in taken)
        )
    return [" ".join(number_of[agent] for agent in agents) for agents in seen]
