"""Proves all patterns of clean chains, and writes them to a file: `make proofs`.

A pattern of k facts is two shorter ones joined by a rule, because every part of a possible story is possible. All joins
are tried. The oracle must derive exactly one answer, from no fewer than k facts, and the checker must find it entailed.
Why that holds for all genders in which the people of each couple differ is said in `proof_file`.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Sequence
from itertools import combinations, product
from pathlib import Path
from typing import NamedTuple

import numpy as np

from storyproof.errors import ProofError
from storyproof.families.kinship.checker import ENTAILED, fitting_families, status
from storyproof.families.kinship.genealogy import Genealogy
from storyproof.families.kinship.generation.proof_file import FILE, LENGTHS, NOBODY, Proved, write_proofs
from storyproof.families.kinship.oracle import ProofStep, derive, replay
from storyproof.families.kinship.relations import FEMALE, MALE, Fact
from storyproof.families.kinship.rules import RuleSet, published_rules, strict_rules

Pattern = tuple[str, ...]
_TOGETHER = 2048  # patterns about which the oracle is asked at once


class _Proof(NamedTuple):
    """What is known of one pattern."""

    target: str
    pattern: Pattern
    couples: tuple[tuple[int, int], ...]
    published: bool
    steps: tuple[ProofStep, ...]


def prove(rules: RuleSet, shorter: Sequence[Proved]) -> Proved:
    """Prove all patterns that are one fact longer than the longest known ones.

    Args:
        rules: The strict rules.
        shorter: The patterns of two facts, of three, and so on.

    Raises:
        ProofError: If oracle and checker do not agree.
    """
    found: list[_Proof] = []
    tried = _joins(rules, [_by_target(rules, each) for each in shorter])
    for start in range(0, len(tried), _TOGETHER):
        found += _derive(rules, tried[start : start + _TOGETHER])
    return _arrays(rules, len(shorter) + 2, [each for each in found if _check(each)])


def _by_target(rules: RuleSet, proved: Proved) -> dict[str, list[Pattern]]:
    names = [predicate.name for predicate in rules.predicates]
    found: dict[str, list[Pattern]] = {}
    for target, relations in zip(proved.target.tolist(), proved.relations.tolist(), strict=True):
        found.setdefault(names[target], []).append(tuple(names[number] for number in relations))
    return found


def _joins(rules: RuleSet, shorter: Sequence[dict[str, list[Pattern]]]) -> list[tuple[str, Pattern]]:
    """Return all joins of two parts with the relation that a rule gives them, sorted."""
    known: list[dict[str, list[Pattern]]] = [{relation: [(relation,)] for relation in rules.stated}, *shorter]
    k = len(known) + 1
    found = {
        (rules.number[head], tuple(rules.number[relation] for relation in start + end))
        for (first, second), head in rules.heads.items()
        for left in range(1, k)
        for start, end in product(known[left - 1].get(first, ()), known[k - left - 1].get(second, ()))
    }
    names = [predicate.name for predicate in rules.predicates]
    return [(names[head], tuple(names[number] for number in pattern)) for head, pattern in sorted(found)]


def _derive(rules: RuleSet, tried: Sequence[tuple[str, Pattern]]) -> Iterator[_Proof]:
    """Ask the oracle; yield what it derives from the whole chain and without a second answer.

    Raises:
        ProofError: If a proof is wrong.
    """
    stories = [chain(pattern) for _, pattern in tried]
    people = len(stories[0]) + 1
    ours, published = derive(rules, stories, people), derive(published_rules(), stories, people)
    for number, ((target, pattern), pairs) in enumerate(zip(tried, ours.pairs("SO"), strict=True)):
        ends, query = (0, people - 1), Fact(0, target, people - 1)
        if ours.relations(number, *ends) == [target] and ours.size(number, query) == len(pattern):
            couples = tuple(pair for pair in pairs if pair[0] < pair[1])
            also = published.relations(number, *ends) == [target]
            steps = tuple(ours.proof(number, query))
            if wrong := replay(rules, stories[number], query, steps):
                raise ProofError(f"the proof of {target} from {pattern} is wrong: {wrong}")
            yield _Proof(target, pattern, couples, also, steps)


def chain(pattern: Sequence[str]) -> list[Fact]:
    """Return the facts of a pattern; people are numbered along the chain."""
    return [Fact(place, relation, place + 1) for place, relation in enumerate(pattern)]


def _check(proof: _Proof) -> bool:
    """Ask the checker; return whether any family fits.

    Raises:
        ProofError: If the answer does not hold in all of them, or if the couples are not all that are certain.
    """
    facts, people = chain(proof.pattern), len(proof.pattern) + 1
    if not _possible(people, facts, proof.couples):
        return False
    single = sorted(set(range(people)) - {person for pair in proof.couples for person in pair})
    could_be = [
        pair
        for pair in combinations(single, 2)
        if _possible(people, [*facts, Fact(pair[0], "SO", pair[1])], [*proof.couples, pair])
    ]
    genders = differing(people, [*proof.couples, *could_be])
    if genders is None:
        raise ProofError(f"no genders let all be married who could be: {proof}")
    found = status(genders, facts, Fact(0, proof.target, people - 1))
    if found != ENTAILED:
        raise ProofError(f"the rules derive an answer that the checker does not confirm ({found}): {proof}")
    if all(_named_couples(family, people) != set(proof.couples) for family in fitting_families(genders, facts)):
        raise ProofError(f"in every family that fits, more people are married than the rules derive: {proof}")
    return True


def _possible(people: int, facts: Sequence[Fact], couples: Sequence[tuple[int, int]]) -> bool:
    genders = differing(people, couples)
    return genders is not None and next(fitting_families(genders, facts), None) is not None


def _named_couples(family: Genealogy, people: int) -> set[tuple[int, int]]:
    return {(min(pair), max(pair)) for pair in family.couples if max(pair) < people}


def differing(people: int, couples: Collection[tuple[int, int]]) -> list[str] | None:
    """Return genders in which the two of each pair differ; None if there are none."""
    found = [""] * people
    for start in range(people):
        ahead = [] if found[start] else [start]
        found[start] = found[start] or MALE
        while ahead:
            here = ahead.pop()
            for spouse in (sum(pair) - here for pair in couples if here in pair):
                if found[spouse] == found[here]:
                    return None
                if not found[spouse]:
                    found[spouse] = FEMALE if found[here] == MALE else MALE
                    ahead.append(spouse)
    return found


def _arrays(rules: RuleSet, k: int, proofs: Sequence[_Proof]) -> Proved:
    number, count = rules.number, len(proofs)
    spouse = np.full((count, k + 1), NOBODY, np.int8)
    for place, proof in enumerate(proofs):
        for one, other in proof.couples:
            spouse[place, [one, other]] = other, one
    steps = np.array(
        [
            [(step.fact.first, step.via, step.fact.second, number[step.fact.predicate]) for step in proof.steps]
            for proof in proofs
        ],
        np.int8,
    ).reshape(count, k - 1, 4)
    return Proved(
        np.array([number[proof.target] for proof in proofs], np.int8),
        np.array([[number[relation] for relation in proof.pattern] for proof in proofs], np.int8).reshape(count, k),
        spouse,
        np.array([proof.published for proof in proofs], np.int8),
        *(steps[:, :, part] for part in range(4)),
    )


def main(path: Path = FILE) -> None:
    """Prove the patterns of all lengths and write them."""
    proved: dict[int, Proved] = {}
    for k in LENGTHS:
        proved[k] = prove(strict_rules(), list(proved.values()))
        print(f"{k} facts: {len(proved[k]):,} patterns", flush=True)
    sha256 = write_proofs(path, proved, strict_rules())
    print(f"{path}: {path.stat().st_size:,} bytes, {sha256}")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
