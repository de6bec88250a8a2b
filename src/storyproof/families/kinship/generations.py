"""Rows for a family: spouses in one, children below their parents, one row below wherever that is possible.

Somebody may marry into another generation: two brothers marry a woman and her niece. Then no rows put every child just
below its parents, but some still put every child below them, because nobody is their own ancestor.
"""

from __future__ import annotations

from collections.abc import Sequence

from storyproof.families.kinship.genealogy import Family


def households(family: Family) -> list[int]:
    """Give everybody's household: that of their couple, or one of their own."""
    couples = len(family.couples)
    return [couples + number if each.marriage is None else each.marriage for number, each in enumerate(family.people)]


def blocks(family: Family) -> list[list[int]]:
    """Part people who are not related in any way, those of the first person first."""
    home = households(family)
    linked: dict[int, list[int]] = {}
    for child, born in enumerate(family.people):
        if born.parents is not None:
            linked.setdefault(home[child], []).append(born.parents)
            linked.setdefault(born.parents, []).append(home[child])
    block: dict[int, int] = {}
    for start in home:
        ahead = [] if start in block else [start]
        while ahead:
            each = ahead.pop()
            if each not in block:
                block[each] = start
                ahead += linked.get(each, [])
    found: dict[int, list[int]] = {}
    for person, household in enumerate(home):
        found.setdefault(block[household], []).append(person)
    return list(found.values())


def generations(family: Family, block: Sequence[int]) -> dict[int, int]:
    """Give the row of everybody in a block, from 0."""
    home = households(family)
    births = {(parents, home[person]) for person in block if (parents := family.people[person].parents) is not None}
    order = list(dict.fromkeys(home[person] for person in block))
    rows = _exact(order, births) or _loose(order, births)
    top = min(rows.values())
    return {person: rows[home[person]] - top for person in block}


def _exact(order: list[int], births: set[tuple[int, int]]) -> dict[int, int] | None:
    """Put every child just below its parents; None if that cannot be."""
    rows = {order[0]: 0}
    ahead = [order[0]]
    for household in ahead:  # grows on the way
        steps = [(child, 1) for parents, child in births if parents == household]
        steps += [(parents, -1) for parents, child in births if child == household]
        for other, step in sorted(steps):
            if other not in rows:
                rows[other] = rows[household] + step
                ahead.append(other)
            elif rows[other] != rows[household] + step:
                return None
    return rows


def _loose(order: list[int], births: set[tuple[int, int]]) -> dict[int, int]:
    """Put every child below its parents, and those who have no parents as low as that allows."""
    rows = dict.fromkeys(order, 0)
    for _ in order:  # so often at most, even if somebody were their own ancestor
        for parents, child in births:
            rows[child] = max(rows[child], rows[parents] + 1)
    born = {child for _, child in births}
    for household in order:
        below = [rows[child] for parents, child in births if parents == household]
        if below and household not in born:
            rows[household] = min(below) - 1
    return rows
