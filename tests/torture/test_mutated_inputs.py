"""Damaged files in every place that storyproof reads: each verb works, or says in one error of its own what is wrong.

A case is a file, one damage and one verb, and can be repeated by its number. Nothing else may be raised, no warning may
be shown, and nothing may be written but where the verb was asked to write.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from types import FrameType
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from rich.console import Console
from safetensors.torch import load_file
from safetensors.torch import save as save_tensors

import storyproof
from storyproof.catalog import load, names
from storyproof.datasets.generate import make_benchmark
from storyproof.datasets.manifest import write_manifest
from storyproof.errors import StoryproofError
from storyproof.evaluation.runs import read_runs
from storyproof.example import SPLITS
from storyproof.experiments import experiment, jobs
from storyproof.experiments.declaration import DeclaredData
from storyproof.formats.format import load_format
from storyproof.reports.audit_sections import overlaps_of, page_of, shortcuts_of
from storyproof.solvers.llm.prompt_files import FOLDER as PROMPTS
from storyproof.solvers.neural.checkpoint import CHECKPOINT, METRICS, PLAN, start
from storyproof.solvers.neural.saved_runs import RUN, WEIGHTS
from storyproof.solvers.neural.solver import NeuralSolver
from storyproof.solvers.neural.training_job import Training
from tests.samples import examples
from tests.solvers.neural.damage import make_run
from tests.solvers.neural.fixtures import course, some
from tests.torture.mutations import (
    STRANGE,
    Raw,
    change_bytes,
    change_csv,
    change_lines,
    change_table,
    change_value,
    write_json,
)
from tests.torture.trial import Trial

LONGEST_S = 20  # that a case may take
LARGEST = 600 << 20  # bytes by which a case may raise the most that the process has ever held
Files = dict[str, bytes]
Verb = Callable[[Path, Path, Random], object]

# What is read, whole and well.


@cache
def rows_of(benchmark: str) -> tuple[dict[str, Any], ...]:
    """Some rows of a benchmark: two or three stories."""
    made = load("benchmark", benchmark)
    count = made(made.config_type(), 0).stories("test", 1)
    table = storyproof.generate(benchmark, test=max(1, made(made.config_type(), 0).round // count or 1), seed=5)
    stories = dict.fromkeys(table.column("story_id").to_pylist())
    kept = set(list(stories)[:3])
    return tuple(row for row in table.to_pylist() if row["story_id"] in kept)


@cache
def table_of(benchmark: str) -> pa.Table:
    schema = storyproof.generate(benchmark, test=made_count(benchmark), seed=5).schema
    return pa.Table.from_pylist(list(rows_of(benchmark)), schema=schema)


def made_count(benchmark: str) -> int:
    kind = load("benchmark", benchmark)
    made = kind(kind.config_type(), 0)
    return max(1, made.round)


@cache
def written(benchmark: str, form: str) -> tuple[tuple[str, bytes], ...]:
    """The files of a benchmark in a format."""
    with tempfile.TemporaryDirectory() as folder:
        writer = load_format(form).writer(Path(folder), "test")
        writer.write(table_of(benchmark))
        return tuple((path.name, path.read_bytes()) for path in sorted(writer.close()))


# How it is damaged.


def damaged_objects(random: Random, rows: Sequence[Any], *, lines: bool) -> bytes:
    """Damage one object, or how they follow each other, and write them as JSON lines or as a list."""
    found = list(rows)
    for _ in range(random.choice([1, 1, 2])):
        at = random.randrange(len(found))
        kind = random.random()
        if kind < 0.85:
            found[at] = change_value(random, found[at])
        elif kind < 0.9:
            found.insert(random.randrange(len(found)), found[at])
        elif kind < 0.95:
            other = random.randrange(len(found))
            found[at], found[other] = found[other], found[at]
        else:
            found[at] = random.choice(STRANGE)
    if not lines:
        return write_json(found, random.choice([None, 1]))
    return b"".join(write_json(each) + b"\n" for each in found)


def damaged_jsonl(benchmark: str) -> Callable[[Random], Files]:
    def make(random: Random) -> Files:
        content = damaged_objects(random, rows_of(benchmark), lines=True)
        return {"test.jsonl": change_bytes(random, content) if random.random() < 0.2 else content}

    return make


def damaged_list(benchmark: str) -> Callable[[Random], Files]:
    def make(random: Random) -> Files:
        [(name, content)] = written(benchmark, "json")
        content = damaged_objects(random, json.loads(content), lines=False)
        return {name: change_bytes(random, content) if random.random() < 0.2 else content}

    return make


def damaged_samples(benchmark: str) -> Callable[[Random], Files]:
    def make(random: Random) -> Files:
        samples = [
            {
                "id": row["id"],
                "input": [{"role": "user", "content": f"Read.\n{row['story']}\n{row['question']}"}],
                "target": random.choice([row["answer"], [row["answer"], f"the {row['answer']}"]]),
                "metadata": {"question_type": row["question_type"], "story_type": row["story_type"]},
            }
            for row in rows_of(benchmark)
        ]
        content = damaged_objects(random, samples, lines=True)
        return {"test.jsonl": change_bytes(random, content) if random.random() < 0.2 else content}

    return make


def damaged_parquet(benchmark: str) -> Callable[[Random], Files]:
    def make(random: Random) -> Files:
        table = table_of(benchmark)
        if random.random() < 0.75:
            table = change_table(random, table)
        out = io.BytesIO()
        pq.write_table(table, out, store_schema=random.random() < 0.5, row_group_size=random.choice([None, 1, 4]))
        content = out.getvalue()
        return {"test.parquet": change_bytes(random, content) if random.random() < 0.3 else content}

    return make


def damaged_text(benchmark: str, form: str) -> Callable[[Random], Files]:
    def make(random: Random) -> Files:
        files = dict(written(benchmark, form))
        name = random.choice(sorted(files))
        change = change_lines if random.random() < 0.8 else change_bytes
        files[name] = change(random, files[name])
        if random.random() < 0.05:
            del files[random.choice(sorted(files))]
        return files

    return make


def damaged_csv(random: Random) -> Files:
    name, content = random.choice(written("clutrr", "clutrr"))
    change = change_csv if random.random() < 0.8 else change_bytes
    return {name: change(random, content)}


@cache
def rows_of_others() -> tuple[dict[str, Any], ...]:
    """Rows as others write them: with other names of columns, choices, and records within records."""
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    return tuple(
        {
            "uid": number,
            "passage": row["story"].replace("\n", " ") if number % 2 else row["story"],
            "query": row["question"],
            "options": sorted(row["candidates"]),
            "label": letters[sorted(row["candidates"]).index(row["answer"])],
            "meta": {"type": row["question_type"], "accepted": [row["answer"]]},
        }
        for number, row in enumerate([*rows_of("tomi")[:9], *rows_of("clutrr")[:3]])
    )


def damaged_table(random: Random) -> Files:
    """A table as text, in any of its manners."""
    text, separator = io.StringIO(), random.choice([",", ",", "\t", ";", "|"])
    rows = list(rows_of_others())
    if random.random() < 0.5:
        rows = [row for row in change_value(random, rows) if isinstance(row, dict)]
    writer = csv.writer(text, delimiter=separator, lineterminator=random.choice(["\n", "\r\n"]))
    writer.writerow(["uid", "passage", "query", "options", "label", "meta"])
    for row in rows:
        cells = [str(each.text if isinstance(each, Raw) else each) for each in row.values()]
        writer.writerow([cell.encode("utf-8", "replace").decode().replace("\0", "") for cell in cells])
    content = random.choice(["# made by hand\n", "", ""]) + text.getvalue()
    encoded = content.encode(random.choice(["utf-8", "utf-8", "utf-8-sig", "utf-16", "cp1252"]), "replace")
    name = random.choice(["test.csv", "test.tsv"])
    return {name: change_bytes(random, encoded) if random.random() < 0.6 else encoded}


def damaged_objects_of_others(random: Random) -> Files:
    """JSON in any of the forms in which others write it."""
    rows = list(rows_of_others())
    by_column = {name: [row[name] for row in rows] for name in rows[0]}
    nested = {"passage": rows[0]["passage"], "qas": [{"query": row["query"], "label": row["label"]} for row in rows]}
    whole: Any = random.choice(
        [
            rows, {"data": rows}, {"version": 1, "train": rows[:5], "test": rows[5:]}, by_column, [nested, nested],
            {row["query"]: row for row in rows}, {"one": nested}, nested,
        ]
    )  # fmt: skip
    if random.random() < 0.3:
        return {"test.jsonl": damaged_objects(random, rows, lines=True)}
    content = write_json(change_value(random, whole), random.choice([None, 1]))
    return {"test.json": change_bytes(random, content) if random.random() < 0.4 else content}


def damaged_arrow(random: Random) -> Files:
    """A file or a stream of Arrow, compressed or not."""
    table = pa.Table.from_pylist(list(rows_of_others()))
    if random.random() < 0.5:
        table = change_table(random, table_of("tomi"))
    out = io.BytesIO()
    options = pa.ipc.IpcWriteOptions(compression=random.choice([None, "lz4", "zstd"]))
    make = random.choice([pa.ipc.new_file, pa.ipc.new_stream])
    with make(out, table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=random.choice([1, 4, 1000]))
    name = random.choice(["test.arrow", "test.feather"])
    return {name: change_bytes(random, out.getvalue()) if random.random() < 0.7 else out.getvalue()}


@cache
def a_sheet() -> bytes:
    import openpyxl

    book = openpyxl.Workbook()
    book.active.append(["uid", "passage", "query", "answer"])
    for row in rows_of("tomi")[:6]:
        book.active.append([row["id"], row["story"], row["question"], row["answer"]])
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def damaged_sheet(random: Random) -> Files:
    """A sheet: its bytes as a whole, or those of a part before it is packed."""
    if random.random() < 0.3:
        return {"test.xlsx": change_bytes(random, a_sheet())}
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(a_sheet())) as parts, zipfile.ZipFile(out, "w") as made:
        chosen = random.choice(parts.namelist())
        for name in parts.namelist():
            content = parts.read(name)
            made.writestr(name, change_bytes(random, content) if name == chosen else content)
    return {"test.xlsx": out.getvalue()}


def damaged_archive(random: Random) -> Files:
    """A zipped folder or file; names of its members may lead out of it."""
    content = damaged_objects(random, rows_of_others(), lines=True)
    if random.random() < 0.4:
        packed = gzip.compress(content)
        return {"test.jsonl.gz": change_bytes(random, packed) if random.random() < 0.7 else packed}
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", random.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])) as archive:
        for name in random.sample(
            ["a.jsonl", "../b.jsonl", "/c.jsonl", "d/e/f.jsonl", "x" * 300, "g.json", "h.csv"], 3
        ):
            archive.writestr(name, content)
    return {"test.zip": change_bytes(random, out.getvalue()) if random.random() < 0.6 else out.getvalue()}


def damaged_manifest(random: Random) -> Files:
    content = write_rows("tomi")
    manifest: dict[str, Any] = {
        "storyproof": storyproof.__version__,
        "benchmark": "tomi",
        "version": 1,
        "seed": 5,
        "config": {"vocabulary": None},
        "splits": {"test": {"stories": 3, "questions": 18}},
        "files": {"test.jsonl": {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}},
    }
    with tempfile.TemporaryDirectory() as folder:
        write_manifest(Path(folder), manifest)
    if random.random() < 0.3:
        name = random.choice(
            ["../test.jsonl", "/etc/passwd", "a/b", "", ".", "..", "\0", "x" * 300, "\ud800", "é" * 200]
        )
        manifest["files"][name] = random.choice([{"bytes": 1, "sha256": "0" * 64}, None, [], "x", {}])
    else:
        manifest = change_value(random, manifest)
    written = write_json(manifest, 2)
    return {
        "test.jsonl": content,
        "manifest.json": change_bytes(random, written) if random.random() < 0.3 else written,
    }


@cache
def hub_folder() -> dict[str, bytes]:
    """A whole folder in the format `hf`: data, card, metadata and manifest."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "tomi"
        storyproof.generate("tomi", out=folder, train=0, val=0, test=30, seed=5, format="hf")
        return {path.name: path.read_bytes() for path in folder.iterdir()}


