"""Damaged files of every binary format that storyproof reads, and a process that reads them.

Damages follow the structure of a format: fields of Thrift in Parquet, headers and members of ZIP, pages, cells and rows
of SQLite, the header of safetensors. `python -m tests.torture.binary_readers READER FIRST LAST FOLDER` reads the cases
of some numbers and prints a line before and after each: what aborts it is known by its last line.
"""

from __future__ import annotations

import hashlib
import io
import json
import resource
import shutil
import signal
import sqlite3
import sys
import tempfile
import traceback
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random
from types import FrameType
from typing import Any

import pyarrow.parquet as pq

import storyproof
from storyproof.errors import StoryproofError
from tests.torture import thrift
from tests.torture.mutations import change_bytes, change_value, write_json

MEMORY = 6 << 30
LONGEST_S = 30  # of CPU for a case
_WORDS = (0, 1, 2, 7, 0x7F, 0x80, 0xFF, 0x100, 0x7FFF, 0xFFFF, 0x10000, 0x7FFFFFFF, 0xFFFFFFFF)


def _put(content: bytearray, at: int, size: int, value: int, order: Any = "little") -> None:
    content[at : at + size] = (value % (1 << 8 * size)).to_bytes(size, order)


# Parquet


@cache
def _parquet_files() -> list[bytes]:
    made: list[bytes] = []
    for benchmark in ("tom-k", "clutrr"):
        with tempfile.TemporaryDirectory() as place:
            storyproof.generate(benchmark, test=6, out=Path(place) / "out")
            table = pq.read_table(Path(place) / "out" / "test.parquet")
        for options in (
            {},
            {"use_dictionary": False, "compression": "zstd"},
            {"write_page_index": True, "row_group_size": 5, "data_page_version": "2.0"},
            {"version": "1.0", "compression": "gzip", "write_page_checksum": True},
            {"store_schema": False, "write_statistics": False},
        ):
            file = io.BytesIO()
            pq.write_table(table, file, **options)
            made.append(file.getvalue())
    return made


def _values(struct: thrift.Struct) -> dict[int, Any]:
    return {number: value for number, _, value in struct}


def damage_parquet(random: Random) -> bytes:
    """Change the footer, the header of a page, or bytes."""
    content = random.choice(_parquet_files())
    start = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    kind = random.random()
    footer, _ = thrift.read(content, start)
    if kind < 0.7:
        thrift.change(random, footer)
        written = thrift.write(footer)
        return content[:start] + written + len(written).to_bytes(4, "little") + b"PAR1"
    if kind < 0.8:
        return change_bytes(random, content)
    chunks = [_values(chunk)[3] for group in _values(footer)[4] for chunk in _values(group)[1]]
    at = random.choice([_values(each)[field] for each in chunks for field in (9, 11) if field in _values(each)])
    page, end = thrift.read(content, at)
    thrift.change(random, page)
    return content[:at] + thrift.write(page)[: end - at].ljust(end - at, b"\0") + content[end:]


def read_parquet_file(content: bytes, folder: Path, random: Random) -> None:
    """Read the columns and all rows, or write the file again with a change."""
    from storyproof.formats.json_edits import Changes
    from storyproof.formats.parquet import FORMAT, read_parquet, rewrite_parquet

    path = folder / "test.parquet"
    path.write_bytes(content)
    kind = random.randrange(3)
    if kind == 0:
        rewrite_parquet(path, io.BytesIO(), Changes({0: {"answer": "box"}}))
    elif kind == 1:
        FORMAT.columns(path)
    for _ in read_parquet(path, 64, True):
        pass


# Studies: backups and databases


@cache
def _a_study() -> tuple[bytes, dict[str, bytes]]:
    """Return a backup of a study, and the files of its folder."""
    from storyproof.study.backup import back_up
    from storyproof.study.participant_flow import ANSWER, FINISHED, find_step
    from storyproof.study.submissions import submit_answer, submit_rating
    from tests.study.samples import join, kinship_data, make_study, solve_design

    with tempfile.TemporaryDirectory() as place:
        study = make_study(Path(place), solve_design(), data=kinship_data(Path(place)))
        for name in ("a", "b"):
            me = join(study, name)
            while (step := find_step(study, me)).kind != FINISHED:
                if step.kind == ANSWER:
                    submit_answer(study, me, step.slot, study.items[step.item].answer, 900)
                else:
                    submit_rating(study, me, step.slot, 3)
        back_up(study, Path(place) / "backup.zip")
        study.close()
        base = sqlite3.connect(study.folder / "study.sqlite")
        base.execute("PRAGMA journal_mode = DELETE")
        base.close()
        files = {path.name: path.read_bytes() for path in study.folder.iterdir()}
        return (Path(place) / "backup.zip").read_bytes(), files


_ZIP_FIELDS = {  # of each kind of header: places and sizes of its fields
    b"PK\3\4": ((4, 2), (6, 2), (8, 2), (14, 4), (18, 4), (22, 4), (26, 2), (28, 2)),
    b"PK\1\2": ((4, 2), (6, 2), (8, 2), (10, 2), (16, 4), (20, 4), (24, 4), (28, 2), (30, 2), (32, 2), (42, 4)),
    b"PK\5\6": ((4, 2), (6, 2), (8, 2), (10, 2), (12, 4), (16, 4), (20, 2)),
}


