"""The strict reading's rules, derived by program from what a family is.

Every relation is a way from one person to another in four kinds of steps: up to a parent, down to a child, to the
spouse, to a sibling. Two relations in a row are their ways put together, and a way gets shorter wherever the laws of a
family say where two steps lead: a child's parent is oneself or one's spouse, a spouse's child is one's own child, and
so on. A composition is sound if all the ways it may get down to are cases of one relation; that one way leads back to
where it began does not count, because the people of a story are distinct.
"""

from __future__ import annotations

from functools import cache
from itertools import product

from storyproof.families.kinship.relations import NAMES

UP, DOWN, SPOUSE, SIBLING = "UDSB"
_WAYS = {
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


def shortest_ways(way: str) -> frozenset[str]:
    """Give all ways that a way may come down to."""
    for place in range(len(way) - 1):
        steps = way[place : place + 2]
        if steps in _LAWS:
            return frozenset().union(*(shortest_ways(way[:place] + new + way[place + 2 :]) for new in _LAWS[steps]))
    return frozenset([way])


@cache
def sound_compositions() -> dict[tuple[str, str], str]:
    """Give for each two relations in a row the one that always holds between the ends, where there is one."""
    found = {}
    for first, second in product(NAMES, repeat=2):
        ways = {
            short
            for one, other in product(_WAYS[first], _WAYS[second])
            for short in shortest_ways(one + other)
            if short  # the ends are different people
        }
        heads = [name for name in NAMES if ways and ways <= _WAYS[name]]
        if heads:
            found[first, second] = heads[0]
    return found
