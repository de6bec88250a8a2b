"""The checker: try every order of the people, and see what holds in all orders that fit the story.

It shares nothing with the oracle but the definitions of the world.
"""

from __future__ import annotations

from itertools import permutations

from storyproof_orderings.orders import COMPARE, NO, TALLEST, UNKNOWN, YES, Fact, Question, people_of


def answer(facts: list[Fact], question: Question) -> str:
    """Answer a question; empty if no order fits the story."""
    said = {_look(order, question) for order in permutations(people_of(facts)) if _fits(order, facts)}
    if not said:
        return ""
    return said.pop() if len(said) == 1 else UNKNOWN


def _fits(order: tuple[str, ...], facts: list[Fact]) -> bool:
    """Return whether an order, tallest first, has every fact."""
    return all(order.index(fact.taller) < order.index(fact.shorter) for fact in facts)


def _look(order: tuple[str, ...], question: Question) -> str:
    if question.kind == COMPARE:
        return YES if order.index(question.taller) < order.index(question.shorter) else NO
    return order[0] if question.kind == TALLEST else order[-1]
