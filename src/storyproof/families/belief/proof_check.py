"""Check proofs by deleting sentences, with the checker alone.

The value of a question is its answer; of a question that compares beliefs (knows-where, knows-wrong, believers), all
that it compares. A proof must name every sentence without which the value is another. The named sentences alone must
give the value. Every named sentence must matter: without it, the story or the rest of the proof gives another value.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from storyproof.families.belief.arrays import NOBODY, Flags, PlotArrays
from storyproof.families.belief.provers import cast_sizes, check_codes
from storyproof.families.belief.questions import ASKS, Ask, QuestionArrays
from storyproof.families.belief.readings import BeliefReading
from storyproof.families.belief.world import IDLE

Columns = npt.NDArray[np.intp]

PROOF_BY_DELETION = "proof (by deletion)"
PROOF_HOLDS = "a valid proof"
_AT_ONCE = 1 << 15  # beliefs in changed stories that are evaluated together


class ProofFaults(NamedTuple):
    """What is wrong with proofs.

    Attributes:
        missing: The sentences without which the value is another and that the proof does not name, [time, question].
        insufficient: Whether the named sentences alone give another value.
        needless: The named sentences that can be left out, [time, question].
    """

    missing: Flags
    insufficient: Flags
    needless: Flags

    @property
    def is_wrong(self) -> Flags:
        """Which proofs have a fault."""
        wrong: Flags = self.missing.any(axis=0) | self.insufficient | self.needless.any(axis=0)
        return wrong

    def describe(self, question: int) -> str:
        """Return what is wrong with the proof of a question."""
        faults = []
        for flags, what in ((self.missing, "lacks"), (self.needless, "needlessly names")):
            numbers = (np.flatnonzero(flags[:, question]) + 1).tolist()
            if numbers:
                faults.append(f"{what} sentence {', '.join(map(str, numbers))}")
        if self.insufficient[question]:
            faults.append("does not give the answer by itself")
        return " and ".join(faults)


class _ValueParts(NamedTuple):
    """What the values of questions consist of, those of one question side by side."""

    question: Columns
    asked: QuestionArrays


def check_proofs(stories: PlotArrays, asked: QuestionArrays, proofs: Flags, reading: BeliefReading) -> ProofFaults:
    """Check proofs by deletion.

    Args:
        stories: The stories.
        asked: The questions.
        proofs: The sentences that their proofs name, [time, question].
        reading: The reading that decides the answers.
    """
    acts = ~np.isin(stories.kind, IDLE)
    shape = len(stories.kind), asked.count
    needed, gives, matters = np.zeros(shape, np.bool_), np.zeros(asked.count, np.bool_), np.zeros(shape, np.bool_)
    values = _Values(stories, asked, reading)
    for questions in values.batches(1 + len(stories.kind)):
        # A story without one of its sentences serves all questions about it; a proof alone serves its own.
        of, story = np.unique(asked.story[questions], return_inverse=True)
        time, column = np.nonzero(acts[:, of])
        version = np.zeros((len(stories.kind), len(of)), np.intp)
        version[time, column] = np.arange(len(time))
        deleted = np.zeros((len(stories.kind), len(time) + len(questions)), np.bool_)
        deleted[time, np.arange(len(time))] = True
        deleted[:, len(time) :] = ~proofs[:, questions]
        without, place = np.nonzero(acts[:, of[story]])
        versions = np.concatenate([version[without, story[place]], len(time) + np.arange(len(questions))])
        changed = stories.pick(np.concatenate([of[column], asked.story[questions]])).without(deleted)
        differs = values.differ(changed, versions, np.concatenate([questions[place], questions]))
        needed[without, questions[place]] = differs[: len(place)]
        gives[questions] = ~differs[len(place) :]
        # A sentence that the whole story can do without must matter to the rest of the proof.
        named, place = np.nonzero((proofs & ~needed)[:, questions])
        if len(named):
            deleted = ~proofs[:, questions[place]]
            deleted[named, np.arange(len(named))] = True
            changed = stories.pick(asked.story[questions[place]]).without(deleted)
            matters[named, questions[place]] = values.differ(changed, np.arange(len(named)), questions[place])
    return ProofFaults(needed & ~proofs, ~gives, proofs & ~needed & ~matters)


class _Values:
    """The values of questions about whole stories, to compare those about changed stories with."""

    def __init__(self, stories: PlotArrays, asked: QuestionArrays, reading: BeliefReading) -> None:
        self._story, self._reading = asked.story, reading
        self._parts = _divide(stories, asked)
        self._whole = check_codes(stories, self._parts.asked, reading)
        self._counts = np.bincount(self._parts.question, minlength=asked.count)
        self._start = np.cumsum(self._counts) - self._counts

    def batches(self, versions: int) -> Iterator[Columns]:
        """Yield the numbers of questions by story, as many at once as can be evaluated together."""
        order = np.argsort(self._story, kind="stable")
        size = np.cumsum(self._counts[order] * versions) // _AT_ONCE
        yield from np.split(order, np.flatnonzero(np.diff(size)) + 1) if len(order) else ()

    def differ(self, changed: PlotArrays, version: Columns, question: Columns) -> Flags:
        """Return whether each of some questions has another value in a changed story, whose number is `version`."""
        pair, part = _spread(self._start[question], self._counts[question])
        codes = check_codes(changed, replace(self._parts.asked.pick(part), story=version[pair]), self._reading)
        differs = np.zeros(len(question), np.bool_)
        differs[pair[codes != self._whole[part]]] = True
        return differs


def _spread(start: Columns, counts: Columns) -> tuple[Columns, Columns]:
    """Return spans of numbers one after the other: of which span each is, and the numbers."""
    of = np.repeat(np.arange(len(start)), counts)
    offset = np.arange(len(of)) - np.repeat(np.cumsum(counts) - counts, counts)
    return of, start[of] + offset


def _divide(stories: PlotArrays, asked: QuestionArrays) -> _ValueParts:
    """Return what the values of questions consist of."""
    questions, chains, asks = list[Columns](), list[npt.NDArray[np.int8]](), list[Ask]()

    def add(ask: Ask, rows: Columns, chain: npt.NDArray[np.int8]) -> None:
        questions.append(rows)
        chains.append(chain)
        asks.append(ask)

    def rows_of(ask: Ask) -> Columns:
        return np.flatnonzero(asked.ask == ASKS.index(ask))

    for ask in (Ask.REALITY, Ask.MEMORY, Ask.BELIEF, Ask.COMMON):
        add(ask, rows_of(ask), asked.chain[:, rows_of(ask)])
    add(Ask.BELIEF, rows_of(Ask.SAYS), asked.chain[:, rows_of(Ask.SAYS)])
    rows = rows_of(Ask.KNOWS_WHERE)
    add(Ask.BELIEF, rows, asked.chain[:1, rows])
    add(Ask.REALITY, rows, asked.chain[:0, rows])
    rows = rows_of(Ask.KNOWS_WRONG)
    for span in (slice(0, 1), slice(1, 2), slice(0, 2)):
        add(Ask.BELIEF, rows, asked.chain[span, rows])
    add(Ask.REALITY, rows, asked.chain[:0, rows])
    rows = rows_of(Ask.BELIEVERS)
    sizes = cast_sizes(stories)[asked.story[rows]]
    for agent in range(int(sizes.max(initial=0))):
        concerned = rows[(sizes > agent) & (asked.chain[0, rows] != agent)]
        add(Ask.BELIEF, concerned, np.vstack([np.full(len(concerned), agent, np.int8), asked.chain[:, concerned]]))
    longest = max(len(chain) for chain in chains)
    chain = np.concatenate(
        [np.pad(each, ((0, longest - len(each)), (0, 0)), constant_values=NOBODY) for each in chains], axis=1
    )
    question = np.concatenate(questions)
    codes = np.repeat(np.array([ASKS.index(each) for each in asks], np.uint8), [len(each) for each in questions])
    nowhere = np.full(len(question), NOBODY, np.int8)
    every = QuestionArrays(asked.story[question], codes, asked.thing[question], chain, nowhere)
    order = np.argsort(question, kind="stable")
    return _ValueParts(question[order], every.pick(order))
