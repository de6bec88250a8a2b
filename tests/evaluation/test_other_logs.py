"""Logs of evaluation frameworks, scored on published and on corrected labels."""

from __future__ import annotations

import json
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import storyproof
from storyproof.errors import DataError
from storyproof.evaluation.other_logs import read_log
from storyproof.evaluation.rescore import rescore
from tests.audits.test_own_rules import ADA_CLEO, BO, CLEO, CLEO_BO, record
from tests.cli.invocation import run

# Label, right label, and what the model says: it follows the published labels in two rows that are wrong.
ROWS = [
    {**record(BO, "old_sack", 1), "sample_id": 10},
    {**record(CLEO, "old_sack", 1), "sample_id": 11},  # right: tin_can
    {**record(ADA_CLEO, "old_sack", 2), "sample_id": 12},  # right: blue_jar
    {**record(CLEO_BO, "red_box", 2), "sample_id": 13},  # right: old_sack
]
SAID = ["old_sack", "The answer is old_sack.", "blue_jar", "A"]  # A is the red box


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "hitom.json"
    path.write_text(json.dumps({"data": ROWS}))
    storyproof.audit(path, fix=tmp_path / "fixed")
    return path


def sample(row: dict[str, Any], said: str) -> dict[str, Any]:
    output = {"model": "m", "completion": said, "choices": [{"message": {"role": "assistant", "content": said}}]}
    scores = {"match": {"value": "C", "answer": said, "explanation": said}}
    return {"id": row["sample_id"], "epoch": 1, "input": row["story"], "target": row["answer"], "output": output} | {
        "scores": scores
    }


def inspect_json(path: Path) -> Path:
    log = {"version": 2, "status": "success", "eval": {"task": "hitom", "model": "lab/model"}}
    samples = [sample(*each) for each in zip(ROWS, SAID, strict=True)]
    path.with_suffix(".json").write_text(json.dumps({**log, "samples": samples}))
    return path.with_suffix(".json")


