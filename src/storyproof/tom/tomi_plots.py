"""ToMi's stories without words: the three algorithms of the paper's supplement, on whole blocks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache

import numpy as np
import numpy.typing as npt

from storyproof.seeds import Draws, Indices
from storyproof.tom import beliefs
from storyproof.tom.arrays import NOBODY, PAD, Small, Stories
from storyproof.tom.events import FEELINGS, Kind
from storyproof.tom.labels import STORY_TYPES, story_type

Codes = npt.NDArray[np.uint8]

ANNE, SALLY, THIRD = 0, 1, 2  # the mover is agent 0, the other queried agent is agent 1
HOME, ELSEWHERE = 0, 1

# Every sentence that a story may hold, as (kind, agent, room, thing, container).
SENTENCES = {
    "anne enters": (Kind.ENTER, ANNE, HOME, NOBODY, NOBODY),
    "sally enters": (Kind.ENTER, SALLY, HOME, NOBODY, NOBODY),
    "object placed": (Kind.PLACE, NOBODY, HOME, 0, 0),
    "anne moves": (Kind.MOVE, ANNE, HOME, 0, 1),
    "sally exits": (Kind.EXIT, SALLY, HOME, NOBODY, NOBODY),
    "anne exits": (Kind.EXIT, ANNE, HOME, NOBODY, NOBODY),
    "sally enters elsewhere": (Kind.ENTER, SALLY, ELSEWHERE, NOBODY, NOBODY),
    "third enters": (Kind.ENTER, THIRD, HOME, NOBODY, NOBODY),
    "third enters elsewhere": (Kind.ENTER, THIRD, ELSEWHERE, NOBODY, NOBODY),
    "third exits": (Kind.EXIT, THIRD, HOME, NOBODY, NOBODY),
    "third exits elsewhere": (Kind.EXIT, THIRD, ELSEWHERE, NOBODY, NOBODY),
    "first statement": (Kind.FEEL, NOBODY, NOBODY, 1, NOBODY),
    "second statement": (Kind.FEEL, NOBODY, NOBODY, 2, NOBODY),
    "": (PAD, NOBODY, NOBODY, NOBODY, NOBODY),
}
_CODE = {name: code for code, name in enumerate(SENTENCES)}
_FIELDS = np.array(list(SENTENCES.values()), np.int8).T.copy()
_END = _CODE[""]
LONGEST = 11  # three opening sentences, four actions, two comings and goings, two statements


def core_branches() -> Iterator[tuple[Fraction, tuple[str, ...]]]:
    """Walk the paper's Algorithm 2: every way a story can go after the opening, with its probability."""
    half, third = Fraction(1, 2), Fraction(1, 3)
    yield half * half, ("anne moves", "sally exits")
    yield half * half, ("sally exits", "anne moves")
    for move_at in range(3):
        for leaves in (True, False) if move_at < 2 else (None,):  # the coin is thrown only before a late re-entry
            for back in ("sally enters", "sally enters elsewhere"):
                actions = ["sally exits", *(["anne exits"] if leaves else []), back]
                actions.insert(move_at, "anne moves")
                probability = half * third * half * (1 if leaves is None else half)
                yield probability, tuple(actions)


@cache
def cells() -> tuple[Codes, Codes]:
    """Give the equally likely cells of Algorithm 2 (who enters first × branches) as sentence codes, and their types."""
    cells = []
    for probability, actions in core_branches():
        for opening in (("anne enters", "sally enters"), ("sally enters", "anne enters")):
            codes = [_CODE[name] for name in (*opening, "object placed", *actions)]
            cells += [codes + [_END] * (7 - len(codes))] * int(probability * 24)
    cores = np.array(cells, np.uint8).T.copy()
    zeros = np.zeros(cores.shape[1], np.int8)
    types = story_type(beliefs.view(spell(cores), zeros), zeros + np.int8(ANNE), zeros + np.int8(SALLY))
    return cores, types


def spell(bare: Codes) -> Stories:
    """Spell the codes of bare plots out as arrays."""
    kind, agent, room, thing, container = (fields[bare] for fields in _FIELDS)
    nobody = np.full(bare.shape, NOBODY, np.int8)
    return Stories(kind.view(np.uint8), agent, room, thing, container, nobody, agents=3)


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


def draw_cores(draws: Draws, count: int) -> Indices:
    """Draw stories as Algorithm 2 makes them, before any rejection, as indices into the cells."""
    return draws.below(cells()[0].shape[1], count)


def balanced_cores(draws: Draws, count: int) -> Indices:
    """Draw with rejection until each type has its third (Algorithm 1); each three in a row hold one of each."""
    _, types = cells()
    quota = count // 3
    kept: list[list[Indices]] = [[] for _ in STORY_TYPES]
    have = [0] * len(STORY_TYPES)
    while min(have) < quota:
        drawn = draw_cores(draws, 9 * count)
        kinds = types[drawn]
        for kind in range(len(STORY_TYPES)):
            chosen = drawn[kinds == kind][: quota - have[kind]]
            kept[kind].append(chosen)
            have[kind] += len(chosen)
    by_type = np.stack([np.concatenate(cores) for cores in kept])
    orders = np.array([(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)])
    shuffled = orders[draws.below(len(orders), quota)]
    return np.take_along_axis(by_type.T, shuffled, axis=1).reshape(-1)


