"""Ask both provers about stories that are given as events."""

from __future__ import annotations

from collections.abc import Sequence

from storyproof.families.belief.answers import oracle_answer, oracle_proof
from storyproof.families.belief.questions import Ask, BeliefQuestion, Reply
from storyproof.families.belief.readings import OPEN, BeliefReading
from storyproof.families.belief.world import NOTHING, PlotEvent
from tests.families.belief.possible_worlds import MindWorlds


def ask_oracle(events: Sequence[PlotEvent], question: BeliefQuestion, sight: str = OPEN) -> Reply:
    return oracle_answer(events, question, BeliefReading(sight))


def ask_checker(events: Sequence[PlotEvent], question: BeliefQuestion, sight: str = OPEN) -> Reply:
    return MindWorlds(events, BeliefReading(sight)).answer(question)


def ask_both(events: Sequence[PlotEvent], question: BeliefQuestion, sight: str = OPEN) -> Reply:
    """Return the answer that oracle and checker agree on."""
    answer = ask_oracle(events, question, sight)
    assert answer == ask_checker(events, question, sight)
    return answer


def belief(thing: str, *chain: str) -> BeliefQuestion:
    return BeliefQuestion(Ask.BELIEF, thing, chain) if chain else BeliefQuestion(Ask.REALITY, thing)


def keep(events: Sequence[PlotEvent], numbers: set[int]) -> list[PlotEvent]:
    """Return a story with some of its sentences only; noise stands for the others, so that numbers stay."""
    return [event if number in numbers else NOTHING for number, event in enumerate(events, start=1)]


def proof_of(events: Sequence[PlotEvent], question: BeliefQuestion, sight: str = OPEN) -> list[int]:
    return list(oracle_proof(events, question, BeliefReading(sight)))


def defined_proof(events: Sequence[PlotEvent], question: BeliefQuestion, sight: str = OPEN) -> list[int]:
    """Return the proof of a question about a belief, memory or reality by its definition, with the checker."""
    every = set(range(1, len(events) + 1))

    def value(numbers: set[int]) -> Reply:
        return ask_checker(keep(events, numbers), question, sight)

    answer = value(every)
    needed = {number for number in every if value(every - {number}) != answer}
    if value(needed) == answer:
        return sorted(needed)
    kept, changed = set(every), True
    while changed:
        changed = False
        for number in sorted(kept - needed):
            if value(kept - {number}) == answer:
                kept.remove(number)
                changed = True
    return sorted(kept)
