import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from storyproof.errors import ConfigError, ProofError
from storyproof.families.kinship.checker import AMBIGUOUS, CONTRADICTED, ENTAILED, IMPOSSIBLE, status
from storyproof.families.kinship.generation.patterns import PuzzleKind
from storyproof.families.kinship.generation.puzzle_maker import Puzzle, PuzzleMaker, judge_status
from storyproof.families.kinship.oracle import derive, replay
from storyproof.families.kinship.relations import FEMALE, GENDERS, MALE, Fact
from storyproof.families.kinship.rules import (
    PUBLISHED,
    STRICT,
    RuleSet,
    load_rules,
    published_rules,
    rules_of,
    strict_rules,
)
from storyproof.families.kinship.tasks import (
    ALL,
    CLEAN,
    DISCONNECTED,
    IRRELEVANT,
    MEMORY,
    MIXED,
    NOISE,
    SUPPORTING,
    TASKS,
)
from tests.families.kinship.generation.test_pattern_search import maker
from tests.families.kinship.test_oracle import bracketings, is_proof, plainly

MADE = [task for task in TASKS if task != MIXED]
LENGTHS = (2, 3, 4, 5, 6, 10)
each_task = pytest.mark.parametrize("task", MADE)
each_reading = pytest.mark.parametrize("reading", [STRICT, PUBLISHED])


def kinds_of(maker: PuzzleMaker, task: str, k: int, count: int = 40) -> list[PuzzleKind]:
    """Choose some kinds of puzzles at random, of all targets."""
    rng = random.Random(f"{task} {k}")
    found = []
    for target in maker.rules.targets:
        for pattern in maker.patterns(k, target):
            asked = rng.choice(pattern) if task == MEMORY else target
            found.append(PuzzleKind(task, k, asked, rng.choice(GENDERS), pattern, rng.randrange(5)))
    return rng.sample(found, min(count, len(found)))


@cache
def made(reading: str, task: str) -> list[tuple[PuzzleKind, Puzzle]]:
    """Make puzzles of all lengths."""
    kinds = [kind for k in LENGTHS for kind in kinds_of(maker(reading), task, k, 40 if k < 10 else 15)]
    return list(zip(kinds, maker(reading).make(kinds), strict=True))


def people_of(puzzle: Puzzle) -> Counter[int]:
    """Count in how many facts each person is."""
    return Counter(person for fact in puzzle.facts for person in (fact.first, fact.second))


# --- all puzzles


@each_reading
@each_task
def test_a_puzzle_is_what_was_asked_for(reading: str, task: str) -> None:
    for kind, puzzle in made(reading, task):
        assert (puzzle.task, puzzle.k, puzzle.pattern) == (task, kind.k, kind.pattern)
        assert puzzle.chain == tuple(Fact(i, relation, i + 1) for i, relation in enumerate(kind.pattern))
        assert sorted(people_of(puzzle)) == list(range(len(puzzle.genders)))
        assert puzzle.genders[puzzle.query.second] == kind.gender
        assert puzzle.query.predicate == kind.target
        if task == MEMORY:
            assert puzzle.query in puzzle.chain
        else:
            assert (puzzle.query.first, puzzle.query.second) == (0, kind.k)


@each_reading
@each_task
def test_noise_is_of_its_type(reading: str, task: str) -> None:
    types = {
        SUPPORTING: (SUPPORTING, SUPPORTING),
        IRRELEVANT: (IRRELEVANT,),
        DISCONNECTED: (DISCONNECTED,),
        ALL: (SUPPORTING, SUPPORTING, IRRELEVANT, DISCONNECTED),
    }
    for _, puzzle in made(reading, task):
        assert puzzle.noise == types.get(task, ())
        check_noise(rules_of(reading), puzzle)


def check_noise(rules: RuleSet, puzzle: Puzzle) -> None:
    assert all(fact.predicate in rules.stated for fact in puzzle.facts)
    of_type: dict[str, list[Fact]] = {name: [] for name in NOISE}
    for fact, name in zip(puzzle.facts[puzzle.k :], puzzle.noise, strict=True):
        of_type[name].append(fact)
    seen, in_chain = people_of(puzzle), range(puzzle.k + 1)
    for fact in of_type[IRRELEVANT]:  # from somebody of the chain to somebody new
        assert fact.first in in_chain
        assert fact.second not in in_chain
        assert seen[fact.second] == 1
    for fact in of_type[DISCONNECTED]:  # two people of whom nothing else is said
        assert {fact.first, fact.second}.isdisjoint(in_chain)
        assert seen[fact.first] == seen[fact.second] == 1
    if of_type[SUPPORTING]:  # between two neighbours, through somebody new
        one, other = of_type[SUPPORTING]
        assert one.second == other.first
        assert one.second not in in_chain
        assert seen[one.second] == 2
        around = puzzle.chain[one.first]
        assert (one.first, other.second) == (around.first, around.second)
        assert rules.heads[one.predicate, other.predicate] == around.predicate


