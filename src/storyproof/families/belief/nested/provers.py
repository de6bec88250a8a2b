"""What oracle and checker say about many questions at once, as codes; see `QuestionArrays`.

Everything that labels stories, or compares labels, asks the two provers here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from storyproof.families.belief.arrays import NOBODY, Flags, LocalNames
from storyproof.families.belief.nested.answers import Answers, Codes, Columns
from storyproof.families.belief.nested.arrays import PlotArrays, decode_plot
from storyproof.families.belief.nested.checker import MindWorlds
from storyproof.families.belief.nested.mind_blocks import PlotEventBlock, answer_under
from storyproof.families.belief.nested.questions import ASKS, Ask, NestedQuestion, QuestionArrays, Reply
from storyproof.families.belief.nested.readings import NestedReading
from storyproof.families.belief.readings import OPEN

_GENERIC = LocalNames.generic(128)
_STRANGER = "nobody of the story"


@dataclass(frozen=True, slots=True)
class Derived:
    """What the oracle says.

    Attributes:
        codes: The answers under each reading, one per question.
        proofs: The sentences that the answers under the deciding reading rest on, [time, question].
    """

    codes: Mapping[NestedReading, Codes]
    proofs: Flags


class Difference(NamedTuple):
    """Where the checker differs from the oracle under one reading: the questions, and the checker's answers."""

    reading: NestedReading
    questions: Columns
    codes: Codes


def cast_sizes(stories: PlotArrays) -> Columns:
    """Return how many agents each story has; their numbers are the lowest."""
    found: Columns = np.maximum(stories.agent, stories.hearer).max(axis=0, initial=NOBODY).astype(np.intp) + 1
    return found


def answer(stories: PlotArrays, asked: QuestionArrays, reading: NestedReading) -> Codes:
    """Return the oracle's answers."""
    return Answers(stories, asked, reading.sight).codes(reading.trust)[0]


def derive(
    stories: PlotArrays, asked: QuestionArrays, own: NestedReading, compared: Sequence[NestedReading]
) -> Derived:
    """Return the oracle's answers and proofs.

    Args:
        stories: The stories.
        asked: The questions.
        own: The reading that decides.
        compared: Further readings to answer under.
    """
    codes: dict[NestedReading, Codes] = {}
    proofs = np.zeros((0, 0), np.bool_)
    for sight, readings in _by_sight([own, *compared]).items():
        answers = Answers(stories, asked, sight)
        found = answers.codes(*(reading.trust for reading in readings))
        codes |= dict(zip(readings, found, strict=True))
        if sight == own.sight:
            proofs = answers.prove(own.trust)
    return Derived(codes, proofs)


def _by_sight(readings: Sequence[NestedReading]) -> dict[str, list[NestedReading]]:
    found: dict[str, list[NestedReading]] = {}
    for reading in dict.fromkeys(readings):
        found.setdefault(reading.sight, []).append(reading)
    return found


def differences(stories: PlotArrays, asked: QuestionArrays, derived: Derived) -> Iterator[Difference]:
    """Yield where the checker differs from the oracle, by reading."""
    for sight, readings in _by_sight(list(derived.codes)).items():
        trusts = [reading.trust for reading in readings]
        checked: Iterable[Codes]
        if sight == OPEN:
            arrays = (stories.agent, stories.room, stories.thing, stories.container, stories.hearer)
            checked = answer_under(PlotEventBlock(stories.kind, *arrays), asked, trusts)
        else:
            checked = _one_by_one(stories, asked, readings)
        for reading, found in zip(readings, checked, strict=True):
            differing = np.flatnonzero(found != derived.codes[reading])
            if len(differing):
                yield Difference(reading, differing, found[differing])


def _one_by_one(stories: PlotArrays, asked: QuestionArrays, readings: Sequence[NestedReading]) -> list[Codes]:
    """Return the checker's answers under any sight, story by story."""
    found = [np.empty(asked.count, np.int64) for _ in readings]
    order = np.argsort(asked.story, kind="stable")
    for places in np.split(order, np.flatnonzero(np.diff(asked.story[order])) + 1):
        if len(places):
            events = decode_plot(stories, int(asked.story[places[0]]), _GENERIC)
            for reading, codes in zip(readings, found, strict=True):
                worlds = MindWorlds(events, reading)
                for place in places.tolist():
                    codes[place] = _code(worlds.answer(_question(asked, place)))
    return found


def _question(asked: QuestionArrays, place: int) -> NestedQuestion:
    """Return a question in generic names."""
    agents, things, boxes = tuple(_GENERIC.agents), tuple(_GENERIC.things), tuple(_GENERIC.containers)
    chain = tuple(agents[agent] if agent >= 0 else _STRANGER for agent in asked.chain[:, place] if agent != NOBODY)
    ask = ASKS[asked.ask[place]]
    return NestedQuestion(
        ask, things[asked.thing[place]], chain, boxes[asked.place[place]] if ask == Ask.BELIEVERS else None
    )


def _code(reply: Reply) -> int:
    if reply is None:
        return NOBODY
    if isinstance(reply, tuple):
        return sum(1 << _GENERIC.agents[name] for name in reply)
    return ("no", "yes").index(reply) if reply in ("no", "yes") else _GENERIC.containers[reply]


def describe(stories: PlotArrays, asked: QuestionArrays, derived: Derived, found: Difference) -> str:
    """Return what oracle and checker say about the first question that they differ on, in generic names."""
    place = int(found.questions[0])
    return (
        f"answer under {found.reading} (oracle and checker): {derived.codes[found.reading][place]} against "
        f"{found.codes[0]}, on {_question(asked, place)}, in {decode_plot(stories, int(asked.story[place]), _GENERIC)}"
    )
