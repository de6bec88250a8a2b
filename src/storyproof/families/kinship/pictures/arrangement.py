"""Where everybody stands in the picture of a family, and where the lines run.

Spouses share a row, and children stand below their parents, one row below wherever that is possible. Somebody may marry
into another generation: two brothers may marry a woman and her niece. Then no rows put every child directly below its
parents, but some still put every child below them, because nobody is their own ancestor.

Each row holds nodes: households (a couple side by side, or one person) and, where somebody's parents are more than one
row up, gaps that let the line through. Lines run from the middle of a node to the child in a node of the next row.

Unrelated families are placed side by side or below each other. Horizontal lines run between the rows, and couples whose
lines would meet get separate levels. So no line crosses a box, and the lines of different people cannot be confused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from storyproof.families.kinship.genealogy import Genealogy

APART, BESIDE, THROUGH = 26.0, 26.0, 26.0  # pixels between nodes, between spouses, and that a gap takes
_CROSSING = 10_000.0  # pixels of line that one crossing costs
_ROUNDS = 8


class Hop(NamedTuple):
    """A line, or a part of one, from a node to one in the next row."""

    upper: int
    lower: int
    child: int


class Block:
    """Related people, in rows.

    Attributes:
        people: Who is in each node, from the left; empty if a line passes through.
        rows: The nodes of each row, from the left.
        hops: The lines below each row.
        left: The left edge of each node.
    """

    def __init__(self, family: Genealogy, block: Sequence[int], box: float) -> None:
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
        """Return the width of a node."""
        return len(self.people[node]) * (self.box + BESIDE) - BESIDE if self.people[node] else THROUGH

    def middle(self, node: int) -> float:
        """Return where lines leave a node."""
        return self.left[node] + self.width(node) / 2

    def into(self, hop: Hop) -> float:
        """Return how far from the left of its lower node a line arrives."""
        people = self.people[hop.lower]
        return people.index(hop.child) * (self.box + BESIDE) + self.box / 2 if people else THROUGH / 2

    def around(self, row: int) -> Iterator[Hop]:
        """Yield the lines above and below a row."""
        yield from self.hops[row]
        if row:
            yield from self.hops[row - 1]


def _in_order(family: Genealogy, block: Sequence[int]) -> Iterator[int]:
    """Yield everybody, children after their parents, with few jumps between families."""
    seen: set[int] = set()
    ahead = [person for person in reversed(block) if family.people[person].parents is None]
    while ahead:
        person = ahead.pop()
        if person not in seen:
            seen.add(person)
            yield person
            ahead += sorted(family.spouse(person) | family.children(person), reverse=True)
    yield from (person for person in block if person not in seen)


def arrange(family: Genealogy, block: Sequence[int], box: float) -> Block:
    """Order related people and give each a place.

    Args:
        family: The family.
        block: Those of its people who are to be arranged.
        box: The width of a person's box.
    """
    arranged = Block(family, block, box)
    _pack(arranged, range(len(arranged.rows)))
    for _ in range(_ROUNDS):
        if not any([_sort_row(arranged, row) for row in range(len(arranged.rows))] + [_try_swaps(arranged)]):
            break
    _place(arranged)
    return arranged


def _pack(block: Block, rows: Sequence[int]) -> None:
    """Place the nodes of rows side by side, centred in the picture."""
    for row in rows:
        nodes = block.rows[row]
        x = -sum(block.width(node) + APART for node in nodes) / 2
        for node in nodes:
            block.left[node] = x
            x += block.width(node) + APART


def _cost(block: Block, row: int) -> float:
    """Return the cost of the lines above and below a row: their crossings and their horizontal length."""
    cost = 0.0
    for gap in (row - 1, row):
        ends = (
            [(block.middle(hop.upper), block.left[hop.lower] + block.into(hop)) for hop in block.hops[gap]]
            if gap >= 0
            else []
        )
        cost += sum(abs(start - end) for start, end in ends)
        for place, (start, end) in enumerate(ends):
            cost += _CROSSING * sum((start - other[0]) * (end - other[1]) < 0 for other in ends[:place])
    return cost


def _sort_row(block: Block, row: int) -> bool:
    """Sort a row by the mean position of the linked nodes; return whether that was better."""
    ends: dict[int, list[float]] = {}
    for hop in block.around(row):
        ends.setdefault(hop.upper, []).append(block.left[hop.lower] + block.into(hop))
        ends.setdefault(hop.lower, []).append(block.middle(hop.upper))
    middles = {node: sum(ends.get(node, [block.middle(node)])) / len(ends.get(node, "1")) for node in block.rows[row]}
    return _try_order(block, row, sorted(block.rows[row], key=middles.__getitem__))


def _try_order(block: Block, row: int, order: list[int]) -> bool:
    """Reorder a row if that is better; return whether it was."""
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
    """Swap neighbours, also husband and wife, wherever that is better; return whether any swap was."""
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
    """Move every row as close as possible to its linked nodes, keeping its order; the leftmost node is at 0."""
    rows = range(len(block.rows))
    for row in [*[*rows, *reversed(rows)] * _ROUNDS, *rows]:  # downwards last, so that an only child hangs straight
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
    """Return the places nearest to those wanted (by least squares) that keep their order and do not overlap.

    After subtracting the widths to its left, each place must be at least the one before. So the nearest places are
    found by pooling neighbours that want to pass each other (isotonic regression).
    """
    before = [sum(widths[:place]) for place in range(len(widths))]
    pools: list[tuple[float, int]] = []  # mean wanted place, and size
    for place, offset in zip(wanted, before, strict=True):
        mean, size = place - offset, 1
        while pools and pools[-1][0] > mean:
            other, count = pools.pop()
            mean, size = (mean * size + other * count) / (size + count), size + count
        pools.append((mean, size))
    means = [mean for mean, size in pools for _ in range(size)]
    return [mean + offset for mean, offset in zip(means, before, strict=True)]


def households(family: Genealogy) -> list[int]:
    """Return everybody's household: that of their couple, or one of their own."""
    couples = len(family.couples)
    return [couples + number if each.marriage is None else each.marriage for number, each in enumerate(family.people)]


