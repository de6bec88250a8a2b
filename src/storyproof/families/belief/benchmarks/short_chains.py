"""What all chains of few agents believe, found for whole stories at once.

Questions about beliefs are drawn and compared with the beliefs of shorter chains. Those of one, two or three agents are
so few that it is faster to find them all than to look up each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations

import numpy as np
import numpy.typing as npt

from storyproof.families.belief import oracle
from storyproof.families.belief.arrays import NOBODY, Small
from storyproof.families.belief.benchmarks.plot_sampler import select
from storyproof.families.belief.readings import CLOSED, BeliefReading
from storyproof.families.belief.time_sets import last, unpack
from storyproof.families.belief.trajectories import Course

Columns = npt.NDArray[np.intp]

_ALL_PAIRS = 48  # beliefs of a story up to which all are looked up at once
_ALL_SETS = 320  # the same where the order within chains is all one, so that many are found at once
_SHORT = 3  # agents of a chain up to which nobody occurs twice if there are enough; see `draw_chains`


@dataclass(frozen=True, slots=True)
class ShortChains:
    """What all chains of few agents believe about each object.

    Attributes:
        rows: The row of each chain, by the number of its agents less one, [agent, …].
        places: What they believe, [row, object, story].
    """

    rows: list[Columns]
    places: Small

    def pick(self, stories: Columns) -> ShortChains:
        """Return what is believed in some of the stories."""
        return ShortChains(self.rows, self.places.take(stories, axis=-1))

    def of(self, chain: Small, at: Columns) -> Small:
        """Return what chains believe.

        Args:
            chain: The agents, [place in the chain, question].
            at: The number of each question's object, times the number of stories, and that of its story.
        """
        rows = self.rows[len(chain) - 1]
        number = chain[0].astype(np.int16)
        for agent in chain[1:]:
            number = number * np.int16(len(rows)) + agent
        index = (rows * self.places[0].size).reshape(-1).take(number)
        index += at
        beliefs: Small = self.places.reshape(-1).take(index)
        return beliefs


@lru_cache(maxsize=64)
def arrangements(agents: int, length: int) -> Small:
    """Return all ways to arrange a number of the agents, [place, way]."""
    return np.ascontiguousarray(np.array(list(permutations(range(agents), length)), np.int8).T)


def find_short(course: Course, objects: int, agents: int, order: int, reading: BeliefReading) -> ShortChains:
    """Return what all chains of few agents believe, up to the number that is worth the effort."""
    by_set = not oracle.is_weighed(reading)
    rows, sizes, chains = _number_chains(agents, min(order, agents, _SHORT if by_set else 2), by_set)
    most = _ALL_SETS if by_set else _ALL_PAIRS
    longest = max(1, sum(objects * size <= most for size in sizes))
    chains = chains[: sizes[longest - 1]]
    if by_set:
        beliefs = beliefs_of_all(course, chains, reading)
        # Without stories, it is not known how many objects they have.
        return ShortChains(rows[:longest], beliefs.reshape(len(chains), objects, course.count))
    parts = [_beliefs_of(course, objects, arrangements(agents, length), reading) for length in range(1, longest + 1)]
    return ShortChains(rows[:longest], np.ascontiguousarray(np.concatenate(parts, axis=1).transpose(1, 0, 2)))


@lru_cache(maxsize=64)
def _number_chains(agents: int, longest: int, by_set: bool) -> tuple[list[Columns], list[int], list[tuple[int, ...]]]:
    """Number the chains in which nobody occurs twice.

    Args:
        agents: How many agents there are.
        longest: How many of them a chain has at most.
        by_set: Whether chains believe the same that differ only in the order of those after the first.

    Returns:
        The number of each chain, by how many agents it has, less one, [agent, …]; how many numbers there are for chains
        of at most this number of agents; and one chain for each number.
    """
    rows, sizes, chains = [], [], dict[tuple[int, ...], int]()
    for length in range(1, longest + 1):
        row = np.zeros((agents,) * length, np.intp)
        for way in permutations(range(agents), length):
            row[way] = chains.setdefault((way[0], *sorted(way[1:])) if by_set else way, len(chains))
        rows.append(row)
        sizes.append(len(chains))
    return rows, sizes, list(chains)


def _beliefs_of(course: Course, objects: int, chains: Small, reading: BeliefReading) -> Small:
    """Return what chains of agents believe about each object, [object, chain, story]."""
    count, ways = course.count, chains.shape[1]
    thing = np.repeat(np.arange(objects, dtype=np.int8), ways * count)
    story = np.tile(np.arange(count), objects * ways)
    chain = np.tile(np.repeat(chains, count, axis=1), (1, objects))
    return oracle.beliefs(course, story, thing, chain, reading).reshape(objects, ways, count)


def beliefs_of_all(course: Course, chains: Sequence[Sequence[int]], reading: BeliefReading) -> Small:
    """Return what the same chains believe about every object at the end in all stories, [chain, object, story].

    Much faster than `beliefs` for as many questions, as nothing is looked up for each.

    Args:
        course: What happens in the stories.
        chains: Chains without repetitions side by side.
        reading: One under which nothing is weighed.
    """
    shown, said = course.sights, course.hearing
    steps, objects, count = len(course.stories.kind), course.objects, course.count
    # Where a chain believes an object to be which learns it last from a message, or by seeing one of the objects, by
    # the time of this; at first, if it learns nothing.
    places = np.full((1 + objects, 1 + steps, count), NOBODY, np.int8)
    places[0, 1:] = course.stories.container.take(course.origin, axis=1)
    for time, put in enumerate(unpack(course.puts, steps), start=1):
        places[1:, time] = select(put, places[0, time], places[1:, time - 1])
    of_object = np.arange(1, 1 + objects)[:, None] * ((1 + steps) * count)
    start = np.arange(count) + count
    beliefs = np.empty((len(chains), objects, count), np.int8)
    for number, (first, *rest) in enumerate(chains):
        sees, hears = shown.noticing[:, first], said.hearing[:, first]
        if not rest:
            hears = hears & ~course.by[:, first]  # one's own words teach one nothing
        for agent in rest:
            sees, hears = sees & shown.present[:, agent], hears & said.group[:, agent]
        if reading.sight == CLOSED:
            sees = sees & course.puts
        learns = sees | (hears[:, None] & course.about)
        only_told = learns ^ sees
        is_shown = sees[0] > only_told[0]  # people believe what they see
        for word in range(1, len(learns)):
            is_shown = np.where(learns[word] != 0, sees[word] > only_told[word], is_shown)
        index = last(learns)
        index *= count
        index += start
        index += is_shown * of_object
        places.reshape(-1).take(index, out=beliefs[number], mode="wrap")  # the fastest mode; nothing is out of bounds
    return beliefs
