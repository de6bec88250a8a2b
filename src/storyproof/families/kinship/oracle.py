"""The oracle: forward composition over all stated facts, with the proof.

Many stories are processed at once. For every story, predicate and pair of people, the oracle keeps the smallest number
of facts from which the predicate follows, and applies all rules until no number decreases. A proof is then read off
from the conclusion down.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from storyproof.families.kinship.relations import Fact
from storyproof.families.kinship.rules import RuleSet

Sizes = npt.NDArray[np.uint8]
NEVER = 100  # more facts than any story has; twice the number still fits into a byte


class ProofStep(NamedTuple):
    """One step of a proof: the conclusion, and the person who links its two premises."""

    fact: Fact
    via: int


class Derived:
    """Everything that follows from the facts of some stories."""

    def __init__(self, rules: RuleSet, sizes: Sizes) -> None:
        self._rules = rules
        self._sizes = sizes  # [predicate, first, second, story]

    def size(self, story: int, fact: Fact) -> int | None:
        """Return the smallest number of facts from which a fact follows; None if it does not follow."""
        if fact.predicate not in self._rules.number:
            return None
        found = int(self._sizes[self._rules.number[fact.predicate], fact.first, fact.second, story])
        return None if found >= NEVER else found

    def relations(self, story: int, first: int, second: int) -> list[str]:
        """Return all relations of the second person to the first that are derived."""
        found = np.flatnonzero(self._sizes[:, first, second, story] < NEVER)
        return [self._rules.predicates[number].name for number in found.tolist()]

    def pairs(self, predicate: str) -> list[list[tuple[int, int]]]:
        """Return for each story all pairs for which a predicate is derived."""
        found: list[list[tuple[int, int]]] = [[] for _ in range(self._sizes.shape[-1])]
        for first, second, story in np.argwhere(self._sizes[self._rules.number[predicate]] < NEVER).tolist():
            found[story].append((first, second))
        return found

    def proof(self, story: int, fact: Fact) -> list[ProofStep]:
        """Return a shortest proof of a derived fact, the conclusion first; empty if the fact is stated."""
        sizes = self._sizes[..., story]
        steps: list[ProofStep] = []
        ahead = [fact]
        while ahead:
            goal = ahead.pop(0)
            if sizes[self._rules.number[goal.predicate], goal.first, goal.second] == 1:
                continue
            step, left, right = self._last_step(sizes, goal)
            steps.append(step)
            ahead[:0] = [left, right]
        return steps

    def _last_step(self, sizes: Sizes, goal: Fact) -> tuple[ProofStep, Fact, Fact]:
        number = self._rules.number
        wanted = sizes[number[goal.predicate], goal.first, goal.second]
        for (one, other), head in self._rules.heads.items():
            if head == goal.predicate:
                through = sizes[number[one], goal.first] + sizes[number[other], :, goal.second]
                for via in np.flatnonzero(through == wanted).tolist():
                    return ProofStep(goal, via), Fact(goal.first, one, via), Fact(via, other, goal.second)
        raise KeyError(f"{goal} is not derived")


def derive(rules: RuleSet, stories: Sequence[Sequence[Fact]], people: int) -> Derived:
    """Derive everything that follows from the facts of each story.

    Args:
        rules: The rules of composition.
        stories: The facts of each, noise included.
        people: An upper bound of the numbers of people.
    """
    sizes = np.full((len(rules.predicates), people, people, len(stories)), NEVER, np.uint8)
    for story, facts in enumerate(stories):
        for first, predicate, second in facts:
            if predicate not in rules.number:
                continue  # a relation that these rules do not know
            sizes[rules.number[predicate], first, second, story] = 1
            if rules.inverses:
                back = rules.predicates[rules.number[predicate]].inverse
                sizes[rules.number[back], second, first, story] = 1
    _compose(rules, sizes)
    return Derived(rules, sizes)


def _compose(rules: RuleSet, sizes: Sizes) -> None:
    """Apply all rules until no number decreases."""
    people = range(sizes.shape[1])
    bodies = [
        (rules.number[one], rules.number[other], rules.number[head]) for (one, other), head in rules.heads.items()
    ]
    changed = {number for number in range(len(sizes)) if (sizes[number] < NEVER).any()}
    known = set(changed)
    while changed:
        news: set[int] = set()
        for one, other, head in bodies:
            if not (one in changed and other in known) and not (other in changed and one in known):
                continue
            best = sizes[head].copy()
            for via in people:
                np.minimum(best, sizes[one, :, via, None] + sizes[other, None, via], out=best)
            best[people, people] = NEVER  # nobody is related to themselves
            if (best < sizes[head]).any():
                sizes[head] = best
                news.add(head)
                known.add(head)
        changed = news


def replay(rules: RuleSet, facts: Sequence[Fact], query: Fact, steps: Sequence[ProofStep]) -> str | None:
    """Check a proof; return what is wrong with it, or None.

    Every conclusion must follow by a rule from two facts that are stated or concluded further down, the first must be
    what is asked, and every step must be used.
    """
    stated = set(facts)
    if rules.inverses:
        inverse = {predicate.name: predicate.inverse for predicate in rules.predicates}
        stated |= {Fact(fact.second, inverse[fact.predicate], fact.first) for fact in facts}
    concluded: dict[tuple[int, int], set[Fact]] = {}
    used: set[Fact] = set()
    for step in reversed(steps):
        first, _, second = step.fact
        halves = [
            [fact for fact in stated if (fact.first, fact.second) == pair] + sorted(concluded.get(pair, ()))
            for pair in ((first, step.via), (step.via, second))
        ]
        ways = [
            (one, other)
            for one in halves[0]
            for other in halves[1]
            if rules.heads.get((one.predicate, other.predicate)) == step.fact.predicate
        ]
        if not ways or len({first, step.via, second}) < 3:
            return f"{step.fact} does not follow through {step.via}"
        used.update(fact for way in ways for fact in way)
        concluded.setdefault((first, second), set()).add(step.fact)
    if not steps:
        return None if query in stated else "the answer is not stated, and there is no proof"
    if steps[0].fact != query:
        return f"the proof ends in {steps[0].fact}"
    idle = {step.fact for step in steps if step.fact != query} - used
    return f"{min(idle)} is concluded but not used" if idle else None