def add_distractors(draws: Draws, cores: Codes) -> Plots:
    """Insert the third agent's comings and goings, then the statements (Algorithm 3).

    An index i of the paper means that the new sentence becomes the i-th; a second insertion is made in what the first
    one left, as the paper's procedure says.
    """
    count = cores.shape[1]
    length = (cores != _END).sum(axis=0)
    entrances = draws.below(3, count)
    places = _places(draws, length)
    come = np.where(entrances == 1, places[0], places.min(axis=0))
    bare = _come_and_go(cores, entrances, come, places.max(axis=0), draws.below(2, count) == HOME)

    statements = draws.below(3, count)
    places = _places(draws, length + entrances)
    told = np.concatenate([bare, np.full((2, count), _END, np.uint8)])
    sentence = np.repeat(np.arange(LONGEST - 2, dtype=np.int8)[:, None], count, axis=1)
    for number, name in enumerate(("first statement", "second statement")):
        chosen = statements > number
        told = _insert(told, places[number], _CODE[name], chosen)
        sentence += (sentence >= places[number].astype(np.int8)) & chosen
    feelers = draws.below(3, 2 * count).reshape(2, -1).astype(np.int8)
    feelings = draws.below(len(FEELINGS), 2 * count).reshape(2, -1).astype(np.int8)
    return Plots(bare, told, sentence, feelers, feelings)


def _come_and_go(cores: Codes, entrances: Indices, come: Indices, go: Indices, home: npt.NDArray[np.bool_]) -> Codes:
    """Insert the third agent's entry and exit."""
    bare = np.full((LONGEST - 2, cores.shape[1]), _END, np.uint8)
    bare[: cores.shape[0]] = cores
    entry = np.where(home, _CODE["third enters"], _CODE["third enters elsewhere"])
    leave = np.where(home, _CODE["third exits"], _CODE["third exits elsewhere"])
    bare = _insert(bare, come, entry, entrances > 0)
    return _insert(bare, go, leave, entrances > 1)


def all_bare() -> Codes:
    """Make every bare plot that there can be, once."""
    ways = [
        (core, entrances, come, go, home)
        for core, length in enumerate((cells()[0] != _END).sum(axis=0).tolist())
        for entrances, come, go in (
            (0, 0, 0),
            *((1, come, 0) for come in range(length)),
            *((2, come, go) for come in range(length) for go in range(come + 1, length)),
        )
        for home in (True, False)
    ]
    core, entrances, come, go, home = (np.array(column) for column in zip(*ways, strict=True))
    bare = _come_and_go(cells()[0][:, core], entrances, come, go, home)
    _, first = np.unique(keys(bare), return_index=True)
    return bare[:, first]


def _places(draws: Draws, length: Indices) -> Indices:
    """Draw two different places from 1 to length(s), counted from 0; whoever needs one only takes the first."""
    first = draws.below(length, len(length))
    second = draws.below(length - 1, len(length))
    return np.stack([first, second + (second >= first)])


def _insert(codes: Codes, place: Indices, code: Indices | int, where: npt.NDArray[np.bool_]) -> Codes:
    """Make `code` the sentence at `place` in the stories chosen by `where`; what was there moves on by one."""
    times = np.arange(len(codes), dtype=np.int8)[:, None]
    at = np.where(where, place, len(codes)).astype(np.int8)
    # Products of bytes and flags: several times as fast as assignments under a mask.
    inserted: Codes = codes * (times < at) + np.asarray(code, np.uint8) * (times == at)
    inserted[1:] += codes[:-1] * (times[1:] > at)
    return inserted


def swappable(bare: Codes) -> npt.NDArray[np.bool_]:
    """Find the plots whose telling does not show which of two agents is the third.

    Sally and the third both came before the object was placed, both went, and neither came back. Told with the two
    names swapped, such a story is the same.
    """
    comes, goes, placed = (bare == _CODE[name] for name in ("third enters", "third exits", "object placed"))
    back = (bare == _CODE["sally enters"]).sum(axis=0) + (bare == _CODE["sally enters elsewhere"]).sum(axis=0) > 1
    early = comes.argmax(axis=0) < placed.argmax(axis=0)
    found: npt.NDArray[np.bool_] = comes.any(axis=0) & goes.any(axis=0) & early & ~back
    return found


def send_elsewhere(plots: Plots, chosen: npt.NDArray[np.bool_]) -> Plots:
    """Let the third agent come to the other room instead, in the chosen stories."""
    instead = np.arange(len(SENTENCES), dtype=np.uint8)
    for verb in ("enters", "exits"):
        instead[_CODE[f"third {verb}"]] = _CODE[f"third {verb} elsewhere"]
    bare, told = (np.where(chosen, instead[codes], codes) for codes in (plots.bare, plots.told))
    return replace(plots, bare=bare, told=told)


def keys(bare: Codes) -> npt.NDArray[np.uint64]:
    """Give each plot a number of its own."""
    found = np.zeros(bare.shape[1], np.uint64)
    for code in bare:
        found = (found << np.uint64(4)) | code
    return found
