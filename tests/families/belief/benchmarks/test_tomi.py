from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

import storyproof
from storyproof.benchmark import BLOCK_STORIES
from storyproof.datasets.generate import generate
from storyproof.errors import ConfigError
from storyproof.families.belief.benchmarks.base import may_be_first
from storyproof.families.belief.benchmarks.tomi import (
    _CODE,
    LONGEST,
    Tomi,
    TomiConfig,
    add_distractors,
    balanced_cores,
    cells,
    core_branches,
    draw_cores,
    send_elsewhere,
    swappable,
)
from storyproof.families.belief.readings import READINGS
from storyproof.families.belief.tomi_labels import STORY_TYPES
from storyproof.families.belief.vocabulary import ROLES, from_lists
from storyproof.generation.seeds import Draws

DRAWN = 48_000


def surprise(observed: np.ndarray, expected: np.ndarray) -> float:
    """Chi-square as a normal deviate (Wilson and Hilferty): above 3.5 once in four thousand fair draws."""
    free = len(observed) - 1
    chi_square = ((observed - expected) ** 2 / expected).sum()
    return float(((chi_square / free) ** (1 / 3) - (1 - 2 / (9 * free))) / np.sqrt(2 / (9 * free)))


def test_the_branches_are_those_of_algorithm_2() -> None:
    branches = {actions: probability for probability, actions in core_branches()}
    assert sum(branches.values()) == 1
    assert len(branches) == 12
    assert branches["anne moves", "sally exits"] == Fraction(1, 4)
    assert branches["sally exits", "anne moves"] == Fraction(1, 4)
    assert branches["sally exits", "anne moves", "anne exits", "sally enters"] == Fraction(1, 24)
    assert branches["anne moves", "sally exits", "sally enters elsewhere"] == Fraction(1, 24)
    assert branches["sally exits", "sally enters", "anne moves"] == Fraction(1, 12)


def test_types_come_as_13_10_and_1_in_24_before_rejection() -> None:
    _, types = cells()
    assert np.bincount(types).tolist() == [26, 20, 2]
    drawn = np.bincount(types[draw_cores(Draws("types"), DRAWN)])
    assert surprise(drawn, DRAWN * np.array([13, 10, 1]) / 24) < 3.5


def test_all_cells_are_drawn_alike() -> None:
    drawn = np.bincount(draw_cores(Draws("cells"), DRAWN), minlength=48)
    assert surprise(drawn, np.full(48, DRAWN / 48)) < 3.5


def test_rejection_gives_equal_thirds_and_keeps_the_branches_within_a_type() -> None:
    _, types = cells()
    kept = balanced_cores(Draws("thirds"), 24_000)
    assert np.bincount(types[kept]).tolist() == [8_000] * 3
    assert (np.sort(types[kept].reshape(-1, 3), axis=1) == [0, 1, 2]).all()
    for kind in range(3):
        counts = np.bincount(kept, minlength=48)[types == kind]
        assert surprise(counts, np.full(len(counts), 8_000 / len(counts))) < 3.5


@pytest.fixture(scope="module")
def distracted() -> np.ndarray:
    """Sentence codes of the shortest core (five sentences) with distractors, [time, story]."""
    core = np.repeat(cells()[0][:, :1], DRAWN, axis=1)
    return add_distractors(Draws("distractors"), core).told


def coded(told: np.ndarray, *names: str) -> np.ndarray:
    return np.isin(told, [_CODE[name] for name in names])


def test_third_agent_comes_and_goes_as_algorithm_3_says(distracted: np.ndarray) -> None:
    enters = coded(distracted, "third enters", "third enters elsewhere").sum(axis=0)
    exits = coded(distracted, "third exits", "third exits elsewhere").sum(axis=0)
    assert enters.max() == 1
    assert (exits <= enters).all()
    assert surprise(np.bincount(enters + exits), np.full(3, DRAWN / 3)) < 3.5
    home = coded(distracted, "third enters").sum()
    assert surprise(np.array([home, enters.sum() - home]), np.full(2, enters.sum() / 2)) < 3.5
    # Whoever goes, goes from where it came to.
    assert (coded(distracted, "third exits").sum(axis=0) <= coded(distracted, "third enters").sum(axis=0)).all()


