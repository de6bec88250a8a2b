import json
from pathlib import Path

import pytest

import storyproof
from storyproof.datasets.process import process
from storyproof.datasets.reading import find_source
from storyproof.errors import DataError
from storyproof.evaluation.fresh_twin import make_twin
from storyproof.formats.json_list import FIELDS, ORIGIN


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    storyproof.generate("tomi", train=3, val=6, seed=2, out=tmp_path / "raw", format="babi")
    (tmp_path / "raw" / "manifest.json").unlink()
    return tmp_path / "raw"


def test_text_and_trace(tmp_path: Path, raw: Path) -> None:
    manifest = process(raw, tmp_path / "out")
    assert manifest["splits"] == {"train": {"stories": 3, "questions": 18}, "val": {"stories": 6, "questions": 36}}
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"train.json", "val.json", "manifest.json"}
    rows = json.loads((tmp_path / "out" / "val.json").read_text())
    assert list(rows[0]) == [*FIELDS, *ORIGIN]
    assert len({row["story_id"] for row in rows}) == 6
    before, after = (storyproof.evaluate("rules", path, split="val") for path in (raw, tmp_path / "out"))
    assert after.scores == before.scores
    assert storyproof.verify(tmp_path / "out").ok
    assert storyproof.verify(tmp_path / "out" / "val.json").ok


def test_labels_stay_as_they_are_given(tmp_path: Path, raw: Path) -> None:
    trace = raw / "val.trace"
    trace.write_text(trace.read_text().replace("memory,", "reality,"))
    process(raw, tmp_path / "out")
    assert {row["question_type"] for row in json.loads((tmp_path / "out" / "val.json").read_text())}.isdisjoint(
        {"memory"}
    )


def test_types_that_are_not_said_are_worked_out(tmp_path: Path, raw: Path) -> None:
    for path in raw.glob("*.trace"):
        path.unlink()
    process(raw, tmp_path / "out")
    rows = json.loads((tmp_path / "out" / "val.json").read_text())
    assert {"memory", "reality"} < {row["question_type"] for row in rows}
    assert all(row["story_type"] for row in rows)


@pytest.mark.parametrize(("benchmark", "format"), [("clutrr", "csv"), ("tom-babi", "babi"), ("tomi", "parquet")])
def test_other_forms(tmp_path: Path, benchmark: str, format: str) -> None:
    storyproof.generate(benchmark, test=12, seed=2, out=tmp_path / "raw", format=format)
    process(tmp_path / "raw", tmp_path / "out")
    before, after = (storyproof.evaluate("oracle", tmp_path / name) for name in ("raw", "out"))
    assert after.scores.accuracy == before.scores.accuracy == 1.0
    assert after.scores.questions == before.scores.questions


def test_single_file(tmp_path: Path, raw: Path) -> None:
    (raw / "train.txt").rename(raw / "mine.txt")
    (raw / "train.trace").rename(raw / "mine.trace")
    process(raw / "mine.txt", tmp_path / "out")
    assert len(json.loads((tmp_path / "out" / "mine.json").read_text())) == 18


def test_whole_or_not_at_all(tmp_path: Path, raw: Path) -> None:
    (raw / "val.txt").write_text("1 nonsense\n")
    with pytest.raises(DataError, match=r"val.txt, line 1"):
        process(raw, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["raw"]


def test_folders_that_cannot_be_written(tmp_path: Path, raw: Path) -> None:
    process(raw, tmp_path / "out")
    with pytest.raises(DataError, match="is not empty; choose another folder or replace it with --force"):
        process(raw, tmp_path / "out")
    process(raw, tmp_path / "out", force=True)
    with pytest.raises(DataError, match="which is the input"):
        process(raw, raw, force=True)
    with pytest.raises(DataError, match="does not exist"):
        process(tmp_path / "none", tmp_path / "new")


@pytest.mark.parametrize(
    ("benchmark", "format"), [("clutrr", "csv"), ("tom-babi", "babi"), ("tomi", "babi"), ("tomi", "jsonl")]
)
def test_runs_on_processed_data_belong_to_the_raw_ones(tmp_path: Path, benchmark: str, format: str) -> None:
    """Ids, stories and benchmark are kept, so that rescore, compare and contamination know the rows again."""
    raw, out = tmp_path / "raw", tmp_path / "out"
    storyproof.generate(benchmark, test=2 if benchmark == "clutrr" else 12, seed=2, out=raw, format=format)
    process(raw, out)
    before, after = storyproof.load(raw), storyproof.load(out)
    for column in ("id", "story_id", "benchmark", "split"):
        assert after.column(column).to_pylist() == before.column(column).to_pylist(), column
    run = storyproof.evaluate("rules", out)
    rescored = storyproof.rescore(run, raw)
    assert (rescored.scores.questions, rescored.scores.changed_labels) == (before.num_rows, 0)
    compared = storyproof.compare(run, storyproof.evaluate("oracle", raw))
    assert (compared.questions, compared.only_first, compared.only_second) == (before.num_rows, 0, 0)
    twin = make_twin(find_source(out), tmp_path / "twins", seed=9)
    assert storyproof.load(twin).num_rows == before.num_rows