def blocks(family: Genealogy) -> list[list[int]]:
    """Group people who are related in any way; the group of the first person comes first."""
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
    groups: dict[int, list[int]] = {}
    for person, household in enumerate(home):
        groups.setdefault(block[household], []).append(person)
    return list(groups.values())


def generations(family: Genealogy, block: Sequence[int]) -> dict[int, int]:
    """Return the row of everybody in a block, from 0."""
    home = households(family)
    births = {(parents, home[person]) for person in block if (parents := family.people[person].parents) is not None}
    order = list(dict.fromkeys(home[person] for person in block))
    rows = _exact(order, births) or _loose(order, births)
    top = min(rows.values())
    return {person: rows[home[person]] - top for person in block}


def _exact(order: list[int], births: set[tuple[int, int]]) -> dict[int, int] | None:
    """Put every child directly below its parents; None if that is impossible."""
    rows = {order[0]: 0}
    ahead = [order[0]]
    for household in ahead:  # grows while it is read
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
    """Put every child below its parents, and those without parents as low as that allows."""
    rows = dict.fromkeys(order, 0)
    for _ in order:  # an upper bound, even if somebody were their own ancestor
        for parents, child in births:
            rows[child] = max(rows[child], rows[parents] + 1)
    born = {child for _, child in births}
    for household in order:
        below = [rows[child] for parents, child in births if parents == household]
        if below and household not in born:
            rows[household] = min(below) - 1
    return rows


HEIGHT = 30.0  # of a box
_EDGE = 12.0
_BESIDE = 900.0  # width in pixels up to which families are placed side by side
_GAP, _FIRST, _LEVEL = 42.0, 18.0, 9.0  # between two rows; to the first horizontal line, and to the next
_CLEAR = 5.0  # between a line down to somebody and a line down from somebody else
_NUDGES = (0.0, 9.0, -9.0, 18.0, -18.0)

