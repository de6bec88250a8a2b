"""A theory-of-mind story as a picture: sentences down the side, and beside them who is where and who believes what.

A bar lasts for as long as nothing changes. A belief that is wrong is dashed and begins with ≠, so that it is
recognisable without colour, too; it may be wrong about the object, or about what somebody else believes.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple, TypeVar

from storyproof.families.belief.timeline import Timeline
from storyproof.svg import element, frame, label, safe, text_width, wrap

Chain = tuple[str, ...]
_Value = TypeVar("_Value")

_SENTENCE, _BAR = 360.0, 140.0  # pixels that a line of the story and the text of a bar take at most
_LINE, _PAD, _EDGE = 17.0, 7.0, 10.0
_ROOMS = 6  # that have colours of their own


class _Bar(NamedTuple):
    """Something that holds from one sentence to another, both counted from 0."""

    start: int
    end: int
    text: str
    style: str


@dataclass(frozen=True, slots=True)
class _Lane:
    """A column of bars, and for the one that is asked about what stands below it: style and text."""

    heading: list[str]
    bars: list[_Bar]
    asked: bool = False
    below: tuple[tuple[str, str], ...] = ()

    @property
    def width(self) -> float:
        texts = [*self.heading, *(bar.text for bar in self.bars), *(text for _, text in self.below)]
        return min(max(map(text_width, texts)), _BAR) + 14


def belief_timeline(
    timeline: Timeline,
    marked: Collection[int] = (),
    *,
    asked: Sequence[str] | None = None,
    answers: tuple[str, str] | None = None,
) -> str:
    """Draw where everybody is, where the object is, and where each chain that is asked for believes it to be.

    Args:
        timeline: The story.
        marked: The deciding sentences, from 1.
        asked: Whose mind the question is about, outermost first; empty for where the object is.
        answers: What is labelled and what is right, to be shown below the column of those asked about.
    """
    rooms: dict[str, int] = {}
    agents = dict.fromkeys(agent for step in timeline.steps for here in step.rooms.values() for agent in here)
    presence = [_lane_of_rooms(timeline, agent, rooms) for agent in agents]
    below = (("wrong", f"label: {answers[0]}"), ("right", f"right: {answers[1] or 'none'}")) if answers else ()
    whose = None if asked is None else tuple(asked)
    beliefs = [
        _lane_of_beliefs(timeline, chain, chain == whose, below if chain == whose else ())
        for chain in [(), *queried(timeline)]
    ]
    drawing = _Drawing(max(len(lane.heading) for lane in [*presence, *beliefs]))
    drawing.write_story([step.sentence for step in timeline.steps], marked)
    drawing.draw_lanes("who is where", presence)
    drawing.draw_lanes(f"where the {timeline.thing} is", beliefs)
    title = f"Where the {timeline.thing} is, and who believes what, after each sentence"
    return frame("timeline", title, _describe(timeline, marked), drawing.size, drawing.finish(marked))


def queried(timeline: Timeline) -> list[Chain]:
    """Return the chains of a story's questions, with those they are about; without any, every agent."""
    asked = [tuple(example.chain) for example in timeline.examples]
    chains = dict.fromkeys(chain[start:] for chain in asked for start in range(len(chain)))
    known = timeline.steps[0].believed
    found = sorted((chain for chain in chains if chain in known), key=lambda chain: (len(chain), chain))
    return found or [chain for chain in known if len(chain) == 1]


def _belief(timeline: Timeline, chain: Chain, time: int) -> tuple[str, bool]:
    """Return where a chain believes the object to be after a sentence, and whether that is wrong."""
    step = timeline.steps[time]
    if not chain:
        return step.place or "", False
    believed = step.believed[chain]
    return believed or "", believed is not None and believed != step.believed.get(chain[1:], step.place)


def _describe(timeline: Timeline, marked: Collection[int]) -> str:
    """Return a sentence for each belief at the end of the story."""
    last = len(timeline.steps) - 1
    told = [f"In the end the {timeline.thing} is in: {timeline.steps[last].place or 'nothing'}."]
    for chain in queried(timeline):
        believed, wrong = _belief(timeline, chain, last)
        thinks = " ".join(f"{agent} thinks" for agent in chain)
        told.append(f"{thinks} it is in: {believed or 'no belief'}{' (wrong)' if wrong else ''}.")
    if marked:
        told.append(f"Deciding sentences: {', '.join(map(str, sorted(marked)))}.")
    return " ".join(told)


def _lane_of_rooms(timeline: Timeline, agent: str, rooms: dict[str, int]) -> _Lane:
    where = [next((room for room, agents in step.rooms.items() if agent in agents), "") for step in timeline.steps]
    bars = [
        _Bar(start, end, room, f"room-{rooms.setdefault(room, len(rooms)) % _ROOMS}")
        for start, end, room in _runs(where)
        if room
    ]
    return _Lane([agent], bars)


