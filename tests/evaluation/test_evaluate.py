import json
from dataclasses import asdict
from pathlib import Path

import pytest

import storyproof
from storyproof.errors import ConfigError, DataError, UnknownNameError
from tests.samples import MEMORY, REALITY, SEARCH, STORY, example

ROWS = [
    example(id="1", question=MEMORY, answer="box", question_type="memory", order=0, chain=[], false_belief=False),
    example(id="2", question=REALITY, answer="box", question_type="reality", order=0, chain=[], false_belief=False),
    example(id="3", question=SEARCH, answer="box"),
    example(id="4", story_id="t", question=SEARCH, answer="box"),
]


def put(path: Path, *rows: object) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return put(tmp_path / "test.jsonl", *map(asdict, ROWS))


def test_scores_against_the_labels_as_given(data: Path) -> None:
    # The label of the second row is wrong, so who is right about the story is marked wrong.
    found = storyproof.evaluate("oracle", data)
    assert (found.scores.accuracy, found.scores.joint_accuracy) == (3 / 4, 1 / 2)


def test_scores_against_what_is_proved(data: Path) -> None:
    found = storyproof.evaluate("oracle", data, labels="proved")
    assert (found.scores.accuracy, found.scores.joint_accuracy) == (1.0, 1.0)


def test_max_stories(data: Path) -> None:
    found = storyproof.evaluate("rules", data, max_stories=1)
    assert (found.scores.questions, found.scores.stories) == (3, 1)


def test_result_says_how_to_repeat_it(data: Path) -> None:
    found = storyproof.evaluate("random", data, seed=9).as_dict()
    about = {name: found[name] for name in ("storyproof", "model", "data", "split", "labels", "seed")}
    assert about == {
        "storyproof": storyproof.__version__,
        "model": "random",
        "data": str(data),
        "split": "test",
        "labels": "given",
        "seed": 9,
    }
    assert {"accuracy", "joint_accuracy", "by_question_type", "by_false_belief"} < set(found)
    assert json.loads(json.dumps(found)) == found


def test_test_split_of_a_folder_unless_another_is_named(tmp_path: Path, data: Path) -> None:
    put(tmp_path / "val.jsonl", example(split="val").as_row())
    assert storyproof.evaluate("rules", tmp_path).scores.questions == 4
    assert storyproof.evaluate("rules", tmp_path, split="val").scores.questions == 1


def test_wrong_settings(data: Path) -> None:
    with pytest.raises(UnknownNameError, match="unknown kind of labels 'true'"):
        storyproof.evaluate("rules", data, labels="true")
    with pytest.raises(UnknownNameError, match="unknown solver 'ruler'"):
        storyproof.evaluate("ruler", data)
    with pytest.raises(ConfigError, match="--max-stories is 0; use 1 or more"):
        storyproof.evaluate("rules", data, max_stories=0)


def test_nothing_to_score_is_no_score(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"x\.jsonl contains no questions, so there is nothing to score"):
        storyproof.evaluate("rules", put(tmp_path / "x.jsonl"))


def test_sentence_that_cannot_be_read(tmp_path: Path) -> None:
    path = put(tmp_path / "x.jsonl", example(story=STORY.replace("exited", "left")).as_row())
    with pytest.raises(DataError, match=r"x\.jsonl: sentence 4: not a sentence of a story: 'Ben left the attic\.'"):
        storyproof.evaluate("rules", path)
