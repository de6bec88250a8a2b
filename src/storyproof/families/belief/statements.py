"""Stories without words, and the statements of likes and dislikes that are strewn into them."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from storyproof.families.belief.arrays import Small
from storyproof.families.belief.events import FEELINGS
from storyproof.families.belief.labels import Codes
from storyproof.seeds import Draws, Indices

MOST_STATEMENTS = 2


@dataclass(frozen=True, slots=True)
class Plots:
    """Stories without words.

    Attributes:
        bare: Sentence codes [time, story] before any statement is put in; they decide every answer.
        told: Sentence codes [time, story] with the statements.
        sentence: [time, story], where each sentence of `bare` stands in `told`.
        feelers: Who feels something in the two statements [2, story].
        feelings: What they feel.
    """

    bare: Codes
    told: Codes
    sentence: Small
    feelers: Small
    feelings: Small

    def repeat(self, times: int) -> Plots:
        """Give every story so many times in a row."""
        return Plots(*(np.repeat(getattr(self, item.name), times, axis=1) for item in fields(self)))


def add_statements(
    draws: Draws, bare: Codes, length: Indices, *, agents: int, codes: tuple[int, int], end: int
) -> Plots:
    """Insert up to two statements (the end of ToMi's Algorithm 3).

    An index i of the paper means that the new sentence becomes the i-th; a second insertion is made in what the first
    one left, as the paper's procedure says.

    Args:
        draws: Where the draws come from.
        bare: Sentence codes [time, story].
        length: How many sentences each story has.
        agents: How many agents may feel something.
        codes: The codes of the two statements.
        end: The code of what comes after the end.
    """
    height, count = bare.shape
    statements = draws.below(MOST_STATEMENTS + 1, count)
    places = draw_places(draws, length)
    told = np.concatenate([bare, np.full((MOST_STATEMENTS, count), end, np.uint8)])
    sentence = np.repeat(np.arange(height, dtype=np.int8)[:, None], count, axis=1)
    for number, code in enumerate(codes):
        chosen = statements > number
        told = insert(told, places[number], code, chosen)
        sentence += (sentence >= places[number].astype(np.int8)) & chosen
    feelers = draws.below(agents, MOST_STATEMENTS * count).reshape(MOST_STATEMENTS, -1).astype(np.int8)
    feelings = draws.below(len(FEELINGS), MOST_STATEMENTS * count).reshape(MOST_STATEMENTS, -1).astype(np.int8)
    return Plots(bare, told, sentence, feelers, feelings)


def draw_places(draws: Draws, length: Indices) -> Indices:
    """Draw two different places from 1 to length(s), counted from 0; whoever needs one only takes the first."""
    first = draws.below(length, len(length))
    second = draws.below(length - 1, len(length))
    return np.stack([first, second + (second >= first)])


def insert(codes: Codes, place: Indices, code: Indices | int, where: npt.NDArray[np.bool_]) -> Codes:
    """Make `code` the sentence at `place` in the stories chosen by `where`; what was there moves on by one."""
    times = np.arange(len(codes), dtype=np.int8)[:, None]
    at = np.where(where, place, len(codes)).astype(np.int8)
    # Products of bytes and flags: several times as fast as assignments under a mask.
    inserted: Codes = codes * (times < at) + np.asarray(code, np.uint8) * (times == at)
    inserted[1:] += codes[:-1] * (times[1:] > at)
    return inserted
