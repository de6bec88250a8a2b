"""ToM-bAbI the plainest way: one story at a time, each generated, answered, read and checked on its own."""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any

from storyproof.families.belief.questions import Ask, BeliefQuestion
from storyproof.families.belief.readings import DEFAULT, READINGS, BeliefReading
from storyproof.families.belief.tomi_text import ask, narrate, parse, parse_question
from storyproof.families.belief.vocabulary import Vocabulary
from storyproof.families.belief.world import NOTHING, EventKind, PlotEvent, plot_problems
from tests.families.belief.possible_worlds import MindWorlds


class PlainTomBabi:
    """Four scenarios of one type, with a question about the last."""

    def __init__(self, words: Vocabulary, seed: int) -> None:
        self._words, self._random = words, random.Random(seed)

    def story(self) -> dict[str, Any]:
        """Return one row."""
        draw, words = self._random, self._words
        agents, rooms = draw.sample(words.agents, 4), draw.sample(words.rooms, 6)
        things, boxes = draw.sample(words.objects, 12), draw.sample(words.containers, 12)
        side = [draw.randrange(2) for _ in things]
        where: dict[str, str] = {}
        events: list[PlotEvent] = []

        def add(event: PlotEvent) -> None:
            if draw.random() < 0.1:
                events.append(NOTHING)
            events.append(event)

        task = draw.randrange(3)
        for _ in range(4):
            mover, other = draw.sample(agents, 2)
            number = draw.randrange(6)
            room, thing = rooms[number], 2 * number + draw.randrange(2)
            for agent in (mover, other):
                add(PlotEvent(EventKind.IS_IN if where.get(agent) == room else EventKind.ENTER, agent, room))
                where[agent] = room
            add(PlotEvent(EventKind.PLACE, None, room, things[thing], boxes[2 * number + side[thing]]))
            if task:
                add(PlotEvent(EventKind.EXIT, other, room))
                where.pop(other)
            side[thing] ^= 1
            add(PlotEvent(EventKind.MOVE, mover, room, things[thing], boxes[2 * number + side[thing]]))
            if task == 2:
                add(PlotEvent(EventKind.EXIT, mover, room))
                add(PlotEvent(EventKind.ENTER, other, room))
                where.pop(mover)
                where[other] = room
        chain = draw.choice([(), (), (other,), (mover, other)])
        kind = Ask.BELIEF if chain else Ask.MEMORY if draw.random() < 0.5 else Ask.REALITY
        question = BeliefQuestion(kind, things[thing], chain)
        return {"story": narrate(events), "question": ask(question), **_labels(events, question)}


def _labels(events: list[PlotEvent], question: BeliefQuestion) -> dict[str, Any]:
    believed = {name: MindWorlds(events, BeliefReading(name)).answer(question) for name in READINGS}
    holds = [name for name in READINGS if believed[name] == believed[DEFAULT]]
    return {"answer": believed[DEFAULT], "readings": holds}


def verify_beliefs_plainly(rows: Iterable[dict[str, Any]]) -> int:
    """Return how many rows cannot happen, or have other answers or readings than their text gives."""
    found = 0
    for row in rows:
        events, question = parse(row["story"]), parse_question(row["question"])
        labels = _labels(events, question)
        found += bool(plot_problems(events, tells_rooms=False)) or any(
            row[name] != value for name, value in labels.items()
        )
    return found
