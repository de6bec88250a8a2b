import json
from pathlib import Path

import pytest

from storyproof.errors import DataError
from storyproof.evaluation.runs.files import Recorder, run_name


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
        recorder.add(row)
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
    recorder.add({"id": "1"})
    assert recorder.finish({}) == [{"id": "1"}]


def test_dropped_leaves_nothing(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "x.json")
    recorder.add({"id": "1"})
    recorder.drop()
    assert not list(tmp_path.iterdir())


def test_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(DataError, match="choose another --output-dir"):
        Recorder(tmp_path / "file" / "x.json")
