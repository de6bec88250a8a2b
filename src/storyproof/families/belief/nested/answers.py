"""Answers and proofs by the oracle, for every kind of question."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from storyproof.families.belief.arrays import NOBODY, Flags, LocalNames
from storyproof.families.belief.nested import oracle
from storyproof.families.belief.nested.arrays import PlotArrays, encode_plots
from storyproof.families.belief.nested.questions import Ask, NestedQuestion, Reply
from storyproof.families.belief.nested.readings import NestedReading
from storyproof.families.belief.nested.world import PlotEvent
from storyproof.families.belief.oracle import STRANGER

Codes = npt.NDArray[np.int64]
# Returns the answers to the questions in the given places, asked of stories that have one column for each.
Evaluate = Callable[[PlotArrays, npt.NDArray[np.intp]], Codes]

_MISSING = 99  # the number of an object that is not in the story
_WIDTH = 1 << 14  # columns of stories that are evaluated at once


def _places(
    stories: PlotArrays, names: LocalNames, chains: Sequence[tuple[str, ...]], thing: str, reading: NestedReading
) -> npt.NDArray[np.int8]:
    """Return where chains believe an object to be, [chain, story]; all stories have the same names."""
    count = stories.kind.shape[1]
    asked = np.full((max(map(len, chains)), len(chains)), NOBODY, np.int8)
    for place, chain in enumerate(chains):
        asked[: len(chain), place] = [names.agents.get(agent, STRANGER) for agent in chain]
    columns = np.tile(np.arange(count), len(chains))
    things = np.full(len(columns), names.things.get(thing, _MISSING), np.int8)
    found = oracle.beliefs(stories, columns, things, np.repeat(asked, count, axis=1), reading)
    return found.reshape(len(chains), count)


def answer_codes(stories: PlotArrays, names: LocalNames, question: NestedQuestion, reading: NestedReading) -> Codes:
    """Return the answer to a question about each of some stories with the same names.

    Returns:
        A container's number or NOBODY, 0 or 1 for no or yes, or the bit mask of a set of agents.
    """
    ask, chain, thing = question.ask, question.chain, question.thing
    found: npt.NDArray[Any]
    if ask == Ask.MEMORY:
        number = np.full(stories.kind.shape[1], names.things.get(thing, _MISSING), np.int8)
        found = oracle.memory(stories, number)
    elif ask == Ask.BELIEVERS:
        agents = tuple(names.agents)
        places = _places(stories, names, [(agent, *chain) for agent in agents], thing, reading)
        believe = places == names.containers.get(str(question.place), _MISSING)
        found = (believe << np.arange(len(agents))[:, None]).sum(axis=0)
    elif ask == Ask.COMMON:
        group = tuple(dict.fromkeys(chain))
        chains = [tuple(group[member] for member in each) for each in _classes(len(group))]
        places = _places(stories, names, chains, thing, reading)
        found = np.where((places == places[0]).all(axis=0), places[0], NOBODY)
    elif ask == Ask.KNOWS_WHERE:
        own, real = _places(stories, names, [chain, ()], thing, reading)
        found = (own != NOBODY) & (own == real)
    elif ask == Ask.KNOWS_WRONG:
        own, other, thought, real = _places(stories, names, [chain[:1], chain[1:], chain, ()], thing, reading)
        found = (other != NOBODY) & (real != NOBODY) & (other != real)
        found &= (own != NOBODY) & (thought != NOBODY) & (own != thought)
    else:
        found = _places(stories, names, [() if ask == Ask.REALITY else chain], thing, reading)[0]
    return found.astype(np.int64)


@lru_cache(maxsize=64)
def _classes(count: int) -> tuple[tuple[int, ...], ...]:
    """Return chains of the agents 0, 1 …, one for each way in which the oracle can tell chains apart.

    It sees the first agent, the set of those after the first and before the last, and the last two agents.
    """
    found: dict[tuple[int, frozenset[int], tuple[int, ...]], tuple[int, ...]] = {}
    chains: list[tuple[int, ...]] = [(agent,) for agent in range(count)]
    for chain in chains:  # grows on the way
        key = chain[0], frozenset(chain[1:-1]), chain[-2:]
        if key not in found:
            found[key] = chain
            chains += [(*chain, agent) for agent in range(count) if agent != chain[-1]]
    return tuple(found.values())


def reply(code: int, names: LocalNames, question: NestedQuestion) -> Reply:
    """Return an answer in words."""
    if question.ask in (Ask.KNOWS_WHERE, Ask.KNOWS_WRONG):
        return "yes" if code else "no"
    if question.ask == Ask.BELIEVERS:
        return tuple(sorted(name for name, number in names.agents.items() if code >> number & 1))
    return None if code == NOBODY else tuple(names.containers)[code]


def oracle_answer(events: Sequence[PlotEvent], question: NestedQuestion, reading: NestedReading) -> Reply:
    """Return the oracle's answer to a question about a story."""
    stories, (names,) = encode_plots([events])
    return reply(int(answer_codes(stories, names, question, reading)[0]), names, question)


def oracle_proof(events: Sequence[PlotEvent], question: NestedQuestion, reading: NestedReading) -> tuple[int, ...]:
    """Return the 1-based numbers of the sentences that an answer rests on (see `prove`)."""
    stories, (names,) = encode_plots([events])
    flags = prove(stories, lambda changed, _: answer_codes(changed, names, question, reading))
    return tuple((np.flatnonzero(flags[:, 0]) + 1).tolist())


def prove(stories: PlotArrays, evaluate: Evaluate) -> Flags:
    """Return the sentences that answers rest on, [time, question].

    A proof has every sentence without which the answer is another. If these alone do not give the answer, because it
    has several grounds, it also has some of the others, as few as can be found by leaving out one after the other from
    the beginning: the latest grounds are kept.

    Args:
        stories: The story of each question, one column each.
        evaluate: Answers the questions of changed stories.
    """
    steps, count = stories.kind.shape
    everything = np.arange(count)
    answer = evaluate(stories, everything)
    needed = np.zeros((steps, count), np.bool_)
    chunk = max(1, _WIDTH // max(count, 1))
    for start in range(0, steps, chunk):
        times = np.arange(start, min(start + chunk, steps))
        which = np.tile(everything, len(times))
        deleted = np.arange(steps)[:, None] == np.repeat(times, count)
        found = evaluate(stories.pick(which).without(deleted), which) != answer[which]
        needed[times] = found.reshape(len(times), count)
    enough = evaluate(stories.without(~needed), everything) == answer
    open_ = np.flatnonzero(~enough)
    if len(open_):
        needed[:, open_] = _complete(stories.pick(open_), needed[:, open_], answer[open_], open_, evaluate)
    return needed


def _complete(
    stories: PlotArrays, needed: Flags, answer: Codes, which: npt.NDArray[np.intp], evaluate: Evaluate
) -> Flags:
    """Leave out sentences that are not needed, one after the other, as long as any can be left out."""
    kept = np.ones_like(needed)
    changed = True
    while changed:
        changed = False
        for time in range(len(kept)):
            tried = np.flatnonzero(kept[time] & ~needed[time])
            if not len(tried):
                continue
            without = kept[:, tried].copy()
            without[time] = False
            same = evaluate(stories.pick(tried).without(~without), which[tried]) == answer[tried]
            kept[time, tried[same]] = False
            changed |= bool(same.any())
    return kept
