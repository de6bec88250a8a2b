"""A theory-of-mind story as a picture: what the question asks for, beside the sentences that decide it.

The wide form has the sentences down the side and columns beside them: first the belief that is asked for, then what it
is about, then where those asked about are. Everybody else is left out, and named below. The narrow form has one column:
the answer on top, then the sentences, each with what it changes.

A bar lasts for as long as nothing changes. A belief that is wrong is dashed and marked "(false)", so that it is
recognisable without colour, too; it may be wrong about the object, or about what somebody else believes.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple, TypeVar

from storyproof.errors import listed
from storyproof.families.belief.timeline import Timeline
from storyproof.language.display_names import spaced
from storyproof.pictures.svg import element, frame, label, number, safe, text_width, wrap

Chain = tuple[str, ...]
_Value = TypeVar("_Value")

_SENTENCE, _BAR = 300.0, 310.0  # pixels at most: a line of the story, the text of a bar
_HEADING, _ASKED = 124.0, 190.0  # the heading of a column, of that asked for
_NARROW = 340.0  # pixels of the narrow form: a phone's screen
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
        heading = min(max(map(text_width, self.heading)), _ASKED if self.asked else _HEADING)
        texts = [*(bar.text for bar in self.bars), *(text for _, text in self.below)]
        return max(heading, min(max(map(text_width, texts), default=0.0), _BAR)) + 14


@dataclass(frozen=True, slots=True)
class _Lanes:
    """What is drawn beside a story: what is believed, who is where, and who is left out."""

    beliefs: list[_Lane]
    presence: list[_Lane]
    left_out: list[str]


def belief_timeline(
    timeline: Timeline,
    marked: Collection[int] = (),
    *,
    asked: Sequence[str] | None = None,
    answers: tuple[str, str] | None = None,
    narrow: bool = False,
) -> str:
    """Draw where the object is, and where those asked about believe it to be.

    Args:
        timeline: The story.
        marked: The deciding sentences, from 1.
        asked: Whose mind the question is about, outermost first; empty for where the object is. Without it, everybody
            is shown.
        answers: What is labelled and what is right, to be shown with what is asked for.
        narrow: Whether to draw one column, for a phone.
    """
    lanes = _choose_lanes(timeline, asked, answers)
    title = f"Where the {timeline.thing} is, and who believes what, after each sentence"
    described = _describe(timeline, marked)
    sentences = [spaced(step.sentence) for step in timeline.steps]
    if narrow:
        column = _TimelineColumn(sentences, marked, lanes)
        return _with_rows(
            frame("timeline narrow", title, described, (_NARROW, column.height), column.parts), column.rows
        )
    drawing = _TimelineDrawing(max(len(lane.heading) for lane in [*lanes.beliefs, *lanes.presence]))
    drawing.write_story(sentences, marked)
    drawing.draw_lanes(f"where the {timeline.thing} is", lanes.beliefs)
    if lanes.presence:
        drawing.draw_lanes("who is where", lanes.presence)
    drawing.add_note(_left_out(lanes))
    return _with_rows(frame("timeline", title, described, drawing.size, drawing.finish(marked)), drawing.rows)


def _with_rows(picture: str, rows: Sequence[float]) -> str:
    """Add where sentences begin, and where the last one ends, so that a page can show a picture step by step."""
    return picture.replace("<svg ", f'<svg data-rows="{" ".join(map(number, rows))}" ', 1)


def _choose_lanes(timeline: Timeline, asked: Sequence[str] | None, answers: tuple[str, str] | None) -> _Lanes:
    """Return the columns that a question needs, the one that it asks for first; without a question, all."""
    rooms: dict[str, int] = {}
    agents = list(
        dict.fromkeys(_named(agent) for step in timeline.steps for here in step.rooms.values() for agent in here)
    )
    presence = {agent: _lane_of_rooms(timeline, agent, rooms) for agent in agents}
    if asked is None:
        beliefs = [_lane_of_beliefs(timeline, chain) for chain in [(), *queried(timeline)]]
        return _Lanes(beliefs, list(presence.values()), [])
    whose = tuple(asked)
    below: tuple[tuple[str, str], ...] = ()
    if answers:
        below = (("wrong", f"label: {spaced(answers[0])}"), ("right", f"right: {spaced(answers[1]) or 'none'}"))
    elif timeline.examples and timeline.examples[-1].answer:
        below = (("right", f"answer: {spaced(timeline.examples[-1].answer)}"),)
    chains = [whose[start:] for start in range(len(whose) + 1)]
    beliefs = [
        _lane_of_beliefs(timeline, chain, chain == whose, below if chain == whose else ())
        for chain in chains
        if not chain or chain in timeline.steps[0].believed
    ]
    shown = [presence[agent] for agent in dict.fromkeys(whose) if agent in presence]
    return _Lanes(beliefs, shown, [agent for agent in agents if agent not in whose])


def _left_out(lanes: _Lanes) -> str:
    return f"Not asked about, and not shown: {listed(lanes.left_out)}." if lanes.left_out else ""


def queried(timeline: Timeline) -> list[Chain]:
    """Return the chains of a story's questions, with those they are about; without any, every agent."""
    chains_asked = [tuple(example.chain) for example in timeline.examples]
    chains = dict.fromkeys(chain[start:] for chain in chains_asked for start in range(len(chain)))
    beliefs = timeline.steps[0].believed
    asked_chains = sorted((chain for chain in chains if chain in beliefs), key=lambda chain: (len(chain), chain))
    return asked_chains or [chain for chain in beliefs if len(chain) == 1]


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
    sentences = [f"In the end the {timeline.thing} is in: {timeline.steps[last].place or 'nothing'}."]
    for chain in queried(timeline):
        believed, wrong = _belief(timeline, chain, last)
        thinks = " ".join(f"{agent} thinks" for agent in chain)
        sentences.append(f"{thinks} it is in: {believed or 'no belief'}{' (wrong)' if wrong else ''}.")
    if marked:
        sentences.append(f"Deciding sentences: {', '.join(map(str, sorted(marked)))}.")
    return " ".join(sentences)


