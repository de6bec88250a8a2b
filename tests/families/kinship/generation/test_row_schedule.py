from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storyproof.errors import ConfigError
from storyproof.families.kinship.clutrr import Clutrr
from storyproof.families.kinship.config import ClutrrConfig
from storyproof.families.kinship.generation.patterns import PuzzleKind
from storyproof.families.kinship.generation.row_schedule import Assignment, Label, Scenario, Schedule
from storyproof.families.kinship.relations import BASIC, GENDERS, NAMES
from storyproof.families.kinship.rules import load_rules, published_rules
from storyproof.families.kinship.tasks import CLEAN, MEMORY, MIXED, TASKS
from tests.groups import try_examples

MOST_ROWS = 2000
SPLITS = ("train", "val", "test")


@cache
def schedule(seed: int = 0, **settings: Any) -> Schedule:
    return Clutrr(ClutrrConfig(**{"train_k": (2, 3), "test_k": (2, 3, 4), **settings}), seed).schedule


def deal(split: str, count: int, **settings: Any) -> list[tuple[PuzzleKind, int, int]]:
    """Puzzle, scenario and place of each row."""
    assigned = schedule(**settings).assign(split, 0, count)
    kinds = kinds_of(schedule(**settings), assigned)
    return list(zip(kinds, assigned.scenario.tolist(), assigned.place.tolist(), strict=True))


def kinds_of(made: Schedule, assigned: Assignment) -> list[PuzzleKind]:
    kinds, kind = made.kinds(assigned)
    return [kinds[number] for number in kind.tolist()]


def patterns(split: str, k: int, rows: int = MOST_ROWS, **settings: Any) -> set[tuple[str, ...]]:
    return {kind.pattern for kind, _, _ in deal(split, rows, **settings) if kind.k == k}


def parts(split: str, rows: int, **settings: Any) -> Iterator[tuple[str, int, list[PuzzleKind]]]:
    """The rows of each scenario, those of a mixed one by what they are."""
    scenarios = schedule(**settings).scenarios(split)
    assigned = deal(split, rows, **settings)
    for number, (task, k) in enumerate(scenarios):
        for each in (CLEAN, MEMORY) if task == MIXED else (task,):
            yield each, k, [kind for kind, scenario, _ in assigned if scenario == number and kind.task == each]


def most_uneven(values: list[Any], known: list[Any]) -> int:
    """The largest difference between two counts in any beginning of a list."""
    counts = Counter(dict.fromkeys(known, 0))
    worst = 0
    for value in values:
        counts[value] += 1
        worst = max(worst, max(counts.values()) - min(counts.values()))
    assert set(counts) == set(known)
    return worst


# ---------------------------------------------------------------------------------------------------------- balance


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("task", TASKS)
def test_any_beginning_is_balanced(task: str, split: str) -> None:
    for each, k, kinds in parts(split, MOST_ROWS, task=task):
        labels = schedule(task=task).labels(split == "test", each, k)
        assert most_uneven([Label(kind.target, kind.gender) for kind in kinds], labels) <= 1
        for label in labels:
            mine = [kind.pattern for kind in kinds if (kind.target, kind.gender) == label]
            assert most_uneven(mine, list(dict.fromkeys(mine))) <= 1
            if each != MEMORY:
                known = schedule(task=task).patterns(split == "test", k, label.target)
                assert most_uneven(mine, known) <= 1


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("bound", [3, 15])
def test_any_beginning_is_balanced_in_long_chains_too(bound: int, split: str) -> None:
    settings: dict[str, Any] = {"train_k": (7, 10), "test_k": (7, 15), "sibling_run": bound}
    used: set[tuple[str, ...]] = set()
    for each, k, kinds in parts(split, 30_000, **settings):
        labels = schedule(**settings).labels(split == "test", each, k)
        assert most_uneven([Label(kind.target, kind.gender) for kind in kinds], labels) <= 1
        for label in labels:
            mine = [kind.pattern for kind in kinds if (kind.target, kind.gender) == label]
            known = schedule(**settings).patterns(split == "test", k, label.target)
            assert len(set(mine)) == min(len(known), len(mine))
            counts = Counter(mine)
            assert max(counts.values()) - min(counts[pattern] for pattern in known) <= 1
            used |= set(mine)
    assert len(used) > 800


