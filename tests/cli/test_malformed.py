"""Damaged files get one sentence that names the place, never a traceback, from every verb that reads them."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import storyproof
from storyproof.benchmark import Benchmark
from storyproof.errors import ConfigError, DataError, StoryproofError, VocabularyError
from storyproof.families.belief.vocabulary import load_vocabulary
from storyproof.families.kinship.language.scenes import load_scenes
from storyproof.families.kinship.placeholders.files import load_placeholders
from storyproof.families.kinship.rules import load_rules
from storyproof.formats import lines
from storyproof.formats.format import load_format
from storyproof.formats.json_list import read_members
from storyproof.solvers.llm.prompt_files import FOLDER, load_template
from tests.cli.invocation import Program, Refuse
from tests.samples import example, table

MODEL = "def answer(text):\n    raise AssertionError('it was asked')\n"
DEEP = "[" * 3_000 + "]" * 3_000


def write_rows(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture(scope="module")
def kinship() -> pa.Table:
    """Two rows about kinship."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Benchmark, "block_stories", 512)
        return storyproof.generate("clutrr", test=1, test_k=(2, 3))


# Columns that are missing.


def test_a_proof_without_its_relations_is_named(
    folder: Path, program: Program, refuse: Refuse, kinship: pa.Table
) -> None:
    pq.write_table(kinship.drop_columns(["proof_relations"]), "test.parquet")
    ended = program("verify test.parquet")
    assert (ended.code, ended.err) == (1, "")
    assert "facts: found the proof has 1 steps, but 0 relations." in ended.out
    for command in ("show test.parquet", "evaluate --model rules --data test.parquet", "audit test.parquet"):
        assert program(command).err.count("\n") <= 1
    assert "the proof has 1 steps, but 0 relations" in refuse("evaluate --model rules --data test.parquet")


def test_relations_without_a_proof_are_no_proof(folder: Path, program: Program, kinship: pa.Table) -> None:
    pq.write_table(kinship.drop_columns(["proof_steps"]), "test.parquet")
    for command in ("verify", "audit", "show", "evaluate --model rules --data"):
        ended = program(f"{command} test.parquet")
        assert ended.code in (0, 1), ended.err
        assert ended.err == ""


def test_rows_without_a_story_id_are_processed(folder: Path, program: Program) -> None:
    pq.write_table(table("tomi", "test", 3).drop_columns(["story_id"]), "test.parquet")
    ended = program("process test.parquet --out out")
    assert ended.out.startswith("test: 3 stories, 18 questions\n"), ended.err


def test_a_question_type_that_is_missing_is_worked_out(folder: Path, program: Program, kinship: pa.Table) -> None:
    rows = kinship.to_pylist()
    write_rows(folder / "test.jsonl", {**rows[0], "question_type": None, "story_type": None}, rows[1])
    ended = program("evaluate --model majority --data test.jsonl --json -")
    assert list(json.loads(ended.out)["by_question_type"]) == ["task_1.2", "task_1.3"]


