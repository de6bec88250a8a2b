"""What oracle and checker say about many questions at once, as codes; see `QuestionArrays`.

Everything that labels stories, or compares labels, asks the two provers here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from storyproof.families.belief.answers import Codes, Columns, PlotAnswers, reply
from storyproof.families.belief.arrays import (
    NOBODY,
    Flags,
    LocalNames,
    PlotArrays,
    decode_plot,
    encode_plots,
    encode_questions,
)
from storyproof.families.belief.block_checker import MindBlock, PlotEventBlock, answer_under
from storyproof.families.belief.questions import ASKS, Ask, BeliefQuestion, QuestionArrays, Reply
from storyproof.families.belief.readings import CLOSED, INFER_MOVER, OPEN, BeliefReading
from storyproof.families.belief.world import EventKind, PlotEvent

_GENERIC = LocalNames.generic(128)
_STRANGER = "nobody of the story"


@dataclass(frozen=True, slots=True)
class DerivedCodes:
    """What the oracle says.

    Attributes:
        codes: The answers under each reading, one per question.
        proofs: The sentences that the answers under the deciding reading rest on, [time, question].
    """

    codes: Mapping[BeliefReading, Codes]
    proofs: Flags


class Difference(NamedTuple):
    """Where the checker differs from the oracle under one reading: the questions, and the checker's answers."""

    reading: BeliefReading
    questions: Columns
    codes: Codes


def cast_sizes(stories: PlotArrays) -> Columns:
    """Return how many agents each story has; their numbers are the lowest."""
    named = np.where(stories.kind > EventKind.FEEL, np.maximum(stories.agent, stories.hearer), np.int8(NOBODY))
    sizes: Columns = named.max(axis=0, initial=NOBODY).astype(np.intp) + 1
    return sizes


def answer(stories: PlotArrays, asked: QuestionArrays, reading: BeliefReading) -> Codes:
    """Return the oracle's answers."""
    return PlotAnswers(stories, asked, reading.sight).codes(reading.trust)[0]


def derive(
    stories: PlotArrays, asked: QuestionArrays, own: BeliefReading, compared: Sequence[BeliefReading]
) -> DerivedCodes:
    """Return the oracle's answers and proofs.

    Args:
        stories: The stories.
        asked: The questions.
        own: The reading that decides.
        compared: Further readings to answer under.
    """
    readings = list(dict.fromkeys([own, *compared]))
    answers = _by_sight(stories, asked, readings)
    codes = dict(zip(readings, _codes(answers, readings), strict=True))
    return DerivedCodes(codes, answers[own.sight].prove(own.trust))


def answer_all(stories: PlotArrays, asked: QuestionArrays, readings: Sequence[BeliefReading]) -> list[Codes]:
    """Return the oracle's answers under several readings."""
    return _codes(_by_sight(stories, asked, readings), readings)


def _by_sight(stories: PlotArrays, asked: QuestionArrays, readings: Sequence[BeliefReading]) -> dict[str, PlotAnswers]:
    first = PlotAnswers(stories, asked)
    # The beliefs that are asked for under the first sight need not be looked up again under the others.
    return {sight: first if sight == OPEN else first.under(sight) for sight in {each.sight: None for each in readings}}


def _codes(answers: Mapping[str, PlotAnswers], readings: Sequence[BeliefReading]) -> list[Codes]:
    codes: dict[BeliefReading, Codes] = {}
    for sight in sorted(answers, key=[OPEN, CLOSED, INFER_MOVER].index):
        alike = [each for each in readings if each.sight == sight]
        trusts = [each.trust for each in alike]
        seen = [codes[BeliefReading(OPEN, each)] for each in trusts if BeliefReading(OPEN, each) in codes]
        is_known = sight == INFER_MOVER and len(seen) == len(alike)
        codes |= dict(zip(alike, answers[sight].codes(*trusts, unsurprised=seen if is_known else ()), strict=True))
    return [codes[each] for each in readings]


def differences(stories: PlotArrays, asked: QuestionArrays, derived: DerivedCodes) -> Iterator[Difference]:
    """Yield where the checker differs from the oracle, by reading."""
    for reading, checked in _check(stories, asked, list(derived.codes)).items():
        differing = np.flatnonzero(checked != derived.codes[reading])
        if len(differing):
            yield Difference(reading, differing, checked[differing])


