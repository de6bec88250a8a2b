from __future__ import annotations

import re
from importlib import metadata
from math import isnan
from pathlib import Path

import pytest

import storyproof
from storyproof.errors import ConfigError, DataError
from storyproof.integrations.harness_questions import (
    StoryAnswer,
    clustered_error,
    from_benchmark,
    from_data,
    joint_accuracy,
    story_key,
)
from storyproof.reports import doctor
from storyproof.reports.doctor import need_peer, read_needs


def test_questions_of_a_benchmark_are_those_of_its_stream() -> None:
    found = from_benchmark("tomi", stories=4, seed=7)
    expected = [row for story in storyproof.stream("tomi", seed=7, split="test")[:4] for row in story.rows]
    assert list(found.examples) == expected
    assert set(found.sizes.values()) == {6}
    assert found.request(expected[0]).text == storyproof.prompt(expected[0]).text


def test_solved_examples_come_from_another_split() -> None:
    found = from_benchmark("tomi", stories=2, seed=7, prompt="few-shot")
    text = found.request(found.examples[0]).text
    assert text.count("Question:") > 2
    assert text.count(found.examples[0].story) == 1


def test_dials_may_come_as_lists_or_text() -> None:
    by_list, by_text = (from_benchmark("clutrr", stories=9, dials={"test_k": each}) for each in ([2, 3], "2-3"))
    assert by_list.examples == by_text.examples
    assert {each.get("k") for each in by_list.examples} == {2, 3}


def test_questions_of_data(tmp_path: Path) -> None:
    storyproof.generate("tomi", train=30, test=30, seed=7, out=tmp_path / "data")
    found = from_data(tmp_path / "data", stories=5)
    assert len(found.examples) == 30
    assert {each.split for each in found.examples} == {"test"}
    assert from_data(tmp_path / "data", prompt="few-shot").request(found.examples[0]).text.count("Question:") > 2


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"stories": 0}, "stories is 0"),
        ({"stories": True}, "stories is True"),
        ({"dials": {"nose": 1}}, "unknown dial of tomi 'nose'"),
        ({"prompt": "one-shot"}, "unknown prompt 'one-shot'"),
        ({"split": "dev"}, "unknown split 'dev'"),
    ],
)
def test_bad_settings_are_named(settings: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        from_benchmark("tomi", **settings)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"stories": "five"}, "stories is 'five'; use a whole number from 1 on"),
        ({"stories": 0}, "stories is 0"),
        ({"stories": True}, "stories is True"),
        ({"seed": "abc", "prompt": "multiple-choice"}, "the seed is 'abc'; use a whole number from 0 on"),
    ],
)
def test_bad_settings_for_data_are_named(settings: dict[str, object], message: str, tmp_path: Path) -> None:
    storyproof.generate("tomi", test=3, seed=7, out=tmp_path / "data")
    with pytest.raises(ConfigError, match=message):
        from_data(tmp_path / "data", **settings)  # type: ignore[arg-type]


def test_bad_data_are_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="does not exist"):
        from_data(tmp_path / "nothing")
    with pytest.raises(ConfigError, match="unknown kind of labels 'true'"):
        from_data(tmp_path, labels="true")


def test_joint_accuracy_and_errors_agree_with_evaluate(tmp_path: Path) -> None:
    storyproof.generate("tomi", test=99, seed=7, out=tmp_path / "data")
    run = storyproof.evaluate("random", tmp_path / "data", seed=3)
    sizes = from_data(tmp_path / "data").sizes
    keys = {each.id: story_key(each) for each in from_data(tmp_path / "data").examples}
    answers = [StoryAnswer(keys[each["id"]], sizes[keys[each["id"]]], float(each["right"])) for each in run.predictions]
    assert joint_accuracy(answers)[0] == run.scores.joint_accuracy
    low, high = run.intervals["accuracy"]
    assert (high - low) / 2 == pytest.approx(1.96 * clustered_error(answers), rel=0.15)


def test_stories_that_were_not_answered_as_a_whole_do_not_count() -> None:
    answers = [StoryAnswer("a", 2, 1.0), StoryAnswer("a", 2, 1.0), StoryAnswer("b", 2, 0.0)]
    assert joint_accuracy(answers) == (1.0, 0.0)
    assert all(map(isnan, joint_accuracy([])))
    assert all(map(isnan, joint_accuracy(answers[2:])))
    assert joint_accuracy([StoryAnswer("a", 1, 0.5), StoryAnswer("b", 1, 1.0)])[0] == 0.5
    both = [StoryAnswer("a", 2, 0.5, (1.0, 0.0)), StoryAnswer("a", 2, 0.5, (1.0, 0.0))]
    assert joint_accuracy(both)[0] == 0.5
    assert joint_accuracy([both[0], both[1]._replace(tries=(0.0, 1.0))])[0] == 0.0
    assert clustered_error([]) == clustered_error(answers[:2]) == 0.0


def test_clustered_error_of_equal_questions_is_that_of_their_stories() -> None:
    right = [1, 0, 0, 1, 1]
    single = [StoryAnswer(str(number), 1, each) for number, each in enumerate(right)]
    threefold = [StoryAnswer(str(number), 3, each) for number, each in enumerate(right) for _ in range(3)]
    assert clustered_error(threefold) == pytest.approx(clustered_error(single))
    assert clustered_error(single) == pytest.approx(joint_accuracy(single)[1])


def test_the_versions_of_all_peers_are_bounded() -> None:
    """Without the package in its extra, every version would do."""
    needs = read_needs(metadata.requires("storyproof") or ())
    called = {}
    for path in Path(storyproof.__file__).parent.glob("integrations/**/*.py"):
        called |= dict.fromkeys(re.findall(r'need_peer\("([\w-]+)", "([\w-]+)"', path.read_text("utf-8")), path.name)
    assert len(called) >= 6
    assert {pair: file for pair, file in called.items() if not needs[pair[1]].get(pair[0])} == {}


def test_a_missing_peer_comes_with_the_command() -> None:
    with pytest.raises(ConfigError, match=r"not installed: pip install 'storyproof\[lm-eval\]'"):
        need_peer("no-such-peer", "lm-eval", "the tasks")


def test_a_peer_of_another_version_comes_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor.metadata, "requires", lambda name: ['numpy>=2,<3; extra == "other"'])
    monkeypatch.setattr(doctor.metadata, "version", lambda name: "3.0.1")
    with pytest.raises(ConfigError) as stop:
        need_peer("numpy", "other", "the tasks")
    assert str(stop.value) == (
        "the tasks needs numpy >=2,<3, but 3.0.1 is installed: pip install --upgrade 'storyproof[other]'."
    )
    monkeypatch.setattr(doctor.metadata, "version", lambda name: "2.1")
    assert need_peer("numpy", "other", "the tasks").__name__ == "numpy"