def _lane_of_beliefs(timeline: Timeline, chain: Chain, asked: bool, below: tuple[tuple[str, str], ...]) -> _Lane:
    held = [_belief(timeline, chain, time) for time in range(len(timeline.steps))]
    bars = [
        _Bar(start, end, f"≠ {place}" if wrong else place, "false" if wrong else "held" if chain else "real")
        for start, end, (place, wrong) in _runs(held)
        if place
    ]
    return _Lane([f"{agent} thinks" for agent in chain] or ["really"], bars, asked, below)


def _runs(values: Sequence[_Value]) -> list[tuple[int, int, _Value]]:
    """Return how long each value lasts: first, last, value."""
    found = []
    for value, places in groupby(range(len(values)), key=values.__getitem__):
        run = list(places)
        found.append((run[0], run[-1], value))
    return found


class _Drawing:
    """A timeline being drawn, from left to right."""

    def __init__(self, heading_lines: int) -> None:
        self._parts: list[str] = []
        self._x = self._bottom = 0.0
        self._rows = [_EDGE + (heading_lines + 1) * _LINE + _PAD]  # where sentences begin, and where the last one ends

    @property
    def size(self) -> tuple[float, float]:
        return self._x + _EDGE, self._bottom + _EDGE

    def write_story(self, sentences: Sequence[str], marked: Collection[int]) -> None:
        """Write the sentences with their numbers."""
        left, widest = _EDGE + 28, 0.0
        for place, sentence in enumerate(sentences, start=1):
            lines = wrap(sentence, _SENTENCE)
            widest = max(widest, *map(text_width, lines))
            y = self._rows[-1] + _LINE - 1
            self._parts.append(element("text", str(place), x=_EDGE, y=y, class_="quiet"))
            for depth, line in enumerate(lines):
                style = "strong" if place in marked else ""
                self._parts.append(element("text", safe(line), x=left, y=y + depth * _LINE, class_=style))
            self._rows.append(self._rows[-1] + len(lines) * _LINE + _PAD)
        self._x, self._bottom = left + widest, self._rows[-1]

    def draw_lanes(self, heading: str, lanes: Sequence[_Lane]) -> None:
        """Draw columns of bars below a common heading."""
        self._x += 2 * _EDGE
        start, end = self._x, self._x + max(text_width(heading), sum(lane.width + 8 for lane in lanes))
        self._parts.append(label(heading, start, _EDGE + _LINE - 4, end - start, "quiet"))
        for lane in lanes:
            self._draw_lane(lane)
        self._x = max(self._x, end)

    def _draw_lane(self, lane: _Lane) -> None:
        x, width, top, end = self._x, lane.width, self._rows[0], self._rows[-1]
        for depth, line in enumerate(reversed(lane.heading)):
            self._parts.append(label(line, x + 6, top - _PAD - depth * _LINE, width - 8, "head"))
        for bar in lane.bars:
            y, bottom = self._rows[bar.start] + 1, self._rows[bar.end + 1] - 2
            self._parts.append(element("rect", x=x, y=y, width=width, height=bottom - y, rx=4, class_=bar.style))
            self._parts.append(label(bar.text, x + 6, y + _LINE - 2, width - 8))
        for depth, (style, text) in enumerate(lane.below, start=1):
            self._parts.append(label(text, x + 6, end + depth * _LINE + 2, width - 8, style))
            self._bottom = max(self._bottom, end + depth * _LINE + _PAD)
        if lane.asked:
            y = top - len(lane.heading) * _LINE - _PAD
            height = end + len(lane.below) * _LINE + _PAD - y
            asked = element("rect", x=x - 3, y=y, width=width + 6, height=height, rx=6, class_="asked-column")
            self._parts.append(asked)
            self._bottom = max(self._bottom, y + height)
        self._x += width + 8

    def finish(self, marked: Collection[int]) -> list[str]:
        """Add bands behind the deciding sentences and lines between all, and return the picture."""
        behind = []
        for place, (y, end) in enumerate(zip(self._rows, self._rows[1:], strict=False), start=1):
            if place in marked:
                behind.append(element("rect", x=0, y=y, width=self._x + _EDGE, height=end - y, class_="band"))
                behind.append(element("rect", x=0, y=y, width=4, height=end - y, class_="edge"))
        lines = "".join(f"M0 {y:.0f}H{self._x + _EDGE:.0f}" for y in self._rows)
        return [*behind, element("path", d=lines, class_="thin"), *self._parts]