def damaged_hub_folder(random: Random) -> Files:
    """Change, empty, remove or swap a file of such a folder."""
    files = dict(hub_folder())
    name = random.choice(sorted(files))
    kind = random.randrange(4)
    if kind == 0:
        files[name] = change_bytes(random, files[name])
    elif kind == 1:
        files[name] = b""
    elif kind == 2:
        del files[name]
    else:
        other = random.choice(sorted(files))
        files[name], files[other] = files[other], files[name]
    return files


@cache
def write_rows(benchmark: str) -> bytes:
    return b"".join(write_json(row) + b"\n" for row in rows_of(benchmark))


@cache
def a_run() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "test.jsonl"
        path.write_bytes(write_rows("tomi"))
        found = storyproof.evaluate("rules", path).as_dict()
    return json.loads(json.dumps(found))  # type: ignore[no-any-return]


def damaged_run(random: Random) -> Files:
    run = random.choice([a_run(), [a_run(), a_run()]])
    if random.random() < 0.1:
        content = damaged_objects(random, a_run()["predictions"], lines=True)
    else:
        content = write_json(change_value(random, run), random.choice([None, 2]))
    return {
        "run.json": change_bytes(random, content) if random.random() < 0.2 else content,
        "other.json": write_json(a_run()),
        "test.jsonl": write_rows("tomi"),
    }