def inspect_archive(path: Path) -> Path:
    with zipfile.ZipFile(path.with_suffix(".eval"), "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps({"version": 2, "eval": {"model": "lab/model"}}))
        for each in zip(ROWS, SAID, strict=True):
            archive.writestr(f"samples/{each[0]['sample_id']}_epoch_1.json", json.dumps(sample(*each)))
    return path.with_suffix(".eval")


def zstandard(path: Path) -> Path:
    """Return an archive as Inspect writes it: compressed with Zstandard, which zipfile does not write."""
    plain = inspect_archive(path)
    with zipfile.ZipFile(plain) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    packed = {name: pa.compress(content, "zstd", asbytes=True) for name, content in contents.items()}
    with zipfile.ZipFile(plain, "w", zipfile.ZIP_STORED) as archive:
        for name, content in packed.items():
            archive.writestr(name, content)
        offsets = {each.filename: each.header_offset for each in archive.infolist()}
    data = bytearray(plain.read_bytes())
    listed = data.index(b"PK\x01\x02")
    for name, content in contents.items():
        for start, shift in ((offsets[name], 0), (listed, 2)):
            struct.pack_into("<H", data, start + 8 + shift, 93)
            struct.pack_into("<I", data, start + 14 + shift, zlib.crc32(content))
            struct.pack_into("<I", data, start + 22 + shift, len(content))
        listed = data.find(b"PK\x01\x02", listed + 4)
    plain.write_bytes(data)
    return plain


def harness(path: Path) -> Path:
    folder = path.parent / "lab__model"
    folder.mkdir()
    found = folder / "samples_hitom_2026-11-19.jsonl"
    lines = []
    for number, (row, said) in enumerate(zip(ROWS, SAID, strict=True)):
        doc = {name: row[name] for name in ("story", "question", "answer", "choices")}
        lines.append(
            {"doc_id": number, "doc": doc, "target": row["answer"], "resps": [[said]], "filtered_resps": [said]}
        )
    found.write_text("".join(json.dumps(each) + "\n" for each in lines[::-1]))
    return found


def predictions(path: Path) -> Path:
    rows = [
        {"story": row["story"], "question": row["question"], "prediction": said, "reference": row["answer"]}
        for row, said in zip(ROWS, SAID, strict=True)
    ]
    path.with_suffix(".jsonl").write_text("".join(json.dumps(each) + "\n" for each in rows))
    return path.with_suffix(".jsonl")


@pytest.mark.parametrize("write", [inspect_json, inspect_archive, zstandard, harness, predictions])
def test_every_form_gives_the_same_scores(data: Path, tmp_path: Path, write: Callable[[Path], Path]) -> None:
    log = write(tmp_path / "log")
    found = rescore(log, tmp_path / "fixed" / data.name)
    assert found.model == ("log" if write is predictions else "lab/model")
    assert (found.scores.questions, found.scores.changed_labels) == (4, 3)
    assert found.scores.published["accuracy"].value == 0.75
    assert found.scores.corrected["accuracy"].value == 0.5
    assert found.scores.difference["accuracy"].value == -0.25
    again = rescore(log, tmp_path / "fixed" / data.name, published=data)
    assert again.scores == found.scores


def test_compare_shows_both_scores(data: Path, tmp_path: Path) -> None:
    log = inspect_archive(tmp_path / "log")
    found = run("compare", str(log), "--labels", str(tmp_path / "fixed" / data.name))
    assert found.exit_code == 0, found.output
    assert "lab/model" in found.stdout
    assert "3 of 4" in found.stdout


@pytest.mark.parametrize(
    ("doc", "expected"),
    [
        ({"choices": ["box", "jar"]}, ("jar", "box")),
        ({"choices": {"text": ["box", "jar"], "label": ["A", "B"]}}, ("jar", "box")),
        ({"choices": "box, jar"}, ("B", "A")),
    ],
)
def test_likelihoods_choose(tmp_path: Path, doc: dict[str, Any], expected: tuple[str, str]) -> None:
    """The harness writes numbers as text, and the right choice by its number from 0."""
    resps = [["-3.5", "False"], ["-0.5", "True"]]
    path = tmp_path / "samples_x.jsonl"
    row = {"story": "s", "question": "q", **doc}
    path.write_text(json.dumps({"doc_id": 0, "doc": row, "target": "0", "filtered_resps": resps}) + "\n")
    log = read_log(path)
    assert log is not None
    assert [(each.reply, each.target) for each in log.answers] == [expected]


def test_failed_samples_and_later_epochs_are_left_out(data: Path, tmp_path: Path) -> None:
    log = inspect_json(tmp_path / "log")
    read = json.loads(log.read_text())
    read["samples"] += [{**read["samples"][0], "epoch": 2}, {**read["samples"][0], "error": {"message": "time"}}]
    log.write_text(json.dumps(read))
    assert rescore(log, tmp_path / "fixed" / data.name).scores.questions == 4


def test_rows_of_other_data_are_named(data: Path, tmp_path: Path) -> None:
    log = inspect_json(tmp_path / "log")
    log.write_text(log.read_text().replace('"id": 12', '"id": 99'))
    with pytest.raises(DataError, match="99 is not among the rows of the corrected data"):
        rescore(log, tmp_path / "fixed" / data.name)


def test_what_is_no_log(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text('{"model": "m", "predictions": []}')
    assert read_log(tmp_path / "run.json") is None
    (tmp_path / "answers.jsonl").write_text('{"id": "a", "answer": "b"}\n')
    assert read_log(tmp_path / "answers.jsonl") is None
    (tmp_path / "log.eval").write_text("no archive")
    with pytest.raises(DataError, match=r"as a log of Inspect: .*inspect log convert --to json"):
        read_log(tmp_path / "log.eval")
    (tmp_path / "empty.json").write_text('{"eval": {}, "samples": []}')
    with pytest.raises(DataError, match="is a log without answers"):
        read_log(tmp_path / "empty.json")


@pytest.mark.parametrize("form", ["inspect", "harness"])
def test_diagnose_reads_logs_of_others(tmp_path: Path, form: str) -> None:
    storyproof.generate("tomi", test=60, seed=7, out=tmp_path / "data", train=0, val=0)
    own = storyproof.evaluate("rules", tmp_path / "data")
    said = {each["id"]: each["answer"] for each in own.predictions}
    rows = {row["id"]: row for row in storyproof.generate("tomi", test=60, seed=7, train=0, val=0).to_pylist()}
    if form == "inspect":
        path = tmp_path / "log.json"
        samples = [sample({"sample_id": name, **row}, str(said[name])) for name, row in rows.items()]
        path.write_text(json.dumps({"version": 2, "eval": {"model": "lab/model"}, "samples": samples}))
    else:
        path = tmp_path / "samples_tomi.jsonl"
        lines = [
            {"doc_id": number, "doc": {name: row[name] for name in ("story", "question", "answer")}}
            | {"target": row["answer"], "resps": [[said[name]]], "filtered_resps": [said[name]]}
            for number, (name, row) in enumerate(rows.items())
        ]
        path.write_text("".join(json.dumps(each) + "\n" for each in lines))
    [found] = storyproof.diagnose(path, tmp_path / "data")
    [expected] = storyproof.diagnose(own, tmp_path / "data")
    assert found.groups == expected.groups
    assert found.groups[0].best is not None
    assert found.groups[0].best.procedures == ("rules",)
    with pytest.raises(DataError, match="name the data with --data"):
        storyproof.diagnose(path)


def test_a_damaged_archive_is_named(data: Path, tmp_path: Path) -> None:
    log = zstandard(tmp_path / "log")
    content = bytearray(log.read_bytes())
    at = content.index(b"\x28\xb5\x2f\xfd")  # where a frame of Zstandard begins
    content[at + 6] ^= 0xFF
    log.write_bytes(content)
    with pytest.raises(DataError, match="as a log of Inspect"):
        read_log(log)
