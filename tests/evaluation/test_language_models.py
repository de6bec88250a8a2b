"""Evaluation of language models, with Python functions as models; real servers are in tests/solvers/llm."""

import json
from pathlib import Path
from typing import Any

import pytest

import storyproof
from storyproof.datasets.reading import find_source
from storyproof.errors import ConfigError, DataError, NoAnswersError
from storyproof.evaluation.evaluate import _shots_besides
from storyproof.evaluation.options import Prices, Selection
from storyproof.evaluation.runs import Evaluation, story_hash
from storyproof.io.locks import Claim
from storyproof.solvers.llm.messages import Reply
from tests.samples import BELIEF, MEMORY, REALITY, SEARCH, STORY, example
from tests.solvers.llm.stand_ins import Scripted

ROWS = [
    example(id="1", question=MEMORY, answer="box", question_type="memory", order=0, chain=[], false_belief=False),
    example(id="2", question=REALITY, answer="jar", question_type="reality", order=0, chain=[], false_belief=False),
    example(id="3", question=SEARCH, answer="box"),
    example(id="4", question=BELIEF, answer="box", question_type="second_order_0_tom", order=2, chain=["Ada", "Ben"]),
    example(id="5", story_id="t", question=SEARCH, answer="box"),
]
MODELS = '''
calls = []

def answer(text):
    """Right about memory, careless about reality, vague about beliefs; says too much."""
    calls.append(text)
    text = text.rpartition("Question:")[2]
    if "beginning" in text:
        return "box"
    if "really" in text:
        return "It is not in the jar but in the box."
    return "The box." if "look" in text else "the box or the jar"

def failing(text):
    if "beginning" in text:
        raise OSError("no answer today")
    return answer(text)

def silent(text):
    raise OSError("never")

def mute(text):
    pass

def interrupted(text):
    if "look" in text.rpartition("Question:")[2]:
        raise KeyboardInterrupt
    return answer(text)

def own_matcher(reply, answer, candidates):
    return answer in reply
'''


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "test.jsonl"
    path.write_text("".join(json.dumps(row.as_row()) + "\n" for row in ROWS))
    (tmp_path / "models.py").write_text(MODELS)
    return path


def run(data: Path, name: str = "answer", **changes: Any) -> Evaluation:
    return storyproof.evaluate(f"{data.with_name('models.py')}:{name}", data, **changes)


def test_scores_and_matchings_side_by_side(data: Path) -> None:
    found = run(data)
    # memory exactly, reality wrong, both searches in other words, belief ambiguous
    assert found.scores.accuracy == 3 / 5
    assert found.scores.joint_accuracy == 1 / 2
    sides = found.details["matchings"]
    assert {name: sides[name]["accuracy"] for name in sides} == {"strict": 1 / 5, "careful": 3 / 5, "lenient": 5 / 5}
    assert found.details["match_types"]["ambiguous"] == 1 / 5
    assert sum(found.details["match_types"].values()) == pytest.approx(1)
    low, high = found.intervals["accuracy"]
    assert low < 3 / 5 < high
    assert found.counts
    assert found.ended is None


def test_chosen_matching_decides(data: Path) -> None:
    assert run(data, matching="strict").scores.accuracy == 1 / 5
    assert run(data, matching="lenient").scores.accuracy == 1.0
    own = run(data, matching=f"{data.with_name('models.py')}:own_matcher")
    assert own.scores.accuracy == 1.0
    assert len(own.details["matchings"]) == 4


def test_predictions_can_be_scored_against_other_labels(data: Path) -> None:
    rows = {row["id"]: row for row in run(data).predictions}
    assert rows["2"]["reply"] == "It is not in the jar but in the box."
    assert (rows["2"]["answer"], rows["2"]["target"], rows["2"]["right"]) == ("box", "jar", False)
    assert (rows["3"]["answer"], rows["3"]["match"]) == ("box", "normalized_match")
    assert rows["4"]["answer"] == "the box or the jar"  # no candidate is meant


def test_predictions_say_what_a_report_needs(data: Path) -> None:
    row = run(data).predictions[3]
    assert (row["kind"], row["order"], row["false_belief"]) == ("second_order", 2, True)
    assert row["story_hash"] == story_hash(STORY)
    assert row["effort"].keys() == {"seconds", "retries"}
    assert row["effort"]["retries"] == 0