def _lane_of_rooms(timeline: Timeline, agent: str, rooms: dict[str, int]) -> _Lane:
    where = [
        [
            (room, here.removeprefix(agent))
            for room, agents in step.rooms.items()
            for here in agents
            if _named(here) == agent
        ]
        for step in timeline.steps
    ]
    bars = [
        # Who watches another room is in theirs all the same, which is named first.
        _Bar(
            start,
            end,
            "; ".join(room + state for room, state in here),
            f"room-{rooms.setdefault(here[0][0], len(rooms)) % _ROOMS}",
        )
        for start, end, here in _runs(where)
        if here
    ]
    return _Lane([agent], bars)


def _named(agent: str) -> str:
    """Return the name of an agent without what they do, such as "(watching)"."""
    return agent.partition(" (")[0]


def _lane_of_beliefs(
    timeline: Timeline, chain: Chain, asked: bool = False, below: tuple[tuple[str, str], ...] = ()
) -> _Lane:
    held = [_belief(timeline, chain, time) for time in range(len(timeline.steps))]
    bars = [
        _Bar(
            start,
            end,
            f"{spaced(place)} (false)" if wrong else spaced(place),
            "false" if wrong else "held" if chain else "real",
        )
        for start, end, (place, wrong) in _runs(held)
        if place
    ]
    heading = [f"{agent} thinks that" for agent in chain[:-1]] + [f"{agent} thinks" for agent in chain[-1:]]
    return _Lane(heading or ["really"], bars, asked, below=below)


def _runs(values: Sequence[_Value]) -> list[tuple[int, int, _Value]]:
    """Return how long each value lasts: first, last, value."""
    runs = []
    for value, places in groupby(range(len(values)), key=values.__getitem__):
        run = list(places)
        runs.append((run[0], run[-1], value))
    return runs


