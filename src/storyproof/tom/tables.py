"""Arrays to Arrow: what is asked and what is right, as columns of examples."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from storyproof.example import SCHEMA
from storyproof.tom.arrays import Flags, Small
from storyproof.tom.labels import QUESTION_TYPES, STORY_TYPES, Questions
from storyproof.tom.lexicon import NO_WORD, Cast, Lexicon, Words
from storyproof.tom.readings import READINGS


@dataclass(frozen=True, slots=True)
class Rows:
    """Questions and their labels, one a row, in words.

    Attributes:
        questions: What is asked, and what the oracle says.
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
    """Look up local numbers in the stories' casts; what stands where there is none is not used."""
    return np.take(names, local * np.int32(names.shape[1]) + story.astype(np.int32), mode="wrap")


def table(lexicon: Lexicon, texts: pa.Array, who: dict[str, pa.Array], rows: Rows, proof: pa.Array) -> pa.Table:
    """Lay rows out as an Arrow table of examples.

    Args:
        lexicon: The words.
        texts: The stories.
        who: The columns id, story_id, benchmark and split.
        rows: What is asked and what is right.
        proof: The sentences each answer rests on.
    """
    columns = {
        **who,
        "story": coded(rows.questions.story, texts),
        "question": lexicon.ask(rows.thing, rows.chain, rows.questions.memory),
        **label_columns(lexicon.words, rows, proof),
    }
    return pa.table([columns[name] for name in SCHEMA.names], schema=SCHEMA)


def label_columns(words: pa.Array, rows: Rows, proof: pa.Array) -> dict[str, pa.Array]:
    """Lay out all that the oracle says of the rows; `words` are what word numbers stand for."""
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


@cache
def constant_words(words: tuple[str, ...]) -> pa.Array:
    """Make an array of words that is kept, because Arrow looks for pandas at each list it is given."""
    return pa.array(words, pa.string())


def coded(numbers: npt.NDArray[Any], words: pa.Array) -> pa.Array:
    """Make a column of words from their numbers; null where the number is NO_WORD."""
    indices = numbers.astype(np.int32, copy=False)
    missing = indices == NO_WORD
    return pa.DictionaryArray.from_arrays(pa.array(indices, mask=missing if missing.any() else None), words)


def word_lists(words: pa.Array, numbers: Words) -> pa.Array:
    """List in each row the words of its numbers, [row, item], leaving NO_WORD out."""
    used = numbers != NO_WORD
    return pa.ListArray.from_arrays(_ends(used), words.take(pa.array(numbers[used])))


def number_lists(flags: Flags, numbers: npt.NDArray[Any]) -> pa.Array:
    """List in each row those of its numbers that are flagged; both [row, item]."""
    return pa.ListArray.from_arrays(_ends(flags), pa.array(numbers[flags].astype(np.int16)))


def flag_lists(flags: Flags, values: pa.Array) -> pa.Array:
    """List in each row the values whose flags are set, [row, value]."""
    numbers = np.broadcast_to(np.arange(len(values), dtype=np.int8), flags.shape)
    return pa.ListArray.from_arrays(_ends(flags), values.take(pa.array(numbers[flags])))


def _ends(flags: Flags) -> pa.Array:
    """Say where each row's flagged items begin and end."""
    counts = np.zeros(len(flags) + 1, np.int32)
    for column in flags.T:  # a short axis: adding columns up is several times as fast as summing along it
        counts[1:] += column
    return pa.array(np.cumsum(counts, dtype=np.int32))


def identity(benchmark: str, split: str, first: int, stories: int, questions: int) -> dict[str, pa.Array]:
    """Make the columns id, story_id, benchmark and split of consecutive stories with so many questions each.

    Stories are called `train-000000012`, their questions `train-000000012-3`.
    """
    head, digits = f"{split}-".encode(), 9
    width = len(head) + digits
    numbers = np.arange(first, first + stories)
    letters = np.empty((stories, width), np.uint8)
    letters[:, : len(head)] = np.frombuffer(head, np.uint8)
    for place in range(digits):
        letters[:, width - 1 - place] = numbers // 10**place % 10 + ord("0")
    rows = np.empty((stories, questions, width + 2), np.uint8)
    rows[:, :, :width] = letters[:, None]
    rows[:, :, width] = ord("-")
    rows[:, :, width + 1] = np.arange(questions) + ord("0")
    same = np.zeros(stories * questions, np.int32)
    return {
        "id": _fixed(rows.reshape(-1, width + 2)),
        "story_id": coded(np.repeat(np.arange(stories), questions), _fixed(letters)),
        "benchmark": coded(same, constant_words((benchmark,))),
        "split": coded(same, constant_words((split,))),
    }


def _fixed(letters: npt.NDArray[np.uint8]) -> pa.Array:
    count, width = letters.shape
    offsets = np.arange(0, (count + 1) * width, width, dtype=np.int32)
    return pa.Array.from_buffers(pa.string(), count, [None, pa.py_buffer(offsets), pa.py_buffer(letters.tobytes())])