def test_third_agent_comes_at_any_of_the_places(distracted: np.ndarray) -> None:
    third = coded(distracted, "third enters", "third enters elsewhere")
    alone = (third.sum(axis=0) == 1) & ~coded(distracted, "third exits", "third exits elsewhere").any(axis=0)
    quiet = alone & ~coded(distracted, "first statement").any(axis=0)
    places = np.bincount(third[:, quiet].argmax(axis=0), minlength=5)
    assert len(places) == 5  # from first to fifth of five; nothing is put after the last
    assert surprise(places, np.full(5, quiet.sum() / 5)) < 3.5


def test_third_agent_goes_after_it_came_at_any_pair_of_places(distracted: np.ndarray) -> None:
    comes, goes = (coded(distracted, f"third {verb}", f"third {verb} elsewhere") for verb in ("enters", "exits"))
    quiet = goes.any(axis=0) & ~coded(distracted, "first statement").any(axis=0)
    early, late = comes[:, quiet].argmax(axis=0), goes[:, quiet].argmax(axis=0)
    assert (early < late).all()
    pairs = np.bincount(early * LONGEST + late)
    counts = pairs[pairs > 0]
    assert len(counts) == 10  # pairs out of five places
    assert surprise(counts, np.full(10, quiet.sum() / 10)) < 3.5


def test_statements_are_as_many_and_where_algorithm_3_says(distracted: np.ndarray) -> None:
    statements = coded(distracted, "first statement", "second statement").sum(axis=0)
    assert surprise(np.bincount(statements), np.full(3, DRAWN / 3)) < 3.5
    single = (statements == 1) & ~coded(distracted, "third enters", "third enters elsewhere").any(axis=0)
    places = np.bincount(coded(distracted, "first statement")[:, single].argmax(axis=0), minlength=5)
    assert len(places) == 5
    assert surprise(places, np.full(5, single.sum() / 5)) < 3.5


def test_feelings_and_feelers_are_drawn_alike() -> None:
    plots = add_distractors(Draws("feelings"), np.repeat(cells()[0][:, :1], DRAWN, axis=1))
    assert surprise(np.bincount(plots.feelers[0]), np.full(3, DRAWN / 3)) < 3.5
    assert surprise(np.bincount(plots.feelings[1]), np.full(4, DRAWN / 4)) < 3.5


def test_bare_sentences_keep_their_place_in_the_telling() -> None:
    plots = add_distractors(Draws("places"), cells()[0][:, draw_cores(Draws("some"), 2_000)])
    for story in range(2_000):
        end = int((plots.bare[:, story] != _CODE[""]).sum())
        where = plots.sentence[:end, story]
        assert (plots.told[where, story] == plots.bare[:end, story]).all()


def test_words_are_drawn_alike() -> None:
    benchmark = Tomi(seed=5)
    cast, _ = benchmark.cast("train", 0, np.zeros(BLOCK_STORIES, np.bool_))
    number = benchmark.narrator.numbers(benchmark.config.vocabulary.agents)
    for agents in cast.agents:
        counts = np.array([(agents == word).sum() for word in number])
        assert surprise(counts, np.full(len(number), BLOCK_STORIES / len(number))) < 3.5
    assert (cast.agents[0] != cast.agents[1]).all()
    assert (cast.agents[2] != cast.agents[0]).all()
    assert (cast.agents[2] != cast.agents[1]).all()
    assert (cast.rooms[0] != cast.rooms[1]).all()
    assert (cast.containers[0] != cast.containers[1]).all()


