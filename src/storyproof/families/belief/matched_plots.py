"""The stories of `tomi-matched` without words: who comes and goes when.

Seven marks cut a story into stretches: the object is placed, the mover leaves, comes back, moves the object; the object
is spoken of again; the mover leaves for good; the object is spoken of again. Stretch n follows mark n. Besides entering
at the start, every companion leaves, comes back and leaves; its *way* is the stretches in which it does so.

There are millions of interleavings of three ways, so plots are not enumerated whole. What the mover and one companion
believe of each other hangs on what those two and the object do (that nobody else's comings and goings change it is
tested under every reading, and `verify` asks anew about every whole story): that is one of 88 plots of two people, and
those are enumerated and proved.
"""

from __future__ import annotations

from itertools import combinations_with_replacement, product

import numpy as np
import numpy.typing as npt

from storyproof.families.belief.arrays import NOBODY
from storyproof.families.belief.events import Kind
from storyproof.families.belief.labels import STORY_TYPES, Codes
from storyproof.families.belief.questions import MOVER, OTHER
from storyproof.families.belief.scripts import Script, Sentence
from storyproof.families.belief.statements import Plots
from storyproof.families.belief.tomi_plots import orders_of_types
from storyproof.seeds import Draws, Indices

Way = tuple[int, int, int]

AGENTS = 1 + len(STORY_TYPES)  # the mover, and for each story type the companion who makes it one if asked about
HOME = 0
_SENTENCES: dict[str, Sentence] = {
    **{f"{agent} enters": (Kind.ENTER, agent, HOME, NOBODY, NOBODY) for agent in range(AGENTS)},
    **{f"{agent} exits": (Kind.EXIT, agent, HOME, NOBODY, NOBODY) for agent in range(AGENTS)},
    "object placed": (Kind.PLACE, NOBODY, HOME, 0, 0),
    "object moved": (Kind.MOVE, MOVER, HOME, 0, 1),
    "object there": (Kind.PLACE, NOBODY, HOME, 0, 1),
}
SCRIPT = Script(_SENTENCES, agents=AGENTS, rooms=1)
_ENTER, _EXIT = ([SCRIPT.code[f"{agent} {verb}"] for agent in range(AGENTS)] for verb in ("enters", "exits"))

PLACED, LEAVES, RETURNS, MOVES, SHOWN, GONE, SHOWN_AGAIN = range(7)  # the marks
_MARKS = [
    SCRIPT.code["object placed"],
    _EXIT[MOVER],
    _ENTER[MOVER],
    SCRIPT.code["object moved"],
    SCRIPT.code["object there"],
    _EXIT[MOVER],
    SCRIPT.code["object there"],
]
LENGTH = AGENTS + len(_MARKS) + 3 * (AGENTS - 1)
_PAIR_LENGTH = 2 + len(_MARKS) + 3

_BEFORE_MOVE = (PLACED, LEAVES, RETURNS)
# Both of a true belief's kinds: at the move, or back in time to be shown the object with the mover. Half of each, so
# that having been there at the move does not tell the type.
PRESENT: tuple[Way, ...] = tuple(
    (*away, end) for away in combinations_with_replacement(_BEFORE_MOVE, 2) for end in (MOVES, SHOWN, GONE, SHOWN_AGAIN)
)
ABSENT: tuple[Way, ...] = tuple((start, MOVES, end) for start, end in product(_BEFORE_MOVE, (SHOWN, GONE, SHOWN_AGAIN)))
# Whoever comes to a false belief has done with coming and going before the move. For a second-order false belief a
# companion leaves while the mover is out, so that under `infer-mover` it does not take the mover to have stayed; and is
# back, with the mover gone, when the object is spoken of, so that it knows the place under `closed` as well.
WAYS: dict[str, tuple[Way, ...]] = {
    "true_belief": PRESENT + ABSENT,
    "false_belief": tuple(combinations_with_replacement(_BEFORE_MOVE, 3)),
    "second_order_false_belief": ((LEAVES, GONE, SHOWN_AGAIN),),
}
TYPE_OF = {way: kind for kind, ways in WAYS.items() for way in ways}


def draw_ways(draws: Draws, count: int) -> Indices:
    """Draw the companions' ways, [companion, act, story]; companions are numbered by the types that they make."""
    here = draws.below(2, count) == 0
    found = []
    for kind in STORY_TYPES:
        if kind == "true_belief":
            one, other = (np.array(ways)[draws.below(len(ways), count)] for ways in (PRESENT, ABSENT))
            found.append(np.where(here[:, None], one, other).T)
        else:
            found.append(np.array(WAYS[kind])[draws.below(len(WAYS[kind]), count)].T)
    return np.stack(found)


def draw_skeletons(draws: Draws, count: int) -> Codes:
    """Draw stories: who enters in which order, and all interleavings of the companions' ways alike, [time, story]."""
    ways = draw_ways(draws, count)
    within = draws.below(2**31, ways.size).reshape(ways.shape)
    # Sorting a companion's moments keeps its acts in order and all interleavings equally likely.
    acts = np.sort((ways << 32) + within, axis=1).reshape(-1, count)
    entries = draws.below(2**31, AGENTS * count).reshape(AGENTS, count) - (2 << 32)
    marks = np.repeat((np.arange(len(_MARKS)) << 32)[:, None] - 1, count, axis=1)
    order = np.argsort(np.concatenate([entries, marks, acts]), axis=0, kind="stable")
    companions = [code for agent in range(1, AGENTS) for code in (_EXIT[agent], _ENTER[agent], _EXIT[agent])]
    found: Codes = np.array([*_ENTER, *_MARKS, *companions], np.uint8)[order]
    return found


def draw_plots(draws: Draws, count: int) -> tuple[Plots, Indices]:
    """Draw stories in threes that are told alike but for the words, and in each three whom to ask about.

    Returns:
        The stories, and the agent who is asked about besides the mover; in each three every companion once.
    """
    rounds = count // len(STORY_TYPES)
    skeletons = draw_skeletons(draws, rounds)
    plots = SCRIPT.add_statements(draws, skeletons, np.full(rounds, LENGTH))
    return plots.repeat(len(STORY_TYPES)), 1 + orders_of_types(draws, rounds).reshape(-1)


def of_pair(plots: Plots, asked: Indices) -> tuple[Codes, npt.NDArray[np.int8]]:
    """Leave out what the two who are not asked about do.

    Returns:
        The codes of the plots of two people [time, story], with the asked companion as agent 1; and where each of these
        sentences stands in the text.
    """
    agent = SCRIPT.agent[plots.bare]
    kept = (agent == asked) | (agent == MOVER) | (agent == NOBODY)
    codes, sentences = (np.ascontiguousarray(array.T)[kept.T] for array in (plots.bare, plots.sentence))
    shift = np.where(agent > MOVER, asked - OTHER, 0).T[kept.T]  # codes of agents follow one upon the other
    pair: Codes = (codes - shift).astype(np.uint8)
    return pair.reshape(-1, _PAIR_LENGTH).T, sentences.reshape(-1, _PAIR_LENGTH).T


def pair_plots() -> Codes:
    """Make every plot of two people that there can be, [time, plot]."""
    plots = []
    for first, way in product((MOVER, OTHER), TYPE_OF):
        plot = [_ENTER[first], _ENTER[MOVER + OTHER - first]]
        for stretch, mark in enumerate(_MARKS):
            acts = zip(way, (_EXIT[OTHER], _ENTER[OTHER], _EXIT[OTHER]), strict=True)
            plot += [mark, *(act for when, act in acts if when == stretch)]
        plots.append(plot)
    return np.array(plots, np.uint8).T.copy()