def damaged_yaml(random: Random, content: bytes) -> bytes:
    """Damage YAML as values, written as JSON, or as text, or as bytes."""
    kind = random.random()
    if kind < 0.7:
        return write_json(change_value(random, yaml.safe_load(content)))
    if kind < 0.8:
        strange = [
            "&a [*a]",
            "!!bool x",
            "!!timestamp x",
            "!!python/object:os.system x",
            "2001-99-99",
            "<<: {}",
            "? [a]\n: b",
        ]
        return content + b"\n" + random.choice(strange).encode()
    return (change_lines if kind < 0.9 else change_bytes)(random, content)


def damaged_prompt(random: Random) -> Files:
    content = random.choice(sorted(PROMPTS.glob("*.yaml"))).read_bytes()
    return {"prompt.yaml": damaged_yaml(random, content), "test.jsonl": write_rows("tomi"), "models.py": MODEL}


MODEL = b"def answer(text):\n    return 'It is in the ' + text.split()[-1]\n"
RULES = b"""rules:
  - grand: [child, child]
  - child: [child, sibling]
  - aunt: [inv-child, sibling]
stories: [child, inv-child, sibling]
relations:
  aunt: [unc, ant, niece-or-nephew]
  niece-or-nephew: [nev, nis, aunt]
"""
WORDS = b"""agents: [Ada, Ben, Cleo, Dan, Eve, Finn, Gus]
rooms: [attic, barn, cellar, den]
containers: [box, jar, bag, tin, pot]
objects: [key, hat, pen]
"""