def damage_backup(random: Random) -> bytes:
    """Change fields of headers of the archive, its members with fitting hashes, or bytes."""
    content, _ = _a_study()
    kind = random.random()
    if kind < 0.15:
        return change_bytes(random, content)
    if kind < 0.5:
        found = bytearray(content)
        for _ in range(random.choice([1, 1, 2, 3])):
            signature = random.choice(list(_ZIP_FIELDS))
            places = [at for at in range(len(content) - 4) if content[at : at + 4] == signature]
            at, size = random.choice(_ZIP_FIELDS[signature])
            _put(found, random.choice(places) + at, size, random.choice(_WORDS))
        return bytes(found)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = random.choice(sorted(members))
    lines = members[name].splitlines()
    if random.random() < 0.2 or not lines:
        members[name] = change_bytes(random, members[name])
    elif name.endswith(".jsonl"):
        at = random.randrange(len(lines))
        lines[at] = write_json(change_value(random, json.loads(lines[at])))
        members[name] = b"\n".join(lines) + b"\n"
    else:
        members[name] = write_json(change_value(random, json.loads(members[name])))
    if name != "backup.json":
        about = json.loads(members["backup.json"])
        about["sha256"] = {each: hashlib.sha256(members[f"{each}.jsonl"]).hexdigest() for each in about["sha256"]}
        members["backup.json"] = json.dumps(about).encode()
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", random.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])) as archive:
        for each, part in members.items():
            archive.writestr(each, part)
    return file.getvalue()


def read_backup(content: bytes, folder: Path, random: Random) -> None:
    """Restore a backup; what is refused leaves nothing."""
    from storyproof.study.backup import restore

    (folder / "backup.zip").write_bytes(content)
    try:
        restore(folder / "backup.zip", folder / "again")[0].close()
    except StoryproofError:
        assert [path.name for path in folder.iterdir()] == ["backup.zip"], "something was left"
        raise


