"""The six questions that ToMi asks of every story: proved once per plot, turned into tables for whole blocks.

Memory, what the mover believes, and what the mover believes of the other's belief; reality, and the same for the other.
In these plots the mover is agent 0 and the other queried agent is agent 1.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from storyproof.example import SCHEMA
from storyproof.families.belief.arrays import NOBODY, Flags, PlotArrays
from storyproof.families.belief.narration import Cast, Narrator
from storyproof.families.belief.readings import READINGS
from storyproof.families.belief.tomi_labels import (
    QUESTION_TYPES,
    STORY_TYPES,
    Codes,
    Questions,
    ask_plainly,
    confirm,
    label,
    story_type,
)
from storyproof.generation.arrow_columns import coded, constant_words, flag_lists, number_lists, word_lists

MOVER, OTHER = 0, 1

# In the published order.
_QUESTIONS = (
    (True, ()),
    (False, (MOVER,)),
    (False, (MOVER, OTHER)),
    (False, ()),
    (False, (OTHER,)),
    (False, (OTHER, MOVER)),
)
ASKED = len(_QUESTIONS)
_ORDERS = np.array([len(chain) for _, chain in _QUESTIONS], np.int8)


@dataclass(frozen=True, slots=True)
class Answers:
    """What follows from plots about their six questions, as [plot, question, …] arrays.

    Attributes:
        place: Which of the two containers is the answer.
        holds: Under which of READINGS it holds.
        proof: The sentences of the bare plot that it rests on.
        false_belief: Whether the belief is false.
        question_type: Index into QUESTION_TYPES.
        story_type: Index into STORY_TYPES.
    """

    place: npt.NDArray[np.int8]
    holds: Flags
    proof: Flags
    false_belief: Flags
    question_type: Codes
    story_type: Codes

    @classmethod
    def of(cls, questions: Questions) -> Answers:
        """Return the oracle's answers by plot."""

        def by_plot(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
            return np.ascontiguousarray(array).reshape(-1, ASKED, *array.shape[1:])

        labels = questions.labels
        return cls(
            place=by_plot(labels.place),
            holds=by_plot(labels.holds.T),
            proof=by_plot(labels.proof.T),
            false_belief=by_plot(labels.false_belief),
            question_type=by_plot(labels.question_type),
            story_type=by_plot(questions.story_type),
        )

    def pick(self, plots: npt.NDArray[np.intp]) -> Answers:
        """Return the answers of the given plots."""
        return Answers(*(getattr(self, item.name)[plots] for item in fields(self)))


def ask(plots: PlotArrays) -> Questions:
    """Answer the six questions of every plot by the oracle."""
    zeros = np.zeros(plots.count, np.int8)
    story = np.repeat(np.arange(plots.count), ASKED)
    chain = np.tile(np.array([(*chain, NOBODY, NOBODY)[:2] for _, chain in _QUESTIONS], np.int8).T, plots.count)
    memory = np.tile(np.array([memory for memory, _ in _QUESTIONS]), plots.count)
    thing, mover = (np.full(len(story), number, np.int8) for number in (0, MOVER))
    labels = label(plots, ask_plainly(story, thing, chain, memory), mover)
    types = story_type(plots, np.arange(plots.count), zeros, zeros + np.int8(MOVER), zeros + np.int8(OTHER))
    return Questions(story, thing, chain, memory, types[story], labels)


def prove(plots: PlotArrays) -> Answers:
    """Answer the six questions of every plot by the oracle, and confirm them by the checker.

    Raises:
        ProofError: If oracle and checker differ.
    """
    questions = ask(plots)
    mover, other = (np.full(len(questions.story), agent, np.int8) for agent in (MOVER, OTHER))
    confirm(plots, questions, mover, other)
    return Answers.of(questions)


def lay_out(
    narrator: Narrator,
    who: dict[str, pa.Array],
    texts: pa.Array,
    cast: Cast,
    answers: Answers,
    sentences: npt.NDArray[np.int8],
) -> pa.Table:
    """Return a block as an Arrow table of examples.

    Args:
        narrator: The words.
        who: The columns id, story_id, benchmark and split.
        texts: The stories.
        cast: Whom and what the questions are about; the mover and the other come first.
        answers: Those of each story's plot.
        sentences: [time, story], where each sentence of the plots stands in the text, counted from 0.
    """
    words = narrator.words
    questions, chains = narrator.ask_alike(_QUESTIONS, cast)
    story = np.repeat(np.arange(len(texts), dtype=np.int32), ASKED)
    answer = np.where(answers.place.reshape(-1) == 0, cast.containers[0][story], cast.containers[1][story])
    candidates = np.repeat(np.sort(cast.containers, axis=0).T, ASKED, axis=0)
    numbers = np.repeat(sentences.T + np.int8(1), ASKED, axis=0)
    columns = {
        **who,
        "story": coded(story, texts),
        "question": questions,
        "answer": coded(answer, words),
        "candidates": word_lists(words, candidates),
        "question_type": coded(answers.question_type.reshape(-1), constant_words(QUESTION_TYPES)),
        "order": pa.array(np.tile(_ORDERS, len(texts))),
        "chain": chains,
        "story_type": coded(answers.story_type.reshape(-1), constant_words(STORY_TYPES)),
        "false_belief": pa.array(answers.false_belief.reshape(-1)),
        "readings": flag_lists(answers.holds.reshape(-1, len(READINGS)), constant_words(READINGS)),
        "proof": number_lists(answers.proof.reshape(-1, len(sentences)), numbers),
    }
    return pa.table([columns[name] for name in SCHEMA.names], schema=SCHEMA)
