"""A story about nested beliefs sentence by sentence: who is where, and who believes what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from rich import box
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from storyproof.errors import ParseError, quoted
from storyproof.example import Example
from storyproof.families.belief.arrays import NOBODY, encode_plots
from storyproof.families.belief.oracle import Minds, contract, reality
from storyproof.families.belief.questions import Ask
from storyproof.families.belief.read_text import read_question, read_story
from storyproof.families.belief.readings import BeliefReading
from storyproof.families.belief.rows import reading_of
from storyproof.families.belief.time_sets import unpack
from storyproof.families.belief.trajectories import Course
from storyproof.families.belief.world import PlotEvent
from storyproof.language.display_names import display_name

_FALSE = "bold red"
_WIDE = 140  # columns from which on beliefs fit beside the story

Column = tuple[Text, list[Text]]  # heading and cells


@dataclass(frozen=True, slots=True)
class Moment:
    """The state after a sentence.

    Attributes:
        sentence: The sentence.
        rooms: Who is in which room.
        place: Where the object is; None before it is placed.
        believed: Where each chain of agents believes it to be, by the chain's names; None for no belief.
    """

    sentence: str
    rooms: dict[str, list[str]]
    place: str | None
    believed: dict[tuple[str, ...], str | None]


@dataclass(frozen=True, slots=True)
class Timeline:
    """A story with one object in view, and what is asked of it."""

    story_id: str
    story_type: str
    thing: str
    steps: list[Moment]
    examples: list[Example]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield timeline_view(self, options.max_width)


def timeline_view(timeline: Timeline, width: int = 200) -> RenderableType:
    """Return a story for the terminal: rooms and beliefs after each sentence, then the questions with their proofs.

    Args:
        timeline: The story.
        width: How wide the screen is; on a narrow one beliefs stand below the story.
    """
    numbers = (Text(""), [Text(str(row), style="dim") for row in range(1, len(timeline.steps) + 1)])
    story, beliefs = _story_columns(timeline), _belief_columns(timeline)
    if width >= _WIDE:
        tables = [_table([numbers, *story, *beliefs])]
    else:
        tables = [_table([numbers, *story]), _table([numbers, *beliefs])]
    examples = timeline.examples
    questions: list[Column] = [
        (Text("question"), [Text(example.question) for example in examples]),
        (Text("answer"), [Text(each.answer, style=_FALSE if each.false_belief else "bold") for each in examples]),
        (Text("proof"), [Text(", ".join(map(str, example.proof))) for example in examples]),
    ]
    if width >= _WIDE:
        questions.append((Text("type"), [Text(display_name(example.question_type)) for example in examples]))
        questions.append((Text("right under"), [Text(", ".join(example.readings)) for example in examples]))
    title = Text.assemble(
        ("story ", "dim"), timeline.story_id, ("  type ", "dim"), display_name(timeline.story_type or "unknown")
    )
    note = Text("red: a belief that is wrong about the object, or about what the other believes", style="dim")
    return Group(title, *tables, _table(questions), note)


def _table(columns: Sequence[Column]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading, _ in columns:
        table.add_column(heading)
    for cells in zip(*(cells for _, cells in columns), strict=True):
        table.add_row(*cells)
    return table


def _story_columns(timeline: Timeline) -> list[Column]:
    rooms = [
        Text("  ".join(f"{room}: {', '.join(agents)}" for room, agents in step.rooms.items()), style="dim")
        for step in timeline.steps
    ]
    return [(Text("story"), [Text(step.sentence) for step in timeline.steps]), (Text("rooms"), rooms)]


def _belief_columns(timeline: Timeline) -> list[Column]:
    places = [Text(step.place or "–", style="bold") for step in timeline.steps]
    columns: list[Column] = [(Text(f"the {timeline.thing} is in"), places)]
    for chain in timeline.steps[0].believed:
        cells = []
        for step in timeline.steps:
            believed = step.believed[chain]
            about = step.believed.get(chain[1:], step.place)  # a belief about a belief, or about the object
            style = "dim" if believed is None else _FALSE if believed != about else ""
            cells.append(Text(believed or "–", style=style))
        columns.append((Text(" thinks ".join((*chain, ""))), cells))
    return columns


class ObjectFollower:
    """Follows an object and beliefs about it through a story."""

    def __init__(self, events: Sequence[PlotEvent], thing: str, reading: BeliefReading) -> None:
        self._stories, (self._names,) = encode_plots([events])
        if thing not in self._names.things:
            raise ParseError(f"the {thing} is nowhere in the story.")
        self._reading = reading
        self._thing = np.array([self._names.things[thing]], np.int8)
        self._steps = len(events)
        self._believed: dict[tuple[str, ...], list[str | None]] = {}

    def _words(self, places: Sequence[int]) -> list[str | None]:
        containers = tuple(self._names.containers)
        return [None if place == NOBODY else containers[place] for place in places][: self._steps]

    @cached_property
    def really(self) -> list[str | None]:
        """Where the object is after each sentence."""
        steps = np.arange(len(self._stories.kind))
        so_far = self._stories.pick(np.zeros(len(steps), np.intp)).without(steps[:, None] > steps)
        return self._words(reality(so_far, np.repeat(self._thing, len(steps))).tolist())

    def believed(self, *chains: Sequence[str]) -> list[list[str | None]]:
        """Return where chains believe the object to be after each sentence."""
        wanted = [tuple(chain) for chain in chains]
        if new := [chain for chain in dict.fromkeys(wanted) if chain not in self._believed]:
            agents = np.full((max(map(len, new)), len(new)), NOBODY, np.int8)
            for place, chain in enumerate(new):
                agents[: len(chain), place] = [self._names.agents[agent] for agent in chain]
            story, things = np.zeros(len(new), np.intp), np.repeat(self._thing, len(new))
            chains_of = contract(agents, self._stories.agents)
            minds = Minds(Course.of(self._stories), story, chains_of, things, self._reading.sight)
            for chain, places in zip(new, minds.over_time(self._reading.trust).T.tolist(), strict=True):
                self._believed[chain] = self._words(places)
        return [self._believed[chain] for chain in wanted]

    @cached_property
    def rooms(self) -> list[dict[str, list[str]]]:
        """Who is in which room after each sentence, with who watches it or is distracted."""
        course, rooms, lines = Course.of(self._stories), tuple(self._names.rooms), []
        inside, watching, away = (unpack(sets, self._steps) for sets in (course.inside, course.watching, course.away))
        for time in range(self._steps):
            here: dict[str, list[str]] = {}
            for agent, number in self._names.agents.items():
                for room in np.flatnonzero(inside[time, number, :, 0]).tolist():
                    name = f"{agent} (distracted)" if away[time, number, 0] else agent
                    here.setdefault(rooms[room], []).append(name)
                for room in np.flatnonzero(watching[time, number, :, 0]).tolist():
                    here.setdefault(rooms[room], []).append(f"{agent} (watching)")
            lines.append(here)
        return lines


@lru_cache(maxsize=16)  # pictures of several questions of a story follow each other
def _follower(story: str, thing: str, reading: BeliefReading) -> ObjectFollower:
    return ObjectFollower(read_story(story).events, thing, reading)


def lay_out(examples: Sequence[Example]) -> Timeline:
    """Follow the object of a story's last question through the whole story.

    Raises:
        ParseError: If the story cannot be read, or lacks that object or somebody who is asked about.
    """
    last = examples[-1]
    text, question = read_story(last.story), read_question(last.question)
    for agent in question.chain:
        if agent not in text.cast:
            raise ParseError(f"{quoted(agent)}, who is asked about, is nowhere in the story.")
    follower = _follower(last.story, question.thing, reading_of(last.readings))
    chains: list[tuple[str, ...]] = [(agent,) for agent in text.cast]
    questions = [read_question(each.question) for each in examples]
    about = [each.chain for each in questions if each.thing == question.thing and each.ask != Ask.COMMON]
    deepest = question.chain if question.ask == Ask.BELIEF else max([(), *about], key=len)
    if set(deepest) <= set(text.cast):  # the others would need a column for each of their parts
        chains += [deepest[start:] for start in range(len(deepest))]
    places = dict(zip(chains, follower.believed(*chains), strict=True))
    real, rooms = follower.really, follower.rooms
    steps = [
        Moment(sentence, rooms[time], real[time], {chain: beliefs[time] for chain, beliefs in places.items()})
        for time, sentence in enumerate(last.story.split("\n"))
    ]
    return Timeline(last.story_id, last.story_type, question.thing, steps, list(examples))