def test_what_cannot_be_worked_out_is_refused_before_anything_is_asked(
    folder: Path, refuse: Refuse, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [example(id=str(number)).as_row() for number in range(3)]
    write_rows(folder / "test.jsonl", *rows[:2], {**rows[2], "question_type": None})
    monkeypatch.setattr("storyproof.datasets.reading.complete", lambda table, family, proved: table)
    monkeypatch.setattr("storyproof.evaluation.options.iterate_examples", _row_by_row)
    (folder / "model.py").write_text(MODEL)
    said = refuse("evaluate --model model.py:answer --data test.jsonl --output-dir runs")
    assert "test.jsonl: row '2' has no question_type, and it does not follow from the rest; add it." in said


def _row_by_row(source: Any, **settings: Any) -> Any:
    from storyproof.datasets.reading import iterate_examples

    return iterate_examples(source, **{**settings, "rows": 1})


def test_an_id_that_is_null_is_made_up(folder: Path) -> None:
    for name, write in (("test.jsonl", lambda rows: json.dumps(rows[0])), ("test.json", json.dumps)):
        Path(name).write_text(write([{**example().as_row(), "id": None}]))
        found = storyproof.evaluate("rules", name)
        assert found.predictions[0]["id"] in ("test-1", "test-0")


# Rows that do not fit together, or are too large.


def test_two_stories_under_one_id_are_named(folder: Path, refuse: Refuse) -> None:
    other = example(id="2", story=example().story.replace("Ada", "Zoe").replace("Ben", "Viktor"), chain=["Viktor"])
    write_rows(folder / "test.jsonl", example().as_row(), other.as_row())
    said = refuse("show test.jsonl")
    assert "story 0: '1' and '2' have the story_id 's', but different texts; give each story an id of its own." in said


def crowd(agents: int) -> dict[str, Any]:
    entering = [f"A{chr(97 + number // 26)}{chr(97 + number % 26)} entered the attic." for number in range(agents)]
    story = "\n".join([*entering, "The key is in the box."])
    return {"story": story, "question": f"Where will {entering[-1][:3]} look for the key?", "answer": "box"}


def test_more_agents_than_can_be_handled(folder: Path, program: Program, refuse: Refuse) -> None:
    write_rows(folder / "test.jsonl", crowd(129))
    ended = program("verify test.jsonl")
    assert ended.code == 1
    assert "story: the story has 129 agents; at most 64 can be handled." in ended.out
    assert ended.out.endswith("\n0 disagreements; 1 of 1 row not understood\n")
    for command in ("show", "process --out out", "evaluate --model rules --data"):
        assert "more than can be handled" in refuse(f"{command} test.jsonl")


def test_one_long_story_among_many(folder: Path, program: Program) -> None:
    """Arrays are as long as the longest story, so it must not be judged together with thousands of short ones."""
    long = "\n".join(["Ada entered the attic.", "The key is in the box.", *["Ada exited the attic."] * 3_000])
    short = [{**crowd(3), "story": f"{crowd(3)['story']}\nPhone rang."} for _ in range(2_000)]
    question = "Where was the key at the beginning?"
    write_rows(folder / "test.jsonl", {"story": long, "question": question, "answer": "box"}, *short)
    assert "2,001 rows" in program("verify test.jsonl --most 1").out


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"edges": [[0, 1]] * 51}, "expected a list of at most 50 pairs of numbers"),
        ({"genders": [f"P{number}:male" for number in range(65)]}, "expected at most 64 people"),
        ({"edges": [[0]]}, "edges is [[0]], expected a list"),
        ({"proof_steps": [[0, 1]], "proof_relations": ["son"]}, "step 0 of the proof is [0, 1]; expected three people"),
    ],
)
def test_kinship_rows_that_refer_to_nobody(
    folder: Path, kinship: pa.Table, changes: dict[str, Any], message: str
) -> None:
    write_rows(folder / "test.jsonl", {**kinship.to_pylist()[0], **changes})
    report = storyproof.verify("test.jsonl")
    assert not report.ok
    assert any(message in str(finding) for finding in report.findings if finding.is_claim)
    for model in ("rules", "gat"):
        with pytest.raises(DataError, match=r"expected|knows at most 50"):
            storyproof.evaluate(model, "test.jsonl")


# Text that no file can hold, and documents of any depth.


@pytest.mark.parametrize("column", ["query", "edge_types", "proof_state", "story_edges"])
def test_a_surrogate_in_a_field_of_a_csv_is_named(
    folder: Path, program: Program, refuse: Refuse, kinship: pa.Table, column: str
) -> None:
    writer = load_format("clutrr").writer(folder, "test")
    writer.write(kinship.slice(0, 1))
    [path] = writer.close()
    text = path.read_text()
    header, row = text.split("\n")[:2]
    fields = dict(zip(header.split(","), _fields(row), strict=True))
    path.write_text(text.replace(fields[column], "\"['\\ud800']\"", 1))
    for command in ("show", "evaluate --model rules --data"):
        assert f"row 0, line 2: {column} is " in refuse(f"{command} {path.name}")
    ended = program(f"audit {path.name}")
    assert (ended.code, ended.err) == (1, "")
    assert f"{path.name} row 0, line 2 " in ended.out
    assert f"facts: {column} is " in ended.out