def test_scenarios_come_in_turn() -> None:
    tasks = ("clean", "all")
    scenarios = schedule(test_tasks=tasks).scenarios("test")
    assert scenarios == [Scenario(task, k) for task in tasks for k in (2, 3, 4)]
    for row, (kind, scenario, _) in enumerate(deal("test", 60, test_tasks=tasks)):
        assert scenario == row % 6
        assert (kind.task, kind.k) == scenarios[scenario]
    assert schedule(test_tasks=tasks).scenarios("train") == [Scenario("clean", 2), Scenario("clean", 3)]
    assert schedule(test_tasks=tasks).scenarios("val") == schedule(test_tasks=tasks).scenarios("train")


def test_mixed_is_clean_and_memory_in_turn() -> None:
    assigned = deal("test", 600, task=MIXED)
    for scenario in range(3):
        tasks = [kind.task for kind, number, _ in assigned if number == scenario]
        assert tasks == [CLEAN, MEMORY] * (len(tasks) // 2)


def test_labels_do_not_come_in_a_fixed_order() -> None:
    labels = schedule().labels(True, CLEAN, 2)
    told = [(kind.target, kind.gender) for kind, scenario, _ in deal("test", 3000) if scenario == 0]
    rounds = [tuple(told[start : start + len(labels)]) for start in range(0, 10 * len(labels), len(labels))]
    assert len(set(rounds)) == 10


def test_all_relations_are_asked_for() -> None:
    every = [Label(target, gender) for target in NAMES for gender in GENDERS]
    assert len(every) == 22
    assert schedule().labels(True, CLEAN, 2) == schedule().labels(False, CLEAN, 2) == every
    eighteen = schedule(reading="published").labels(True, CLEAN, 2)
    assert len(eighteen) == 18
    assert {label.target for label in eighteen} == set(published_rules().targets)


def test_memory_asks_for_whatever_is_told() -> None:
    assert schedule(task=MEMORY).labels(False, MEMORY, 3) == [
        Label(target, gender) for target in BASIC for gender in GENDERS
    ]
    assert all(kind.target in kind.pattern for kind, _, _ in deal("train", 2000, task=MEMORY))


# ------------------------------------------------------------------------------------------------------- hold-out


@pytest.mark.parametrize("task", TASKS)
def test_no_long_pattern_is_in_training_and_test(task: str) -> None:
    train, test = (patterns(split, 3, task=task, test_k=(2, 3)) for split in ("train", "test"))
    assert train
    assert test
    assert not train & test


@pytest.mark.parametrize("reading", ["strict", "published"])
def test_the_two_sides_are_all_there_is(reading: str) -> None:
    held = schedule(reading=reading, train_k=(2, 3, 4), test_k=(3, 4, 5))
    free = schedule(reading=reading, train_k=(2, 3, 4), test_k=(3, 4, 5), holdout=False)
    assert held.held_out == [3, 4]
    assert free.held_out == []
    for k in (3, 4):
        for target in NAMES:
            train, test = held.patterns(False, k, target), held.patterns(True, k, target)
            every = free.patterns(True, k, target)
            assert set(train) | set(test) == set(every)
            assert len(train) + len(test) == len(every)
            if len(every) > 1:
                assert abs(len(test) - len(every) / 5) <= 1
                assert train
                assert test


def test_patterns_of_two_facts_are_on_both_sides() -> None:
    assert patterns("train", 2) == patterns("test", 2)


def test_lengths_that_training_does_not_have_use_all_patterns() -> None:
    held, free = schedule(), schedule(holdout=False)
    for target in NAMES:
        assert held.patterns(True, 4, target) == free.patterns(True, 4, target)
        assert held.patterns(True, 2, target) == free.patterns(True, 2, target)
    assert schedule(test_k=(2, 4)).patterns(False, 3, "grand") == free.patterns(False, 3, "grand")


def test_without_hold_out_patterns_are_on_both_sides() -> None:
    train, test = (patterns(split, 3, holdout=False) for split in ("train", "test"))
    assert train == test


def test_a_relation_with_a_single_pattern_stays_in_training_and_is_named() -> None:
    held = schedule()
    assert held.kept_in_training() == {3: ["SO"]}
    assert held.patterns(False, 3, "SO") == [("child", "sibling", "inv-child")]
    assert held.patterns(True, 3, "SO") == []
    assert "SO" in {label.target for label in held.labels(False, CLEAN, 3)}
    assert "SO" not in {label.target for label in held.labels(True, CLEAN, 3)}
    assert schedule(holdout=False).kept_in_training() == {}


@pytest.mark.parametrize("task", [CLEAN, MEMORY])
def test_validation_is_like_training(task: str) -> None:
    for k in (2, 3):
        assert patterns("val", k, task=task) == patterns("train", k, task=task)
    labels = [{(kind.k, kind.target, kind.gender) for kind, _, _ in deal(split, 3000)} for split in ("train", "val")]
    assert labels[0] == labels[1]


def test_hold_out_goes_by_the_pattern_not_by_the_seed_of_its_words() -> None:
    for other in ({"text": "synthetic"}, {"cloze": True}, {"split_placeholders": False}):
        assert schedule(**other).patterns(True, 3, "grand") == schedule().patterns(True, 3, "grand")
    assert any(schedule(seed=1).patterns(True, 3, target) != schedule().patterns(True, 3, target) for target in NAMES)


# --------------------------------------------------------------------------------------------- what rows hang on


@try_examples(20)
@given(st.sampled_from(SPLITS), st.sampled_from([CLEAN, MIXED]), st.integers(0, 5000), st.integers(1, 400))
def test_a_part_is_dealt_as_in_the_whole(split: str, task: str, start: int, count: int) -> None:
    assigned = schedule(task=task).assign(split, start, count)
    whole = deal(split, 5400, task=task)[start : start + count]
    assert kinds_of(schedule(task=task), assigned) == [kind for kind, _, _ in whole]
    assert assigned.scenario.tolist() == [scenario for _, scenario, _ in whole]
    assert assigned.place.tolist() == [place for _, _, place in whole]


@pytest.mark.parametrize("task", [CLEAN, MIXED, "all"])
def test_a_pattern_of_a_label_never_has_the_same_names_twice(task: str) -> None:
    seen = set()
    for split in SPLITS:
        for kind, _, place in deal(split, MOST_ROWS, task=task):
            told = (kind.task, kind.target, kind.gender, kind.pattern, place)
            assert told not in seen
            seen.add(told)


def test_each_kind_is_listed_once() -> None:
    kinds, kind = schedule().kinds(schedule().assign("test", 0, 2000))
    assert len(set(kinds)) == len(kinds)
    assert set(kind.tolist()) == set(range(len(kinds)))


# -------------------------------------------------------------------------------------------- what cannot be made


def own(tmp_path: Path, text: str, **settings: Any) -> Clutrr:
    (tmp_path / "rules.yaml").write_text(text)
    return Clutrr(ClutrrConfig(rules=load_rules(tmp_path / "rules.yaml"), **settings), 0)


SIBLINGS = "stories: [sibling]\nrules:\n  - sibling: [sibling, sibling]\n"  # one pattern at each length


def test_a_hold_out_that_leaves_nothing_for_the_test_is_refused(tmp_path: Path) -> None:
    made = own(tmp_path, SIBLINGS, train_k=(3,), test_k=(3,))
    made.check_count("train", 10)
    with pytest.raises(ConfigError, match=r"no relation has a pattern of 3 facts for testing .*; use --no-holdout\."):
        made.check_count("test", 10)
    made.check_count("test", 0)


def test_without_hold_out_it_is_made(tmp_path: Path) -> None:
    made = own(tmp_path, SIBLINGS, train_k=(3,), test_k=(3,), holdout=False)
    made.check_count("test", 10)
    assert {kind.pattern for kind in kinds_of(made.schedule, made.schedule.assign("test", 0, 10))} == {("sibling",) * 3}


@pytest.mark.parametrize("split", ["train", "test"])
@pytest.mark.parametrize("holdout", [True, False])
def test_a_length_that_no_rule_reaches_is_refused(tmp_path: Path, split: str, holdout: bool) -> None:
    # Whether or not that length is held out: nothing would be gained by --no-holdout.
    made = own(
        tmp_path,
        "stories: [child]\nrules:\n  - grand: [child, child]\n",
        train_k=(3,),
        test_k=(3,),
        holdout=holdout,
    )
    with pytest.raises(ConfigError, match=r"no relation has a pattern of 3 facts for \w+; choose other k\."):
        made.check_count(split, 10)
