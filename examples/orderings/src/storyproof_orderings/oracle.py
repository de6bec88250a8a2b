"""The oracle: transitive closure over the facts, with the sentences on which each answer rests."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from storyproof.errors import ParseError
from storyproof_orderings.orders import COMPARE, NO, TALLEST, UNKNOWN, YES, Fact, Question, people_of


class Answer(NamedTuple):
    """An answer, and the numbers of the sentences that prove it; none prove that something is not known."""

    value: str
    proof: list[int]


def answer(facts: list[Fact], question: Question) -> Answer:
    """Answer a question.

    Raises:
        ParseError: If nobody can be of such heights, or the question is about somebody else.
    """
    below = {person: _reach(facts, person) for person in people_of(facts)}
    for person, reached in below.items():
        if person in reached:
            raise ParseError(f"{person} would be taller than {person}; expected a story that can happen")
    if question.kind == COMPARE:
        for name in (question.taller, question.shorter):
            if name not in below:
                raise ParseError(f"the question is about {name}; expected one of {', '.join(below)}")
        return _compare(below, question)
    facing = below if question.kind == TALLEST else {person: _reach(facts, person, down=False) for person in below}
    for person, reached in facing.items():
        if len(reached) == len(facing) - 1:
            return Answer(person, sorted({number for path in reached.values() for number in path}))
    return Answer(UNKNOWN, [])


def _compare(below: dict[str, dict[str, list[int]]], question: Question) -> Answer:
    if question.shorter in below[question.taller]:
        return Answer(YES, sorted(below[question.taller][question.shorter]))
    if question.taller in below[question.shorter]:
        return Answer(NO, sorted(below[question.shorter][question.taller]))
    return Answer(UNKNOWN, [])


def _reach(facts: list[Fact], start: str, down: bool = True) -> dict[str, list[int]]:
    """Return everybody who is shorter (or taller) than a person, with the sentences of a shortest chain to them."""
    found: dict[str, list[int]] = {}
    waiting: deque[tuple[str, list[int]]] = deque([(start, [])])
    while waiting:
        person, path = waiting.popleft()
        for number, fact in enumerate(facts, start=1):
            here, there = fact if down else (fact.shorter, fact.taller)
            if here == person and there not in found:
                found[there] = [*path, number]
                waiting.append((there, found[there]))
    return found