def damaged_rules(random: Random) -> Files:
    content = b"".join(write_json(row) + b"\n" for row in rows_of("clutrr"))
    return {"rules.yaml": damaged_yaml(random, RULES), "test.jsonl": content}


def damaged_words(random: Random) -> Files:
    return {"words.yaml": damaged_yaml(random, WORDS)}


PLACEHOLDERS = {
    "son": {"male-male": ["ENT_0_male took his son ENT_1_male out.", "ENT_1_male is the son of ENT_0_male."]},
    "mother-sister": {"male-female-female": ["ENT_0_male has a mother, ENT_1_female, whose sister is ENT_2_female."]},
}


def damaged_placeholders(random: Random) -> Files:
    found = change_value(random, PLACEHOLDERS)
    if random.random() < 0.3:
        token = random.choice(
            ["", "ENT_", "ENT_99999999999_male", f"ENT_{'9' * 5000}_male", "mother's day", "'", "∑", "²"]
        )
        found = {"son": {"male-male": [token, f"{token} ENT_0_male ENT_1_male"]}}
    content = write_json(found)
    return {"placeholders.json": change_bytes(random, content) if random.random() < 0.2 else content}


SCENE = b"""\
openers: [The rain had stopped at last., A cart stood at the gate.]
closers: [It was late.]
begin:
  any:
    - "{A} went to the gate with {A.his} {kin} {B}."
then:
  any:
    - "{A} was tired. {A.His} {kin} {B} [carried the basket|sat down]."
    - "{A}'s {kin} {B} whistled a tune near the gate."
  child inv-child:
    - "{A.young}{A} [scolded|thanked] {A.his} {kin} {B} on {day}."
"""


def damaged_scene(random: Random) -> Files:
    return {"scenes/one.yaml": damaged_yaml(random, SCENE), "scenes/two.yaml": SCENE}


@cache
def a_training() -> tuple[Path, Training]:
    """A folder of trained runs, and a training with a checkpoint."""
    out = Path(tempfile.mkdtemp(prefix="storyproof-torture-"))
    make_run(out / "runs")
    training = course("gat", some("clutrr", 30))
    (out / "training").mkdir()
    start(out / "training", training)
    training.trainer.train_epoch()
    from storyproof.solvers.neural.saved_runs import save_tensors as save_checkpoint

    save_checkpoint(out / "training" / CHECKPOINT, *training.trainer.state())
    (out / "training" / METRICS).write_text('{"epoch": 1, "loss": [1.0], "held": [0.5], "best": [0.5]}\n')
    return out, training


def damaged_weights(random: Random, path: Path) -> bytes:
    """Damage tensors, their metadata, or the bytes."""
    import torch
    from safetensors import safe_open

    kind = random.random()
    if kind < 0.4:
        return change_bytes(random, path.read_bytes())
    tensors = load_file(path)
    with safe_open(path, framework="pt") as file:
        metadata = dict(file.metadata() or {})
    if kind < 0.7:
        plain = json.loads(metadata.get("plain", "{}"))
        changed = write_json(change_value(random, plain)).decode("utf-8", "replace")
        metadata = random.choice([{}, {"plain": changed}, {"plain": changed}, {"plain": changed}, {"plain": "["}])
    else:
        name = random.choice(sorted(tensors))
        value = tensors.pop(name)
        made = [
            value.flatten(), value.flatten()[:0], value.long(), torch.full_like(value, torch.nan), torch.zeros(()),
            value.double(), value.repeat(*[2] * max(1, value.dim())), None,
        ]  # fmt: skip
        chosen = random.choice(made)
        if chosen is not None:
            tensors[random.choice([name, name, name, "x", ""])] = chosen.contiguous()
    return save_tensors(tensors, metadata=metadata)


