import json
from pathlib import Path
from typing import Any

import pytest

import storyproof
from storyproof.errors import DataError
from storyproof.evaluation.compare import compare
from storyproof.stats import Interval


def run(rights: str, model: str = "m", **changes: Any) -> dict[str, Any]:
    """A run on stories of two questions: x is right, anything else is wrong, a space is not answered."""
    rows = [
        {
            "id": f"q{place}",
            "story_id": f"s{place // 2}",
            "question_type": ("memory", "reality")[place % 2],
            "answer": "box" if mark == "x" else "jar",
            "target": "box",
            "right": mark == "x",
            **changes,
        }
        for place, mark in enumerate(rights)
        if mark != " "
    ]
    return {"model": model, "predictions": rows}


def test_scores_of_both() -> None:
    found = compare(run("xx.xx."), run("xxxxx."))
    assert (found.questions, found.stories) == (6, 3)
    assert (found.accuracy.first.value, found.accuracy.second.value) == (4 / 6, 5 / 6)
    assert found.accuracy.difference.value == pytest.approx(1 / 6)
    assert found.joint is not None
    assert (found.joint.first.value, found.joint.second.value, found.joint.of) == (1 / 3, 2 / 3, 3)
    assert found.agreement == {"both": 4, "first": 0, "second": 1, "neither": 1}
    assert found.by_question_type["memory"].difference.value == pytest.approx(1 / 3)
    assert found.accuracy.p == 1.0  # one story that differs says nothing


def test_a_clear_gap() -> None:
    found = compare(run(".." * 12), run("xx" * 12))
    assert found.accuracy.difference.value == 1.0
    assert found.accuracy.p == pytest.approx(2 / 2**12)
    assert found.joint is not None
    assert found.joint.p == pytest.approx(2 / 2**12)


def test_turned_round() -> None:
    one, other = run("xx.xx.x.x."), run("xxxx.xx.xx")
    there, back = compare(one, other), compare(other, one)
    assert there.accuracy.difference.value == -back.accuracy.difference.value
    assert there.accuracy.p == back.accuracy.p


def test_only_shared_questions_count_and_joint_only_whole_stories() -> None:
    found = compare(run("xxxxxx"), run("xx x x"))
    assert (found.questions, found.only_first, found.only_second) == (4, 2, 0)
    assert found.joint is not None
    assert found.joint.of == 1
    failed = run("xxxxxx")
    failed["predictions"][2]["failed"] = True
    assert compare(failed, run("xxxxxx")).only_second == 1
    assert compare(run("x x "), run("xxxx")).joint is None


def test_runs_without_right_are_scored_by_their_labels() -> None:
    found = compare(run("x.x.", right=None), run("xxxx", right=None))
    assert (found.accuracy.first.value, found.accuracy.second.value) == (0.5, 1.0)


