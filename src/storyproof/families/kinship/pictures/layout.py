"""The layout of a family's picture: where everybody's box is, and where the lines run.

Rows are generations; unrelated families are placed side by side or below each other. Horizontal lines run between the
rows, and couples whose lines would meet get separate levels. So no line crosses a box, and the lines of different
people cannot be confused.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from storyproof.families.kinship.genealogy import Genealogy
from storyproof.families.kinship.pictures.arrangement import APART, BESIDE, Block, Hop, arrange, blocks

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
    found: dict[int, int] = {}
    last: list[float] = []  # where the last line on each level ends
    for node, span in sorted(spans.items(), key=lambda item: (min(item[1]), item[0])):
        level = next((level for level, end in enumerate(last) if end + _CLEAR < min(span)), len(last))
        last[level:] = [max(span), *last[level + 1 :]]
        found[node] = level
    return found