def _damage_sqlite(random: Random, content: bytes) -> bytes:
    """Change fields of the header, of a page or of a cell."""
    found = bytearray(content)
    page_size = int.from_bytes(content[16:18], "big")
    for _ in range(random.choice([1, 1, 2, 4])):
        page = random.randrange(len(content) // page_size)
        start = page * page_size
        head = start + (100 if page == 0 else 0)
        kind = random.randrange(6)
        if kind == 0:
            at, size = random.choice([(16, 2), (18, 1), (19, 1), (24, 4), (28, 4), (32, 4), (36, 4), (44, 4), (56, 4)])
            _put(found, at, size, random.choice(_WORDS), "big")
        elif kind == 1:
            at, size = random.choice([(0, 1), (1, 2), (3, 2), (5, 2), (7, 1), (8, 4)])
            _put(found, head + at, size, random.choice(_WORDS), "big")
        elif kind in (2, 3):
            cells = int.from_bytes(content[head + 3 : head + 5], "big")
            pointer = head + 8 + 2 * random.randrange(max(1, cells))
            if kind == 2:
                _put(found, pointer, 2, random.choice([*_WORDS, page_size - 1, page_size]), "big")
            else:
                cell = start + int.from_bytes(content[pointer : pointer + 2], "big") + random.randrange(12)
                _put(found, min(cell, len(found) - 1), 1, random.randrange(256), "big")
        elif kind == 4:
            found[start : start + page_size] = random.choice(
                [bytes(page_size), random.randbytes(page_size), content[:page_size]]
            )
        else:
            found = found[: random.choice([start, start + page_size // 2, len(found)])]
        if len(found) < 2 * page_size:
            return bytes(found)
    return bytes(found)


def damage_study_database(random: Random) -> bytes:
    """Change pages and cells of the database of a study, or values in its rows."""
    content = _a_study()[1]["study.sqlite"]
    if random.random() < 0.7:
        return _damage_sqlite(random, content)
    base = sqlite3.connect(":memory:")
    base.deserialize(content)
    tables = [name for (name,) in base.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    table = random.choice(tables)
    column = random.choice([row[1] for row in base.execute(f"PRAGMA table_info({table})")])
    value: Any = random.choice([None, -1, 2**62, 1.5, b"\xff", "", "[", "{}", "[1]", "x" * 9999, "nan", "\ud83d"[:0]])
    statement = random.choice(
        [
            f"UPDATE {table} SET {column} = ?",
            f"UPDATE {table} SET {column} = CAST(? AS BLOB)",
            f"DROP TABLE {table}",
            f"ALTER TABLE {table} RENAME COLUMN {column} TO other",
            f"DELETE FROM {table}",
            f"INSERT INTO {table} SELECT * FROM {table}",
        ]
    )
    try:
        base.execute(statement, (value,) if "?" in statement else ())
        base.commit()
    except sqlite3.Error:
        pass  # what the table itself refuses
    found = base.serialize()
    base.close()
    return found


def read_study_database(content: bytes, folder: Path, random: Random) -> None:
    """Open a study; back it up or export it."""
    from storyproof.study.backup import back_up
    from storyproof.study.export import export_study
    from storyproof.study.folder import open_study

    (folder / "study").mkdir()
    for name, part in {**_a_study()[1], "study.sqlite": content}.items():
        (folder / "study" / name).write_bytes(part)
    study = open_study(folder / "study")
    try:
        if random.random() < 0.5:
            back_up(study, folder / "backup.zip")
        else:
            export_study(study, folder / "out")
    except StoryproofError:
        assert [path.name for path in folder.iterdir()] == ["study"], "something was left"
        raise
    finally:
        study.close()


# Replies


def damage_replies(random: Random) -> bytes:
    """Change pages and cells of a file of replies, or values in its rows."""
    from tests.torture.test_mutated_inputs import a_store, damaged_store

    return _damage_sqlite(random, a_store()) if random.random() < 0.7 else damaged_store(random)["replies.sqlite"]


def read_replies(content: bytes, folder: Path, random: Random) -> None:
    """Evaluate with a file of replies."""
    from tests.torture.test_mutated_inputs import MODEL, write_rows

    (folder / "runs").mkdir()
    (folder / "runs" / "replies.sqlite").write_bytes(content)
    (folder / "models.py").write_bytes(MODEL)
    (folder / "test.jsonl").write_bytes(write_rows("tomi"))
    storyproof.evaluate(f"{folder / 'models.py'}:answer", folder / "test.jsonl", output_dir=folder / "runs")


# Weights


def damage_weights(random: Random) -> bytes:
    """Change the header of safetensors: its length, and names, types, shapes and offsets of tensors."""
    from tests.torture.test_mutated_inputs import WEIGHTS, a_training, damaged_weights

    path = a_training()[0] / "runs" / WEIGHTS
    content = path.read_bytes()
    kind = random.random()
    if kind < 0.2:
        return damaged_weights(random, path)
    length = int.from_bytes(content[:8], "little")
    if kind < 0.3:
        claimed = random.choice([0, 1, length - 1, length + 1, len(content), 2**31, 2**40, 2**63, 2**64 - 1])
        return claimed.to_bytes(8, "little") + content[8:]
    header = json.loads(content[8 : 8 + length])
    if kind < 0.6:
        header = change_value(random, header)
    else:
        tensor = header[random.choice([name for name in header if name != "__metadata__"])]
        field = random.choice(["dtype", "shape", "data_offsets"])
        other = {
            "dtype": ["F64", "F16", "I64", "BOOL", "U8", "F8_E4M3", "x", ""],
            "shape": [[], [0], [1], [2**31], [2**62, 4], [-1], [1.5], tensor["shape"][::-1], tensor["shape"] * 2],
            "data_offsets": [[0, 0], [0, 2**62], [5, 1], [-4, 4], [0, 1], [2**63, 2**63], [0], []],
        }
        tensor[field] = random.choice(other[field])
    written = write_json(header)
    return len(written).to_bytes(8, "little") + written + content[8 + length :]


def read_weights(content: bytes, folder: Path, random: Random) -> None:
    """Load trained runs, whose description has the hash of the weights, and predict."""
    from tests.torture.test_mutated_inputs import RUN, WEIGHTS, NeuralSolver, a_training, examples

    shutil.copytree(a_training()[0] / "runs", folder / "runs")
    (folder / "runs" / WEIGHTS).write_bytes(content)
    plain = json.loads((folder / "runs" / RUN).read_bytes())
    plain["weights_sha256"] = hashlib.sha256(content).hexdigest()
    (folder / "runs" / RUN).write_text(json.dumps(plain))
    NeuralSolver(folder / "runs", device="cpu").predict(list(examples("clutrr", "test", 1))[:2])


READERS: dict[str, tuple[Callable[[Random], bytes], Callable[[bytes, Path, Random], None]]] = {
    "parquet": (damage_parquet, read_parquet_file),
    "zip": (damage_backup, read_backup),
    "sqlite of a study": (damage_study_database, read_study_database),
    "sqlite of replies": (damage_replies, read_replies),
    "safetensors": (damage_weights, read_weights),
}


def main(reader: str, first: int, last: int, place: Path) -> None:
    """Read the cases of some numbers; print the number of each before, and what came of it after."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise TimeoutError(f"it took more than {LONGEST_S} s")

    damage, read = READERS[reader]
    damage(Random(0))  # what is damaged is made before memory is bounded
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGPROF, stop)
    for number in range(first, last):
        print(number, flush=True)
        random = Random(f"{reader} {number}")
        folder = place / "case"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        content = damage(random)
        signal.setitimer(signal.ITIMER_PROF, LONGEST_S)
        try:
            read(content, folder, random)
            found = "read"
        except StoryproofError as error:
            found = "refused" if str(error).endswith(".") else f"not a sentence: {str(error)!r}"
        except Exception:
            found = "".join(traceback.format_exc(limit=-3)).replace("\n", " | ")
        signal.setitimer(signal.ITIMER_PROF, 0)
        print(number, found, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]))
