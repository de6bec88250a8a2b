"""Tasks: what a story contains besides its chain of facts, and how to tell that from its edges.

The names are those of the CLUTRR paper. Noise facts are supporting (a second path between two people of the chain),
irrelevant (a relative of somebody in the chain) or disconnected (about others). A memory task asks for a stated fact.
"""

from __future__ import annotations

from collections.abc import Sequence

CLEAN, SUPPORTING, IRRELEVANT, DISCONNECTED, ALL, MEMORY, MIXED = TASKS = (
    "clean",
    "supporting",
    "irrelevant",
    "disconnected",
    "all",
    "memory",
    "mixed",
)
NOISE = (SUPPORTING, IRRELEVANT, DISCONNECTED)
TASK_NUMBERS = {task: number for number, task in enumerate(TASKS, start=1)}  # as in `task_1.3`
TASKS_BY_NUMBER = {number: task for task, number in TASK_NUMBERS.items()}


def noise_types(edges: Sequence[tuple[int, int]], k: int) -> list[str]:
    """Return the type of each noise fact, from its connections with the chain.

    Args:
        edges: All facts as pairs of people, the chain first.
        k: The number of facts in the chain.
    """
    chain = {person for edge in edges[:k] for person in edge}
    noise = list(edges[k:])
    types = []
    for edge in noise:
        part, size = set(edge), 0
        while len(part) > size:  # until everything connected outside of the chain is in it
            size = len(part)
            for other in noise:
                if (part - chain) & set(other):
                    part |= set(other)
        touched = len(part & chain)
        types.append(SUPPORTING if touched > 1 else IRRELEVANT if touched else DISCONNECTED)
    return types


def story_type(noise: Sequence[str], asked: tuple[int, int], edges: Sequence[tuple[int, int]]) -> str:
    """Return the type of a story: memory if the fact asked for is stated, else by the noise that it has."""
    if asked in edges:
        return MEMORY
    kinds = [name for name in NOISE if name in noise]
    return CLEAN if not kinds else kinds[0] if len(kinds) == 1 else ALL
