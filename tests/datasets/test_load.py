from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import storyproof
from storyproof.catalog import load as load_entry
from storyproof.catalog import names
from storyproof.datasets.shards import writable_formats
from storyproof.errors import ConfigError, DataError

WRITTEN = [
    (benchmark, format)
    for benchmark in names("benchmark")
    for format in writable_formats(load_entry("benchmark", benchmark))
]


@pytest.mark.parametrize(("benchmark", "format"), WRITTEN)
def test_every_format_loads_as_the_table_that_was_generated(benchmark: str, format: str, tmp_path: Path) -> None:
    settings = {"test_k": (2, 3)} if benchmark == "clutrr" else {}
    made = storyproof.generate(benchmark, test=12, seed=5, **settings)
    storyproof.generate(benchmark, test=12, seed=5, out=tmp_path / "data", format=format, **settings)
    table = storyproof.load(tmp_path / "data")
    assert table.num_rows == made.num_rows
    assert not any(pa.types.is_dictionary(field.type) for field in table.schema)
    columns = ["question", "answer", "question_type", "candidates"]
    if format in ("parquet", "jsonl"):
        assert table.to_pylist() == made.to_pylist()
    else:  # published formats have an order of their own, and their stories other line ends
        texts = [sorted(map(str, each.select(columns).to_pylist())) for each in (table, made)]
        assert texts[0] == texts[1]
        assert not any(table.column(name).null_count for name in ("question_type", "proof", "readings"))
    row = table.to_pylist()[0]
    assert storyproof.judge(row["answer"], row).right
    assert row["story"] in storyproof.prompt(row).text


def test_labels_can_be_replaced_by_what_is_proved(tmp_path: Path) -> None:
    file = tmp_path / "own.jsonl"
    story = "Ann entered the den.\\nThe key is in the box.\\nAnn moved the key to the jar."
    file.write_text(f'{{"story": "{story}", "question": "Where is the key really?", "answer": "box"}}\n')
    assert storyproof.load(file).column("answer").to_pylist() == ["box"]
    assert storyproof.load(file, labels="proved").column("answer").to_pylist() == ["jar"]
    with pytest.raises(ConfigError, match="unknown kind of labels 'true'"):
        storyproof.load(file, labels="true")


def test_what_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="does not exist"):
        storyproof.load(tmp_path / "missing")
    storyproof.generate("tomi", test=3, out=tmp_path / "data")
    with pytest.raises(DataError, match="no train split, only: test"):
        storyproof.load(tmp_path / "data", "train")
    (tmp_path / "empty.jsonl").write_text("")
    with pytest.raises(DataError):
        storyproof.load(tmp_path / "empty.jsonl")
