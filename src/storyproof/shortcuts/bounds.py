"""The structural baseline: the best score of constant answers per slot.

A slot is what the structure of a question gives away (its kind, say). The answerer sees the slot and always makes the
same choice for it. Higher scores use something else. The score is computed from the data's own answers, in
hindsight, so it is the most that such an answerer can reach and not an estimate.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import product

import numpy as np

from storyproof.shortcuts.results import Forced
from storyproof.stats import Flags, Ints

_MOST_ASSIGNMENTS = 20_000  # as many are tried one by one; beyond, each slot is bettered in turn

Demand = frozenset[tuple[str, int]]  # which choices answer a story: (slot, bits of the choices that are right)


def force(
    right: Flags, slots: Sequence[str], cluster: Ints, kinds: Sequence[str], choices: Sequence[str], about: str
) -> Forced:
    """Find the best fixed choice for each slot, on average and joint.

    Args:
        right: [choice, question], whether each choice would answer rightly.
        slots: What the answerer sees of each question.
        cluster: The story of each.
        kinds: Kind of each question, to split the score by.
        choices: Names of the choices.
        about: What the answerer sees, in words.
    """
    which = np.array(slots)
    names = sorted(set(slots))
    best = {slot: int(right[:, which == slot].sum(axis=1).argmax()) for slot in names}
    hits = right[np.array([best[slot] for slot in slots]), np.arange(len(slots))]
    demands = _demands(right, slots, cluster)
    joint = _best_together(demands, best, len(choices))
    kind_of = np.array(kinds)
    return Forced(
        accuracy=float(hits.mean()),
        joint_accuracy=_satisfied(demands, joint) / max(1, demands.total()),
        by_kind={kind: float(hits[kind_of == kind].mean()) for kind in dict.fromkeys(kinds)},
        choices={slot: choices[best[slot]] for slot in names},
        joint_choices={slot: choices[joint[slot]] for slot in names},
        about=about,
    )


def _demands(right: Flags, slots: Sequence[str], cluster: Ints) -> Counter[Demand]:
    """Count stories by what must be chosen to answer all their questions."""
    bits = (right.astype(np.int64) << np.arange(len(right))[:, None]).sum(axis=0).tolist()
    stories: dict[int, dict[str, int]] = defaultdict(dict)
    for story, slot, fitting in zip(cluster.tolist(), slots, bits, strict=True):
        stories[story][slot] = stories[story].get(slot, ~0) & fitting  # a slot asked twice has one choice for both
    return Counter(frozenset(story.items()) for story in stories.values())


def _satisfied(demands: Counter[Demand], choice: dict[str, int]) -> int:
    """Count the stories that a choice for each slot answers."""
    return sum(count for demand, count in demands.items() if all(fits >> choice[slot] & 1 for slot, fits in demand))


def _best_together(demands: Counter[Demand], start: dict[str, int], choices: int) -> dict[str, int]:
    """Find the choices that together answer most stories; of equals those that differ least from `start`."""
    best = dict(start)
    for part in _parts(demands, start):
        own: Counter[Demand] = Counter()
        for demand, count in demands.items():
            if any(slot in part for slot, _ in demand):
                own[demand] += count
        open_slots = _undecided(own, part, best, choices)
        if choices ** len(open_slots) <= _MOST_ASSIGNMENTS:
            tried = [
                dict(zip(open_slots, each, strict=True)) for each in product(range(choices), repeat=len(open_slots))
            ]
            scores = [
                (_satisfied(own, {**best, **each}), -sum(start[slot] != pick for slot, pick in each.items()))
                for each in tried
            ]
            best.update(tried[scores.index(max(scores))])
        else:
            _better_in_turn(own, best, open_slots, choices)
    return best


def _parts(demands: Counter[Demand], slots: dict[str, int]) -> list[set[str]]:
    """Split the slots into those that hang together by being asked of one story."""
    parts: list[set[str]] = []
    for asked in [{slot} for slot in slots] + [{slot for slot, _ in demand} for demand in demands]:
        touching = [part for part in parts if part & asked]
        parts = [part for part in parts if not part & asked] + [asked.union(*touching)]
    return [part for part in parts if part]


def _undecided(demands: Counter[Demand], part: set[str], best: dict[str, int], choices: int) -> list[str]:
    """List the slots for which no choice is right whenever any is; sets `best` for the others."""
    seen: dict[str, set[int]] = defaultdict(set)
    for demand in demands:
        for slot, fits in demand:
            if fits & ((1 << choices) - 1):
                seen[slot].add(fits)
    left = []
    for slot in sorted(part):
        always = [pick for pick in range(choices) if all(fits >> pick & 1 for fits in seen[slot])]
        if not always:
            left.append(slot)
        elif best[slot] not in always:
            best[slot] = always[0]
    return left


def _better_in_turn(demands: Counter[Demand], best: dict[str, int], slots: Sequence[str], choices: int) -> None:
    """Better one slot after the other until no single change helps."""
    score, improved = _satisfied(demands, best), True
    while improved:
        improved = False
        for slot, pick in product(slots, range(choices)):
            count = _satisfied(demands, {**best, slot: pick})
            if count > score:
                score, improved, best[slot] = count, True, pick
