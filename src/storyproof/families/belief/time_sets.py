"""Sets of instants as bits: one word holds 64 sentences of a story, one column is one story or question.

An instant is the state right after a sentence, numbered from 0. Arrays are [word, …, column]; bit b of word w stands
for the instant 64 w + b. With sets, "who was with the object, and when" takes a few operations for whole stories. Where
stories have 32 sentences at most, words have 32 bits, so that half as much memory is moved.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from storyproof.families.belief.arrays import Flags

Instants = npt.NDArray[np.unsignedinteger[Any]]
Times = npt.NDArray[np.int64]
Columns = npt.NDArray[np.intp]

Word = type[np.uint32] | type[np.uint64]

_BITS = 64
_SMALL = 1000  # columns up to which one call is faster than one per instant


class Words(NamedTuple):
    """What a set of instants consists of.

    Attributes:
        number: How many words.
        kind: Their type.
    """

    number: int
    kind: Word

    @classmethod
    def of(cls, steps: int) -> Words:
        """Return the words that hold a number of instants; one at least."""
        return cls(1, np.uint32) if steps <= 32 else cls(-(-steps // _BITS), np.uint64)


def pack(flags: Flags) -> Instants:
    """Return the instants at which [time, …, column] flags are set."""
    steps = len(flags)
    words, kind = Words.of(steps)
    size = kind().itemsize
    octets = np.zeros((size * words, *flags.shape[1:]), np.uint8)
    if octets[0].size < _SMALL:  # `np.packbits` takes one column after the other
        octets[: -(-steps // 8)] = np.packbits(flags, axis=0, bitorder="little")
    else:
        bits = flags.view(np.uint8)
        for time in range(steps):
            octets[time >> 3] |= bits[time] << np.uint8(time & 7)
    # Octets side by side, the first one lowest, are words on any machine if they are read as little-endian ones.
    grouped = np.moveaxis(octets.reshape(words, size, *flags.shape[1:]), 1, -1)
    packed: Instants = np.ascontiguousarray(grouped).view(f"<u{size}")[..., 0].astype(kind, copy=False)
    return packed


def unpack(sets: Instants, steps: int) -> Flags:
    """Return sets of instants as [time, …, column] flags."""
    flags = np.empty((steps, *sets.shape[1:]), np.bool_)
    for time in range(steps):
        flags[time] = (sets[time // _BITS] >> (time % _BITS)) & 1
    return flags


def collect(time: Columns, column: Columns, words: Words, count: int) -> Instants:
    """Return the sets of a number of columns that have some instants; no pair of time and column may occur twice."""
    collected = np.zeros((words.number, count), words.kind)
    bits = np.left_shift(words.kind(1), (time & (_BITS - 1)).astype(words.kind))
    np.add.at(collected.reshape(-1), (time >> 6) * count + column, bits)
    return collected


def members(sets: Instants, steps: int) -> tuple[Columns, Columns]:
    """Return the instants of [word, column] sets and their columns, in order of time: a faster `np.nonzero`."""
    one = sets.dtype.type(1)
    columns = [np.flatnonzero(sets[time // _BITS] & (one << (time % _BITS))) for time in range(steps)]
    return np.repeat(np.arange(steps), [len(each) for each in columns]), np.concatenate(columns)


# The words of which some bits are set from the lowest on, by how many; and those of which one is, by its number plus
# one: before the first and after the last, none is.
_KINDS: tuple[Word, ...] = np.uint32, np.uint64
_FILLED: dict[Word, Instants] = {
    kind: np.array([(1 << count) - 1 for count in range(8 * kind().itemsize + 1)], kind) for kind in _KINDS
}
_SINGLE: dict[Word, Instants] = {
    kind: np.array([0, *(1 << bit for bit in range(8 * kind().itemsize)), 0], kind) for kind in _KINDS
}


def until(time: Times, words: Words) -> Instants:
    """Return the instants up to some times, these included; none for -1."""
    filled = _FILLED[words.kind]
    if words.number == 1:
        return filled[time + 1][None]
    return np.stack([filled[np.clip(time + (1 - _BITS * word), 0, _BITS)] for word in range(words.number)])


def before(time: Times, words: Words) -> Instants:
    """Return the instants before some times."""
    return until(time - 1, words)


def single(time: Times, words: Words) -> Instants:
    """Return the sets of one instant each; empty for -1."""
    single_bits = _SINGLE[words.kind]
    if words.number == 1:
        return single_bits[time + 1][None]
    return np.stack([single_bits[np.clip(time + (1 - _BITS * word), 0, _BITS + 1)] for word in range(words.number)])


def last(sets: Instants) -> Times:
    """Return the last instant of each set, -1 for an empty one."""
    number = _highest(sets[0])
    for word in range(1, len(sets)):
        here = _highest(sets[word])
        number = np.where(here < 0, number, here + _BITS * word)
    return number


def _highest(bits: Instants) -> Times:
    """Return the number of the highest bit of each word, -1 if there is none."""
    # It is the exponent of the floating-point number. Without the bit below the highest one, rounding 64 bits to 53
    # cannot carry into the next power of two. The exponent of zero is the lowest there is.
    exact = bits if bits.itemsize == 4 else bits & ~(bits >> 1)
    number: Times = exact.astype(np.float64).view(np.int64)
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
    bit = (time & (8 * sets.itemsize - 1)).astype(sets.dtype)
    if len(sets) == 1:
        here: Flags = ((sets[0] >> bit) & 1).astype(np.bool_)
        return here & (time >= 0)
    contained = np.zeros(np.broadcast_shapes(sets.shape[1:], time.shape), np.bool_)
    for word in range(len(sets)):
        contained |= (time >> 6 == word) & ((sets[word] >> bit) & 1).astype(np.bool_)
    return contained


def delay(sets: Instants) -> Instants:
    """Return the sets with every instant moved to the next one: what held right before each sentence."""
    delayed: Instants = np.left_shift(sets, 1, dtype=sets.dtype)
    if len(sets) > 1:
        delayed[1:] |= sets[:-1] >> (_BITS - 1)
    return delayed


def fill(starts: Instants, events: Instants, whole: Instants) -> Instants:
    """Return the instants from each start on, until right before the next event.

    Args:
        starts: The starts; each is an event itself.
        events: The events.
        whole: All instants of a story, [word].
    """
    filled = np.empty(np.broadcast_shapes(starts.shape, events.shape), starts.dtype)
    carry: Any = 0
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
        here = _highest(sets[word] & (~sets[word] + 1))
        number = np.where(here < 0, number, here + _BITS * word)
    return number


def one_of(sets: Instants, row: npt.NDArray[Any], column: Columns) -> Instants:
    """Return one set for each pair of row and column of [word, row, column] sets."""
    words, rows, count = sets.shape  # one index is several times as fast as two
    return sets.reshape(words, rows * count).take(row * np.intp(count) + column, axis=1)


def keep_last(sets: Instants) -> Instants:
    """Return the sets with their last instants only."""
    lasts = sets.copy()
    for shift in (1, 2, 4, 8, 16, 32)[: 5 + sets.itemsize // 8]:  # all bits below the highest one
        lasts |= lasts >> shift
    lasts &= ~(lasts >> 1)
    for word in range(len(sets) - 1, 0, -1):
        lasts[:word, sets[word] != 0] = 0
    return lasts