Point = tuple[float, float]


class Layout(NamedTuple):
    """The layout of a family.

    Attributes:
        boxes: The upper left corner of everybody's box.
        births: The line to everybody who has parents, corner by corner from the middle between the parents.
        size: Width and height of the whole.
    """

    boxes: dict[int, Point]
    births: dict[int, list[Point]]
    size: Point


@lru_cache(maxsize=4096)
def lay_out(family: Genealogy, box: float) -> Layout:
    """Lay out a family. Names do not matter: leave them out, so that many families share one cached layout.

    Args:
        family: The family.
        box: The width of a person's box.
    """
    boxes: dict[int, Point] = {}
    births: dict[int, list[Point]] = {}
    x = y = _EDGE
    right = bottom = 0.0
    for people in blocks(family):
        part = _lay_out_block(arrange(family, people, box))
        width, height = part.size
        if x > _EDGE and x + width > _BESIDE:
            x, y = _EDGE, bottom + APART
        boxes |= {person: (x + left, y + top) for person, (left, top) in part.boxes.items()}
        births |= {person: [(x + left, y + top) for left, top in line] for person, line in part.births.items()}
        right, bottom = max(right, x + width), max(bottom, y + height)
        x += width + APART
    return Layout(boxes, births, (right + _EDGE, bottom + _EDGE))


def _lay_out_block(block: Block) -> Layout:
    """Lay out related people."""
    through = [block.middle(node) for node in range(len(block.left))]  # where lines leave each node
    births: dict[int, list[Point]] = {}
    boxes: dict[int, Point] = {}
    top = 0.0
    for nodes, hops in zip(block.rows, block.hops, strict=True):
        for node in nodes:
            for place, person in enumerate(block.people[node]):
                boxes[person] = block.left[node] + place * (block.box + BESIDE), top
        ends = {hop: _arrive(block, hop, hops, through) for hop in hops}
        levels = _levels(ends, through)
        below = top + HEIGHT + _GAP + _LEVEL * max(levels.values(), default=0)
        for hop, end in ends.items():
            y = top + HEIGHT + _FIRST + _LEVEL * levels[hop.upper]
            line = births.setdefault(hop.child, [(through[hop.upper], top + HEIGHT / 2)])
            line += [(through[hop.upper], y), (end, y)]
            if block.people[hop.lower]:
                line.append((end, below))
            else:
                through[hop.lower] = end
        top = below
    width = max(block.left[node] + block.width(node) for node in range(len(block.left)))
    return Layout(boxes, births, (width, max(y for _, y in boxes.values()) + HEIGHT))


def _arrive(block: Block, hop: Hop, hops: list[Hop], through: list[float]) -> float:
    """Return where a line reaches its lower node: in the middle, unless another line comes down there."""
    middle = block.left[hop.lower] + block.into(hop)
    others = [through[other.upper] for other in hops if other.upper != hop.upper]
    free = (middle + nudge for nudge in _NUDGES if all(abs(middle + nudge - other) > _CLEAR for other in others))
    return next(free, middle)


def _levels(ends: dict[Hop, float], through: list[float]) -> dict[int, int]:
    """Return a level for each node's horizontal line, such that no two on one level meet."""
    spans: dict[int, list[float]] = {}
    for hop, end in ends.items():
        spans.setdefault(hop.upper, [through[hop.upper]]).append(end)
    levels: dict[int, int] = {}
    last: list[float] = []  # where the last line on each level ends
    for node, span in sorted(spans.items(), key=lambda item: (min(item[1]), item[0])):
        level = next((level for level, end in enumerate(last) if end + _CLEAR < min(span)), len(last))
        last[level:] = [max(span), *last[level + 1 :]]
        levels[node] = level
    return levels
