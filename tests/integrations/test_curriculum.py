"""The curriculum: monotone, deterministic, resumable."""

import json
from itertools import islice, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storyproof.errors import ConfigError, UnknownNameError
from storyproof.integrations.curriculum import Curriculum

RANGES = {"train_k": (2, 5), "task": ["clean", "irrelevant"]}
REWARDS = st.lists(st.sampled_from([0.0, 0.5, 1.0]), max_size=120)


def make(**settings: object) -> Curriculum:
    return Curriculum("clutrr", RANGES, **{"window": 8, **settings})  # type: ignore[arg-type]


def test_each_rung_turns_one_dial_one_step_further() -> None:
    made = make()
    assert made.rungs == 5
    settings = [made.settings_at(rung) for rung in range(made.rungs)]
    assert settings[0] == {"train_k": (2,), "task": "clean"}
    assert settings[-1] == {"train_k": (5,), "task": "irrelevant"}
    for below, above in pairwise(settings):
        assert sum(below[name] != above[name] for name in below) == 1


@given(st.lists(st.floats(0, 1), min_size=8, max_size=8), st.integers(0, 4))
def test_above_the_target_it_gets_harder_and_below_easier(rewards: list[float], rung: int) -> None:
    made = make(rung=rung)
    made.update(rewards)
    mean = sum(rewards) / 8
    step = (mean > made.target + made.margin) - (mean < made.target - made.margin)
    assert made.rung == min(max(rung + step, 0), made.rungs - 1)


@given(REWARDS, st.lists(st.integers(1, 20), max_size=10))
def test_however_rewards_are_batched_the_way_is_the_same(rewards: list[float], sizes: list[int]) -> None:
    """Batches within a window make no difference; a rung changes at the end of one, and drops what came with it."""
    one, other = make(window=4), make(window=4)
    whole = len(rewards) // 4 * 4
    for place in range(0, whole, 4):
        one.update(rewards[place : place + 4])
        for reward in rewards[place : place + 4]:
            other.update([reward])
        assert one.state_dict() == other.state_dict()


@given(REWARDS, REWARDS)
def test_saved_state_goes_on_as_if_nothing_had_happened(before: list[float], after: list[float]) -> None:
    one, other = make(), make()
    one.update(before)
    other.load_state_dict(json.loads(json.dumps(one.state_dict())))
    assert other.update(after) == one.update(after)
    assert other.state_dict() == one.state_dict()


@given(REWARDS)
def test_the_rung_stays_on_the_ladder_and_moves_by_single_steps(rewards: list[float]) -> None:
    made = make(window=3)
    for reward in rewards:
        before = made.rung
        made.update([reward])
        assert abs(made.rung - before) <= 1
        assert 0 <= made.rung < made.rungs


def test_a_learner_of_known_skill_is_kept_near_the_target() -> None:
    made = Curriculum("clutrr", {"train_k": (2, 10)}, target=0.7, margin=0.1, window=10)
    seen = []
    for _ in range(60):
        [k] = made.settings["train_k"]
        right = 10 - max(0, k - 4) * 2  # all right up to 4 facts, then two in ten fewer for each
        made.update([1.0] * max(right, 0) + [0.0] * min(10 - right, 10))
        seen.append(k)
    assert set(seen[10:]) <= {5, 6}


def test_stories_follow_the_settings_and_none_comes_twice() -> None:
    made = Curriculum("clutrr", {"train_k": (2, 4)}, window=2, target=0.5)
    stories = made.stories(seed=7)
    seen = []
    for reward in (1, 1, 1, 1, 0, 0, 1, 1, 0, 0):
        told = next(stories)
        assert {row.get("k") for row in told.rows} == {made.settings["train_k"][0]}
        seen.append(told.text)
        made.update([reward])
    assert len(set(seen)) == len(seen)
    again = Curriculum("clutrr", {"train_k": (2, 4)}, window=2, target=0.5)
    again.load_state_dict(made.state_dict())
    assert [s.text for s in islice(again.stories(seed=7), 3)] == [s.text for s in islice(stories, 3)]


@pytest.mark.parametrize(
    ("ranges", "settings", "message"),
    [
        ({}, {}, "at least one dial"),
        ({"train_k": (2, 40)}, {}, "2 to 15"),
        ({"train_k": "2-4"}, {}, "from easy to hard"),
        ({"task": ["clean", "nonsense"]}, {}, "nonsense"),
        ({"train_k": (2, 4)}, {"target": 1.5}, "target"),
        ({"train_k": (2, 4)}, {"margin": 0.5}, "margin"),
        ({"train_k": (2, 4)}, {"window": 0}, "window"),
        ({"train_k": (2, 4)}, {"rung": 3}, "0 to 2"),
    ],
)
def test_what_makes_no_sense_is_refused(ranges: dict[str, object], settings: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Curriculum("clutrr", ranges, **settings)  # type: ignore[arg-type]


def test_unknown_dials_rewards_and_states_are_refused() -> None:
    with pytest.raises(UnknownNameError, match="train_k"):
        Curriculum("clutrr", {"train_kk": (2, 4)})
    with pytest.raises(ConfigError, match="from 0 to 1"):
        make().update([2])
    for state in ({}, {"rung": 1}, {**make(window=4).state_dict()}, {**make().state_dict(), "rung": 50}):
        with pytest.raises(ConfigError, match="state"):
            make().load_state_dict(state)
