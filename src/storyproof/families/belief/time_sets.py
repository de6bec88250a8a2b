"""Sets of instants as bits: one word holds 64 sentences of a story, one column is one story or question.

An instant is the state right after a sentence, numbered from 0. Arrays are [word, …, column]; bit b of word w stands
for the instant 64 w + b. With sets, "who was with the object, and when" takes a few operations for whole stories.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from storyproof.families.belief.arrays import Flags

Instants = npt.NDArray[np.uint64]
Times = npt.NDArray[np.int64]
Columns = npt.NDArray[np.intp]

_BITS = 64
_SMALL = 1000  # columns up to which one call is faster than one per instant
_ONE = np.uint64(1)


def pack(flags: Flags) -> Instants:
    """Return the instants at which [time, …, column] flags are set."""
    steps = len(flags)
    words = max(1, -(-steps // _BITS))
    octets = np.zeros((8 * words, *flags.shape[1:]), np.uint8)
    if octets[0].size < _SMALL:  # `np.packbits` takes one column after the other
        octets[: -(-steps // 8)] = np.packbits(flags, axis=0, bitorder="little")
    else:
        bits = flags.view(np.uint8)
        for time in range(steps):
            octets[time >> 3] |= bits[time] << np.uint8(time & 7)
    # Octets side by side, the first one lowest, are words on any machine if they are read as little-endian ones.
    grouped = np.moveaxis(octets.reshape(words, 8, *flags.shape[1:]), 1, -1)
    packed: Instants = np.ascontiguousarray(grouped).view("<u8")[..., 0].astype(np.uint64, copy=False)
    return packed


def unpack(sets: Instants, steps: int) -> Flags:
    """Return sets of instants as [time, …, column] flags."""
    flags = np.empty((steps, *sets.shape[1:]), np.bool_)
    for time in range(steps):
        flags[time] = (sets[time // _BITS] >> np.uint64(time % _BITS)) & _ONE
    return flags


def collect(time: Columns, column: Columns, shape: tuple[int, int]) -> Instants:
    """Return the sets that have some instants, [word, column]; no pair of time and column may occur twice."""
    collected = np.zeros(shape, np.uint64)
    np.add.at(collected.reshape(-1), (time >> 6) * shape[1] + column, _ONE << (time & (_BITS - 1)).astype(np.uint64))
    return collected


def members(sets: Instants, steps: int) -> tuple[Columns, Columns]:
    """Return the instants of [word, column] sets and their columns, in order of time: a faster `np.nonzero`."""
    columns = [np.flatnonzero(sets[time // _BITS] & (_ONE << np.uint64(time % _BITS))) for time in range(steps)]
    return np.repeat(np.arange(steps), [len(each) for each in columns]), np.concatenate(columns)


# By how many of the 64 bits of a word are set, from the lowest on; and by the number of the one that is, after none.
_FILLED = np.array([(1 << count) - 1 for count in range(_BITS + 1)], np.uint64)
_SINGLE = np.array([0, *(1 << bit for bit in range(_BITS)), 0], np.uint64)


def until(time: Times, words: int) -> Instants:
    """Return the instants up to some times, these included; none for -1."""
    if words == 1:
        return _FILLED[time + 1][None]
    return np.stack([_FILLED[np.clip(time + (1 - _BITS * word), 0, _BITS)] for word in range(words)])


def before(time: Times, words: int) -> Instants:
    """Return the instants before some times."""
    return until(time - 1, words)


def single(time: Times, words: int) -> Instants:
    """Return the sets of one instant each; empty for -1."""
    if words == 1:
        return _SINGLE[time + 1][None]
    return np.stack([_SINGLE[np.clip(time + (1 - _BITS * word), 0, _BITS + 1)] for word in range(words)])


def last(sets: Instants) -> Times:
    """Return the last instant of each set, -1 for an empty one."""
    number = _highest(sets[0])
    for word in range(1, len(sets)):
        here = _highest(sets[word])
        number = np.where(here < 0, number, here + _BITS * word)
    return number


def _highest(bits: npt.NDArray[np.uint64]) -> Times:
    """Return the number of the highest bit of each word, -1 if there is none."""
    # It is the exponent of the floating-point number. Without the bit below the highest one, rounding to 53 bits cannot
    # carry into the next power of two. The exponent of zero is the lowest there is.
    number: Times = (bits & ~(bits >> _ONE)).astype(np.float64).view(np.int64)
    number >>= 52
    number -= 1023
    return np.maximum(number, -1, out=number)


def is_later(one: Instants, other: Instants) -> Flags:
    """Return where the last instant of one set is later than that of the other; an empty set is the earliest."""
    later = np.zeros(np.broadcast_shapes(one.shape[1:], other.shape[1:]), np.bool_)
    for word in range(len(one)):
        mine, its = one[word], other[word]
        # The highest bit of a is below that of b if a < b and the two have no highest bit in common.
        decided = (mine | its) != 0
        later = np.where(decided, (its < mine) & (its < (its ^ mine)), later)
    return later


def has(sets: Instants, time: Times) -> Flags:
    """Return which sets contain the instants of their columns; none contains -1."""
    bit = (time & (_BITS - 1)).astype(np.uint64)
    if len(sets) == 1:
        here: Flags = ((sets[0] >> bit) & _ONE).astype(np.bool_)
        return here & (time >= 0)
    contained = np.zeros(np.broadcast_shapes(sets.shape[1:], time.shape), np.bool_)
    for word in range(len(sets)):
        contained |= (time >> 6 == word) & ((sets[word] >> bit) & _ONE).astype(np.bool_)
    return contained


def delay(sets: Instants) -> Instants:
    """Return the sets with every instant moved to the next one: what held right before each sentence."""
    delayed: Instants = sets << _ONE
    delayed[1:] |= sets[:-1] >> np.uint64(_BITS - 1)
    return delayed


def fill(starts: Instants, events: Instants, whole: Instants) -> Instants:
    """Return the instants from each start on, until right before the next event.

    Args:
        starts: The starts; each is an event itself.
        events: The events.
        whole: All instants of a story, [word].
    """
    filled = np.empty(np.broadcast_shapes(starts.shape, events.shape), np.uint64)
    carry: Any = np.uint64(0)
    following = delay(starts)
    for word in range(len(starts)):
        # Adding the first instant after a start to the run of instants without events clears the run; what overflows
        # goes on in the next word.
        quiet = ~events[word] & whole[word]
        added = np.add(quiet, following[word], out=filled[word])
        if len(starts) > 1:
            overflows = added < quiet
            added += carry
            carry = (overflows | (added < carry)).astype(np.uint64)
        np.invert(added, out=added)
        added &= quiet
        added |= starts[word]
    return filled


def first(sets: Instants) -> Times:
    """Return the first instant of each set, -1 for an empty one."""
    number = np.full(sets.shape[1:], -1, np.int64)
    for word in range(len(sets) - 1, -1, -1):
        here = _highest(sets[word] & (~sets[word] + _ONE))
        number = np.where(here < 0, number, here + _BITS * word)
    return number


def one_of(sets: Instants, row: npt.NDArray[Any], column: Columns) -> Instants:
    """Return one set for each pair of row and column of [word, row, column] sets."""
    words, rows, count = sets.shape  # one index is several times as fast as two
    return sets.reshape(words, rows * count).take(row * np.intp(count) + column, axis=1)


def keep_last(sets: Instants) -> Instants:
    """Return the sets with their last instants only."""
    lasts = sets.copy()
    for shift in (1, 2, 4, 8, 16, 32):  # all bits below the highest one
        lasts |= lasts >> np.uint64(shift)
    lasts &= ~(lasts >> _ONE)
    for word in range(len(sets) - 1, 0, -1):
        lasts[:word, sets[word] != 0] = 0
    return lasts
