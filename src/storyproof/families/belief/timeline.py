"""A theory-of-mind story sentence by sentence: who is where, and who believes what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from rich import box
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from storyproof.errors import ParseError, quoted
from storyproof.example import Example
from storyproof.families.belief import oracle
from storyproof.families.belief.arrays import NOBODY, LocalNames, Stories, number, stack
from storyproof.families.belief.events import presence
from storyproof.families.belief.readings import DEFAULT
from storyproof.families.belief.text import parse, parse_question

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


def lay_out(examples: list[Example]) -> Timeline:
    """Follow the object of a story's last question through the whole story.

    Raises:
        ParseError: If the story cannot be parsed, or lacks that object or somebody who is asked about.
    """
    last = examples[-1]
    events, thing = parse(last.story), parse_question(last.question).thing
    numbers, names = number(events)
    agents = list(dict.fromkeys(event.agent for event in events if event.agent and event.room))
    if thing not in names.things:
        raise ParseError(f"the {thing} is nowhere in the story.")
    pair = list(dict.fromkeys(agent for example in examples for agent in example.chain)) or agents[:2]
    for agent in pair:
        if agent not in names.agents:
            raise ParseError(f"{quoted(agent)}, who is asked about, is nowhere in the story.")
    chains: list[tuple[str, ...]] = [(agent,) for agent in agents]
    chains += [(one, other) for one in pair for other in pair if one != other]
    asked = [tuple(example.chain) for example in examples]
    chains += [chain[start:] for chain in asked for start in range(len(chain)) if chain[start:] not in chains]
    stories = stack([numbers])
    places = {chain: places_over_time(stories, names, thing, chain) for chain in chains}
    real = places_over_time(stories, names, thing, ())
    steps = [
        Moment(sentence, _rooms(where), real[time], {chain: places[chain][time] for chain in chains})
        for time, (sentence, where) in enumerate(zip(last.story.split("\n"), presence(events), strict=True))
    ]
    return Timeline(last.story_id, last.story_type, thing, steps, examples)


def places_over_time(stories: Stories, names: LocalNames, thing: str, chain: tuple[str, ...]) -> list[str | None]:
    """Return where a chain believes the object to be after each sentence of a story; without a chain, where it is."""
    seen = oracle.view(stories, np.array([names.things[thing]], np.int8))
    found = seen.place
    if chain:
        asked = np.array([[names.agents[agent]] for agent in chain], np.int8)
        found = oracle.beliefs_so_far(seen, asked, DEFAULT)
    containers = tuple(names.containers)
    return [None if place == NOBODY else containers[place] for place in found[:, 0].tolist()]


def _rooms(where: dict[str, str]) -> dict[str, list[str]]:
    rooms: dict[str, list[str]] = {}
    for agent, room in where.items():
        rooms.setdefault(room, []).append(agent)
    return rooms


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
        questions.append((Text("type"), [Text(example.question_type) for example in examples]))
        questions.append((Text("holds under"), [Text(", ".join(example.readings)) for example in examples]))
    title = Text.assemble(("story ", "dim"), timeline.story_id, ("  type ", "dim"), timeline.story_type or "unknown")
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
