"""A dataset with the interface of Reasoning Gym, and in the real package."""

import json

import pytest

from storyproof.errors import ConfigError, DataError
from storyproof.integrations.reasoning_gym import StoryDataset, register


@pytest.mark.parametrize("benchmark", ["tomi", "tom-babi", "clutrr", "orderings"])
def test_items_are_reproducible_and_their_own_answers_are_right(benchmark: str) -> None:
    made, again = (StoryDataset(benchmark=benchmark, seed=5, size=20) for _ in range(2))
    assert len(made) == 20
    assert list(made) == [again[place] for place in reversed(range(20))][::-1]
    other = StoryDataset(benchmark=benchmark, seed=6, size=20)
    assert not {item["question"] for item in made} & {item["question"] for item in other}
    for item in made:
        assert made.score_answer(item["answer"], item) == 1.0
        assert made.score_answer(f"I think so.\nAnswer: {item['answer']}", json.loads(json.dumps(item))) == 1.0
        assert [made.score_answer(answer, item) for answer in (None, "", "nowhere")] == [0.0] * 3


def test_dials_are_turned() -> None:
    made = StoryDataset(benchmark="clutrr", size=8, dials={"train_k": (6,)})
    assert {item["metadata"]["k"] for item in made} == {6}
    assert made[0]["metadata"]["difficulty"] == {"train_k": (6,)}


def test_mistakes_are_refused() -> None:
    with pytest.raises(ConfigError, match="settings are: benchmark"):
        StoryDataset(bench="tomi")
    with pytest.raises(ConfigError, match="size"):
        StoryDataset(size=0)
    made = StoryDataset(size=3)
    with pytest.raises(IndexError, match="no number 3"):
        made[3]
    with pytest.raises(DataError, match="with its metadata"):
        made.score_answer("box", {"answer": "box"})


@pytest.mark.integrations
def test_the_real_package_creates_combines_and_scores_our_datasets() -> None:
    gym = pytest.importorskip("reasoning_gym")
    from reasoning_gym.composite import CompositeConfig, CompositeDataset, DatasetSpec
    from reasoning_gym.dataset import ProceduralDataset

    names = register()
    assert {"storyproof_tomi", "storyproof_clutrr", "storyproof_tom_babi"} <= set(names)
    assert register() == names  # a second time changes nothing
    made = gym.create_dataset("storyproof_tomi", seed=7, size=12)
    assert isinstance(made, ProceduralDataset)
    items = list(made)
    assert [sorted(item) for item in items] == [["answer", "metadata", "question"]] * 12
    assert items == list(StoryDataset(benchmark="tomi", seed=7, size=12))
    assert [made.score_answer(item["answer"], item) for item in items] == [1.0] * 12
    specs = [DatasetSpec(name=name, weight=1, config={}) for name in ("storyproof_clutrr", "leg_counting")]
    mixed = CompositeDataset(CompositeConfig(size=20, seed=3, datasets=specs))
    for item in mixed:
        assert mixed.score_answer(item["answer"], item) == 1.0
    assert {item["metadata"]["source_dataset"] for item in mixed} == {"storyproof_clutrr", "leg_counting"}