def distance(facts: Sequence[Fact], start: int, end: int) -> int:
    """Count the facts on the shortest way between two people, whichever way round they are told."""
    reached, steps = {start}, 0
    while end not in reached:
        reached |= {person for fact in facts for person in fact[::2] if reached.intersection(fact[::2])}
        steps += 1
        assert steps <= len(facts)
    return steps


@each_reading
@each_task
def test_exactly_the_answer_follows_and_from_no_fewer_facts_than_the_chain_has(reading: str, task: str) -> None:
    rules, puzzles = rules_of(reading), [puzzle for _, puzzle in made(reading, task)]
    derived = derive(rules, [puzzle.facts for puzzle in puzzles], max(len(puzzle.genders) for puzzle in puzzles))
    for number, puzzle in enumerate(puzzles):
        first, answer, second = puzzle.query
        fewest = 1 if task == MEMORY else puzzle.k
        assert derived.relations(number, first, second) == [answer]
        assert derived.size(number, puzzle.query) == fewest
        assert distance(puzzle.facts, first, second) == fewest
        if task != MEMORY:
            assert bracketings(rules, puzzle.pattern) == {answer}


@each_reading
@each_task
def test_the_plain_way_finds_the_same(reading: str, task: str) -> None:
    for _, puzzle in [each for each in made(reading, task) if each[0].k < 5][::3]:
        found = plainly(rules_of(reading), puzzle.facts)
        first, _, second = puzzle.query
        about = {fact: size for fact, size in found.items() if (fact.first, fact.second) == (first, second)}
        assert about == {puzzle.query: 1 if task == MEMORY else puzzle.k}


@each_reading
@each_task
def test_the_proof_replays(reading: str, task: str) -> None:
    rules = rules_of(reading)
    for _, puzzle in made(reading, task):
        assert len(puzzle.proof) == (0 if task == MEMORY else puzzle.k - 1)
        assert all(step.fact.first < step.via < step.fact.second <= puzzle.k for step in puzzle.proof)
        assert replay(rules, puzzle.facts, puzzle.query, puzzle.proof) is None
        assert replay(rules, puzzle.chain, puzzle.query, puzzle.proof) is None  # without the noise
        assert is_proof(rules, puzzle.chain, puzzle.query, puzzle.proof)


# --- readings


@each_task
def test_strict_puzzles_are_entailed(task: str) -> None:
    for _, puzzle in made(STRICT, task):
        assert puzzle.status == ENTAILED
        assert status(puzzle.genders, puzzle.facts, puzzle.query) == ENTAILED
        published = derive(published_rules(), [puzzle.facts], len(puzzle.genders))
        also = published.relations(0, puzzle.query.first, puzzle.query.second) == [puzzle.query.predicate]
        assert puzzle.readings == ((STRICT, PUBLISHED) if also else (STRICT,))


@each_task
def test_published_puzzles_are_possible_and_of_the_status_that_the_checker_finds(task: str) -> None:
    for _, puzzle in made(PUBLISHED, task):
        judged = status(puzzle.genders, puzzle.facts, puzzle.query)
        assert judged != IMPOSSIBLE
        assert puzzle.status == judged
        assert puzzle.readings == ((STRICT, PUBLISHED) if judged == ENTAILED else (PUBLISHED,))


def test_some_published_puzzles_are_not_entailed() -> None:
    found = {puzzle.status for task in MADE for _, puzzle in made(PUBLISHED, task)}
    assert found == {ENTAILED, AMBIGUOUS, CONTRADICTED}
    assert {puzzle.status for _, puzzle in made(PUBLISHED, MEMORY)} == {ENTAILED}


# --- making


@each_reading
def test_it_does_not_matter_what_is_made_first_or_together(reading: str) -> None:
    kinds = [kind for task in MADE for k in (2, 3, 5) for kind in kinds_of(maker(reading), task, k, 6)]
    together = maker(reading).make(kinds)
    alone = PuzzleMaker(rules_of(reading), "tests", 1)
    for place in random.Random(0).sample(range(len(kinds)), len(kinds)):
        assert alone.make([kinds[place]]) == [together[place]]
    assert alone.make(kinds[::-1]) == together[::-1]
    assert alone.make([kinds[0], kinds[0]]) == [together[0]] * 2


def test_other_numbers_and_purposes_draw_others() -> None:
    kinds = [kind for kind in kinds_of(maker(STRICT), ALL, 4, 20) if kind.number == 0]
    first = maker(STRICT).make(kinds)
    assert maker(STRICT).make([kind._replace(number=1) for kind in kinds]) != first
    assert PuzzleMaker(strict_rules(), "tests", 2).make(kinds) != first


