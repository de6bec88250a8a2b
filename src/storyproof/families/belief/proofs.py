"""The sentences on which the oracle's answers rest, as [time, column] flags."""

from __future__ import annotations

import numpy as np

from storyproof.families.belief.arrays import NOBODY, Flags, Small
from storyproof.families.belief.oracle import Belief, Times, View, at_time, last_time, last_times_so_far


def _times(seen: View) -> Times:
    return np.arange(seen.put.shape[0], dtype=np.int16)[:, None]


def control_proof(seen: View, found: Belief) -> Flags:
    """Prove memory and reality: the one placing or move that decides."""
    proof: Flags = _times(seen) == found.decided
    return proof


def belief_proof(seen: View, chain: Small, found: Belief) -> Flags:
    """Prove beliefs under the default reading.

    The sentence that put the object where it was at the deciding instant; for each agent of the chain the sentence that
    last brought it into the room; and, if the object moved on later, what broke up the chain and the moves it missed.
    """
    times, decided = _times(seen), found.decided
    before = times <= decided
    proof: Flags = times == last_time(seen.put & before)
    together = np.ones(proof.shape, np.bool_)
    for agent in chain:
        arrived, inside = _arrival(seen, agent, decided)
        proof |= times == arrived
        together &= inside | (agent == NOBODY)
    moved = np.concatenate([seen.put[:1], seen.place[1:] != seen.place[:-1]])  # being told again is no move
    missed = moved & (times > decided)
    broken = (~together & (times > decided)).argmax(axis=0)
    stood_together = at_time(together.view(np.int8), decided) == 1
    proof |= (times == broken) & missed.any(axis=0) & stood_together & (broken > decided)
    proof |= missed
    return proof & (decided >= 0)


def _arrival(seen: View, agent: Small, decided: Times) -> tuple[Times, Flags]:
    """Give when the agent last came into the object's room by the deciding instant (-1: not in), and when it is in."""
    arrived = np.full(decided.shape, -1, np.int16)
    inside = np.zeros((seen.put.shape[0], *decided.shape), np.bool_)
    for number in range(seen.position.shape[1]):
        place = seen.position[:, number]
        came = np.empty(place.shape, np.bool_)
        came[0] = place[0] != NOBODY
        came[1:] = place[1:] != place[:-1]
        mine = agent == number
        there = place == seen.room
        inside |= there & mine
        when = at_time(last_times_so_far(came), decided)
        np.copyto(arrived, when, where=mine & (at_time(there.view(np.int8), decided) == 1))
    return arrived, inside