def damaged_checkpoint(random: Random) -> Files:
    out, _ = a_training()
    files = {f"runs/{path.name}": path.read_bytes() for path in (out / "runs").iterdir()}
    files |= {f"training/{path.name}": path.read_bytes() for path in (out / "training").iterdir() if path.is_file()}
    runs, training = (RUN, RUN, WEIGHTS), (CHECKPOINT, CHECKPOINT, PLAN, METRICS)
    kind = random.choice([*(f"runs/{name}" for name in runs), *(f"training/{name}" for name in training)])
    if kind.endswith(".safetensors"):
        files[kind] = damaged_weights(random, out / kind)
    elif random.random() < 0.8:
        files[kind] = write_json(change_value(random, json.loads(files[kind])))
    else:
        files[kind] = change_bytes(random, files[kind])
    if kind == f"runs/{WEIGHTS}" and random.random() < 0.7:
        plain = json.loads(files[f"runs/{RUN}"])
        files[f"runs/{RUN}"] = write_json({**plain, "weights_sha256": hashlib.sha256(files[kind]).hexdigest()})
    return files


@cache
def a_store() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "test.jsonl").write_bytes(write_rows("tomi"))
        (place / "models.py").write_bytes(MODEL)
        storyproof.evaluate(f"{place / 'models.py'}:answer", place / "test.jsonl", output_dir=place / "out")
        base = sqlite3.connect(place / "out" / "replies.sqlite")
        base.execute("PRAGMA journal_mode = DELETE")
        base.close()
        return (place / "out" / "replies.sqlite").read_bytes()


def damaged_store(random: Random) -> Files:
    content = a_store()
    if random.random() < 0.5:
        content = change_bytes(random, content)
    else:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "replies.sqlite"
            path.write_bytes(content)
            base = sqlite3.connect(path)
            base.text_factory = bytes
            column = random.choice(["text", "prompt_tokens", "seconds", "choice_scores", "cut_off", "retries"])
            value: Any = random.choice(
                [None, -1, 2**62, 1.5, b"\xff", "", "[", "{}", "[1]", "[" * 3000, "x" * 9999, "nan"]
            )
            statement = random.choice(
                [
                    f"UPDATE replies SET {column} = ?", "DROP TABLE replies", "PRAGMA user_version = 99",
                    f"ALTER TABLE replies RENAME COLUMN {column} TO other", "DELETE FROM replies",
                ]
            )  # fmt: skip
            try:
                base.execute(statement, (value,) if "?" in statement else ())
                base.commit()
            except sqlite3.Error:
                pass  # a value that the table itself refuses
            base.close()
            content = path.read_bytes()
    return {"replies.sqlite": content, "test.jsonl": write_rows("tomi"), "models.py": MODEL}


RESULTS = {
    "experiment": "tomi-table1",
    "cells": [{"model": "memnn", "data": "tomi", "test": "tomi", "measure": "average", "runs": [[1, 2], [2, 2]]}],
    "runs": [{"average": [1, 2], "joint": [0, 1]}],
    "seconds": 1.5,
    "hardware": "cpu",
    "commands": ["storyproof experiment tomi-table1"],
}


def damaged_results(random: Random) -> Files:
    content = write_json(change_value(random, RESULTS))
    return {"results.json": change_bytes(random, content) if random.random() < 0.3 else content}


def damaged_options(random: Random) -> Files:
    return {}


# What is done with it.


def only(folder: Path) -> Path:
    """The file to read: mostly the file with examples, sometimes the folder."""
    kinds = {".jsonl", ".json", ".parquet", ".txt", ".csv", ".tsv", ".arrow", ".feather", ".xlsx", ".zip", ".gz"}
    files = sorted(path for path in folder.iterdir() if path.suffix in kinds and path.name != "manifest.json")
    return files[0] if files else folder


def _verify(folder: Path, out: Path, random: Random) -> object:
    return storyproof.verify(random.choice([folder, only(folder)]))


def _audit(folder: Path, out: Path, random: Random) -> object:
    fix = random.choice([None, out / "fixed", out / "fixed"])
    report = storyproof.audit(only(folder), fix=fix, ambiguous=random.choice(["mark", "drop"]))
    text = json.dumps(report.as_dict(), ensure_ascii=False).encode()
    return page_of(report, [only(folder)], {}).encode(), text


