"""Samples of evaluation frameworks such as Inspect: JSON lines with story and question in one text.

`{"input": [{"role": "user", "content": TEXT}], "target": "box"}`: the text may have instructions around it, the input
may be plain text, the target a list, and some call it `ideal`. The question is the last one asked; the story is what
comes before it. How text is divided is a matter of the family (`Family.split_prompt`).

Samples that storyproof wrote have all columns but `id` and `answer` in their metadata (`as_sample`). They are read from
there if the input shows the same story and question; otherwise the input counts, for that is what models are shown.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from storyproof.errors import DataError, ParseError, quoted
from storyproof.example import SCHEMA
from storyproof.families.family import families, recognise
from storyproof.formats.chunks import CHUNK_ROWS
from storyproof.formats.columns import folded
from storyproof.formats.format import WHOLE, Format, Part, Place, Spot
from storyproof.formats.json_edits import Changes, Write
from storyproof.formats.jsonl import (
    INSPECT,
    dialect_of,
    given,
    id_of,
    json_object,
    parts_of_lines,
    patch_lines,
    read_lines,
)
from storyproof.formats.lines import filled_lines, first_line
from storyproof.formats.records import Record, read_strictly

TARGETS = ("target", "ideal")
_OUTSIDE = ("id", "answer")  # what a sample that storyproof writes has outside its metadata
_COLUMNS = frozenset(SCHEMA.names) - set(_OUTSIDE)


class Inspect(Format):
    """Samples of evaluation frameworks."""

    name = INSPECT
    suffixes = (".jsonl",)
    opening = "a JSON object"
    has_free_answers = True
    makes_rows = True

    def recognise(self, path: Path) -> bool:
        """Return whether the first line is an object with an input, but no story."""
        return dialect_of(first_line(path)) == INSPECT

    def read(self, path: Path, rows: int = CHUNK_ROWS, *, places: bool = False) -> Iterator[pa.Table]:
        """Read a file; of several answers, or one in free words, the candidate that is meant."""
        for table in read_strictly(path, self, rows, places=places):
            texts = zip(*(table.column(name).to_pylist() for name in ("story", "question", "answer")), strict=True)
            meant = [_meant(story, question, answer.split("\n")) for story, question, answer in texts]
            yield table.set_column(table.column_names.index("answer"), "answer", pa.array(meant, pa.string()))

    def parts(self, path: Path, *, as_records: bool) -> Sequence[Part]:
        """Divide a file at ends of lines."""
        return parts_of_lines(path)

    def records(self, path: Path, columns: Collection[str] | None = None, part: Part = WHOLE) -> Iterator[Record]:
        """Read the samples of a file; the metadata of those that storyproof wrote are columns."""
        for each in read_lines(path, part):
            own = _own_columns(each.value) if each.value is not None else None
            yield each if own is None or each.value is None else each._replace(value={**own, **each.value})

    def make_row(self, value: Mapping[str, Any]) -> dict[str, Any]:
        """Return a sample as a row; of several accepted answers each stands in a line of its own."""
        return _sample(value, _own_columns(value))

    def columns(self, path: Path) -> Collection[str]:
        """Return the columns of a sample that storyproof wrote; others have text only."""
        first = json_object(next((line for _, line in filled_lines(path) if line.strip()), b"{}"), f"{path}")
        own = _own_columns(first)
        return () if own is None else ["id", "answer", *given(own)]

    def locate(self, path: Path, column: str, place: Place) -> Spot:
        """Return where a value stands: labels other than the answer are metadata."""
        return Spot(path.name, place.line, place.answer if column == "answer" else f"metadata.{column}")

    def patch(self, path: Path, changes: Changes) -> dict[str, Write]:
        """Edit lines in place; columns of samples that storyproof wrote are in their metadata."""
        values = {row: {_inside(name): value for name, value in each.items()} for row, each in changes.values.items()}
        return patch_lines(path, replace(changes, values=values))


def _meant(story: str, question: str, answers: Sequence[str]) -> str:
    named = recognise((), question).answers_in(story)
    return next((each for each in named for answer in answers if folded(answer) == folded(each)), answers[0])


def as_sample(row: Mapping[str, Any], messages: Sequence[Mapping[str, str]]) -> dict[str, Any]:
    """Return a row as a sample, to be written as one line of JSON.

    Args:
        row: All columns of an example.
        messages: What a model is asked, with `role` and `content`; must show the story and the question as they are.
    """
    metadata = {name: value for name, value in row.items() if name not in _OUTSIDE}
    return {"id": row["id"], "input": list(messages), "target": row["answer"], "metadata": metadata}


def _inside(name: str) -> str:
    """Return where a sample that storyproof wrote has a column; places in samples stay as they are."""
    if name == "answer":
        return TARGETS[0]
    return f"metadata.{name}" if any(name in family.schema.names for family in families()) else name


def _own_columns(sample: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the metadata of a sample that storyproof wrote, if its input shows the same story and question."""
    metadata = sample.get("metadata")
    if not isinstance(metadata, dict) or not _COLUMNS.issubset(metadata):
        return None
    story, question = metadata["story"], metadata["question"]
    if not isinstance(story, str) or not isinstance(question, str):
        return None
    shown = "\n".join(_texts(sample.get("input")))
    place = shown.rfind(story)
    return metadata if place >= 0 and question in shown[place + len(story) :] else None


def _sample(sample: Mapping[str, Any], own: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return a sample as a row."""
    field = next((name for name in TARGETS if name in sample), TARGETS[0])
    target = sample.get(field)
    targets: list[Any] = target if isinstance(target, list) else [target]
    if not targets or not all(isinstance(each, str) and each for each in targets):
        raise DataError(f"'{field}' is {quoted(target)}; expected text, or a list of texts.")
    row = {"id": id_of(sample.get("id")), "answer": "\n".join(targets), "answer at": field}
    if own is not None:
        return {**own, **row}
    metadata = sample.get("metadata")
    kept = metadata if isinstance(metadata, dict) else {}
    story, question = _split(_texts(sample.get("input")))
    kinds = {name: kept.get(name) for name in ("question_type", "story_type")}
    return {**row, "story": story, "question": question, **kinds}


def _texts(given: Any) -> list[str]:
    """Return what the user says in an input: a text, or messages whose contents may come in parts."""
    if isinstance(given, str):
        return [given]
    texts = []
    for message in given if isinstance(given, list) else ():
        if not isinstance(message, dict) or message.get("role", "user") != "user":
            continue
        content = message.get("content")
        parts = content if isinstance(content, list) else [content]
        spoken = [part.get("text") if isinstance(part, dict) else part for part in parts]
        texts.append("\n".join(each for each in spoken if isinstance(each, str)))
    if not texts:
        raise DataError(f"'input' is {quoted(given)}; expected text, or a list of messages with one of the user's.")
    return texts


def _split(messages: Sequence[str]) -> tuple[str, str]:
    """Divide messages into story and question by the first family that can."""
    problem: ParseError | None = None
    for family in families():
        try:
            return family.split_prompt(messages)
        except ParseError as error:
            problem = problem or error
    raise problem or ParseError("there is no family that can read it.")
