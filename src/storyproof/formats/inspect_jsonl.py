"""Samples of evaluation frameworks such as Inspect: JSON lines with story and question in one text.

`{"input": [{"role": "user", "content": TEXT}], "target": "box"}`: the text may have instructions around it, the input
may be plain text, the target a list, and some call it `ideal`. The question is the last one asked; the story is what
comes before it. How text is divided is a matter of the family (`Family.split_prompt`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from storyproof.errors import DataError, ParseError, quoted
from storyproof.families.family import families, recognise
from storyproof.formats.chunks import CHUNK_ROWS
from storyproof.formats.format import PLACE, Format, Place, Spot
from storyproof.formats.jsonl import ANSWER, INSPECT, dialect_of, id_of, patch_lines, read_samples
from storyproof.formats.lines import first_line
from storyproof.formats.patches import Changes, Write

TARGETS = ("target", "ideal")


class Inspect(Format):
    """Samples of evaluation frameworks."""

    name = INSPECT
    suffixes = (".jsonl",)
    opening = "a JSON object"
    has_free_answers = True

    def recognise(self, path: Path) -> bool:
        """Return whether the first line is an object with an input, but no story."""
        return dialect_of(first_line(path)) == INSPECT

    def read(self, path: Path, rows: int = CHUNK_ROWS, *, places: bool = False) -> Iterator[pa.Table]:
        """Read a file; of several answers, or one in free words, the candidate that is meant."""
        for table in self.read_foreign(path, rows):
            texts = zip(*(table.column(name).to_pylist() for name in ("story", "question", "answer")), strict=True)
            meant = [_meant(story, question, answer.split("\n")) for story, question, answer in texts]
            table = table.set_column(table.column_names.index("answer"), "answer", pa.array(meant, pa.string()))
            yield table if places else table.drop_columns([PLACE])

    def read_foreign(self, path: Path, rows: int = CHUNK_ROWS) -> Iterator[pa.Table]:
        """Read a file; of several accepted answers each stands in a line of its own."""
        return read_samples(path, rows, _sample)

    def columns(self, path: Path) -> Collection[str]:
        """Return no columns: samples have text only."""
        return ()

    def locate(self, path: Path, column: str, place: Place) -> Spot:
        """Return where a value stands: labels other than the answer are metadata."""
        return Spot(path.name, place.line, place.answer if column == "answer" else f"metadata.{column}")

    def patch(self, path: Path, changes: Changes) -> dict[str, Write]:
        """Edit lines in place."""
        return patch_lines(path, changes)


def folded(answer: str) -> str:
    """Return an answer in free words without what does not matter: case, article, punctuation at its ends."""
    words = answer.casefold().replace("_", " ").strip(" .\t\n\"'").split()
    return " ".join(words[1:] if words[:1] == ["the"] else words)


def _meant(story: str, question: str, answers: Sequence[str]) -> str:
    named = recognise((), question).answers_in(story)
    return next((each for each in named for answer in answers if folded(answer) == folded(each)), answers[0])


def _sample(found: Mapping[str, Any]) -> dict[str, Any]:
    field = next((name for name in TARGETS if name in found), TARGETS[0])
    target = found.get(field)
    targets: list[Any] = target if isinstance(target, list) else [target]
    if not targets or not all(isinstance(each, str) and each for each in targets):
        raise DataError(f"'{field}' is {quoted(target)}; expected text, or a list of texts.")
    metadata = found.get("metadata")
    kept = metadata if isinstance(metadata, dict) else {}
    story, question = _split(_texts(found.get("input")))
    return {
        "id": id_of(found.get("id")),
        "story": story,
        "question": question,
        "answer": "\n".join(targets),
        ANSWER: field,
        **{name: kept.get(name) for name in ("question_type", "story_type")},
    }


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


FORMAT = Inspect()
