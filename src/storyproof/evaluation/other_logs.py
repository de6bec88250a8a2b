"""Logs of evaluation frameworks: Inspect (`.eval`, JSON), samples of lm-evaluation-harness, and lists of predictions.

Each becomes the same: what was answered, what it was scored against, and what the log says about the row, so that it
can be found in data: its columns, its id, or its number.
"""

from __future__ import annotations

import json
import os
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from storyproof.errors import DataError, quoted
from storyproof.io.bounded_input import LARGEST_RUN, DocumentError, open_file, parse_json, read_text

EVAL = ".eval"
_ZSTANDARD, _LOCAL_HEADER = 93, 30  # the method, and the size of what stands before a file in an archive
_PREDICTIONS = ("prediction", "predicted_answer", "prediction_text", "pred", "response", "generated_text", "output")
_TARGETS = ("target", "reference", "references", "label", "answer", "gold", "expected")


@dataclass(frozen=True, slots=True)
class LoggedAnswer:
    """One answer of a log.

    Attributes:
        id: What the log calls the row; empty if it does not name it.
        number: The number of the row in the data, from 0; -1 if the log does not say.
        row: The columns of the row, as far as the log has them.
        reply: What was answered.
        target: What it was scored against; None if the log does not say.
    """

    id: str
    number: int
    row: Mapping[str, Any]
    reply: str
    target: str | None


@dataclass(frozen=True, slots=True)
class Log:
    """The answers of one model.

    Attributes:
        where: The file.
        model: The model, as far as the log says.
        answers: Its answers.
    """

    where: str
    model: str
    answers: Sequence[LoggedAnswer]


def read_log(path: Path) -> Log | None:
    """Read a log of somebody else's; None if the file is in no form of these.

    Raises:
        DataError: If it is a log that cannot be read, or has no answers.
    """
    if path.suffix == EVAL:
        return _checked(path, *_inspect_archive(path))
    try:
        text = read_text(path, LARGEST_RUN)
    except (OSError, UnicodeError):
        return None  # whoever reads it as a run says so
    records = _records(text)
    if isinstance(records, Mapping):
        if "eval" in records and isinstance(records.get("samples"), list):
            about = records["eval"] if isinstance(records["eval"], Mapping) else {}
            return _checked(path, str(about.get("model") or path.stem), records["samples"], _of_inspect)
        records = [records]  # a single line
    if not isinstance(records, list) or not records or not all(isinstance(each, Mapping) for each in records):
        return None
    first = records[0]
    if "doc" in first and ("filtered_resps" in first or "resps" in first):
        return _checked(path, _model_of(path), records, _of_harness)
    if _name_in(first, _PREDICTIONS) and not {"id", "answer"} <= set(first):
        return _checked(path, path.stem, records, _of_predictions)
    return None


def _records(text: str) -> Any:
    """Return one JSON value, or those of JSON lines; an empty list if it is neither."""
    try:
        return parse_json(text)
    except DocumentError:
        pass
    try:
        return [parse_json(line) for line in text.split("\n") if line.strip()]
    except DocumentError:
        return []


def _checked(path: Path, model: str, samples: Sequence[Any], read: Any) -> Log:
    answers = [each for number, sample in enumerate(samples) for each in read(sample, number)]
    if not answers:
        raise DataError(f"{path} is a log without answers; expected samples with what the model answered.")
    return Log(str(path), model, answers)


def _inspect_archive(path: Path) -> tuple[str, list[Any], Any]:
    """Return the model and the samples of Inspect's archive."""
    advice = "write it as JSON: inspect log convert --to json"
    try:
        with open_file(path) as file, zipfile.ZipFile(file) as archive:
            names = sorted(name for name in archive.namelist() if name.startswith("samples/"))
            header = next((name for name in ("header.json", "_journal/start.json") if name in archive.namelist()), "")
            total = sum(archive.getinfo(name).file_size for name in names)
            if total > LARGEST_RUN:
                raise DataError(f"{path} has samples of {total:,} bytes; at most {LARGEST_RUN:,} are read.")
            about = json.loads(_member(file, archive, header)) if header else {}
            samples = [json.loads(_member(file, archive, name)) for name in names]
    except (zipfile.BadZipFile, NotImplementedError, ValueError, OSError) as error:
        raise DataError(f"cannot read {path} as a log of Inspect: {error}; {advice}.") from error
    evaluated = about.get("eval") if isinstance(about, Mapping) else None
    model = evaluated.get("model") if isinstance(evaluated, Mapping) else None
    return str(model or path.stem), samples, _of_inspect


