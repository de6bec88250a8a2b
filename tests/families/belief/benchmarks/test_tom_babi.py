from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pyarrow as pa
import pytest

from storyproof.datasets.generate import generate
from storyproof.errors import ConfigError
from storyproof.families.belief.tomi_text import NOISE, parse
from storyproof.families.belief.world import EventKind


@pytest.fixture(scope="module")
def easy() -> pa.Table:
    return generate("tom-babi-easy", test=6000, seed=2)


@pytest.fixture(scope="module")
def long() -> pa.Table:
    return generate("tom-babi", test=240, seed=2)


@pytest.fixture(scope="module")
def training() -> pa.Table:
    return generate("tom-babi", train=120, seed=2)


def kinds(table: pa.Table) -> Counter[tuple[str, str]]:
    return Counter(
        (row["story_type"], row["question_type"].split("_")[0])
        for row in table.select(["story_type", "question_type"]).to_pylist()
    )


@pytest.mark.parametrize("name", ["easy", "long", "training"])
def test_types_and_questions_come_in_equal_numbers(name: str, request: pytest.FixtureRequest) -> None:
    counts = kinds(request.getfixturevalue(name))
    assert len(counts) == 12
    assert len(set(counts.values())) == 1


def test_noise_comes_as_often_as_asked(easy: pa.Table) -> None:
    lines = [line for story in easy.column("story").to_pylist() for line in story.split("\n")]
    noise = lines.count(NOISE)
    places = len(lines) - noise + easy.num_rows  # before each sentence, and before the question
    assert abs(noise / places - 0.1) < 0.005
    quiet = generate("tom-babi-easy", test=120, seed=2, noise=0.0)
    assert not any(NOISE in story for story in quiet.column("story").to_pylist())


@pytest.mark.parametrize("noise", [-0.1, 1.1])
def test_noise_is_a_probability(noise: float) -> None:
    with pytest.raises(ConfigError, match="use a number from 0 to 1"):
        generate("tom-babi", test=12, noise=noise)


def test_a_test_story_has_four_scenarios_of_one_type(long: pa.Table) -> None:
    for row in long.to_pylist():
        events = parse(row["story"])
        assert sum(event.kind is EventKind.PLACE for event in events) == 4
        exits = sum(event.kind is EventKind.EXIT for event in events)
        assert exits == {"true_belief": 0, "false_belief": 4, "second_order_false_belief": 8}[row["story_type"]]


def test_a_training_story_is_asked_after_each_of_five_scenarios(training: pa.Table) -> None:
    rows = training.to_pylist()
    for start in range(0, len(rows), 5):
        story = rows[start : start + 5]
        assert len({row["story_id"] for row in story}) == 1
        assert [row["story"].count(" moved ") for row in story] == [1, 2, 3, 4, 5]
        for before, after in pairwise(story):
            assert after["story"].startswith(before["story"] + "\n")


def test_who_is_there_already_is_in_the_room(long: pa.Table) -> None:
    said = 0
    for story in long.column("story").to_pylist():
        where: dict[str | None, str | None] = {}
        for event in parse(story):
            if event.kind is EventKind.IS_IN:
                said += 1
                assert where[event.agent] == event.room
            elif event.kind is EventKind.ENTER:
                assert where.get(event.agent) != event.room
                where[event.agent] = event.room
            elif event.kind is EventKind.EXIT:
                del where[event.agent]
    assert said > 20


def test_memory_asks_where_the_object_was_when_the_story_began(long: pa.Table) -> None:
    moved_back = 0
    for row in long.to_pylist():
        if row["question_type"] == "memory":
            thing = row["question"].split()[3]
            places = [event.container for event in parse(row["story"]) if event.thing == thing and event.container]
            assert row["answer"] == places[0]
            moved_back += len(places) > 2
    assert moved_back > 0


def test_a_world_has_four_agents_and_two_containers_a_room(training: pa.Table) -> None:
    for story in training.column("story").to_pylist():
        events = parse(story)
        assert len({event.agent for event in events if event.agent}) <= 4
        containers: dict[str | None, set[str | None]] = {}
        for event in events:
            if event.container:
                containers.setdefault(event.room, set()).add(event.container)
        assert all(len(each) == 2 for each in containers.values())