def _check(stories: PlotArrays, asked: QuestionArrays, readings: Sequence[BeliefReading]) -> dict[BeliefReading, Codes]:
    """Return the checker's answers."""
    return dict(zip(readings, answer_under(_block_of(stories), asked, readings), strict=True))


def check_codes(stories: PlotArrays, asked: QuestionArrays, reading: BeliefReading) -> Codes:
    """Return the checker's answers under one reading."""
    return _check(stories, asked, [reading])[reading]


def _block_of(stories: PlotArrays) -> PlotEventBlock:
    return PlotEventBlock(stories.kind, stories.agent, stories.room, stories.thing, stories.container, stories.hearer)


class CheckedStory:
    """What the checker says about one story."""

    def __init__(self, events: Sequence[PlotEvent]) -> None:
        """Prepare to answer questions about a story, possible or not."""
        stories, (self._names,) = encode_plots([events])
        self._block = MindBlock(_block_of(stories))
        self._by_sight: dict[str, MindBlock] = {}
        self._replies: dict[BeliefReading, dict[BeliefQuestion, Reply]] = {}

    def answers(
        self, questions: Sequence[BeliefQuestion], readings: Sequence[BeliefReading]
    ) -> dict[BeliefReading, list[Reply]]:
        """Return the answers to questions under each of some readings; what was asked before is remembered."""
        for sight in dict.fromkeys(each.sight for each in readings):
            alike = [each for each in readings if each.sight == sight]
            known = [self._replies.setdefault(each, {}) for each in alike]
            new = list(dict.fromkeys(each for each in questions if any(each not in replies for replies in known)))
            if not new:
                continue
            if sight not in self._by_sight:
                self._by_sight[sight] = self._block.under(sight)
            encoded = encode_questions([self._names], [0] * len(new), new)
            codes = self._by_sight[sight].answers(encoded, [each.trust for each in alike]).tolist()
            for replies, row in zip(known, codes, strict=True):
                replies.update(
                    zip(new, (reply(code, self._names, each) for code, each in zip(row, new, strict=True)), strict=True)
                )
        return {reading: [self._replies[reading][each] for each in questions] for reading in readings}

    def answer(self, question: BeliefQuestion, reading: BeliefReading) -> Reply:
        """Return the answer to a question."""
        return self.answers([question], [reading])[reading][0]

    def beliefs(
        self, chains: Iterable[Sequence[str]], thing: str, readings: Sequence[BeliefReading]
    ) -> dict[BeliefReading, list[str | None]]:
        """Return where chains of agents believe an object to be under each of some readings."""
        questions = [BeliefQuestion(Ask.BELIEF if chain else Ask.REALITY, thing, tuple(chain)) for chain in chains]
        found = self.answers(questions, readings)
        return {
            reading: [place if isinstance(place, str) else None for place in places]
            for reading, places in found.items()
        }

    def belief(self, chain: Sequence[str], thing: str, reading: BeliefReading) -> str | None:
        """Return where a chain of agents believes an object to be; the empty chain stands for where it is."""
        return self.beliefs([chain], thing, [reading])[reading][0]


def describe(stories: PlotArrays, asked: QuestionArrays, derived: DerivedCodes, difference: Difference) -> str:
    """Return what oracle and checker say about the first question that they differ on, in generic names."""
    place = int(difference.questions[0])
    return (
        f"answer under {difference.reading} (oracle and checker): {derived.codes[difference.reading][place]} against "
        f"{difference.codes[0]}, on {_question(asked, place)}, "
        f"in {decode_plot(stories, int(asked.story[place]), _GENERIC)}"
    )


def _question(asked: QuestionArrays, place: int) -> BeliefQuestion:
    """Return a question in generic names."""
    agents, things, boxes = tuple(_GENERIC.agents), tuple(_GENERIC.things), tuple(_GENERIC.containers)
    chain = tuple(agents[agent] if agent >= 0 else _STRANGER for agent in asked.chain[:, place] if agent != NOBODY)
    ask = ASKS[asked.ask[place]]
    return BeliefQuestion(
        ask, things[asked.thing[place]], chain, boxes[asked.place[place]] if ask == Ask.BELIEVERS else None
    )