def _fields(row: str) -> list[str]:
    from storyproof.formats.delimited import split_raw

    return split_raw(row)[0]


PROMPT = (FOLDER / "zero-shot.yaml").read_text()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text.replace("name: zero-shot", 'name: "zero\\ud800"'), "it contains an unpaired surrogate"),
        (lambda text: f"{text}\nabout: {DEEP}", "it is nested more than 100 levels deep"),
        (lambda text: f"{text}\nabout: {'9' * 5000}", "it has a number of more than 4,300 digits"),
        (lambda text: f"{text}\nabout: 2001-99-99", "month must be in 1..12"),
        (lambda text: f"{text}\nabout: !!bool x", "a value does not fit its tag"),
    ],
)
def test_prompts_are_refused_before_anything_is_asked(
    folder: Path, refuse: Refuse, change: Callable[[str], str], message: str
) -> None:
    write_rows(folder / "test.jsonl", example().as_row())
    (folder / "model.py").write_text(MODEL)
    (folder / "own.yaml").write_text(change(PROMPT))
    said = refuse("evaluate --model model.py:answer --data test.jsonl --prompt own.yaml --output-dir runs")
    assert f"not valid YAML: {message}" in said


READERS: dict[str, tuple[Callable[[Path], object], type[StoryproofError]]] = {
    "prompt.yaml": (lambda path: load_template(str(path)), ConfigError),
    "rules.yaml": (load_rules, DataError),
    "words.yaml": (load_vocabulary, VocabularyError),
    "placeholders.json": (load_placeholders, DataError),
    "scene.yaml": (load_scenes, DataError),
    "run.json": (lambda path: storyproof.compare(path, path), DataError),
    "test.jsonl": (storyproof.verify, DataError),
    "test.json": (storyproof.verify, DataError),
    "manifest.json": (lambda path: _with_manifest(path), DataError),
}


def _with_manifest(path: Path) -> object:
    write_rows(path.with_name("test.jsonl"), example().as_row())
    return storyproof.verify(path.parent)


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize(
    "content",
    [DEEP, f'{{"a": {DEEP}}}', f"[{'9' * 5000}]", '{"a": "\\ud800"}', "\xff\xfe", "", '{"a": 1', "a: &a [*a]", "\0"],
)
def test_documents_that_are_no_documents(folder: Path, name: str, content: str) -> None:
    read, kind = READERS[name]
    (folder / name).write_text(content, encoding="latin-1" if content == "\xff\xfe" else "utf-8")
    with pytest.raises(kind) as found:
        read(folder / name)
    assert str(found.value).endswith(".")
    assert len(str(found.value)) < 1_000


def test_a_placeholder_without_a_token_is_a_finding(folder: Path, program: Program) -> None:
    texts = ["∑", "ENT_0_male took his son ENT_1_male out.", f"ENT_{'9' * 5000}_male"]
    (folder / "placeholders.json").write_text(json.dumps({"son": {"male-male": texts}}))
    ended = program("verify placeholders.json")
    assert (ended.code, ended.err) == (1, "")
    assert "son/male,male/∑" in ended.out


def test_data_that_messages_quote_are_cut(folder: Path, refuse: Refuse) -> None:
    many = "x" * 10**5
    write_rows(folder / "a.jsonl", {"story": [many], "question": "?", "answer": "a"})
    write_rows(folder / "b.jsonl", {"story": many, "question": many, "answer": many})
    (folder / "c.txt").write_text(f"1 {many}\n")
    (folder / "d.csv").write_text(f"{many}\n")
    (folder / "e.json").write_text(json.dumps([many]))
    for name in ("a.jsonl", "b.jsonl", "c.txt", "d.csv", "e.json"):
        assert len(refuse(f"show {name}")) < 2_100