def test_file_of_a_run(data: Path, tmp_path: Path) -> None:
    found = run(data, output_dir=tmp_path / "out", prices=Prices(1, 2))
    assert found.path is not None
    assert found.path.name.endswith("models.py-answer_test.json")
    read = json.loads(found.path.read_text())
    assert read == found.as_dict()
    assert [row["id"] for row in found.predictions] == ["1", "2", "3", "4", "5"]
    assert found.predictions[1]["id"] == "2"
    assert read["prompt"]["name"] == "zero-shot"
    assert read["run"]["data"]["files"].keys() == {"test.jsonl"}
    assert {"python", "started", "hardware", "seconds"} < read["run"].keys()
    assert storyproof.rescore(found.path, data).scores.published["accuracy"].value == 3 / 5
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted([found.path.name, "replies.sqlite"])


def test_other_prompts_and_seeds_have_files_of_their_own(data: Path, tmp_path: Path) -> None:
    for changes in ({}, {"prompt": "chain-of-thought"}, {"seed": 3}, {"labels": "proved"}):
        run(data, output_dir=tmp_path / "out", **changes)
    names = sorted(path.name.partition("answer_")[2] for path in (tmp_path / "out").glob("*.json"))
    assert names == ["test.json", "test_chain-of-thought.json", "test_proved.json", "test_seed3.json"]


def test_second_run_asks_nothing(data: Path, tmp_path: Path) -> None:
    first = run(data, output_dir=tmp_path / "out")
    again = run(data, output_dir=tmp_path / "out")
    assert (first.details["traffic"]["asked"], again.details["traffic"]["asked"]) == (
        4,
        0,
    )  # two questions are the same
    assert again.predictions[:] == first.predictions[:]
    assert run(data, output_dir=tmp_path / "out", max_tokens=20).details["traffic"]["asked"] == 4


def test_failures_are_failed_and_not_wrong(data: Path) -> None:
    found = run(data, "failing")
    assert found.scores.questions == 4
    assert found.scores.accuracy == 2 / 4
    assert (found.scores.stories, found.scores.joint_accuracy) == (1, 1.0)
    assert found.details["failures"] == {
        "failed": 1,
        "not_asked": 0,
        "of": 5,
        "errors": {"OSError: no answer today": 1},
    }
    assert not found.counts
    assert run(data, "failing", max_failed=0.2).counts


@pytest.mark.parametrize("matching", ["careful", "own_matcher"])
def test_reply_that_was_cut_off_before_its_answer_is_none(
    data: Path, tmp_path: Path, matching: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "models.py").write_text(MODELS.replace("return answer in reply", "return True"))
    matching = matching if matching == "careful" else f"{tmp_path / 'models.py'}:{matching}"
    retold = Reply("The key is in the box.", cut_off=True)
    monkeypatch.setattr("storyproof.solvers.solver.load_backend", lambda *_: Scripted(lambda _: retold))
    found = run(data, prompt="chain-of-thought", matching=matching, output_dir=tmp_path / "out")
    assert found.scores.accuracy == 0
    assert found.details["cut_off"] == 5
    assert found.details["match_types"]["no_match"] == 1
    row = found.predictions[0]
    assert (row["reply"], row["answer"], row["right"], row["cut_off"]) == ("", "", False, True)
    assert row["steps"] == [retold.text]
    again = run(data, prompt="chain-of-thought", matching=matching, output_dir=tmp_path / "out")
    assert (again.details["traffic"]["asked"], again.details["cut_off"]) == (0, 5)
    for text, cut_off, prompt in ((retold.text, False, "chain-of-thought"), (retold.text, True, "zero-shot")):
        whole = Reply(text, cut_off=cut_off)
        monkeypatch.setattr("storyproof.solvers.solver.load_backend", lambda *_, whole=whole: Scripted(lambda _: whole))
        found = run(data, prompt=prompt, matching=matching)
        assert found.scores.accuracy >= 4 / 5
        assert found.details["cut_off"] == 0