def _show(folder: Path, out: Path, random: Random) -> object:
    console = Console(file=io.StringIO(), width=random.choice([80, 200]))
    console.print(storyproof.show(only(folder), random.choice([0, 0, 1, 2])))
    return None


def _process(folder: Path, out: Path, random: Random) -> object:
    return storyproof.process(only(folder), out / "processed")


def _evaluate(folder: Path, out: Path, random: Random) -> object:
    model = random.choice(["rules", "rules", "oracle", "oracle", "majority", "random", "entnet", "gat"])
    labels = random.choice(["given", "given", "proved"])
    found = storyproof.evaluate(model, only(folder), labels=labels, output_dir=random.choice([None, out / "runs"]))
    return json.dumps(found.as_dict())


def _ask_function(folder: Path, out: Path, random: Random) -> object:
    (out / "models.py").write_bytes(MODEL)
    prompt = random.choice(["zero-shot", "multiple-choice", "perspective", "chain-of-thought"])
    return storyproof.evaluate(f"{out / 'models.py'}:answer", only(folder), prompt=prompt, output_dir=out / "runs")


def _overlaps(folder: Path, out: Path, random: Random) -> object:
    return overlaps_of([only(folder)], None)


def _shortcuts(folder: Path, out: Path, random: Random) -> object:
    return shortcuts_of([only(folder)])


DATA_VERBS: tuple[Verb, ...] = (
    *(_verify,) * 4, *(_audit,) * 5, *(_show,) * 3, *(_process,) * 3, *(_evaluate,) * 4, *(_ask_function,) * 2,
    *(_overlaps,) * 2, _shortcuts,
)  # fmt: skip


def _audit_others(folder: Path, out: Path, random: Random) -> object:
    spoken = ["", "", "", "story=passage,question=query,answer=label", "story=qas.0.query,question=passage", "id=x"]
    agreeing = random.choice(["", "", "", "label,uid", "query,options"])
    fix = random.choice([None, out / "fixed", out / "fixed"])
    report = storyproof.audit(only(folder), columns=random.choice(spoken), consistent=agreeing, fix=fix)
    totals = report.totals
    assert totals["rows"] == totals["judged"] + sum(totals["unread"].values())
    return json.dumps(report.as_dict(), ensure_ascii=False).encode()


OTHERS: tuple[Verb, ...] = (*(_audit_others,) * 6, _overlaps, _evaluate)


def _verify_folder(folder: Path, out: Path, random: Random) -> object:
    return storyproof.verify(random.choice([folder, folder, folder / "test.jsonl"]))


def _evaluate_folder(folder: Path, out: Path, random: Random) -> object:
    return storyproof.evaluate("rules", folder)


def _verify_hub_folder(folder: Path, out: Path, random: Random) -> object:
    return storyproof.verify(folder)


def _process_hub_folder(folder: Path, out: Path, random: Random) -> object:
    return storyproof.process(folder, out / "target")


def _replace_folder(folder: Path, out: Path, random: Random) -> object:
    shutil.copytree(folder, out / "target")
    (out / "target" / "mine.txt").write_text("mine")
    try:
        storyproof.process(folder / "test.jsonl", out / "target", force=True)
    finally:
        assert (out / "target" / "mine.txt").read_text() == "mine"


def _compare(folder: Path, out: Path, random: Random) -> object:
    first, second = random.sample([folder / "run.json", folder / "other.json"], 2)
    return json.dumps(storyproof.compare(first, second).as_dict())


def _rescore(folder: Path, out: Path, random: Random) -> object:
    return storyproof.rescore(folder / "run.json", fixed=folder / "test.jsonl")


def _read_runs(folder: Path, out: Path, random: Random) -> object:
    return read_runs(folder / "run.json")


def _prompt(folder: Path, out: Path, random: Random) -> object:
    prompt, model = str(folder / "prompt.yaml"), f"{folder / 'models.py'}:answer"
    return storyproof.evaluate(model, folder / "test.jsonl", prompt=prompt, output_dir=out / "runs", max_stories=1)


def _rules(folder: Path, out: Path, random: Random) -> object:
    return storyproof.verify(folder / "test.jsonl", rules=folder / "rules.yaml")


def _words(folder: Path, out: Path, random: Random) -> object:
    option = load("benchmark", "tomi").config_type.options()["vocabulary"]
    made = make_benchmark(random.choice(["tomi", "tom-babi"]), vocabulary=option.parse(str(folder / "words.yaml")))
    return made.check_counts({"test": made.round})


