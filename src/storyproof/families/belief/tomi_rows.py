"""Derive from the text alone what rows should say: parse, ask the oracle, ask the checker.

Plots recur, so each distinct question about each distinct plot is asked once and the answer shared.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from storyproof.errors import DataError, ParseError
from storyproof.example import plain_schema
from storyproof.families.belief.arrays import (
    MOST_AGENTS,
    MOST_NAMES,
    MOST_SENTENCES,
    NOBODY,
    STRANGER,
    Flags,
    PlotArrays,
    Small,
    distinct_rows,
)
from storyproof.families.belief.columns import in_words, label_columns
from storyproof.families.belief.narration import Cast
from storyproof.families.belief.parsing import ParsedQuestions, ParsedStories, parse_questions, parse_stories
from storyproof.families.belief.plot_index import FoundPlots, ObjectViews, Plot, find_plots, find_views
from storyproof.families.belief.proof_check import PROOF_BY_DELETION, PROOF_HOLDS, check_proofs
from storyproof.families.belief.readings import DEFAULT_READING
from storyproof.families.belief.restriction import focus, renumber
from storyproof.families.belief.tomi_labels import (
    MOST_ORDER,
    Disagreement,
    Questions,
    ask_plainly,
    compare_answers,
    compare_types,
    label,
    story_type,
)
from storyproof.families.belief.tomi_text import parse, parse_question
from storyproof.families.belief.world import plot_problems
from storyproof.generation.arrow_columns import NO_WORD, Words, number_lists
from storyproof.generation.seeds import digest

_NO_AGENTS = bytes([NOBODY % 256])  # what chains of different lengths end in
_MOST_CONFIRMED = 400_000
_confirmed: set[bytes] = set()  # questions about plots on which oracle and checker agree; those of a file recur


@dataclass(frozen=True, slots=True)
class RowProblem:
    """Something wrong with a row, whatever its labels are."""

    row: int
    what: str
    found: str
    expected: str


@dataclass(frozen=True, slots=True)
class BeliefProofs:
    """What rows should say.

    Attributes:
        rows: Which rows have an answer that could be derived.
        columns: The expected label columns, for those rows; null where there is no right value.
        problems: What is wrong with the text or question of a row, and where oracle and checker differ.
        plots: The distinct plots.
        plot: For those rows, which plot each has.
        thing: For those rows, the local number of the object asked about.
        mover: For those rows, the local number of agent 0, or STRANGER.
        other: For those rows, the local number of agent 1, or STRANGER.
    """

    rows: npt.NDArray[np.intp]
    columns: dict[str, pa.Array]
    problems: list[RowProblem]
    plots: list[Plot]
    plot: npt.NDArray[np.intp]
    thing: Small
    mover: Small
    other: Small


def prove(
    stories: pa.Array, story_of: npt.NDArray[np.intp], questions: pa.Array, *, check: bool = True
) -> BeliefProofs:
    """Derive what rows should say.

    Args:
        stories: Distinct stories.
        story_of: Which of them each row is about.
        questions: What each row asks.
        check: Whether to ask the checker as well as the oracle.
    """
    parsed = parse_stories(stories)
    story_plots = find_plots(parsed.cells)
    plots, plot_of = story_plots.plots, story_plots.which
    parsed_questions = parse_questions(questions, parsed, story_of)
    problems = [
        *_story_problems(stories, story_of, parsed, plots, plot_of),
        *_question_problems(questions, parsed_questions, parsed.broken[story_of]),
    ]
    rows = np.flatnonzero(~parsed.broken[story_of] & ~parsed_questions.broken & (parsed_questions.thing != STRANGER))
    parsed_questions = parsed_questions.pick(rows)
    story, plot = story_of[rows], plot_of[story_of[rows]]
    first, scene = distinct_rows(np.column_stack([plot, parsed_questions.thing]))
    scenes = find_views(story_plots, plot[first], parsed_questions.thing[first])
    mover, other = _pairs(scenes, scene, story, parsed_questions)
    if not len(rows):
        return BeliefProofs(rows, {}, problems, plots, plot, parsed_questions.thing, mover, other)
    keys = np.column_stack(
        [plot, parsed_questions.thing, mover, other, parsed_questions.memory, parsed_questions.chain]
    ).astype(np.int32)
    first, entry = distinct_rows(keys)
    answers, times = _answer(story_plots.stories, keys[first])
    if check:
        problems += _check(story_plots, answers, times, keys[first], rows[first])
    cast = Cast(*(names.T for names in (parsed.agents, parsed.agents, parsed.things, parsed.containers)))
    labelled = answers.pick(entry, story)
    sentences = np.take_along_axis(parsed.sentences[story], np.maximum(times[:, entry], 0).T.astype(np.intp), axis=1)
    columns = label_columns(
        parsed.words,
        in_words(labelled, cast, _candidates(parsed, scenes.containers[:, scene], story)),
        number_lists(labelled.labels.proof.T, sentences),
    )
    columns["story_type"] = _only(columns["story_type"], (mover != STRANGER) & (other != STRANGER))
    return BeliefProofs(rows, columns, problems, plots, plot, parsed_questions.thing, mover, other)


def _story_problems(
    stories: pa.Array,
    story_of: npt.NDArray[np.intp],
    parsed: ParsedStories,
    plots: list[Plot],
    plot_of: npt.NDArray[np.intp],
) -> Iterator[RowProblem]:
    """Yield what is wrong with each story that cannot be parsed or cannot happen, at its first row."""
    impossible = np.array([not plot.possible for plot in plots], np.bool_)
    for story in np.flatnonzero(parsed.broken | impossible[plot_of]).tolist():
        row = int((story_of == story).argmax())
        try:
            events = parse(stories[story].as_py())
        except ParseError as error:
            yield RowProblem(row, "story", str(error).rstrip("."), "a story that can be read")
            continue
        if parsed.broken[story]:
            most = (
                f"at most {MOST_SENTENCES} sentences, {MOST_AGENTS} agents, {MOST_NAMES} rooms, objects or containers"
            )
            yield RowProblem(row, "story", "more than can be handled", most)
        for sentence, what in plot_problems(events, tells_rooms=False):
            yield RowProblem(row, "story", f"sentence {sentence}: {what}", "a story that can happen")


def _question_problems(questions: pa.Array, asked: ParsedQuestions, unread: Flags) -> Iterator[RowProblem]:
    for row in np.flatnonzero(~unread & (asked.broken | (asked.thing == STRANGER))).tolist():
        try:
            question = parse_question(questions[row].as_py())
        except ParseError as error:
            yield RowProblem(row, "question", str(error).rstrip("."), "a question that can be read")
            continue
        if asked.broken[row]:
            yield RowProblem(row, "question", f"order {question.order}", f"at most order {MOST_ORDER}")
        else:
            yield RowProblem(row, "question", f"the {question.thing} is nowhere in the story", "an object of it")


def _pairs(
    scenes: ObjectViews, scene: npt.NDArray[np.intp], story: npt.NDArray[np.intp], asked: ParsedQuestions
) -> tuple[Small, Small]:
    """Return for each row agent 0, who moves the object, and agent 1, the other one asked about."""
    mover, companion = scenes.mover[scene], scenes.companion[scene]
    first, asking = distinct_rows(np.column_stack([story, asked.thing]))
    lowest, highest = np.full(len(first), 127, np.int8), np.full(len(first), -128, np.int8)
    for agents in asked.chain.T:
        counts = (agents != NOBODY) & (agents != mover)
        np.minimum.at(lowest, asking[counts], agents[counts])
        np.maximum.at(highest, asking[counts], agents[counts])
    alone = (lowest == highest)[asking]
    return mover, np.where(alone, lowest[asking], companion)


def _answer(stories: PlotArrays, keys: npt.NDArray[np.int32]) -> tuple[Questions, npt.NDArray[np.int16]]:
    """Answer the distinct questions by the oracle; return also which events the times of their proofs are."""
    plot = keys[:, 0].astype(np.intp)
    thing, mover, other = (keys[:, column].astype(np.int8) for column in (1, 2, 3))
    memory, chain = keys[:, 4].astype(np.bool_), keys[:, 5:].T.astype(np.int8)
    agents = np.concatenate([mover[None], other[None], chain])
    about = focus(stories, plot, thing, agents)
    pair, asked = renumber(agents[:2], agents), renumber(chain, agents)
    # Stories that differ in what others do only are one when they are cut down.
    left = about.stories
    parts = (left.kind.view(np.int8), left.agent, left.room, left.thing, left.container, pair, asked, memory[None])
    first, which = distinct_rows(np.concatenate([each.astype(np.int8, copy=False) for each in parts]).T)
    columns, zeros = np.arange(len(first)), np.zeros(len(first), np.int8)
    left, (mover, other) = left.pick(first), pair[:, first]
    labels = label(left, ask_plainly(columns, zeros, asked[:, first], memory[first]), mover).pick(which)
    types = story_type(left, columns, zeros, mover, other)[which]
    return Questions(plot, thing, chain, memory, types, labels), about.time


def _check(
    found: FoundPlots,
    answers: Questions,
    times: npt.NDArray[np.int16],
    keys: npt.NDArray[np.int32],
    rows: npt.NDArray[np.intp],
) -> Iterator[RowProblem]:
    """Yield where the checker differs on the distinct questions, or finds that a proof does not hold.

    Args:
        found: The plots.
        answers: The oracle's answers.
        times: Which events the times of their proofs are.
        keys: The questions as they are told apart: the plot, and what is asked of it.
        rows: A row of each.
    """
    # Answers and proofs are the same whoever else is asked about, and the type of a story whatever is asked.
    questions = _Confirmable(found, keys[:, [0, 1, *range(4, keys.shape[1])]], rows, "question")
    pairs = _Confirmable(found, keys[:, :4], rows, "pair")
    part = answers.pick(questions.new, questions.plot)
    for difference in compare_answers(questions.stories, part) if len(questions.new) else ():
        yield from questions.problems(difference)
    thing, mover, other = (keys[pairs.new, column].astype(np.int8) for column in (1, 2, 3))
    for difference in compare_types(pairs.stories, pairs.plot, thing, mover, other) if len(pairs.new) else ():
        yield from pairs.problems(difference)
    if len(questions.new):
        proofs = np.zeros((len(questions.stories.kind), len(questions.new)), np.bool_)
        named, question = np.nonzero(part.labels.proof)
        proofs[times[:, questions.new][named, question], question] = True
        faults = check_proofs(questions.stories, part.arrays, proofs, DEFAULT_READING)
        for place in np.flatnonzero(faults.is_wrong).tolist():
            fault = Disagreement(place, PROOF_BY_DELETION, faults.describe(place), PROOF_HOLDS)
            yield from questions.problems(fault)
    questions.confirm()
    pairs.confirm()


class _Confirmable:
    """What the provers may be compared on: distinct keys about plots, most of which were confirmed before.

    Attributes:
        new: The places of those that were not.
        stories: Their plots.
        plot: Which of these each is about.
    """

    def __init__(self, found: FoundPlots, keys: npt.NDArray[np.int32], rows: npt.NDArray[np.intp], what: str) -> None:
        first, self._which = distinct_rows(keys)
        asked = keys[first, 1:].astype(np.int8)
        known = [what.encode() + row.tobytes().rstrip(_NO_AGENTS) for row in asked]
        known = [found.plots[plot].key + each for plot, each in zip(keys[first, 0].tolist(), known, strict=True)]
        self._new = np.array([number for number, key in enumerate(known) if key not in _confirmed], np.intp)
        self._known, self._rows = [known[number] for number in self._new.tolist()], rows
        self._wrong: set[int] = set()
        self.new = first[self._new]
        plots, self.plot = np.unique(keys[self.new, 0], return_inverse=True)
        self.stories = found.stories.pick(plots)

    def problems(self, difference: Disagreement) -> Iterator[RowProblem]:
        """Yield a difference as a problem of the rows that have it."""
        self._wrong.add(difference.question)
        is_proof = difference.what == PROOF_BY_DELETION
        what = difference.what if is_proof else f"{difference.what} (oracle and checker)"
        for row in self._rows[self._which == self._new[difference.question]].tolist():
            yield RowProblem(row, what, str(difference.oracle), str(difference.checker))

    def confirm(self) -> None:
        """Remember all that have no problems."""
        if len(_confirmed) > _MOST_CONFIRMED:
            _confirmed.clear()
        _confirmed.update(key for number, key in enumerate(self._known) if number not in self._wrong)


def _only(column: pa.Array, where: Flags) -> pa.Array:
    indices = pc.if_else(pa.array(where), column.indices, pa.scalar(None, pa.int32()))
    return pa.DictionaryArray.from_arrays(indices, column.dictionary)


def _candidates(parsed: ParsedStories, local: Small, story: npt.NDArray[np.intp]) -> Words:
    """Return the containers that each row's object was in, [candidate, row], in alphabetical order."""
    words = np.take_along_axis(parsed.containers[story], np.maximum(local.T, 0).astype(np.intp), axis=1)
    return np.sort(np.where(local.T == NOBODY, NO_WORD, words), axis=1).T.astype(np.int32)


def complete(table: pa.Table, *, proved: bool = False) -> pa.Table:
    """Fill in the columns that a table lacks, or with `proved` replace all labels, from the text."""
    rows = table.to_pylist()
    stories: dict[str, int] = {}
    story_of = [stories.setdefault(row["story"], len(stories)) for row in rows]
    questions = pa.array([row["question"] for row in rows], pa.string())
    proofs = prove(pa.array(stories, pa.string()), np.array(story_of), questions, check=False)
    readable = set(proofs.rows.tolist())
    for problem in proofs.problems:
        if problem.row not in readable:
            raise DataError(f"row {rows[problem.row].get('id')}: {problem.what}: {problem.found}.")
    expected = {name: column.to_pylist() for name, column in proofs.columns.items()}
    for place, number in enumerate(proofs.rows.tolist()):
        row = rows[number]
        for name, values in expected.items():
            if row.get(name) is None or (proved and values[place] is not None):
                row[name] = values[place]
        row["story_id"] = row.get("story_id") or f"story-{digest(row['story']).hex()[:16]}"
    return pa.Table.from_pylist(rows, schema=plain_schema())
