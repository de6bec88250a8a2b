"""What every file format in the catalog must keep to, found through the catalog."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import pyarrow as pa
import pytest

import storyproof
from storyproof import catalog
from storyproof.audits.row_pass import format_names
from storyproof.catalog import load, names
from storyproof.datasets.reading import find_source, find_sources, is_data
from storyproof.datasets.shards import writable_format, writable_formats
from storyproof.errors import DataError, UnknownNameError
from storyproof.formats.format import Format, Place, format_of, formats, load_format, recognise_format, suffixes
from storyproof.formats.inspect_jsonl import Inspect
from storyproof.formats.json_edits import Changes, contents
from tests.samples import REALITY, STORY, table

FORMATS = sorted(names("format"))
WRITABLE = [name for name in FORMATS if load_format(name).can_write]
SAMPLES = ("tomi", "clutrr")  # one benchmark of each family, for formats that hold rows of all
LABELS = ("question", "answer", "question_type", "story_type")
each_format = pytest.mark.parametrize("name", FORMATS)


def benchmarks_of(name: str) -> list[str]:
    """The benchmarks that name a format as their own; those of all families if it holds everything."""
    own = [each for each in names("benchmark") if name in load("benchmark", each).formats]
    return own or list(SAMPLES)


PAIRS = [(name, benchmark) for name in WRITABLE for benchmark in benchmarks_of(name)]
each_pair = pytest.mark.parametrize(("name", "benchmark"), PAIRS)


def write(folder: Path, name: str, benchmark: str) -> list[Path]:
    writer = load_format(name).writer(folder, "test")
    made = table(benchmark, "test", 24)
    writer.write(made)
    return [path for path in writer.close() if path.suffix in stored(name).suffixes]


def stored(name: str) -> Format:
    """The format that files are in, and are recognised by: another one where a format adds documents to it."""
    return load_format(load_format(name).stored_as or name)


def read(path: Path, *, places: bool = False, rows: int = 100) -> pa.Table:
    return pa.concat_tables(format_of(path).read(path, rows, places=places)).combine_chunks()


def sample(folder: Path) -> Path:
    path = folder / "samples.jsonl"
    rows = [{"input": f"{STORY}\n{REALITY}", "target": answer} for answer in ("jar", ["The jar.", "Jar"])]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@each_format
def test_formats_are_filed_under_their_own_names(name: str) -> None:
    found = load_format(name)
    assert isinstance(found, Format)
    assert found.name == name
    assert bool(found.suffixes) != bool(found.stored_as)
    assert stored(name).suffixes
    assert all(suffix.startswith(".") and suffix in suffixes() for suffix in found.suffixes)
    assert not found.family or found.family in names("family")
    assert name in format_names()


def test_benchmarks_name_formats_of_the_catalog() -> None:
    for name in names("benchmark"):
        for format_name in load("benchmark", name).formats:
            assert load_format(format_name).can_write


@each_pair
def test_what_is_written_is_recognised_and_read_back(tmp_path: Path, name: str, benchmark: str) -> None:
    made = table(benchmark, "test", 24)
    paths = write(tmp_path, name, benchmark)
    for path in paths:
        assert recognise_format(path) is stored(name) is format_of(path)
        assert [each for each in formats() if path.suffix in each.suffixes and each.recognise(path)] == [stored(name)]
        assert is_data(path)
    found = pa.concat_tables(read(path) for path in paths)
    if load_format(name).keeps_all:
        assert found.to_pylist() == made.to_pylist()
    kept = [column for column in LABELS if column in found.column_names and not found.column(column).null_count]
    assert {"question", "answer"} <= set(kept)
    assert sorted(map(str, found.select(kept).to_pylist())) == sorted(map(str, made.select(kept).to_pylist()))
    assert sum(each.num_rows for source in find_sources(tmp_path) for each in source.tables()) == made.num_rows


@each_pair
def test_places_are_where_the_answers_stand(tmp_path: Path, name: str, benchmark: str) -> None:
    for path in write(tmp_path, name, benchmark):
        plain, placed = read(path), read(path, places=True)
        assert placed.drop_columns(["place"]).to_pylist() == plain.to_pylist()
        places = [Place.from_value(each) for each in placed.column("place").to_pylist()]
        assert [each.row for each in places] == list(range(plain.num_rows))
        if not places[0].line:
            continue
        lines = path.read_text(encoding="utf-8").split("\n")
        for place, row in zip(places, plain.to_pylist(), strict=True):
            assert row["answer"] in lines[place.line - 1]
            for sentence, text in enumerate(row["story"].split("\n"), start=1):
                if place.sentences:
                    assert text in lines[place.line_of(sentence) - 1]


@each_pair
def test_a_patch_without_changes_changes_no_byte(tmp_path: Path, name: str, benchmark: str) -> None:
    for path in write(tmp_path, name, benchmark):
        found = contents(format_of(path).patch(path, Changes(rows=read(path).num_rows)))
        assert path.name in found
        assert found == {each: (tmp_path / each).read_bytes() for each in found}
        assert set(found) == {path.name, *(path.with_suffix(each).name for each in format_of(path).beside)} & {
            each.name for each in tmp_path.iterdir()
        }


@each_pair
def test_a_patch_changes_an_answer_and_drops_a_row(tmp_path: Path, name: str, benchmark: str) -> None:
    path = write(tmp_path, name, benchmark)[0]
    form, before = format_of(path), read(path, places=True).to_pylist()
    changes = Changes(gone={1})
    spot = form.locate(path, "answer", Place.from_value(before[0]["place"]))
    changes.put(0, spot.field, "nowhere")
    for each, content in contents(form.patch(path, changes)).items():
        (tmp_path / each).write_bytes(content)
    after = read(path).to_pylist()
    assert [row["answer"] for row in after] == ["nowhere", *(row["answer"] for row in before[2:])]
    assert [row["question"] for row in after] == [before[0]["question"], *(row["question"] for row in before[2:])]


@each_pair
def test_a_patch_of_another_file_is_refused(tmp_path: Path, name: str, benchmark: str) -> None:
    path = write(tmp_path, name, benchmark)[0]
    changes = Changes()
    changes.put(9999, "answer", "nowhere")
    with pytest.raises(DataError, match="audited"):
        contents(format_of(path).patch(path, changes))


def test_samples_of_evaluation_frameworks(tmp_path: Path) -> None:
    path = sample(tmp_path)
    form = format_of(path)
    assert form.name == "inspect"
    assert [row["answer"] for row in read(path).to_pylist()] == ["jar", "jar"]
    assert [form.make_row(each.value or {})["answer"] for each in form.records(path)] == ["jar", "The jar.\nJar"]
    assert contents(form.patch(path, Changes())) == {path.name: path.read_bytes()}


def test_a_format_without_a_writer_says_so(tmp_path: Path) -> None:
    assert not Inspect().can_write
    with pytest.raises(DataError, match="can be read, but not written"):
        Inspect().writer(tmp_path, "test")


def test_a_benchmark_can_be_written_in_its_own_formats_and_those_of_all() -> None:
    known = {name: set(writable_formats(load("benchmark", name))) for name in names("benchmark")}
    assert known["tomi"] == known["tom-babi"] == {"parquet", "jsonl", "inspect", "hf", "babi"}
    assert known["clutrr"] == {"parquet", "jsonl", "inspect", "hf", "csv"}


@pytest.mark.parametrize("benchmark", ["tomi", "clutrr"])
def test_a_format_is_found_without_importing_all(benchmark: str) -> None:
    made = load("benchmark", benchmark)
    for name, form in writable_formats(made).items():
        assert writable_format(made, name) is form
    for name in ("json", "clutrr", "tabs"):
        with pytest.raises(UnknownNameError, match=rf"unknown format of {benchmark} '{name}'"):
            writable_format(made, name)


@pytest.fixture
def tabs(monkeypatch: pytest.MonkeyPatch) -> Iterator[Format]:
    point = EntryPoint("tabs", "tests.conformance.tab_format:FORMAT", "storyproof.formats")
    monkeypatch.setattr(catalog, "entry_points", lambda group: [point] if group == point.group else [])
    formats.cache_clear()
    yield load_format("tabs")
    formats.cache_clear()


@pytest.mark.parametrize("benchmark", SAMPLES)
def test_a_format_of_another_package(tmp_path: Path, tabs: Format, benchmark: str) -> None:
    assert ".tabs" in suffixes()
    assert "tabs" in format_names()
    manifest = storyproof.generate(benchmark, test=24, out=tmp_path / "data", format="tabs")
    assert list(manifest["files"]) == ["test.tabs"]
    source = find_source(tmp_path / "data")
    assert pa.concat_tables(source.tables()).to_pylist() == table(benchmark, "test", 24).to_pylist()
    assert storyproof.verify(tmp_path / "data").ok
    report = storyproof.audit(tmp_path / "data")
    assert [each.format for each in report.files] == ["tabs"]
    assert all(each.kind == "small_test" for each in report.files[0].findings)
    with pytest.raises(DataError, match="the format 'tabs' can be audited, but not fixed"):
        storyproof.audit(tmp_path / "data", fix=tmp_path / "fixed")
    storyproof.process(tmp_path / "data", tmp_path / "processed")
    assert (tmp_path / "processed" / "test.json").exists()


def test_the_format_is_gone_with_its_package(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="format of tomi 'tabs'"):
        storyproof.generate("tomi", test=24, out=tmp_path / "data", format="tabs")