class _TimelineDrawing:
    """A timeline being drawn, from left to right."""

    def __init__(self, heading_lines: int) -> None:
        self._parts: list[str] = []  # what is there from the sentence on that it belongs to
        self._head: list[str] = []  # what is there from the beginning
        self._end: list[str] = []  # what is known in the end
        self._x = self._bottom = 0.0
        self.rows = [_EDGE + (heading_lines + 1) * _LINE + _PAD]  # where sentences begin, and where the last one ends

    @property
    def size(self) -> tuple[float, float]:
        return self._x + _EDGE, self._bottom + _EDGE

    def write_story(self, sentences: Sequence[str], marked: Collection[int]) -> None:
        """Write the sentences with their numbers."""
        left, widest = _EDGE + 28, 0.0
        for place, sentence in enumerate(sentences, start=1):
            lines = wrap(sentence, _SENTENCE)
            widest = max(widest, *map(text_width, lines))
            y = self.rows[-1] + _LINE - 1
            self._parts.append(element("text", str(place), x=_EDGE, y=y, class_="quiet"))
            for depth, line in enumerate(lines):
                style = "strong" if place in marked else ""
                self._parts.append(element("text", safe(line), x=left, y=y + depth * _LINE, class_=style))
            self.rows.append(self.rows[-1] + len(lines) * _LINE + _PAD)
        self._x, self._bottom = left + widest, self.rows[-1]

    def draw_lanes(self, heading: str, lanes: Sequence[_Lane]) -> None:
        """Draw columns of bars below a common heading."""
        self._x += 2 * _EDGE
        start, end = self._x, self._x + max(text_width(heading), sum(lane.width + 8 for lane in lanes))
        self._head.append(label(heading, start, _EDGE + _LINE - 4, end - start, "quiet"))
        for lane in lanes:
            self._draw_lane(lane)
        self._x = max(self._x, end)

    def _draw_lane(self, lane: _Lane) -> None:
        x, width, top, end = self._x, lane.width, self.rows[0], self.rows[-1]
        for depth, line in enumerate(reversed(lane.heading)):
            self._head.append(label(line, x + 6, top - _PAD - depth * _LINE, width - 8, "head"))
        for bar in lane.bars:
            y, bottom = self.rows[bar.start] + 1, self.rows[bar.end + 1] - 2
            self._parts.append(element("rect", x=x, y=y, width=width, height=bottom - y, rx=4, class_=bar.style))
            self._parts.append(label(bar.text, x + 6, y + _LINE - 2, width - 8))
        for depth, (style, text) in enumerate(lane.below, start=1):
            self._end.append(label(text, x + 6, end + depth * _LINE + 2, width - 8, style))
            self._bottom = max(self._bottom, end + depth * _LINE + _PAD)
        if lane.asked:
            y = top - len(lane.heading) * _LINE - _PAD
            height = end + len(lane.below) * _LINE + _PAD - y
            asked = element("rect", x=x - 3, y=y, width=width + 6, height=height, rx=6, class_="asked-column")
            self._head.append(asked)
            self._bottom = max(self._bottom, y + height)
        self._x += width + 8

    def add_note(self, text: str) -> None:
        """Write a line below everything."""
        if text:
            width = self._x - _EDGE
            for line in wrap(text, width):
                self._bottom += _LINE
                self._head.append(element("text", safe(line), x=_EDGE, y=self._bottom + _PAD, class_="quiet"))
            self._bottom += _PAD

    def finish(self, marked: Collection[int]) -> list[str]:
        """Add bands behind the deciding sentences and lines between all, and return the picture."""
        behind = []
        for place, (y, end) in enumerate(zip(self.rows, self.rows[1:], strict=False), start=1):
            if place in marked:
                behind.append(element("rect", x=0, y=y, width=self._x + _EDGE, height=end - y, class_="band"))
                behind.append(element("rect", x=0, y=y, width=4, height=end - y, class_="edge"))
        lines = "".join(f"M0 {y:.0f}H{self._x + _EDGE:.0f}" for y in self.rows)
        return [
            element("g", "".join(behind), class_="proof"),
            element("path", d=lines, class_="thin"),
            *self._head,
            element("g", "".join(self._parts), class_="told"),
            element("g", "".join(self._end), class_="end"),
        ]


