from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from rich.console import Console

import storyproof
from storyproof.errors import DataError
from storyproof.example import Example, plain
from tests.samples import table


class Stream:
    """What frames of other libraries are to us: an Arrow stream, with views of texts."""

    def __init__(self, made: pa.Table) -> None:
        is_text = [pa.types.is_string(plain(field.type)) for field in made.schema]
        kinds = [pa.string_view() if each else field.type for each, field in zip(is_text, made.schema, strict=True)]
        columns = [
            pa.chunked_array([pa.array(column.to_pylist(), kind)]) if kind == pa.string_view() else column
            for column, kind in zip(made.columns, kinds, strict=True)
        ]
        self._table = pa.table(columns, names=made.column_names)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)


class Polars:
    """A frame that converts itself, as those of polars do."""

    def __init__(self, made: pa.Table) -> None:
        self._table = made

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        raise NotImplementedError("its codes of views are not for every version of Arrow")

    def to_arrow(self) -> pa.Table:
        return self._table


def _frame(made: pa.Table) -> Any:
    return made.to_pandas()


FORMS: dict[str, Callable[[pa.Table], Any]] = {
    "arrow": lambda made: made,
    "batch": lambda made: made.combine_chunks().to_batches()[0],
    "pandas": _frame,
    "filtered": lambda made: _frame(made)[lambda frame: frame["order"] > 0],  # has an index of its own
    "views": Stream,
    "polars": Polars,
    "rows": lambda made: made.to_pylist(),
    "iterator": lambda made: iter(made.to_pylist()),
    "examples": lambda made: [Example.from_row(row, "belief") for row in made.to_pylist()],
    "numpy": lambda made: [{**row, "order": np.int64(row["order"])} for row in made.to_pylist()],
}


@pytest.fixture(scope="module")
def made() -> pa.Table:
    return table("tomi", "test", 9)


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_rows_is_data(form: str, made: pa.Table) -> None:
    count = sum(row["order"] > 0 for row in made.to_pylist()) if form == "filtered" else made.num_rows
    verified = storyproof.verify(FORMS[form](made))
    assert verified.ok
    assert verified.questions == count
    assert storyproof.audit(FORMS[form](made)).totals["rows"] == count
    run = storyproof.evaluate("oracle", FORMS[form](made))
    assert (run.scores.accuracy, run.scores.questions, run.data, run.split) == (1.0, count, "rows", "test")
    assert storyproof.load(FORMS[form](made)).num_rows == count


def test_rows_of_several_splits_are_a_folder() -> None:
    made = storyproof.generate("tomi", train=6, val=2, test=3, seed=5)
    assert storyproof.verify(made.to_pandas()).ok
    assert storyproof.verify(made.to_pylist()).questions == made.num_rows
    assert storyproof.evaluate("rules", made).scores.questions == 18
    assert storyproof.evaluate("rules", made.to_pandas(), split="train").scores.questions == 36
    without_val = [row for row in made.to_pylist() if row["split"] != "val"]
    with pytest.raises(DataError, match=r"^rows has no val split, only: train, test"):
        storyproof.evaluate("rules", without_val, split="val")


def test_kinship_without_lists() -> None:
    made = storyproof.generate("clutrr", test=4, test_k=(2,), seed=7).to_pandas()  # its lists `chain` are all empty
    assert storyproof.verify(made).ok


def test_a_wrong_answer_is_found_in_its_row(made: pa.Table) -> None:
    rows = made.to_pylist()
    rows[4]["answer"] = "nowhere"
    [finding] = storyproof.verify(rows).findings
    assert (finding.field, finding.found, finding.row) == ("answer", "nowhere", 4)


def test_what_follows_is_worked_out() -> None:
    text = "Ann entered the den.\nThe key is in the box.\nAnn exited the den."
    row = {"story": text, "question": "Where will Ann look for the key?", "answer": "box"}
    [completed] = storyproof.load([row]).to_pylist()
    assert completed["question_type"] == "first_order_1_no_tom"
    assert storyproof.ask("oracle", data=[row]).answer == "box"
    screen = Console(record=True, width=100, file=None)
    with screen.capture() as shown:
        screen.print(storyproof.show([row]))
    assert "Ann thinks" in shown.get()
    [picture] = storyproof.draw([row])
    assert picture.svg.startswith("<svg")


def test_a_run_is_rescored_on_rows(made: pa.Table) -> None:
    run = storyproof.evaluate("rules", made)
    rescored = storyproof.rescore(run, made.to_pylist())
    assert (rescored.fixed, rescored.scores.changed_labels) == ("rows", 0)


def test_missing_whole_numbers_are_numbers(made: pa.Table) -> None:
    frame = made.to_pandas().astype({"order": "float64"})
    assert storyproof.verify(frame).ok
    frame["order"] += 0.5
    with pytest.raises(DataError, match=r"^rows/test.parquet: column 'order' is double, expected int8; convert it"):
        storyproof.verify(frame)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (3, r"the data are 3 \(int\); expected a path, a frame of pandas or polars, an Arrow table, or a list of rows"),
        ([], "the data have no rows; expected a path"),
        ({"story": "x"}, r"the data are \{'story': 'x'\} \(dict\); expected a path"),
        ([{"story": "x"}, 3], r"row 1 of the data is 3 \(int\); expected a dictionary or an example"),
        ([{"word": "x"}], r"rows/rows.jsonl: no column for a story or a question is found; it has: word"),
        (pa.table({"word": ["x"]}), r"rows/rows.parquet: no column for a story or a question is found; it has: word"),
    ],
)
def test_what_is_no_data_is_refused(data: object, message: str) -> None:
    with pytest.raises(DataError, match=message):
        storyproof.verify(data)


def test_nothing_is_left_behind(made: pa.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    storyproof.verify(made)
    with pytest.raises(DataError):
        storyproof.verify([{}])
    assert list(tmp_path.iterdir()) == []


def test_fixed_rows_are_written(made: pa.Table, tmp_path: Path) -> None:
    rows = made.to_pylist()
    rows[4]["answer"] = "nowhere"
    storyproof.audit(rows, fix=tmp_path / "fixed")
    assert storyproof.load(tmp_path / "fixed").to_pylist()[4]["answer"] == made.to_pylist()[4]["answer"]


def test_rows_are_processed_and_trained_on(made: pa.Table, tmp_path: Path) -> None:
    manifest = storyproof.process(made.to_pylist(), tmp_path / "data")
    assert (manifest["raw"], manifest["splits"]) == ("rows", {"test": {"stories": 9, "questions": made.num_rows}})
    out = tmp_path / "run"
    trained = storyproof.train("memnn", out, data=made, epochs=1, device="cpu")
    assert trained.about["source"] == "rows"
    again = storyproof.train("memnn", out, data=made.to_pylist(), epochs=1, device="cpu")
    assert again.held == trained.held  # the same rows in another form are the same training, which is done
