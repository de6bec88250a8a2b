"""The verb `show`: a story's rooms and beliefs, sentence by sentence."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import numpy as np

from storyproof.datasets.examples import read_examples
from storyproof.datasets.reading import find_source
from storyproof.errors import ConfigError, DataError, ParseError
from storyproof.example import Example
from storyproof.report import family_tree
from storyproof.report.family_tree import FamilyStory
from storyproof.tom import beliefs
from storyproof.tom.arrays import NOBODY, Names, Stories, number, stack
from storyproof.tom.events import presence
from storyproof.tom.readings import DEFAULT
from storyproof.tom.text import parse, parse_question


@dataclass(frozen=True, slots=True)
class Step:
    """How things stand after a sentence.

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
    steps: list[Step]
    examples: list[Example]


def show(path: str | Path, index: int = 0, *, split: str | None = None) -> Timeline | FamilyStory:
    """Lay a story out: where everybody is, and who believes what, after each sentence; or the family of which it tells.

    Args:
        path: A dataset folder or a file.
        index: Which story, counted from 0.
        split: Which split of a folder; by default test, or the only one there is.

    Raises:
        ConfigError: If there is no such story.
        DataError: If the data cannot be read.
    """
    if index < 0:
        raise ConfigError(f"--index is {index}; stories are counted from 0.")
    source = find_source(path, split)
    examples = read_examples(source, max_stories=index + 1)
    stories = [list(rows) for _, rows in groupby(examples, key=lambda example: example.story_id)]
    if index >= len(stories):
        raise ConfigError(f"--index is {index}, but there are only {len(stories)} stories; they are counted from 0.")
    try:
        return (
            family_tree.lay_out(stories[index][0]) if stories[index][0].edges is not None else lay_out(stories[index])
        )
    except ParseError as error:
        raise DataError(f"{source.name}, story {index}: {error}") from error


def lay_out(examples: list[Example]) -> Timeline:
    """Follow the object of a story's last question through the whole story."""
    last = examples[-1]
    events, thing = parse(last.story), parse_question(last.question).thing
    numbers, names = number(events)
    agents = list(dict.fromkeys(event.agent for event in events if event.agent and event.room))
    pair = list(dict.fromkeys(agent for example in examples for agent in example.chain)) or agents[:2]
    chains = [(agent,) for agent in agents] + [(a, b) for a in pair for b in pair if a != b]
    stories = stack([numbers])
    places = {chain: _places(stories, names, thing, chain) for chain in chains}
    real = _places(stories, names, thing, ())
    steps = [
        Step(sentence, _rooms(where), real[time], {chain: places[chain][time] for chain in chains})
        for time, (sentence, where) in enumerate(zip(last.story.split("\n"), presence(events), strict=True))
    ]
    return Timeline(last.story_id, last.story_type, thing, steps, examples)


def _places(stories: Stories, names: Names, thing: str, chain: tuple[str, ...]) -> list[str | None]:
    """Say where a chain believes the object to be after each sentence of a story; without a chain, where it is."""
    seen = beliefs.view(stories, np.array([names.things[thing]], np.int8))
    found = seen.place
    if chain:
        asked = np.array([[names.agents[agent]] for agent in chain], np.int8)
        found = beliefs.beliefs_so_far(seen, asked, DEFAULT)
    containers = tuple(names.containers)
    return [None if place == NOBODY else containers[place] for place in found[:, 0].tolist()]


def _rooms(where: dict[str, str]) -> dict[str, list[str]]:
    rooms: dict[str, list[str]] = {}
    for agent, room in where.items():
        rooms.setdefault(room, []).append(agent)
    return rooms