def test_types_are_in_equal_thirds_for_any_count() -> None:
    for count in (3, 99, 999):
        table = generate("tomi", test=count, seed=3)
        types = table.column("story_type").to_pylist()[::6]
        assert [types.count(kind) for kind in STORY_TYPES] == [count // 3] * 3


def test_six_questions_in_the_published_order() -> None:
    rows = generate("tomi", test=3, seed=3).to_pylist()[:6]
    kinds = [row["question_type"].removesuffix("_tom").removesuffix("_no") for row in rows]
    assert kinds == ["memory", "first_order_0", "second_order_0", "reality", "first_order_1", "second_order_1"]
    mover = next(line for line in rows[0]["story"].split("\n") if " moved " in line).split()[0]
    assert [row["chain"][:1] for row in rows[1:3]] == [[mover], [mover]]


@pytest.mark.parametrize("role", ROLES)
def test_disjoint_splits_share_no_word_of_a_role(role: str) -> None:
    benchmark = Tomi(TomiConfig(disjoint=(role,)), seed=1)
    words = [set(getattr(benchmark.vocabularies[split], role)) for split in ("train", "val", "test")]
    assert not words[0] & words[1]
    assert not words[0] & words[2]
    assert not words[1] & words[2]
    said = {}
    for split in ("train", "test"):
        table = generate("tomi", **{split: 300}, seed=1, disjoint=(role,))
        said[split] = {word.strip("?.") for text in table.column("story").to_pylist() for word in text.split()}
    known = set(getattr(benchmark.config.vocabulary, role))
    assert said["train"] & known
    assert said["test"] & known
    assert not said["train"] & said["test"] & known


def test_a_small_vocabulary_gives_every_story_it_can_and_no_more() -> None:
    words = from_lists(
        {
            "agents": ["Ada", "Bo", "Cy"],
            "rooms": ["attic", "barn"],
            "containers": ["box", "jar"],
            "objects": ["key", "ring"],
        }
    )
    benchmark = Tomi(TomiConfig(vocabulary=words))
    most = 3 * 2 * 2 * 2 * 2 // 3
    assert benchmark.capacity("train") == most
    table = generate("tomi", train=15, val=15, test=15, vocabulary=words)
    stories = table.column("story").to_pylist()[::6]
    assert len(set(stories)) == 45
    with pytest.raises(ConfigError, match="at most 15 different stories"):
        generate("tomi", train=18, vocabulary=words)


def test_no_story_occurs_twice_in_many() -> None:
    table = generate("tomi", train=2 * BLOCK_STORIES, val=3_000, test=3_000, seed=11)
    stories = table.column("story").to_pylist()[::6]
    assert len(set(stories)) == len(stories)


def test_of_two_agents_who_could_be_swapped_only_one_may_be_the_other() -> None:
    """Else two stories could tell the same. With three agents there is often no third that fits: it goes elsewhere."""
    few = {"agents": ["Ada", "Bo", "Cy"], "rooms": ["attic", "barn"], "containers": ["box", "jar"]}
    small = TomiConfig(vocabulary=from_lists({**few, "objects": [f"thing{number}" for number in range(2_000)]}))
    for benchmark in (Tomi(seed=5), Tomi(small, seed=5)):
        plots = benchmark.plots("train", 0)
        alike = swappable(plots.bare)
        cast, alone = benchmark.cast("train", 0, alike)
        assert alike.sum() > 50
        assert alone.any() == (benchmark.config is small)
        visible = [cast.agents[0], cast.rooms[0], cast.things[0], *cast.containers]
        fits = may_be_first(cast.agents[1], cast.agents[2], visible, 5)
        assert fits[alike & ~alone].all()
        assert (alone <= alike).all()
        assert not swappable(send_elsewhere(plots, alone).bare)[alone].any()


def test_a_coin_decides_who_may_be_first_and_not_the_names() -> None:
    one, two = np.arange(2_000, dtype=np.int32), np.arange(2_000, dtype=np.int32)[::-1].copy()
    ways = may_be_first(one, two, [one * 0], 5), may_be_first(two, one, [one * 0], 5)
    different = one != two
    assert (ways[0][different] != ways[1][different]).all()
    assert 800 < ways[0][one < two].sum() * 2 < 1_200


def test_robust_stories_have_the_same_answers_under_all_readings() -> None:
    table = storyproof.generate("tomi", test=60, seed=4, robust=True)
    assert {tuple(readings) for readings in table["readings"].to_pylist()} == {READINGS}
    kinds = Counter(table["story_type"].to_pylist()[::6])
    assert kinds == {"true_belief": 30, "false_belief": 30}
