from collections import defaultdict
from functools import cache
from itertools import combinations, product

import pytest

from storyproof.families.kinship.checker import ENTAILED, IMPOSSIBLE, status
from storyproof.families.kinship.generation.pattern_search import MOST, Patterns
from storyproof.families.kinship.generation.patterns import Pattern
from storyproof.families.kinship.generation.proof_file import strict_proofs
from storyproof.families.kinship.generation.puzzle_maker import PuzzleMaker
from storyproof.families.kinship.oracle import derive
from storyproof.families.kinship.relations import GENDERS, Fact
from storyproof.families.kinship.rules import PUBLISHED, RuleSet, published_rules, rules_of, strict_rules
from tests.families.kinship.test_oracle import both_rules, bracketings, chain
from tests.groups import only_first

STRICT = strict_rules()


@cache
def maker(reading: str) -> PuzzleMaker:
    return PuzzleMaker(rules_of(reading), "tests", 1)


def every_sequence(rules: RuleSet, k: int) -> dict[str, set[Pattern]]:
    """Try all sequences of relations: those that come to one relation, and that people of some genders can live."""
    found: dict[str, set[Pattern]] = defaultdict(set)
    for pattern in product(rules.stated, repeat=k):
        heads = bracketings(rules, pattern)
        if len(heads) == 1:
            (head,) = heads
            facts, asked = chain(pattern), Fact(0, head, k)
            if any(status(genders, facts, asked) != IMPOSSIBLE for genders in product(GENDERS, repeat=k + 1)):
                found[head].add(pattern)
    return found


def is_plain(rules: RuleSet, pattern: Pattern) -> bool:
    """Say whether no part of a pattern comes to two relations by different bracketings."""
    return all(len(bracketings(rules, pattern[a:b])) < 2 for a, b in combinations(range(len(pattern) + 1), 2))


@both_rules
@pytest.mark.parametrize("k", [2, 3, 4])
def test_patterns_are_all_sequences_that_come_to_one_relation(rules: RuleSet, k: int) -> None:
    """Under the published rules those may be left out of which a part comes to two; strictly there are none."""
    for target, expected in every_sequence(rules, k).items():
        found = set(maker(rules.name).patterns(k, target))
        plain = {pattern for pattern in expected if is_plain(rules, pattern)}
        assert plain <= found <= expected
        assert plain == expected or rules.name == PUBLISHED


@both_rules
def test_targets_are_all_that_sequences_come_to(rules: RuleSet) -> None:
    assert set(rules.targets) == set(every_sequence(rules, 2)) == set(every_sequence(rules, 3))


def test_there_are_so_many() -> None:
    found = {k: [len(maker("strict").patterns(k, target)) for target in STRICT.targets] for k in (2, 3, 4, 5)}
    assert {k: sum(counts) for k, counts in found.items()} == {2: 23, 3: 57, 4: 122, 5: 234}
    assert sum(len(maker("published").patterns(2, target)) for target in published_rules().targets) == 16


@both_rules
@pytest.mark.parametrize("k", only_first(3, [3, 4, 10, 2, 5, 7]))
def test_from_a_pattern_its_target_follows_and_nothing_else(rules: RuleSet, k: int) -> None:
    listed = [(target, pattern) for target in rules.targets for pattern in maker(rules.name).patterns(k, target)]
    assert listed
    derived = derive(rules, [chain(pattern) for _, pattern in listed], k + 1)
    for number, (target, pattern) in enumerate(listed):
        assert len(pattern) == k
        assert set(pattern) <= set(rules.stated)
        assert derived.relations(number, 0, k) == [target]
        assert derived.size(number, Fact(0, target, k)) == k


@pytest.mark.parametrize("k", [3, 6])
def test_strictly_what_a_pattern_comes_to_is_entailed(k: int) -> None:
    for target in STRICT.targets:
        for pattern in maker("strict").patterns(k, target)[:8]:
            verdicts = {
                status(genders, chain(pattern), Fact(0, target, k)) for genders in product(GENDERS, repeat=k + 1)
            }
            assert ENTAILED in verdicts
            assert verdicts <= {ENTAILED, IMPOSSIBLE}


@both_rules
def test_no_pattern_comes_twice_and_no_target_has_too_many(rules: RuleSet) -> None:
    most = 0
    for k in range(1, 9):
        for target in rules.targets:
            found = maker(rules.name).patterns(k, target)
            assert len(set(found)) == len(found) <= MOST
            most = max(most, len(found))
    assert most == MOST


@both_rules
def test_a_single_fact_is_its_own_pattern(rules: RuleSet) -> None:
    for name in (each.name for each in rules.predicates):
        assert maker(rules.name).patterns(1, name) == ([(name,)] if name in rules.stated else [])


def test_every_strict_target_has_patterns_of_every_length() -> None:
    for k in range(2, 11):
        assert all(maker("strict").patterns(k, target) for target in STRICT.targets)


def test_order_depends_on_the_purpose_alone() -> None:
    def found(maker: PuzzleMaker, lengths: list[int]) -> dict[tuple[int, str], list[Pattern]]:
        return {(k, target): maker.patterns(k, target) for k in lengths for target in STRICT.targets}

    first = found(maker("strict"), [2, 3, 4, 5, 6])
    assert found(PuzzleMaker(STRICT, "tests", 1), [6, 5, 4, 3, 2]) == first  # whatever is asked for first
    others = found(PuzzleMaker(STRICT, "tests", 2), [2, 3, 4, 5, 6])
    assert others != first
    few = [key for key, patterns in first.items() if len(patterns) < MOST]
    assert {key: set(first[key]) for key in few} == {key: set(others[key]) for key in few}
    assert any(first[key] != others[key] for key in few)
    assert any(set(first[key]) != set(others[key]) for key in first if key not in few)


def test_only_what_is_admitted_is_found() -> None:
    asked: list[tuple[str, Pattern]] = []

    def admit(tried: list[tuple[str, Pattern]]) -> list[bool]:
        asked.extend(tried)
        return ["SO" not in pattern for _, pattern in tried]

    patterns = Patterns(STRICT, admit, "no spouses")
    found = {pattern for k in (2, 3, 4) for target in STRICT.targets for pattern in patterns.of(k, target)}
    assert found == {pattern for _, pattern in asked if "SO" not in pattern}
    assert len(asked) == len(set(asked))
    assert patterns.of(2, "in-law") == []
    assert patterns.of(2, "SO") == [("child", "inv-child")]


def test_what_has_been_proved_admits_the_patterns_that_oracle_and_checker_admit() -> None:
    reading = PuzzleMaker(STRICT, "tests", 1, proofs=strict_proofs())
    for k in range(2, 11):
        for target in STRICT.targets:
            assert reading.patterns(k, target) == maker("strict").patterns(k, target)
    assert not reading._made  # nobody was asked