@pytest.mark.parametrize("name", ["test.jsonl", "test.txt", "1.2_test.csv"])
def test_lines_without_end_are_refused(
    folder: Path, refuse: Refuse, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(lines, "LONGEST_LINE", 10_000)
    monkeypatch.setattr(lines.lines_of, "__defaults__", (10_000,))
    (folder / name).write_text("1 " + "x" * 20_000 + "\n")
    for command in ("verify", "show"):
        assert "the line is longer than 10,000 characters, the most that is read" in refuse(f"{command} {name}")


def test_objects_without_end_are_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("storyproof.formats.json_list.LONGEST_LINE", 10_000)
    monkeypatch.setattr("storyproof.formats.json_list._PIECE", 1_000)
    (folder / "test.json").write_text('[{"story": "' + "x" * 100_000)
    with pytest.raises(DataError, match="object 0 is longer than 10,000 characters, the most that is read"):
        list(read_members(folder / "test.json"))


# What is not a regular file, and files outside of a folder.


@pytest.mark.parametrize("name", ["manifest.json", "test.trace", "test.txt"])
@pytest.mark.parametrize("kind", ["pipe", "folder", "device"])
def test_other_things_in_the_place_of_files(folder: Path, refuse: Refuse, name: str, kind: str) -> None:
    storyproof.generate("tomi", test=3, out="data", format="babi")
    path = Path("data", name)
    path.unlink()
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to("/dev/zero")
    said = refuse("verify data")
    words = {"pipe": "a named pipe", "folder": "a folder", "device": "a device"}[kind]
    assert words in said if name != "test.txt" else "data contains no data" in said
    if name == "test.txt":
        assert f"data/test.txt is {words}; give a dataset" in refuse("show data/test.txt") or kind == "folder"


def test_a_manifest_leads_nowhere_else(folder: Path, program: Program) -> None:
    storyproof.generate("tomi", test=3, out="data", format="jsonl")
    os.mkfifo("pipe")
    manifest = json.loads(Path("data/manifest.json").read_text())
    for name in ("../pipe", str(Path.cwd() / "pipe"), "..", "", "x" * 300, "a\0b", "below/test.jsonl"):
        manifest["files"][name] = {"bytes": 1, "sha256": "0" * 64}
    Path("data/manifest.json").write_text(json.dumps(manifest))
    ended = program("verify data")
    assert ended.code == 1
    assert ended.out.count("which is not the name of a file in the folder") == 7
    assert "manifest.json lists '../pipe', which is not the name of a file in the folder" in ended.out


def test_a_link_to_a_regular_file_is_read(folder: Path, program: Program) -> None:
    storyproof.generate("tomi", test=3, out="data", format="jsonl")
    Path("data/test.jsonl").rename("elsewhere.jsonl")
    Path("data/test.jsonl").symlink_to(Path.cwd() / "elsewhere.jsonl")
    assert program("verify data").code == 0


@pytest.mark.parametrize("form", ["jsonl", "parquet", "babi"])
def test_names_that_are_not_utf_8(folder: Path, program: Program, form: str) -> None:
    storyproof.generate("tomi", test=3, out="data", format=form)
    name = os.fsdecode(b"d\xffta")
    Path("data").rename(name)
    [path] = [path for path in Path(name).iterdir() if path.stem == "test" and path.suffix != ".trace"]
    other = path.rename(Path(name, os.fsdecode(b"odd\xff") + path.suffix))
    (Path(name) / "manifest.json").unlink()
    assert storyproof.verify(other).ok
    assert storyproof.process(other, "out")["raw"] == f"d\\xffta/odd\\xff{path.suffix}"
    assert storyproof.verify("out").ok
    storyproof.evaluate("rules", other, output_dir="runs")
    [run] = Path("runs").iterdir()
    assert storyproof.compare(run, run).questions == 18
    storyproof.audit(other, fix=os.fsdecode(b"fix\xff"))
    storyproof.generate("tomi", test=3, out=os.fsdecode(b"made\xff"), format=form)
