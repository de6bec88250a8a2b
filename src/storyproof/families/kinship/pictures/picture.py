"""A family as an SVG picture: generations in rows, couples joined by a line from which their children hang.

Men have boxes with corners, women have round ones; people whom the story does not mention are grey. The two people
asked about are highlighted, and so are those through whom the proof goes, numbered in its order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from storyproof.errors import DataError, ParseError, quoted
from storyproof.example import Example
from storyproof.families.family import Picture
from storyproof.families.kinship.baselines import decide_genders
from storyproof.families.kinship.checker import Witnesses, find_witnesses
from storyproof.families.kinship.genealogy import Genealogy, Person
from storyproof.families.kinship.people import UNKNOWN, parse_people, split_person
from storyproof.families.kinship.pictures.arrangement import HEIGHT, Layout, lay_out
from storyproof.families.kinship.relations import FEMALE, MALE, NAMES, WORDS, word
from storyproof.families.kinship.row import KinshipRow, build_row, check_references
from storyproof.pictures.svg import element, frame, label, number, text_width

_REQUIRED = ("query", "genders", "edges", "edge_types")


class FamilyScene(NamedTuple):
    """A row, and families that show the status of its label.

    Attributes:
        row: Its people and facts.
        steps: The steps of the proof: first person, linking person, second person; None if the row has none.
        relations: What the second person is to the first in each step; None if the row does not tell.
        foreign: Its words that strict kinship does not define.
        witnesses: What the checker finds; None if there are such words.
    """

    row: KinshipRow
    steps: list[tuple[int, int, int]] | None
    relations: list[str] | None
    foreign: tuple[str, ...]
    witnesses: Witnesses | None


def read_scene(example: Example) -> FamilyScene | None:
    """Read an example and find the families that fit it; None if it lacks its facts.

    Raises:
        DataError: If it refers to somebody who is not in the row.
    """
    if any(example.get(name) is None for name in _REQUIRED):
        return None
    people = [split_person(each) for each in example.get("genders")]
    names = tuple(name for name, _ in people)
    genders = tuple("" if gender == UNKNOWN else gender for _, gender in people)
    query = example.get("query")
    if len(query) != 2 or not set(query) <= set(names):
        raise DataError(f"{example.id} asks about {quoted(query)}; expected two of {', '.join(names)}.")
    try:
        check_references(example.extra, len(names))
    except ParseError as error:
        raise DataError(f"{example.id}: {error}") from error
    steps = example.get("proof_steps")
    row = build_row(
        example.extra,
        (names, genders),
        tuple((first, second) for first, second in example.get("edges")),
        tuple(example.get("edge_types"))[: len(example.get("edges"))],
        example.get("k") or 0,
        (query[0], query[1]),
        example.answer,
    )
    foreign = tuple(sorted({*row.words, example.answer} - set(WORDS)))
    decided = parse_people(decide_genders(example.as_row())["genders"])[1] if "" in genders else genders
    witnesses = None if foreign else find_witnesses(decided, row.facts, row.query, names)
    proof = None if steps is None else [(first, via, second) for first, via, second in steps]
    return FamilyScene(row, proof, example.get("proof_relations"), foreign, witnesses)


def proof_path(scene: FamilyScene) -> list[int]:
    """Return the people through whom a proof goes, in order; without a proof, those of the chain."""
    row = scene.row
    if not scene.steps:
        return list(range(min(row.k + 1, len(row.names)))) if row.k else []
    steps = list(scene.steps)
    path, ahead = [row.pair[0]], [row.pair]
    while ahead:
        one, other = ahead.pop()
        step = next((step for step in steps if (step[0], step[2]) == (one, other)), None)
        if step is None:
            path.append(other)
        else:
            steps.remove(step)  # so that a circular proof comes to an end
            ahead += [(step[1], other), (one, step[1])]
    return path


_NARROWEST, _WIDEST = 70.0, 150.0  # boxes, in pixels
_PAD = 22.0
_CORNERS = {MALE: 1.0, FEMALE: HEIGHT / 2}

Line = tuple[str, int]  # ("birth", child) or ("marriage", one of the spouses)


def family_picture(family: Genealogy, asked: tuple[int, int], path: Sequence[int], moved: int | None = None) -> str:
    """Draw a family.

    Args:
        family: The family.
        asked: The two people asked about: what is the second to the first?
        path: The people through whom the proof goes, from one to the next.
        moved: The person whose place differs between several families that are shown side by side.
    """
    names = [_name(person) for person in family.people]
    widest = max(map(text_width, names), default=0.0) + _PAD
    box = min(max(10 * -(-widest // 10), _NARROWEST), _WIDEST)  # multiples of ten, so that more families share a layout
    layout = lay_out(_nameless(family), box)
    on = {part for one, other in pairwise(path) for part in _between(family, one, other)}
    steps: dict[int, list[str]] = {}
    for place, person in enumerate(path, start=1):
        steps.setdefault(person, []).append(str(place))
    parts = list(_lines(family, layout, box, on))
    for person, (x, y) in sorted(layout.boxes.items()):
        marks = ("asked" if person in asked else "", "moved" if person == moved else "")
        parts.append(_person(family.people[person], person, (x, y, box), marks, steps.get(person, [])))
    title = f"A family with {names[asked[0]]} and {names[asked[1]]}"
    return frame("family", title, _describe(family, asked, names, path), layout.size, parts)


def _name(person: Person) -> str:
    if person.name is not None:
        return person.name
    return "a man" if person.gender == MALE else "a woman"


def _nameless(family: Genealogy) -> Genealogy:
    return Genealogy(tuple(Person(None, "", each.parents, each.marriage) for each in family.people), family.couples)


def _describe(family: Genealogy, asked: tuple[int, int], names: Sequence[str], path: Sequence[int]) -> str:
    """Describe in words what the second person is to the first, and through whom."""
    first, second = asked
    relations = family.relations(first, second)
    words = [word(each, family.people[second].gender) for each in NAMES if each in relations]
    relation = f"{names[second]} is {names[first]}'s {' and '.join(words)}" if words else "They have no named relation"
    through = f"; the proof goes through {', '.join(names[person] for person in path)}" if path else ""
    return f"{relation}{through}."


def _between(family: Genealogy, one: int, other: int) -> Iterator[Line]:
    """Yield the lines of a shortest path from one person to another."""
    came: dict[int, int] = {one: one}
    ahead = [one]
    for person in ahead:  # grows while it is read
        near = family.parents(person) | family.children(person) | family.spouse(person) | family.siblings(person)
        for each in sorted(near - came.keys()):
            came[each] = person
            ahead.append(each)
    while other in came and came[other] != other:
        yield from _step(family, came[other], other)
        other = came[other]


def _step(family: Genealogy, one: int, other: int) -> Iterator[Line]:
    """Yield the lines between two people of whom one is the other's parent, child, spouse or sibling."""
    if other in family.parents(one):
        yield from (("birth", one), ("marriage", other))
    elif other in family.children(one):
        yield from (("birth", other), ("marriage", one))
    elif other in family.spouse(one):
        yield from (("marriage", one), ("marriage", other))
    else:
        yield from (("birth", one), ("birth", other))