@pytest.mark.parametrize(
    ("second", "message"),
    [
        ({"model": "b", "predictions": [{"id": "z", "right": True}]}, "m and b share no questions .such as q0 and z"),
        (run("xx", story_id="other"), "q0 is another question in m than in m"),
        (run("xx", target="jar"), "q0 was scored against 'box' in m and against 'jar' in m, and so 2 of 2 labels"),
        (run("xx", question_type="other"), "q0 is another question in m than in m"),
        ({"predictions": []}, "contains no predictions; run evaluate again with --output-dir"),
        ({"predictions": [3]}, "prediction 0: found 3; expected an object with 'id'"),
        ({"predictions": [{"id": "q0"}]}, "prediction 0: neither 'right' nor both"),
        ({"predictions": [{"id": "q0", "right": True}] * 2}, "answers q0 more than once"),
    ],
)
def test_runs_that_do_not_belong_together(second: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        compare(run("xx"), second)


def test_files(tmp_path: Path) -> None:
    one, two = tmp_path / "one.json", tmp_path / "two.json"
    one.write_text(json.dumps({**run("x."), "prompt": {"name": "zero-shot"}}))
    two.write_text(json.dumps([run("xx", "a"), run("..", "b")]))
    found = compare(str(one), f"{two}:b")
    assert (found.first, found.second) == ("m (zero-shot)", "b")
    assert found.accuracy.difference.value == -0.5
    with pytest.raises(DataError, match=r"two.json contains 2 runs; choose one, such as .*two.json:a'"):
        compare(one, two)
    with pytest.raises(DataError, match="contains no run of 'c', only: a, b"):
        compare(one, f"{two}:c")
    with pytest.raises(DataError, match=r"cannot read .*none.json"):
        compare(one, tmp_path / "none.json")
    (tmp_path / "bad.json").write_text("{")
    with pytest.raises(DataError, match=r"bad.json: not valid JSON"):
        compare(one, tmp_path / "bad.json")
    (tmp_path / "empty.json").write_text("[]")
    with pytest.raises(DataError, match="contains no run; expected an object with 'predictions'"):
        compare(one, tmp_path / "empty.json")


def test_runs_that_were_judged_otherwise() -> None:
    strict, careful = {**run("xx"), "matching": "strict"}, {**run("xx", "n"), "matching": "careful"}
    with pytest.raises(
        DataError,
        match=r"m was judged by strict matching and n by careful matching.* --matching strict needs no new requests",
    ):
        compare(strict, careful)
    chosen = {**run("xx", "rules"), "matching": "exact"}  # is right by any matcher
    assert compare(strict, chosen).questions == compare(strict, run("xx")).questions == 2


def test_other_labels_are_no_other_questions() -> None:
    given, proved = {**run("x."), "labels": "given"}, {**run("x."), "labels": "proved"}
    proved["predictions"][1] |= {"question_type": "first_order_0_tom", "target": "jar"}
    with pytest.raises(
        DataError, match="q1 was scored against 'box' in m, labels given and against 'jar' in m, labels"
    ):
        compare(given, proved)
    proved["predictions"][1]["target"] = "box"  # the same label, though the type says otherwise
    assert compare(given, proved).agreement == {"both": 1, "first": 0, "second": 0, "neither": 1}
    asked = [{**run("xx", question=question), "labels": question} for question in ("Where?", "Who?")]
    with pytest.raises(DataError, match="q0 is another question"):
        compare(*asked)


@pytest.mark.parametrize(
    ("first", "second", "names"),
    [
        ({"prompt": {"name": "p"}}, {"prompt": {"name": "q"}}, ("m (p)", "m (q)")),
        ({"seed": 0, "labels": "given"}, {"seed": 1, "labels": "given"}, ("m, seed 0", "m, seed 1")),
        ({"seed": 0, "labels": "given"}, {"seed": 1, "labels": "proved"}, ("m, labels given", "m, labels proved")),
        (
            {"data": "a", "prompt": {"name": "p"}},
            {"data": "b", "prompt": {"name": "p"}},
            ("m (p), data a", "m (p), data b"),
        ),
        ({}, {}, ("m", "m")),
    ],
)
def test_names_tell_runs_apart(first: dict[str, Any], second: dict[str, Any], names: tuple[str, str]) -> None:
    found = compare({**run("xx"), **first}, {**run("xx"), **second})
    assert (found.first, found.second) == names


def test_files_tell_runs_apart(tmp_path: Path) -> None:
    for name in ("a.json", "b.json"):
        (tmp_path / name).write_text(json.dumps(run("xx")))
    assert compare(tmp_path / "a.json", tmp_path / "b.json").second == f"m, file {tmp_path / 'b.json'}"


def test_one_of_several_prompts(tmp_path: Path) -> None:
    path = tmp_path / "all.json"
    runs = [{**run(rights), "prompt": {"name": name}} for rights, name in (("xx", "p"), ("..", "q"))]
    path.write_text(json.dumps(runs))
    assert compare(f"{path}:m (p)", f"{path}:m (q)").accuracy.difference.value == -1.0
    with pytest.raises(DataError, match=r"contains 2 runs of 'm'; choose one, such as '.*all.json:m \(p\)'"):
        compare(f"{path}:m", f"{path}:m (p)")
    path.write_text(json.dumps([runs[0], runs[0]]))
    with pytest.raises(DataError, match="contains 2 runs; give the file that evaluate wrote for each"):
        compare(path, path)


def test_whole_stories_that_cannot_be_told() -> None:
    # A question that failed in both is in neither file, so that its story looks whole.
    failed = {**run("x xx"), "stories": 1}
    assert compare(failed, failed).joint is None
    found = compare(failed, {**run("xxxx"), "stories": 2}).joint
    assert found is not None
    assert found.of == 1


def test_the_same_run_twice() -> None:
    found = compare(run("x.xx.."), run("x.xx.."))
    assert found.joint is not None
    for gap in (found.accuracy, found.joint, *found.by_question_type.values()):
        assert gap.difference == Interval(0.0, 0.0, 0.0)


def test_evaluations(tmp_path: Path) -> None:
    storyproof.generate("tomi", test=30, seed=3, out=tmp_path / "data")
    rules, oracle = (storyproof.evaluate(name, tmp_path / "data") for name in ("rules", "oracle"))
    found = storyproof.compare(rules, oracle)
    assert found.accuracy.second.value == 1.0
    assert found.accuracy.difference.value == pytest.approx(1 - rules.scores.accuracy)
    assert found.joint is not None
    assert found.joint.difference.value == pytest.approx(1 - rules.scores.joint_accuracy)
    assert json.loads(json.dumps(found.as_dict()))["accuracy"]["p"] < 0.01
