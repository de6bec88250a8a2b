import json
from pathlib import Path
from typing import Any

import pytest

import storyproof
from storyproof.engines import make_engine
from storyproof.errors import DataError
from storyproof.evaluation.runs import SCHEMA, Evaluation, Prediction, Recorder, read_runs, run_name, story_hash
from tests.cli.invocation import run


@pytest.mark.parametrize(
    ("parts", "name"),
    [
        (("meta-llama/Llama-2-7b-hf", "val"), "meta-llama-Llama-2-7b-hf_val.json"),
        (("openai/fake", "test", "few-shot"), "openai-fake_test_few-shot.json"),
        (("/tmp/my model", None), "tmp-my-model_all.json"),
        (("x.py:f", "test", "dir/own.yaml"), "x.py-f_test_dir-own.yaml.json"),
    ],
)
def test_names(parts: tuple[str, ...], name: str) -> None:
    assert run_name(*parts) == name


@pytest.mark.parametrize("count", [0, 1, 3])
def test_writes_and_reads(tmp_path: Path, count: int) -> None:
    rows = [{"id": str(n), "reply": "a\n\u2028]}\nb é"} for n in range(count)]
    recorder = Recorder(tmp_path / "out" / "x.json")
    for row in rows:
        recorder.add(Prediction(**row))
    found = recorder.finish({"model": "x", "deep": {"a": [1]}})
    assert list(found) == rows
    assert len(found) == count
    assert json.loads((tmp_path / "out" / "x.json").read_text(encoding="utf-8")) == {
        "model": "x",
        "deep": {"a": [1]},
        "predictions": rows,
    }
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["x.json"]


def test_in_memory() -> None:
    recorder = Recorder(None)
    recorder.add(Prediction(id="1"))
    assert recorder.finish({}) == [{"id": "1"}]


def test_dropped_leaves_nothing(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "x.json")
    recorder.add(Prediction(id="1"))
    recorder.drop()
    assert not list(tmp_path.iterdir())


def test_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(DataError, match="choose another --output-dir"):
        Recorder(tmp_path / "file" / "x.json")


OLDER = Path(__file__).with_name("older_runs")  # as evaluate wrote them before there was a schema


def test_runs_without_a_schema_are_still_read() -> None:
    [solver], [model] = read_runs(OLDER / "solver.json"), read_runs(str(OLDER / "language_model.json"))
    assert (solver.schema, solver.model, solver.prompt, solver.matching) == (0, "rules", "", "exact")
    assert (model.schema, model.model, model.prompt) == (0, "models.py:answer", "zero-shot")
    assert [each.id for each in solver.predictions] == [each.id for each in model.predictions]
    first, second = solver.predictions[1], model.predictions[1]
    assert (first.right, first.reply, first.kind, first.story_hash) == (None, None, None, None)
    assert (second.right, second.match, second.answer, second.target) == (False, "no_match", "box", "jar")
    found = storyproof.compare(OLDER / "solver.json", OLDER / "language_model.json")
    assert (found.questions, found.accuracy.first.value, found.accuracy.second.value) == (5, 1.0, 3 / 5)