def _lines(family: Genealogy, layout: Layout, box: float, on: set[Line]) -> Iterator[str]:
    """Yield all lines, and those that are highlighted once more."""
    bright = []
    for couple, pair in enumerate(family.couples):
        left, right = sorted(pair, key=layout.boxes.__getitem__)
        start, end = layout.boxes[left][0] + box, layout.boxes[right][0]
        y, middle = layout.boxes[left][1] + HEIGHT / 2, (start + end) / 2
        yield element("path", d=_drawn([(start, y), (end, y)]), class_="line", data_couple=couple)
        for person, edge in ((left, start), (right, end)):
            if ("marriage", person) in on:
                bright.append(element("path", d=_drawn([(edge, y), (middle, y)]), class_="line on"))
    for child, line in layout.births.items():
        parents = family.people[child].parents
        yield element("path", d=_drawn(line), class_="line", data_child=child, data_parents=parents or 0)
        if ("birth", child) in on:
            bright.append(element("path", d=_drawn(line), class_="line on"))
    yield from bright


def _drawn(line: Sequence[tuple[float, float]]) -> str:
    """Return the path of a polyline, without segments of length zero."""
    points = [line[0], *(point for before, point in pairwise(line) if point != before)]
    return "M" + "L".join(f"{number(x)} {number(y)}" for x, y in points)


def _person(
    person: Person, place: int, box: tuple[float, float, float], marks: Sequence[str], steps: Sequence[str]
) -> str:
    """Return somebody's box with their name, and the steps of the proof that lead there."""
    x, y, width = box
    styles = ["person", "unnamed" if person.name is None else "", "on" if steps else "", *marks]
    content = element("rect", x=x, y=y, width=width, height=HEIGHT, rx=_CORNERS.get(person.gender, 6.0))
    content += label(_name(person), x + width / 2, y + HEIGHT / 2 + 4.5, width - _PAD + 8)
    if steps:
        content += _badge(" ".join(steps), x, y)
    return element("g", content, class_=" ".join(filter(None, styles)), data_person=place)


def _badge(text: str, x: float, y: float) -> str:
    width = 10 + 6.0 * len(text)
    shape = element("rect", x=x - 7, y=y - 7, width=width, height=15, rx=7)
    return element("g", shape + element("text", text, x=x - 7 + width / 2, y=y + 4), class_="step")


def family_pictures(example: Example) -> list[Picture]:
    """Draw families that fit a story: one in which the label holds, and one in which it does not.

    Raises:
        DataError: If there is none, or the row does not have what it takes to find one.
    """
    scene = read_scene(example)
    if scene is None or scene.witnesses is None:
        raise DataError("strict kinship does not define all words of the row, or the row lacks its facts.")
    row, witnesses = scene.row, scene.witnesses
    label = f"{row.asked_names[1]} is {row.asked_names[0]}'s {example.answer}"
    drawn = (
        [] if witnesses.fits is None else [(f"A family that fits the story; the label holds: {label}.", witnesses.fits)]
    )
    if witnesses.against is not None:
        truth = _describe_against(witnesses.against, row.pair, example.answer)
        drawn.append((f"A family that fits the story; the label does not hold: {truth}.", witnesses.against))
    if not drawn:
        raise DataError("no family fits the story.")
    path = proof_path(scene)
    return [Picture(caption, family_picture(family, row.pair, path)) for caption, family in drawn]


def _describe_against(family: Genealogy, asked: tuple[int, int], label: str) -> str:
    """Describe what the second of two people is to the first in a family in which the label does not hold."""
    first, second = (family.people[person].name for person in asked)
    relations = family.relations(*asked)
    words = [word(each, family.people[asked[1]].gender) for each in NAMES if each in relations]
    if not words:
        return f"{second} is not {first}'s {label} and has no other named relation to them"
    return f"{second} is {first}'s {' and '.join(words)}, not {label}"
