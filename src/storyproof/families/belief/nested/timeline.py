"""A story about nested beliefs sentence by sentence: who is where, and who believes what."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from storyproof.errors import ParseError, quoted
from storyproof.example import Example
from storyproof.families.belief.arrays import NOBODY
from storyproof.families.belief.nested.arrays import encode_plots
from storyproof.families.belief.nested.course import Course
from storyproof.families.belief.nested.instants import unpack
from storyproof.families.belief.nested.oracle import Minds, contract, reality
from storyproof.families.belief.nested.questions import Ask
from storyproof.families.belief.nested.reading import read_question, read_story
from storyproof.families.belief.nested.readings import NestedReading
from storyproof.families.belief.nested.rows import reading_of
from storyproof.families.belief.nested.world import PlotEvent
from storyproof.families.belief.timeline import Moment, Timeline


class ObjectFollower:
    """Follows an object and beliefs about it through a story."""

    def __init__(self, events: Sequence[PlotEvent], thing: str, reading: NestedReading) -> None:
        self._stories, (self._names,) = encode_plots([events])
        if thing not in self._names.things:
            raise ParseError(f"the {thing} is nowhere in the story.")
        self._reading = reading
        self._thing = np.array([self._names.things[thing]], np.int8)
        self._steps = len(events)

    def _words(self, places: Sequence[int]) -> list[str | None]:
        containers = tuple(self._names.containers)
        return [None if place == NOBODY else containers[place] for place in places][: self._steps]

    def really(self) -> list[str | None]:
        """Return where the object is after each sentence."""
        steps = np.arange(len(self._stories.kind))
        so_far = self._stories.pick(np.zeros(len(steps), np.intp)).without(steps[:, None] > steps)
        return self._words(reality(so_far, np.repeat(self._thing, len(steps))).tolist())

    def believed(self, chain: Sequence[str]) -> list[str | None]:
        """Return where a chain believes the object to be after each sentence."""
        asked = np.array([[self._names.agents[agent]] for agent in chain], np.int8)
        chains = contract(asked, self._stories.agents)
        minds = Minds(Course.of(self._stories), np.zeros(1, np.intp), chains, self._thing, self._reading.sight)
        return self._words(minds.over_time(self._reading.trust)[:, 0].tolist())

    def rooms(self) -> list[dict[str, list[str]]]:
        """Return who is in which room after each sentence, with who watches it or is distracted."""
        course, rooms, found = Course.of(self._stories), tuple(self._names.rooms), []
        inside, watching, away = (unpack(sets, self._steps) for sets in (course.inside, course.watching, course.away))
        for time in range(self._steps):
            here: dict[str, list[str]] = {}
            for agent, number in self._names.agents.items():
                for room in np.flatnonzero(inside[time, number, :, 0]).tolist():
                    name = f"{agent} (distracted)" if away[time, number, 0] else agent
                    here.setdefault(rooms[room], []).append(name)
                for room in np.flatnonzero(watching[time, number, :, 0]).tolist():
                    here.setdefault(rooms[room], []).append(f"{agent} (watching)")
            found.append(here)
        return found


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
    follower = ObjectFollower(text.events, question.thing, reading_of(last.readings))
    chains: list[tuple[str, ...]] = [(agent,) for agent in text.cast]
    asked = [read_question(each.question) for each in examples]
    about = [each.chain for each in asked if each.thing == question.thing and each.ask != Ask.COMMON]
    deepest = question.chain if question.ask == Ask.BELIEF else max([(), *about], key=len)
    if set(deepest) <= set(text.cast):  # the others would need a column for each of their parts
        chains += [deepest[start:] for start in range(len(deepest))]
    places = {chain: follower.believed(chain) for chain in dict.fromkeys(chains)}
    real, rooms = follower.really(), follower.rooms()
    steps = [
        Moment(sentence, rooms[time], real[time], {chain: found[time] for chain, found in places.items()})
        for time, sentence in enumerate(last.story.split("\n"))
    ]
    return Timeline(last.story_id, last.story_type, question.thing, steps, list(examples))
