"""What oracle and checker say about many questions at once, as codes; see `QuestionArrays`.

Everything that labels stories, or compares labels, asks the two provers here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from storyproof.families.belief.arrays import NOBODY, Flags, LocalNames
from storyproof.families.belief.nested.answers import Codes, Columns, PlotAnswers
from storyproof.families.belief.nested.arrays import PlotArrays, decode_plot
from storyproof.families.belief.nested.checker import MindWorlds
from storyproof.families.belief.nested.mind_blocks import PlotEventBlock, answer_under
from storyproof.families.belief.nested.questions import ASKS, Ask, NestedQuestion, QuestionArrays, Reply
from storyproof.families.belief.nested.readings import NestedReading
from storyproof.families.belief.nested.world import MESSAGES, EventKind
from storyproof.families.belief.readings import OPEN

_GENERIC = LocalNames.generic(128)
_STRANGER = "nobody of the story"


@dataclass(frozen=True, slots=True)
class DerivedCodes:
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
    return PlotAnswers(stories, asked, reading.sight).codes(reading.trust)[0]


def derive(
    stories: PlotArrays, asked: QuestionArrays, own: NestedReading, compared: Sequence[NestedReading]
) -> DerivedCodes:
    """Return the oracle's answers and proofs.

    Args:
        stories: The stories.
        asked: The questions.
        own: The reading that decides.
        compared: Further readings to answer under.
    """
    readings = dict.fromkeys([own, *compared])
    answers = {sight: PlotAnswers(stories, asked, sight) for sight in dict.fromkeys(each.sight for each in readings)}
    codes: dict[NestedReading, Codes] = {}
    for sight, found in answers.items():
        some = [each for each in readings if each.sight == sight]
        codes |= dict(zip(some, found.codes(*(each.trust for each in some)), strict=True))
    return DerivedCodes({each: codes[each] for each in readings}, answers[own.sight].prove(own.trust))


def differences(stories: PlotArrays, asked: QuestionArrays, derived: DerivedCodes) -> Iterator[Difference]:
    """Yield where the checker differs from the oracle, by reading."""
    for reading, checked in _check(stories, asked, list(derived.codes)).items():
        differing = np.flatnonzero(checked != derived.codes[reading])
        if len(differing):
            yield Difference(reading, differing, checked[differing])


def _check(stories: PlotArrays, asked: QuestionArrays, readings: Sequence[NestedReading]) -> dict[NestedReading, Codes]:
    """Return the checker's answers; whole blocks under `open` sight, else story by story."""
    puts = (stories.kind == EventKind.PLACE) | (stories.kind == EventKind.MOVE)
    is_resolved = not (puts & (stories.room < 0)).any()
    by_block = [each for each in readings if each.sight == OPEN and is_resolved]
    found: dict[NestedReading, Codes] = {}
    if by_block:
        block = PlotEventBlock(
            stories.kind, stories.agent, stories.room, stories.thing, stories.container, stories.hearer
        )
        found |= dict(zip(by_block, answer_under(block, asked, [each.trust for each in by_block]), strict=True))
    others = [each for each in readings if each not in found]
    return found | _check_one_by_one(stories, asked, others) if others else found


def _check_one_by_one(
    stories: PlotArrays, asked: QuestionArrays, readings: Sequence[NestedReading]
) -> dict[NestedReading, Codes]:
    """Return the checker's answers, story by story."""
    checked = {reading: np.empty(asked.count, np.int64) for reading in readings}
    questions = [_question(asked, place) for place in range(asked.count)]
    speaks = np.isin(stories.kind, MESSAGES)
    order = np.argsort(asked.story, kind="stable")
    for places in np.split(order, np.flatnonzero(np.diff(asked.story[order])) + 1):
        if not len(places):
            continue
        column = int(asked.story[places[0]])
        events, known = decode_plot(stories, column, _GENERIC), dict[str, MindWorlds]()
        for reading, found in checked.items():
            # Without messages trust does not matter, so one model serves all readings of the same sight.
            key = reading.sight if not speaks[:, column].any() else str(reading)
            worlds = known.get(key) or known.setdefault(key, MindWorlds(events, reading))
            for place in places.tolist():
                found[place] = _code(worlds.answer(questions[place]))
    return checked


def describe(stories: PlotArrays, asked: QuestionArrays, derived: DerivedCodes, found: Difference) -> str:
    """Return what oracle and checker say about the first question that they differ on, in generic names."""
    place = int(found.questions[0])
    return (
        f"answer under {found.reading} (oracle and checker): {derived.codes[found.reading][place]} against "
        f"{found.codes[0]}, on {_question(asked, place)}, in {decode_plot(stories, int(asked.story[place]), _GENERIC)}"
    )


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
