"""Mistakes that lead to wrong answers about kin.

An answer may fit several of them; then the first of `MISTAKES` counts: what is right but for one thing comes first,
then what is a part of the way to the answer, then how far a relation is from the right one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping, Sequence
from itertools import combinations, product

from storyproof.example import Example
from storyproof.families.kinship.oracle import derive
from storyproof.families.kinship.relations import GENDERS, PREDICATES, WORDS, Fact, inverse, predicate_of, word
from storyproof.families.kinship.row import KinshipRow
from storyproof.families.kinship.rules import published_rules, strict_rules

MISTAKES = {
    "other_reading": "what follows under another reading",
    "wrong_gender": "the right relation, with the wrong gender",
    "reversed": "what the other of the two people is",
    "one_step_short": "a relation one step short of the answer",
    "part_of_chain": "a relation between two other people on the way",
    "stated": "a relation that the story states of others",
    "by_marriage": "kin by blood for kin by marriage, or the reverse",
    "same_generation": "another relation of the same generation",
    "other_generation": "a relation of another generation",
}
_IN_LAWS = {"child": "in-law", "inv-child": "inv-in-law", "sibling": "sibling-in-law"}
BY_MARRIAGE = _IN_LAWS | {relative: blood for blood, relative in _IN_LAWS.items()}
# How many generations above the first person the second is.
_GENERATIONS = {"grand": -2, "child": -1, "un": -1, "in-law": -1, "SO": 0, "sibling": 0, "sibling-in-law": 0}
GENERATIONS = {each.name: _GENERATIONS.get(each.name, -_GENERATIONS.get(each.inverse, 0)) for each in PREDICATES}


def mistaken_answers(example: Example) -> Mapping[str, Collection[str]]:
    """Return the answers to which each mistake leads, seen from the label.

    Raises:
        ParseError: If the example's columns do not fit together.
    """
    from storyproof.families.kinship.baselines import read_rows  # with all that reads text

    row = read_rows(example)[0]
    answers: dict[str, frozenset[str]] = {
        "other_reading": _by_published_rules(row),
        **_on_the_way(row),
        "stated": frozenset(row.word(fact) for fact in row.facts if fact.predicate in GENERATIONS),
    }
    if example.answer in WORDS:
        answers |= _near(predicate_of(example.answer))
    return {name: answers[name] for name in MISTAKES if name in answers}


def _by_published_rules(row: KinshipRow) -> frozenset[str]:
    facts = [fact for fact in row.facts if fact.predicate in published_rules().number]
    relations = derive(published_rules(), [facts], len(row.genders)).relations(0, *row.pair)
    return frozenset(row.word(row.asking(predicate)) for predicate in relations)


def _near(right: str) -> dict[str, frozenset[str]]:
    """Return relations by how they differ from the right one."""
    level = GENERATIONS[right]
    return {
        "wrong_gender": _both(right),
        "reversed": _both(inverse(right)),
        "by_marriage": _both(BY_MARRIAGE[right]) if right in BY_MARRIAGE else frozenset(),
        "same_generation": frozenset(name for name in WORDS if GENERATIONS[predicate_of(name)] == level),
        "other_generation": frozenset(name for name in WORDS if GENERATIONS[predicate_of(name)] != level),
    }


def _both(predicate: str) -> frozenset[str]:
    return frozenset(word(predicate, gender) for gender in GENDERS)


def _on_the_way(row: KinshipRow) -> dict[str, frozenset[str]]:
    """Return what follows for two people on the shortest way between those asked about, other than both of these.

    A relation may be worded for the person reached, or for the one asked about.
    """
    path = shortest_way(row.facts, *row.pair)
    relations = compose(path)
    last = len(path)
    answers: dict[str, set[str]] = {"one_step_short": set(), "part_of_chain": set()}
    for first, second in combinations(range(last + 1), 2):
        if (first, second) == (0, last):
            continue
        reached = path[second - 1].second
        genders = {row.genders[reached], row.genders[row.pair[1]]}
        name = "one_step_short" if second - first == last - 1 else "part_of_chain"
        answers[name] |= {word(predicate, gender) for predicate in relations[first, second] for gender in genders}
    return {name: frozenset(words) for name, words in answers.items()}


def compose(path: Sequence[Fact]) -> dict[tuple[int, int], set[str]]:
    """Return the relations that follow from each stretch of a path, by the strict rules."""
    heads, relations = strict_rules().heads, {(place, place + 1): {fact.predicate} for place, fact in enumerate(path)}
    for length in range(2, len(path) + 1):
        for first in range(len(path) - length + 1):
            second = first + length
            relations[first, second] = {
                heads[pair]
                for via in range(first + 1, second)
                for pair in product(relations[first, via], relations[via, second])
                if pair in heads
            }
    return relations


def shortest_way(facts: Sequence[Fact], first: int, second: int) -> list[Fact]:
    """Return a shortest way from one person to another along the facts, in either direction; empty if there is none."""
    steps: dict[int, list[Fact]] = {}
    for fact in facts:
        if fact.predicate in GENERATIONS:
            steps.setdefault(fact.first, []).append(fact)
            steps.setdefault(fact.second, []).append(Fact(fact.second, inverse(fact.predicate), fact.first))
    came: dict[int, Fact | None] = {first: None}
    ahead = deque([first])
    while ahead and second not in came:
        for fact in steps.get(ahead.popleft(), ()):
            if fact.second not in came:
                came[fact.second] = fact
                ahead.append(fact.second)
    path: list[Fact] = []
    last = came.get(second)
    while last is not None:
        path.append(last)
        last = came[last.first]
    return path[::-1]
