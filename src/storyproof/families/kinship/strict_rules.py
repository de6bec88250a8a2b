"""The rules of the strict reading, derived by program from the definition of a family.

Every relation is a path from one person to another with four kinds of steps: up to a parent, down to a child, to the
spouse, to a sibling. Two relations in a row are their paths joined, and a path can be shortened wherever the laws of a
family say where two steps lead: a child's parent is oneself or one's spouse, a spouse's child is one's own child, and
so on. A composition is sound if all the paths to which it may reduce are cases of one relation. Paths that lead back to
their beginning are ignored, because the people of a story are distinct.
"""

from __future__ import annotations

from functools import cache
from itertools import product

from storyproof.families.kinship.relations import NAMES

UP, DOWN, SPOUSE, SIBLING = "UDSB"
_PATHS = {
    "child": {"D"},
    "inv-child": {"U"},
    "SO": {"S"},
    "sibling": {"B"},
    "grand": {"DD"},
    "inv-grand": {"UU"},
    "un": {"BD"},
    "inv-un": {"UB"},
    "in-law": {"DS"},
    "inv-in-law": {"SU"},
    "sibling-in-law": {"SB", "BS"},
}
_LAWS = {
    DOWN + UP: ("", SPOUSE),  # everyone has two married parents
    UP + DOWN: ("", SIBLING),  # couples share all their children
    SPOUSE + SPOUSE: ("",),
    UP + SPOUSE: (UP,),
    SPOUSE + DOWN: (DOWN,),
    SIBLING + UP: (UP,),
    DOWN + SIBLING: (DOWN,),
    SIBLING + SIBLING: ("", SIBLING),
}


def shortest_paths(path: str) -> frozenset[str]:
    """Return all paths to which a path may reduce."""
    for place in range(len(path) - 1):
        steps = path[place : place + 2]
        if steps in _LAWS:
            return frozenset().union(*(shortest_paths(path[:place] + new + path[place + 2 :]) for new in _LAWS[steps]))
    return frozenset([path])


@cache
def sound_compositions() -> dict[tuple[str, str], str]:
    """Return, for each two relations in a row, the one that always holds between the ends, if there is one."""
    found = {}
    for first, second in product(NAMES, repeat=2):
        paths = {
            short
            for one, other in product(_PATHS[first], _PATHS[second])
            for short in shortest_paths(one + other)
            if short  # the ends are different people
        }
        heads = [name for name in NAMES if paths and paths <= _PATHS[name]]
        if heads:
            found[first, second] = heads[0]
    return found
