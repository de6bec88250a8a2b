"""ToMi's stories without words: the three algorithms of the paper's supplement, on whole blocks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import numpy.typing as npt

from storyproof.families.belief import oracle as beliefs
from storyproof.families.belief.arrays import NOBODY
from storyproof.families.belief.events import Kind
from storyproof.families.belief.labels import STORY_TYPES, Codes, story_type
from storyproof.families.belief.questions import MOVER, OTHER
from storyproof.families.belief.scripts import Script, Sentence, keys
from storyproof.families.belief.statements import MOST_STATEMENTS, Plots, draw_places, insert
from storyproof.seeds import Draws, Indices

ANNE, SALLY, THIRD = MOVER, OTHER, 2
HOME, ELSEWHERE = 0, 1

_SENTENCES: dict[str, Sentence] = {
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
}
SCRIPT = Script(_SENTENCES, agents=3, rooms=2)
_CODE, _END = SCRIPT.code, SCRIPT.end
LONGEST = 9 + MOST_STATEMENTS  # three opening sentences, four actions, two comings and goings


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
    types = story_type(beliefs.view(SCRIPT.spell(cores), zeros), zeros + np.int8(ANNE), zeros + np.int8(SALLY))
    return cores, types


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
    return np.take_along_axis(by_type.T, orders_of_types(draws, quota), axis=1).reshape(-1)


def orders_of_types(draws: Draws, count: int) -> Indices:
    """Draw for so many rounds of three stories in which order the types come, [round, place]."""
    orders = np.array([(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)])
    found: Indices = orders[draws.below(len(orders), count)]
    return found


def add_distractors(draws: Draws, cores: Codes) -> Plots:
    """Insert the third agent's comings and goings, then the statements (Algorithm 3); see `statements`."""
    count = cores.shape[1]
    length = (cores != _END).sum(axis=0)
    entrances = draws.below(3, count)
    places = draw_places(draws, length)
    come = np.where(entrances == 1, places[0], places.min(axis=0))
    bare = _come_and_go(cores, entrances, come, places.max(axis=0), draws.below(2, count) == HOME)
    return SCRIPT.add_statements(draws, bare, length + entrances)


def _come_and_go(cores: Codes, entrances: Indices, come: Indices, go: Indices, home: npt.NDArray[np.bool_]) -> Codes:
    """Insert the third agent's entry and exit."""
    bare = np.full((LONGEST - 2, cores.shape[1]), _END, np.uint8)
    bare[: cores.shape[0]] = cores
    entry = np.where(home, _CODE["third enters"], _CODE["third enters elsewhere"])
    leave = np.where(home, _CODE["third exits"], _CODE["third exits elsewhere"])
    bare = insert(bare, come, entry, entrances > 0)
    return insert(bare, go, leave, entrances > 1)


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
    instead = np.arange(len(_CODE), dtype=np.uint8)
    for verb in ("enters", "exits"):
        instead[_CODE[f"third {verb}"]] = _CODE[f"third {verb} elsewhere"]
    bare, told = (np.where(chosen, instead[codes], codes) for codes in (plots.bare, plots.told))
    return replace(plots, bare=bare, told=told)