def test_a_run_can_be_read_back(tmp_path: Path) -> None:
    storyproof.generate("tomi", test=3, seed=1, out=tmp_path / "tomi")
    made = storyproof.evaluate("rules", tmp_path / "tomi", output_dir=tmp_path / "out")
    assert made.path is not None
    assert json.loads(made.path.read_text()) == made.as_dict()
    assert made.as_dict()["schema"] == SCHEMA
    for source in (made, made.path, str(made.path), made.as_dict(), [made.as_dict()]):
        [run] = read_runs(source)
        assert (run.schema, run.model, run.labels, run.seed, run.stories) == (SCHEMA, "rules", "given", "0", 3)
        assert [each.as_dict() for each in run.predictions] == list(made.predictions)
    first = run.predictions[0]
    assert (first.right, first.order, first.false_belief, first.kind) == (True, 0, False, first.question_type)
    story = storyproof.generate("tomi", test=3, seed=1).to_pylist()[0]["story"]
    assert first.story_hash == story_hash(story)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"schema": SCHEMA + 1}, f"has schema {SCHEMA + 1}; this version of storyproof reads schemas up to {SCHEMA}"),
        ({"schema": "x"}, "has schema 'x'"),
        ({"predictions": [{"id": 3}]}, "prediction 0: found {'id': 3}; expected an object with 'id'"),
        ({"predictions": [{"id": "1", "reply": 3}]}, "prediction 0: 'reply' is 3; expected text"),
    ],
)
def test_what_is_no_run(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_runs({"model": "m", "predictions": [{"id": "1", "answer": "x"}], **changes})


def test_fields_of_later_versions_are_ignored() -> None:
    [run] = read_runs({"model": "m", "predictions": [{"id": "1", "answer": "x", "mood": "good"}]})
    assert run.predictions == (Prediction(id="1", answer="x"),)


def _evaluate(data: Path, runs: Path, **settings: Any) -> Evaluation:
    return storyproof.evaluate("rules", data, output_dir=runs, **settings)


def test_a_run_never_replaces_another(tmp_path: Path) -> None:
    for name, seed in (("fresh", 1), ("other", 2)):
        storyproof.generate("tomi", test=3, seed=seed, out=tmp_path / name)
    fresh, other, runs = tmp_path / "fresh", tmp_path / "other", tmp_path / "runs"
    first = _evaluate(fresh, runs)
    written = (runs / "rules_test.json").read_bytes()
    assert first.kept is None
    assert _evaluate(fresh, runs).kept is None  # the same run again
    assert [path.name for path in runs.iterdir()] == ["rules_test.json"]

    second = _evaluate(other, runs)
    assert second.kept == runs / "rules_test_fresh.json"
    assert json.loads(second.kept.read_bytes())["predictions"] == json.loads(written)["predictions"]
    assert read_runs(runs / "rules_test.json")[0].data == str(other)

    limited = _evaluate(other, runs, max_stories=2)  # the same data, but fewer questions
    assert limited.kept == runs / "rules_test_other.json"
    assert _evaluate(other, runs, max_stories=2).kept is None
    assert _evaluate(other, runs, max_stories=1).kept == runs / "rules_test_other-2.json"
    assert {len(read_runs(path)[0].predictions) for path in runs.glob("*.json")} == {6, 12, 18}


def test_with_an_engine_it_is_the_same_run(tmp_path: Path) -> None:
    storyproof.generate("tomi", test=3, seed=1, out=tmp_path / "data")
    assert _evaluate(tmp_path / "data", tmp_path / "runs", exclude_memory_reality=True).kept is None
    with make_engine() as engine:
        again = _evaluate(tmp_path / "data", tmp_path / "runs", exclude_memory_reality=True, engine=engine)
    assert again.kept is None


@pytest.mark.parametrize("text", ["", "notes", '{"model": "rules"}', "[" * 10**5])
def test_a_file_that_is_no_run_is_kept(text: str, tmp_path: Path) -> None:
    storyproof.generate("tomi", test=3, seed=1, out=tmp_path / "data")
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "rules_test.json").write_text(text)
    kept = _evaluate(tmp_path / "data", tmp_path / "runs").kept
    assert kept == tmp_path / "runs" / "rules_test_earlier.json"
    assert kept.read_text() == text


def test_the_command_says_what_it_keeps(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    for seed in (1, 2):
        storyproof.generate("tomi", test=3, seed=seed, out=tmp_path / f"data{seed}")
    said = f"the run of other data or settings that was there is kept as {runs / 'rules_test_data1.json'}"
    for seed, kept in ((1, False), (2, True)):
        done = run("evaluate", "--model", "rules", "--data", tmp_path / f"data{seed}", "--output-dir", runs)
        assert (said in done.stdout) is kept