@pytest.mark.parametrize(
    ("reply", "counted"),
    [
        (Reply("box", output_tokens=10), 5),  # a server that does not say why a reply ended
        (Reply("box", cut_off=True), 5),
        (Reply("box", output_tokens=9), 0),
        (Reply("box"), 0),
    ],
)
def test_replies_that_used_all_their_tokens_are_counted(
    data: Path, reply: Reply, counted: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("storyproof.solvers.solver.load_backend", lambda *_: Scripted(lambda _: reply))
    found = run(data, prompt="zero-shot")
    assert (found.details["at_limit"], found.details["cut_off"]) == (counted, 0)
    assert found.details["match_types"]["no_match"] < 1


def test_what_is_no_text_has_failed(data: Path) -> None:
    with pytest.raises(NoAnswersError, match=r"nothing to score: the function returned None; expected text\."):
        run(data, "mute")


def test_no_answer_at_all(data: Path) -> None:
    with pytest.raises(NoAnswersError, match=r"gave no answer at all, so there is nothing to score: OSError: never\."):
        run(data, "silent")


def test_interrupted_run_scores_what_there_is(data: Path, tmp_path: Path) -> None:
    found = run(data, "interrupted", output_dir=tmp_path / "out")
    assert (found.ended, found.scores.questions, found.details["failures"]["not_asked"]) == ("interrupted", 2, 3)
    assert json.loads((found.path or data).read_text())["ended"] == "interrupted"


def test_only_beliefs_and_only_so_many(data: Path) -> None:
    assert set(run(data, exclude_memory_reality=True).scores.by_question_type) == {
        "first_order_1_tom",
        "second_order_0_tom",
    }
    assert run(data, max_samples=3).scores.questions == 3
    assert run(data, max_samples=2, exclude_memory_reality=True).scores.questions == 2
    assert storyproof.evaluate("rules", data, max_samples=3).scores.questions == 3


def test_shots_come_from_the_train_split(data: Path) -> None:
    with pytest.raises(ConfigError, match="shows solved examples, but there are none to draw from"):
        run(data, prompt="few-shot")
    storyproof.generate("tomi", train=6, out=data.parent / "made", format="jsonl")
    (data.parent / "made" / "train.jsonl").rename(data.parent / "train.jsonl")
    assert run(data, prompt="few-shot").scores.questions == 5


def test_no_shot_is_of_a_story_that_is_asked_about(tmp_path: Path) -> None:
    storyproof.generate("tomi", train=6, test=3, out=tmp_path / "tomi")
    source = find_source(tmp_path / "tomi", "train")
    asked = Selection(source, False, 2, None, False)
    shots = _shots_besides(asked, tmp_path / "tomi")
    assert len({shot.story for shot in shots}) == 4
    assert {shot.story for shot in shots}.isdisjoint(example.story for example in asked.examples())
    (tmp_path / "models.py").write_text(MODELS)
    with pytest.raises(ConfigError, match="whose stories are not all asked about"):
        run(tmp_path / "tomi", split="train", prompt="few-shot")


def test_prices() -> None:
    assert Prices(1.0, 2.0).cost(1_000_000, 500_000, 400_000) == 2.0
    assert Prices(1.0, 2.0, 0.5).cost(1_000_000, 500_000, 400_000) == pytest.approx(1.8)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"max_samples": 0}, "--max-samples is 0; use 1 or more"),
        ({"max_tokens": 0}, "--max-tokens is 0; use 1 or more"),
        ({"max_failed": 2}, "--max-failed is 2"),
        ({"matching": "carefull"}, "unknown matcher 'carefull'. Did you mean 'careful'"),
    ],
)
def test_wrong_settings(data: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        run(data, **changes)


def test_one_process_at_a_time_asks_for_a_run(data: Path, tmp_path: Path) -> None:
    whole = run(data, output_dir=tmp_path / "out")
    assert whole.path is not None
    lock = whole.path.with_name(f".{whole.path.name}.lock")
    with Claim(lock) as ours:
        assert ours
        for labels in ("given", "proved"):  # which the replies do not depend on
            with pytest.raises(DataError, match=r"another process is asking for .*; wait until it ends and run"):
                run(data, output_dir=tmp_path / "out", labels=labels)
    assert run(data, output_dir=tmp_path / "out").scores == whole.scores
    assert not lock.exists()


def test_a_run_is_claimed_while_it_is_asked(data: Path, tmp_path: Path) -> None:
    (tmp_path / "models.py").write_text(
        MODELS
        + f"""
def curious(text):
    import storyproof
    try:
        storyproof.evaluate({str(tmp_path / "models.py")!r} + ":curious", {str(data)!r}, output_dir={str(tmp_path)!r})
    except storyproof.errors.DataError as error:
        return str(error)
    return "asked twice"
"""
    )
    found = run(data, "curious", output_dir=tmp_path)
    assert all(row["reply"].startswith("another process is asking for") for row in found.predictions)
    assert len(found.predictions) == len(ROWS)
