"""Who stands beside whom in a family's picture, and how far apart.

In the rows stand nodes: households (a couple side by side, or one person) and, where somebody's parents are more than
one row up, gaps that let the line through. Lines run from the middle of a node to the child in a node of the next row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from storyproof.families.kinship.genealogy import Family
from storyproof.families.kinship.generations import generations, households

APART, BESIDE, THROUGH = 26.0, 26.0, 26.0  # pixels between nodes, between spouses, and that a gap takes
_CROSSING = 10_000.0  # pixels of line that one is as bad as
_ROUNDS = 8


class Hop(NamedTuple):
    """A line, or a part of one, from a node to one in the next row."""

    upper: int
    lower: int
    child: int


class Block:
    """People who are related, in rows.

    Attributes:
        people: Who is in each node, from the left; nobody if a line goes through.
        rows: The nodes of each row, from the left.
        hops: The lines below each row.
        left: Where each node begins.
    """

    def __init__(self, family: Family, block: Sequence[int], box: float) -> None:
        self.box = box
        self.people: list[tuple[int, ...]] = []
        self.left: list[float] = []
        row_of = generations(family, block)
        self.rows: list[list[int]] = [[] for _ in range(max(row_of.values()) + 1)]
        self.hops: list[list[Hop]] = [[] for _ in self.rows]
        home, node_of = households(family), dict[int, int]()
        for person in _in_order(family, block):
            couple = family.people[person].marriage
            if home[person] not in node_of:
                node_of[home[person]] = self._add(
                    (person,) if couple is None else family.couples[couple], row_of[person]
                )
        for child in block:
            parents = family.people[child].parents
            if parents is not None:
                above = row_of[family.couples[parents][0]]
                through = [self._add((), row) for row in range(above + 1, row_of[child])]
                way = [node_of[parents], *through, node_of[home[child]]]
                for row, (upper, lower) in enumerate(pairwise(way), start=above):
                    self.hops[row].append(Hop(upper, lower, child))

    def _add(self, people: tuple[int, ...], row: int) -> int:
        self.people.append(people)
        self.left.append(0.0)
        self.rows[row].append(len(self.left) - 1)
        return len(self.left) - 1

    def width(self, node: int) -> float:
        """Say how wide a node is."""
        return len(self.people[node]) * (self.box + BESIDE) - BESIDE if self.people[node] else THROUGH

    def middle(self, node: int) -> float:
        """Say where lines leave a node."""
        return self.left[node] + self.width(node) / 2

    def into(self, hop: Hop) -> float:
        """Say how far from the left of its lower node a line arrives."""
        people = self.people[hop.lower]
        return people.index(hop.child) * (self.box + BESIDE) + self.box / 2 if people else THROUGH / 2

    def around(self, row: int) -> Iterator[Hop]:
        """Give the lines above and below a row."""
        yield from self.hops[row]
        if row:
            yield from self.hops[row - 1]


def _in_order(family: Family, block: Sequence[int]) -> Iterator[int]:
    """Give everybody, children after their parents, with as few leaps as possible from family to family."""
    seen: set[int] = set()
    ahead = [person for person in reversed(block) if family.people[person].parents is None]
    while ahead:
        person = ahead.pop()
        if person not in seen:
            seen.add(person)
            yield person
            ahead += sorted(family.spouse(person) | family.children(person), reverse=True)
    yield from (person for person in block if person not in seen)


def arrange(family: Family, block: Sequence[int], box: float) -> Block:
    """Put people who are related in order, and in their places.

    Args:
        family: The family.
        block: Those of it to arrange.
        box: How wide a person is.
    """
    found = Block(family, block, box)
    _pack(found, range(len(found.rows)))
    for _ in range(_ROUNDS):
        if not any([_sort_row(found, row) for row in range(len(found.rows))] + [_try_swaps(found)]):
            break
    _place(found)
    return found


def _pack(block: Block, rows: Sequence[int]) -> None:
    """Put the nodes of rows side by side, around the middle of the picture."""
    for row in rows:
        nodes = block.rows[row]
        x = -sum(block.width(node) + APART for node in nodes) / 2
        for node in nodes:
            block.left[node] = x
            x += block.width(node) + APART


def _cost(block: Block, row: int) -> float:
    """Weigh the lines above and below a row by their crossings and by how far they go aside."""
    found = 0.0
    for gap in (row - 1, row):
        ends = (
            [(block.middle(hop.upper), block.left[hop.lower] + block.into(hop)) for hop in block.hops[gap]]
            if gap >= 0
            else []
        )
        found += sum(abs(start - end) for start, end in ends)
        for place, (start, end) in enumerate(ends):
            found += _CROSSING * sum((start - other[0]) * (end - other[1]) < 0 for other in ends[:place])
    return found


def _sort_row(block: Block, row: int) -> bool:
    """Sort a row by the middle of what its nodes are linked with; say whether that was better."""
    ends: dict[int, list[float]] = {}
    for hop in block.around(row):
        ends.setdefault(hop.upper, []).append(block.left[hop.lower] + block.into(hop))
        ends.setdefault(hop.lower, []).append(block.middle(hop.upper))
    middles = {node: sum(ends.get(node, [block.middle(node)])) / len(ends.get(node, "1")) for node in block.rows[row]}
    return _try_order(block, row, sorted(block.rows[row], key=middles.__getitem__))


def _try_order(block: Block, row: int, order: list[int]) -> bool:
    """Order a row anew if that is better; say whether it was."""
    before, cost = block.rows[row], _cost(block, row)
    if order == before:
        return False
    block.rows[row] = order
    _pack(block, [row])
    if _cost(block, row) < cost - 0.01:
        return True
    block.rows[row] = before
    _pack(block, [row])
    return False


def _try_swaps(block: Block) -> bool:
    """Swap neighbours, also husband and wife, wherever that is better; say whether it was anywhere."""
    better = False
    for row in range(len(block.rows)):
        for place in range(len(block.rows[row]) - 1):
            order = list(block.rows[row])
            order[place : place + 2] = order[place + 1], order[place]
            better |= _try_order(block, row, order)
        for node in block.rows[row]:
            if len(block.people[node]) == 2:
                cost = _cost(block, row)
                block.people[node] = block.people[node][::-1]
                if _cost(block, row) < cost - 0.01:
                    better = True
                else:
                    block.people[node] = block.people[node][::-1]
    return better


def _place(block: Block) -> None:
    """Move every row as near as can be to what it is linked with, without changing its order; the leftmost is at 0."""
    rows = range(len(block.rows))
    for row in [*[*rows, *reversed(rows)] * _ROUNDS, *rows]:  # down at last, so that an only child hangs straight
        wanted: dict[int, list[float]] = {}
        for hop in block.around(row):
            into = block.into(hop)
            wanted.setdefault(hop.lower, []).append(block.middle(hop.upper) - into)
            wanted.setdefault(hop.upper, []).append(block.left[hop.lower] + into - block.width(hop.upper) / 2)
        nodes = block.rows[row]
        means = [sum(wanted[node]) / len(wanted[node]) if node in wanted else block.left[node] for node in nodes]
        for node, left in zip(nodes, _spread(means, [block.width(node) + APART for node in nodes]), strict=True):
            block.left[node] = left
    leftmost = min(block.left)
    block.left = [left - leftmost for left in block.left]


def _spread(wanted: Sequence[float], widths: Sequence[float]) -> list[float]:
    """Give the places nearest to those wanted (by least squares) that keep their order and do not overlap.

    Less what stands to its left, each place must be no less than the one before; so the nearest are found by pooling
    neighbours that want to pass each other.
    """
    before = [sum(widths[:place]) for place in range(len(widths))]
    pools: list[tuple[float, int]] = []  # what it wants on average, how many are in it
    for place, offset in zip(wanted, before, strict=True):
        mean, size = place - offset, 1
        while pools and pools[-1][0] > mean:
            other, count = pools.pop()
            mean, size = (mean * size + other * count) / (size + count), size + count
        pools.append((mean, size))
    means = [mean for mean, size in pools for _ in range(size)]
    return [mean + offset for mean, offset in zip(means, before, strict=True)]