def _placeholders(folder: Path, out: Path, random: Random) -> object:
    path = folder / "placeholders.json"
    if random.random() < 0.7:
        return storyproof.verify(path)
    option = load("benchmark", "clutrr").config_type.options()["placeholders"]
    manner = random.choice(["refuse", "keep", "drop"])
    return make_benchmark("clutrr", placeholders=option.parse(str(path)), bad_placeholders=manner)


def _scenes(folder: Path, out: Path, random: Random) -> object:
    option = load("benchmark", "clutrr").config_type.options()["scenes"]
    made = make_benchmark("clutrr", scenes=option.parse(str(folder / "scenes")), test_k=(2,), train_k=(2,))
    made.block_stories = 20
    return made.block(random.choice(["train", "test"]), 0)


def _trained(folder: Path, out: Path, random: Random) -> object:
    return NeuralSolver(folder / "runs", device="cpu").predict(list(examples("clutrr", "test", 1))[:2])


def _resumed(folder: Path, out: Path, random: Random) -> object:
    _, training = a_training()
    shutil.copytree(folder / "training", out / "training")
    return start(out / "training", training)


def _stored(folder: Path, out: Path, random: Random) -> object:
    (out / "runs").mkdir()
    shutil.copy(folder / "replies.sqlite", out / "runs" / "replies.sqlite")
    model = f"{folder / 'models.py'}:answer"
    return json.dumps(storyproof.evaluate(model, folder / "test.jsonl", output_dir=out / "runs").as_dict())


def _resulted(folder: Path, out: Path, random: Random) -> object:
    path = folder / "results.json"
    made = DeclaredData("tomi", "tomi")
    (folder / "about.json").write_bytes(path.read_bytes())
    try:
        return [
            lambda: jobs.Result(path, made, made).read(),
            lambda: list(experiment._kept(path)),
            lambda: experiment._commands(folder),
        ][random.randrange(3)]()
    finally:
        (folder / "about.json").unlink()


def _options(folder: Path, out: Path, random: Random) -> object:
    name = random.choice(sorted(names("benchmark")))
    made = load("benchmark", name)
    known = made.config_type.options()
    settings: dict[str, Any] = {}
    for field in random.sample(sorted(known), min(len(known), random.choice([1, 2]))):
        text = str(random.choice([each for each in STRANGE if not isinstance(each, Raw)]))
        settings[field] = random.choice([True, False]) if known[field].read is bool else known[field].parse(text)
    if random.random() < 0.1:
        settings["preset"] = str(random.choice(["", "x", "generalization-23", "robust-clean"]))
    built = make_benchmark(name, random.choice([0, 1, -1, 2**63, 2**70]), **settings)
    counts = {split: random.choice([0, 3, 12, -1, 10**12]) for split in SPLITS}
    return built.check_counts(counts)


@dataclass(frozen=True)
class Part:
    """A kind of file, how it is damaged, what is done with it, and how often."""

    damage: Callable[[Random], Files]
    verbs: Sequence[Verb]
    cases: int


PARTS: dict[str, Part] = {
    "parquet, belief": Part(damaged_parquet("tomi"), DATA_VERBS, 1_600),
    "parquet, kinship": Part(damaged_parquet("clutrr"), DATA_VERBS, 1_600),
    "parquet, another family": Part(damaged_parquet("orderings"), DATA_VERBS, 600),
    "jsonl, belief": Part(damaged_jsonl("tomi"), DATA_VERBS, 1_600),
    "jsonl, kinship": Part(damaged_jsonl("clutrr"), DATA_VERBS, 1_600),
    "jsonl, another family": Part(damaged_jsonl("orderings"), DATA_VERBS, 600),
    "json list, belief": Part(damaged_list("tomi"), DATA_VERBS, 1_000),
    "json list, kinship": Part(damaged_list("clutrr"), DATA_VERBS, 1_000),
    "inspect, belief": Part(damaged_samples("tomi"), DATA_VERBS, 1_000),
    "inspect, kinship": Part(damaged_samples("clutrr"), DATA_VERBS, 400),
    "text, tomi": Part(damaged_text("tomi", "tomi"), DATA_VERBS, 1_400),
    "text, tom-babi": Part(damaged_text("tom-babi", "tom-babi"), DATA_VERBS, 1_000),
    "csv": Part(damaged_csv, DATA_VERBS, 1_600),
    "tables of others": Part(damaged_table, OTHERS, 1_600),
    "objects of others": Part(damaged_objects_of_others, OTHERS, 1_600),
    "arrow": Part(damaged_arrow, OTHERS, 1_000),
    "xlsx": Part(damaged_sheet, (*(_audit_others,) * 6, _overlaps), 600),
    "archives": Part(damaged_archive, (_audit_others,), 600),
    "manifests": Part(damaged_manifest, (_verify_folder, _verify_folder, _evaluate_folder, _replace_folder), 1_000),
    "hf": Part(damaged_hub_folder, (_verify_hub_folder, _evaluate_folder, _process_hub_folder), 400),
    "run files": Part(damaged_run, (_compare, _rescore, _read_runs), 1_200),
    "prompts": Part(damaged_prompt, (_prompt,), 800),
    "rules": Part(damaged_rules, (_rules,), 500),
    "vocabularies": Part(damaged_words, (_words,), 400),
    "placeholders": Part(damaged_placeholders, (_placeholders,), 500),
    "scenes": Part(damaged_scene, (_scenes,), 400),
    "checkpoints": Part(damaged_checkpoint, (_trained, _resumed), 300),
    "replies": Part(damaged_store, (_stored,), 300),
    "results of experiments": Part(damaged_results, (_resulted,), 300),
    "options of benchmarks": Part(damaged_options, (_options,), 500),
}


