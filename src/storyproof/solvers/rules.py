"""The paper's rules, which answer ToM-bAbI perfectly without looking at the agents.

Source: Le, Boureau and Nickel (2019), Algorithm 1. "First exited" is taken as the first after the last "object is in".
"""

from __future__ import annotations

from collections.abc import Sequence

from storyproof.example import Example
from storyproof.solvers import kinship
from storyproof.tom.events import Event, Kind
from storyproof.tom.text import Question, parse, parse_question


class Rules:
    """Answers by lexical and ordinal patterns alone; questions of kinship by the sixteen rules of the CLUTRR paper."""

    def __init__(self, seed: int = 0) -> None:
        del seed  # there is nothing to draw

    def predict(self, examples: Sequence[Example]) -> list[str]:
        """Give one answer an example, in order."""
        known: dict[str, list[Event]] = {}
        answers = []
        for example in examples:
            if kinship.is_kinship(example):
                answers.append(kinship.rules_answer(example))
                continue
            if example.story not in known:
                known[example.story] = parse(example.story)
            answers.append(apply_rules(known[example.story], parse_question(example.question)))
        return answers


def apply_rules(events: Sequence[Event], question: Question) -> str:
    """Answer one question by the rules."""
    spoken_of = [
        (time, event.container or "")
        for time, event in enumerate(events)
        if event.container and event.thing == question.thing
    ]
    if not spoken_of:
        return ""
    if question.memory:
        return spoken_of[0][1]
    last_placed = max(
        (time for time, event in enumerate(events) if event.kind is Kind.PLACE and event.thing == question.thing),
        default=-1,
    )
    exits = [time for time, event in enumerate(events) if event.kind is Kind.EXIT and time > last_placed]
    if question.chain and exits:
        limit = exits[-1] if question.order == 1 else exits[0]
        before = [place for time, place in spoken_of if time < limit]
        return before[-1] if before else spoken_of[0][1]
    return spoken_of[-1][1]
