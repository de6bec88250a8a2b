"""Questions and labels as Arrow columns of examples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from storyproof.example import SCHEMA
from storyproof.families.belief.arrays import Small
from storyproof.families.belief.narration import Cast, Narrator
from storyproof.families.belief.readings import READINGS
from storyproof.families.belief.tomi_labels import QUESTION_TYPES, STORY_TYPES, Questions
from storyproof.generation.arrow_columns import NO_WORD, Words, coded, constant_words, flag_lists, word_lists

# The columns that follow from the text of a row.
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
class Rows:
    """Questions and their labels, one per row, in words.

    Attributes:
        questions: What is asked, and the oracle's labels.
        thing: The object asked about.
        chain: [place in the chain, row].
        answer: The right answer; NO_WORD if there is none.
        candidates: [candidate, row], NO_WORD where fewer.
    """

    questions: Questions
    thing: Words
    chain: Words
    answer: Words
    candidates: Words


def in_words(questions: Questions, cast: Cast, candidates: Words) -> Rows:
    """Replace local numbers by words.

    Args:
        questions: What is asked.
        cast: What the local numbers stand for.
        candidates: [candidate, row].
    """
    story = questions.story
    return Rows(
        questions,
        _named(cast.things, questions.thing, story),
        np.where(questions.chain >= 0, _named(cast.agents, questions.chain, story), np.int32(NO_WORD)),
        np.where(
            questions.labels.place >= 0, _named(cast.containers, questions.labels.place, story), np.int32(NO_WORD)
        ),
        candidates,
    )


def _named(names: Words, local: Small, story: npt.NDArray[np.intp]) -> Words:
    """Look up local numbers in the casts of the stories; the result for NOBODY is meaningless and not used."""
    return np.take(names, local * np.int32(names.shape[1]) + story.astype(np.int32), mode="wrap")


def table(narrator: Narrator, texts: pa.Array, who: dict[str, pa.Array], rows: Rows, proof: pa.Array) -> pa.Table:
    """Return rows as an Arrow table of examples.

    Args:
        narrator: The words.
        texts: The story of each row.
        who: The columns id, story_id, benchmark and split.
        rows: The questions and their labels.
        proof: The sentences each answer rests on.
    """
    columns = {
        **who,
        "story": coded(np.arange(len(texts)), texts),
        "question": narrator.ask(rows.thing, rows.chain, rows.questions.memory),
        **label_columns(narrator.words, rows, proof),
    }
    return pa.table([columns[name] for name in SCHEMA.names], schema=SCHEMA)


def label_columns(words: pa.Array, rows: Rows, proof: pa.Array) -> dict[str, pa.Array]:
    """Return the label columns of rows; `words` are what word numbers stand for."""
    questions, labels = rows.questions, rows.questions.labels
    return {
        "answer": coded(rows.answer, words),
        "candidates": word_lists(words, rows.candidates.T),
        "question_type": coded(labels.question_type, constant_words(QUESTION_TYPES)),
        "order": pa.array(labels.order),
        "chain": word_lists(words, rows.chain.T),
        "story_type": coded(questions.story_type, constant_words(STORY_TYPES)),
        "false_belief": pa.array(labels.false_belief),
        "readings": flag_lists(labels.holds.T, constant_words(READINGS)),
        "proof": proof,
    }