def test_enough_is_tried() -> None:
    assert sum(part.cases for part in PARTS.values()) >= 20_000
    covered = " ".join(PARTS)
    forms = {
        "clutrr": "csv",
        "json": "json list",
        "table": "tables of others",
        "tomi": "text, tomi",
        "tom-babi": "text, tom-babi",
    }
    assert all(forms.get(name, name) in covered for name in names("format"))


@contextmanager
def bounded() -> Iterator[None]:
    """Raise TimeoutError after a while, and MemoryError if much more memory was needed than ever before."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise TimeoutError(f"it took more than {LONGEST_S} s")

    before = signal.signal(signal.SIGPROF, stop)
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    signal.setitimer(signal.ITIMER_PROF, LONGEST_S)  # of this process, whatever else the machine does
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - held) << 10
    if grown > LARGEST:
        raise MemoryError(f"it took {grown >> 20} MB")


def lay_down(files: Files, folder: Path) -> None:
    for name, content in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content)


def attempt(part: Part, number: str, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Carry out a case: the verb works, or raises an error of storyproof's own, and leaves all else alone."""
    random = Random(number)
    folder, out, here = (place / name for name in ("in", "out", "here"))
    for each in (folder, out, here):
        shutil.rmtree(each, ignore_errors=True)
        each.mkdir()
    monkeypatch.chdir(here)
    files = part.damage(random)
    lay_down(files, folder)
    verb = random.choice(part.verbs)
    try:
        with bounded():
            verb(folder, out, random)
    except StoryproofError as error:
        said = str(error)
        assert said.endswith("."), f"not a sentence: {said!r}"
        assert len(said) < 3_000, f"{len(said)} characters"
    except Exception as error:
        error.add_note(f"by {verb.__name__}")
        raise
    found = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert found == files, "the input was changed"
    assert not list(here.iterdir()), "something was written to the working folder"
    assert {path.name for path in place.iterdir()} == {"in", "out", "here"}
    assert not [path.name for path in out.rglob(".*")], "something unfinished was left"


@pytest.mark.parametrize("name", PARTS)
def test_mutated(name: str, trial: Trial, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(PARTS[name].cases):
        with trial.case(f"{name} {number}"):
            attempt(PARTS[name], f"{name} {number}", tmp_path, monkeypatch)


COMMANDS = ("verify", "audit", "show", "process --out out", "evaluate --model rules --data")
DATA_PARTS = [name for name, part in PARTS.items() if part.verbs is DATA_VERBS]


def attempt_command(name: str, number: int, folder: Path, command: str) -> None:
    """Give a damaged file to a command: the exit code, and one sentence on standard error."""
    folder.mkdir()
    lay_down(PARTS[name].damage(Random(f"{name} {number}")), folder)
    words = [sys.executable, "-m", "storyproof", *command.split(), only(folder)]
    done = subprocess.run(words, cwd=folder, capture_output=True, timeout=120, check=False)
    assert done.returncode in (0, 1, 2)
    assert b"Traceback" not in done.stderr
    if done.returncode == 2:
        assert done.stderr.startswith(b"storyproof: ")
        assert done.stderr.count(b"\n") == 1


def test_mutated_on_the_command_line(trial: Trial, tmp_path: Path) -> None:
    """A sample of the same cases as commands."""
    random = Random("commands")
    for number in range(60):
        name, command = random.choice(DATA_PARTS), random.choice(COMMANDS)
        with trial.case(f"{name} {number}: {command}"):
            attempt_command(name, number, tmp_path / str(number), command)