def _member(file: IO[bytes], archive: zipfile.ZipFile, name: str) -> bytes:
    """Return a file of an archive. Inspect writes Zstandard, which zipfile does not know before Python 3.14."""
    member = archive.getinfo(name)
    if member.compress_type != _ZSTANDARD:
        return archive.read(member)
    file.seek(member.header_offset)
    header = file.read(_LOCAL_HEADER)
    if len(header) < _LOCAL_HEADER:
        raise zipfile.BadZipFile(f"{name} is cut off")
    file.seek(sum(struct.unpack("<HH", header[-4:])), os.SEEK_CUR)  # its name, and more about it
    packed = file.read(member.compress_size)
    with pa.CompressedInputStream(pa.BufferReader(packed), "zstd") as stream:
        content: bytes = stream.read(member.file_size + 1)
    if len(content) != member.file_size or zlib.crc32(content) != member.CRC:
        raise zipfile.BadZipFile(f"{name} is damaged")
    return content


def _of_inspect(sample: Any, number: int) -> Iterator[LoggedAnswer]:
    """Yield what a sample of Inspect says; a sample that failed says nothing."""
    if not isinstance(sample, Mapping) or sample.get("error") or sample.get("epoch", 1) != 1:
        return
    output, scores = (value if isinstance(value := sample.get(name), Mapping) else {} for name in ("output", "scores"))
    given = [each.get("answer") for each in scores.values() if isinstance(each, Mapping)]
    reply = next((each for each in given if isinstance(each, str) and each), None)
    if reply is None:
        reply = output.get("completion") or next(map(_content, output.get("choices") or ()), "")
    if isinstance(reply, str):
        row = dict(sample.get("metadata") or {})
        choices = sample.get("choices")
        row |= {"choices": choices} if choices and "choices" not in row else {}
        yield LoggedAnswer(_text(sample.get("id")), -1, row, reply, _target(sample.get("target")))


def _content(choice: Any) -> Any:
    message = choice.get("message", {}) if isinstance(choice, Mapping) else {}
    content = message.get("content") if isinstance(message, Mapping) else None
    if isinstance(content, list):
        return "".join(each.get("text", "") for each in content if isinstance(each, Mapping))
    return content


def _of_harness(sample: Any, number: int) -> Iterator[LoggedAnswer]:
    """Yield what a sample of lm-evaluation-harness says; of likelihoods the greatest chooses."""
    row = sample.get("doc")
    replies = sample.get("filtered_resps", sample.get("resps"))
    if not isinstance(row, Mapping) or not isinstance(replies, list) or not replies:
        return
    first, target = replies[0], _target(sample.get("target"))
    while isinstance(first, list) and len(first) == 1:
        first = first[0]
    if isinstance(first, str):
        reply = first
    elif isinstance(first, list) and len(replies) > 1:
        try:
            best = max(range(len(replies)), key=lambda place: float(replies[place][0]))
        except (TypeError, ValueError, IndexError):
            return
        names = _choices_of(row, len(replies))
        reply = names[best]
        if target is not None and target.isdecimal() and int(target) < len(names) and target not in names:
            target = names[int(target)]  # the harness writes the number of the choice, from 0
    else:
        return
    place = sample.get("doc_id")
    yield LoggedAnswer(_text(row.get("id")), place if isinstance(place, int) else number, row, reply, target)


def _choices_of(row: Mapping[str, Any], count: int) -> Sequence[str]:
    """Return what the choices of a row are called: by their texts, if the row has them, else by letters."""
    for name in ("choices", "candidates", "options"):
        given = row.get(name)
        texts = given.get("text") if isinstance(given, Mapping) else given
        if isinstance(texts, list) and len(texts) == count and all(isinstance(each, str) for each in texts):
            return texts
    return [chr(ord("A") + place) for place in range(count)]


def _of_predictions(sample: Any, number: int) -> Iterator[LoggedAnswer]:
    """Yield what a list of predictions says, with the columns that it kept."""
    name = _name_in(sample, _PREDICTIONS)
    reply = sample[name] if name else None
    if isinstance(reply, list):
        reply = reply[0] if reply else None
    if isinstance(reply, str):
        target = _name_in(sample, _TARGETS)
        yield LoggedAnswer(_text(sample.get("id")), number, sample, reply, _target(sample[target]) if target else None)


def _name_in(record: Mapping[str, Any], names: Sequence[str]) -> str:
    return next((name for name in names if name in record), "")


def _target(value: Any) -> str | None:
    value = value[0] if isinstance(value, list) and value else value
    return None if value is None or isinstance(value, list | dict) else _text(value)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None or isinstance(value, bool) else f"{value}"


def _model_of(path: Path) -> str:
    """Return the model by which lm-evaluation-harness calls a folder: its samples are beside its results."""
    return path.parent.name.replace("__", "/") if path.stem.startswith("samples_") and path.parent.name else path.stem


def describe(answer: LoggedAnswer) -> str:
    """Return what a log calls a row, for messages."""
    return answer.id or (f"number {answer.number}" if answer.number >= 0 else quoted(answer.row))