class _TimelineColumn:
    """A timeline in one column: what is asked for, then the sentences with what each of them changes."""

    def __init__(self, sentences: Sequence[str], marked: Collection[int], lanes: _Lanes) -> None:
        self.parts: list[str] = []
        self.height = _EDGE
        for lane in lanes.beliefs:
            if lane.asked:
                self._write_answer(lane)
        above, self.parts = element("g", "".join(self.parts), class_="end"), []
        self.rows = [self.height]  # where sentences begin, and where the last one ends
        for place, sentence in enumerate(sentences):
            changes = [
                (lane, bar) for lane in lanes.beliefs for bar in lane.bars if bar.start == place and (place or bar.text)
            ]
            self._write_sentence(place + 1, sentence, place + 1 in marked, changes)
            self.rows.append(self.height)
        self.parts = [above, element("g", "".join(self.parts), class_="told")]
        self.height += _PAD
        for line in wrap(_left_out(lanes), _NARROW - 2 * _EDGE):
            self._write(line, _EDGE, "quiet")
        self.height += _EDGE

    def _write(self, text: str, x: float, style: str = "") -> None:
        self.height += _LINE
        self.parts.append(label(text, x, self.height - 4, _NARROW - _EDGE - x, style))

    def _write_answer(self, lane: _Lane) -> None:
        top = self.height
        self.height += _PAD
        for line in wrap(_clause(lane), _NARROW - 4 * _EDGE):
            self._write(line, 2 * _EDGE, "head")
        last = lane.bars[-1].text if lane.bars else "nothing"
        self._write(f"in the end: {last}", 2 * _EDGE)
        for style, text in lane.below:
            self._write(text, 2 * _EDGE, style)
        self.height += _PAD
        width, height = _NARROW - 2 * _EDGE, self.height - top
        self.parts.append(element("rect", x=_EDGE, y=top, width=width, height=height, rx=6, class_="asked-column"))
        self.height += _EDGE

    def _write_sentence(self, place: int, sentence: str, marked: bool, changes: Sequence[tuple[_Lane, _Bar]]) -> None:
        top, left = self.height, _EDGE + 28
        behind = len(self.parts)
        self.height += _PAD / 2
        lines = wrap(sentence, _NARROW - _EDGE - left)
        self.parts.append(element("text", str(place), x=_EDGE, y=self.height + _LINE - 4, class_="quiet"))
        for line in lines:
            self._write(line, left, "strong" if marked else "")
        room = _NARROW - _EDGE - left
        for lane, bar in changes:
            told = wrap(f"{_clause(lane)}: {bar.text}", room - 12)
            y, width = self.height + 3, min(max(map(text_width, told)) + 12, room)
            height = len(told) * _LINE + 3
            self.parts.append(element("rect", x=left, y=y, width=width, height=height, rx=4, class_=bar.style))
            for depth, line in enumerate(told, start=1):
                self.parts.append(label(line, left + 6, y + depth * _LINE - 3, width - 10))
            self.height = y + height
        self.height += _PAD / 2
        if marked:
            self.parts[behind:behind] = [
                element("rect", x=0, y=top, width=width, height=self.height - top, class_=f"{style} proof")
                for width, style in ((_NARROW, "band"), (4, "edge"))
            ]
        self.parts.append(element("path", d=f"M0 {self.height:.0f}H{_NARROW:.0f}", class_="thin"))


def _clause(lane: _Lane) -> str:
    """Return whose view a column shows, in words."""
    return " ".join(lane.heading)