def test_genders_and_noise_vary() -> None:
    pattern = maker(STRICT).patterns(3, "grand")[0]
    drawn = maker(STRICT).make([PuzzleKind(ALL, 3, "grand", FEMALE, pattern, number) for number in range(40)])
    assert len({puzzle.genders for puzzle in drawn}) > 10
    assert len({puzzle.facts for puzzle in drawn}) > 30
    assert {puzzle.genders[3] for puzzle in drawn} == {FEMALE}


def test_spouses_differ_in_gender_also_where_that_must_be_concluded() -> None:
    pattern = ("child", "sibling", "inv-child", "inv-child")
    for number in range(20):
        (puzzle,) = maker(STRICT).make([PuzzleKind(CLEAN, 4, "inv-in-law", MALE, pattern, number)])
        assert puzzle.genders[0] != puzzle.genders[3]


def test_what_cannot_be_made_is_refused() -> None:
    impossible = ("SO", "SO")
    with pytest.raises(ConfigError, match="no clean story of 2 facts could be made from the pattern SO SO in 64 att"):
        maker(STRICT).make([PuzzleKind(CLEAN, 2, "sibling", MALE, impossible, 0)])
    wrong_target = PuzzleKind(CLEAN, 2, "child", MALE, ("child", "child"), 0)
    with pytest.raises(ConfigError, match="choose another task or length"):
        maker(STRICT).make([wrong_target])


def test_rules_that_families_do_not_bear_out_are_a_bug() -> None:
    """If the strict rules were wrong, nothing would be shipped."""
    wrong = replace(strict_rules(), heads={**strict_rules().heads, ("child", "inv-un"): "sibling"})
    with pytest.raises(ProofError, match=r"the rules derive an answer that the checker does not confirm \(ambiguous\)"):
        PuzzleMaker(wrong, "tests").make([PuzzleKind(CLEAN, 2, "sibling", MALE, ("child", "inv-un"), 0)])


# --- rules of one's own

OWN = """\
relations:
  milk-child: [milk-son, milk-daughter, milk-parent]
  milk-parent: [milk-father, milk-mother, milk-child]
  milk-sibling: [milk-brother, milk-sister, milk-sibling]
stories: [sibling, milk-child, milk-parent]
rules:
  - milk-sibling: [milk-parent, milk-child]
  - milk-child: [milk-child, sibling]
  - sibling: [sibling, sibling]
"""


def own_rules(folder: Path, text: str) -> RuleSet:
    path = folder / "own.yaml"
    path.write_text(text, encoding="utf-8")
    return load_rules(path)


@each_task
def test_rules_with_relations_of_their_own(task: str, tmp_path: Path) -> None:
    rules = own_rules(tmp_path, OWN)
    own = PuzzleMaker(rules, "tests")
    assert own.patterns(3, "milk-sibling") == [("milk-parent", "milk-child", "sibling")]
    for k in (2, 3, 4):
        target = "milk-child" if task == MEMORY else "milk-sibling"
        pattern = own.patterns(k, "milk-sibling")[0]
        (puzzle,) = own.make([PuzzleKind(task, k, target, FEMALE, pattern, 0)])
        assert puzzle.status is None
        assert puzzle.readings == (rules.name,)
        assert replay(rules, puzzle.facts, puzzle.query, puzzle.proof) is None
        check_noise(rules, puzzle)


def test_rules_of_ones_own_about_known_relations_are_judged(tmp_path: Path) -> None:
    rules = own_rules(
        tmp_path, "stories: [child, inv-un]\nrules:\n  - grand: [child, child]\n  - un: [child, inv-un]\n"
    )
    kinds = [
        PuzzleKind(CLEAN, 2, target, MALE, PuzzleMaker(rules).patterns(2, target)[0], 0) for target in ("grand", "un")
    ]
    true, false = PuzzleMaker(rules).make(kinds)
    assert (true.status, true.readings) == (ENTAILED, (STRICT, PUBLISHED, rules.name))
    assert (false.status, false.readings) == (CONTRADICTED, (rules.name,))


@pytest.mark.parametrize("task", [SUPPORTING, ALL])
def test_a_supporting_story_without_support_is_refused(task: str, tmp_path: Path) -> None:
    """Where no relation of the chain can be told in two facts, there is no such puzzle."""
    rules = own_rules(tmp_path, "stories: [child]\nrules:\n  - grand: [child, child]\n")
    with pytest.raises(ConfigError, match=f"no {task} story of 2 facts could be made"):
        PuzzleMaker(rules).make([PuzzleKind(task, 2, "grand", MALE, ("child", "child"), 0)])


def test_status_is_none_where_strict_kinship_has_no_such_relation() -> None:
    facts = (Fact(0, "child", 1), Fact(1, "child", 2))
    puzzle = Puzzle(CLEAN, 2, ("child", "child"), facts, (), Fact(0, "grand", 2), (MALE, MALE, FEMALE))
    assert judge_status(puzzle) == ENTAILED
    assert judge_status(replace(puzzle, query=Fact(0, "cousin", 2))) is None
    assert judge_status(replace(puzzle, facts=(*facts, Fact(2, "cousin", 0)))) is None
