"""The original text formats: numbered sentences, then a question with its answer.

ToMi: `train.txt` with a `train.trace` beside it, the story told again for each question. ToM-bAbI: the numbers of the
observers after each sentence, and one file per task, question and split; training stories with several questions go
into one file, questions between the sentences.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any, TextIO, TypeVar

import pyarrow as pa

from storyproof.errors import DataError, ParseError
from storyproof.example import SPLITS, plain_schema
from storyproof.families.belief.benchmarks.tom_babi import QUESTIONS, TASKS
from storyproof.families.belief.events import Event, Kind
from storyproof.families.belief.labels import STORY_TYPES
from storyproof.families.belief.plots import mover_of, other_of
from storyproof.families.belief.text import narrate, parse, parse_question, parse_sentence
from storyproof.families.belief.trace import observers, trace

_TASK_OF = dict(zip(STORY_TYPES, TASKS, strict=True))
MIXED_NAME = "qa21_task_AB_train.txt"  # as the original calls it
Parsed = TypeVar("Parsed")
_SCHEMA = pa.schema([*plain_schema(), ("trace", pa.string()), ("observers", pa.string())])


def _question_name(question_type: str) -> str:
    """Give ToM-bAbI's own word for a question type."""
    order = question_type.split("_")[0]
    return {"first": "search", "second": "belief"}.get(order, order)


class TomiSplit:
    """Writes one split in the published form of ToMi."""

    def __init__(self, folder: Path, split: str) -> None:
        self._paths = [folder / f"{split}.txt", folder / f"{split}.trace"]
        self._text, self._trace = (path.open("w", encoding="utf-8", newline="\n") for path in self._paths)

    def write(self, table: pa.Table) -> None:
        """Add whole stories."""
        for _, group in groupby(table.to_pylist(), key=lambda row: row["story_id"]):
            rows = list(group)
            events = parse(rows[0]["story"])
            lines = narrate(events, published=True).split("\n")
            numbered = "".join(f"{number} {line}\n" for number, line in enumerate(lines, start=1))
            mover = mover_of(events, parse_question(rows[0]["question"]).thing)
            actions = trace(events, mover, other_of(mover, [row["chain"] for row in rows]))
            for row in rows:
                self._text.write(f"{numbered}{len(lines) + 1} {row['question']}\t{row['answer']}\t1\n")
                self._trace.write(",".join([*actions, row["question_type"], row["story_type"]]) + "\n")

    def close(self) -> list[Path]:
        """Finish the files; gives what was written."""
        self._text.close()
        self._trace.close()
        return self._paths


class TomBabiSplit:
    """Writes one split in the original form of ToM-bAbI."""

    def __init__(self, folder: Path, split: str) -> None:
        self._folder, self._split = folder, split
        self._files: dict[Path, TextIO] = {}

    def write(self, table: pa.Table) -> None:
        """Add whole stories."""
        for _, group in groupby(table.to_pylist(), key=lambda row: row["story_id"]):
            rows = list(group)
            file = self._file(rows)
            events = parse(rows[-1]["story"])
            sentences, seen = rows[-1]["story"].split("\n"), observers(events)
            numbers = {agent: str(number) for number, agent in enumerate(_agents(events), start=1)}
            told = 0
            for asked, row in enumerate(rows):
                until = row["story"].count("\n") + 1
                for time in range(told, until):
                    seers = " ".join(numbers[agent] for agent in seen[time])
                    file.write(f"{time + asked + 1} {sentences[time]}\t{seers}\n")
                file.write(f"{until + asked + 1} {row['question']}\t{row['answer']}\t1\n")
                told = until

    def _file(self, rows: Sequence[dict[str, Any]]) -> TextIO:
        name = MIXED_NAME
        if len(rows) == 1:
            task, question = _TASK_OF[rows[0]["story_type"]], _question_name(rows[0]["question_type"])
            name = f"{task}_{question}_{self._split}_test.txt"
        path = self._folder / name
        if path not in self._files:
            self._files[path] = path.open("w", encoding="utf-8", newline="\n")
        return self._files[path]

    def close(self) -> list[Path]:
        """Finish the files; gives what was written."""
        for file in self._files.values():
            file.close()
        return sorted(self._files)


def _agents(events: Sequence[Event]) -> list[str]:
    return list(dict.fromkeys(event.agent for event in events if event.agent and event.kind is not Kind.FEEL))


@dataclass
class _Reader:
    """Where a file has been read up to."""

    path: Path
    split: str | None
    story_type: str | None
    number: int = 0
    sentences: list[str] = field(default_factory=list)
    seen: list[str] = field(default_factory=list)
    story: int = -1
    last_story: str = ""
    fresh: bool = True
    asked: bool = True
    last_count: int = 0

    def fail(self, found: str, expected: str) -> DataError:
        return DataError(f"{self.path}, line {self.number}: {found}; expected {expected}.")

    def take(self, line: str) -> dict[str, Any] | None:
        """Take in a line; gives a row where it is a question."""
        count, space, rest = line.partition(" ")
        if not space or not count.isdecimal() or len(count) > 9:
            raise self.fail(f"found '{line[:60]}'", "a sentence number, a space and a sentence")
        if int(count) not in (1, self.last_count + 1):
            raise self.fail(f"found number {count} after {self.last_count}", "the next number, or 1 for a new story")
        if int(count) == 1:
            self.end()
            self.sentences, self.seen, self.fresh = [], [], True
        self.last_count = int(count)
        cells = rest.split("\t")
        if not cells[0].endswith("?"):
            if len(cells) > 2:
                raise self.fail(f"found {len(cells)} columns", "a sentence, and at most one column of observers")
            self._check(parse_sentence, cells[0])
            self.asked = False
            self.sentences.append(cells[0])
            self.seen.append(cells[1].strip() if len(cells) == 2 else "-")
            return None
        if len(cells) < 2 or not cells[1]:
            raise self.fail(f"the question '{cells[0]}' has no answer", "question, tab, answer, tab, number")
        if not self.sentences:
            raise self.fail("a question without a story", "sentences before it, numbered from 1")
        return self._row(cells[0], cells[1])

    def end(self) -> None:
        """Make sure that whatever was told was also asked about."""
        if not self.asked:
            raise self.fail("the story before it ends without a question", "a question with tab and answer")

    def _check(self, parser: Callable[[str], Parsed], text: str) -> Parsed:
        try:
            return parser(text)
        except ParseError as error:
            raise DataError(f"{self.path}, line {self.number}: {error}") from error

    def _row(self, question: str, answer: str) -> dict[str, Any]:
        asked = self._check(parse_question, question)
        self.asked = True
        story = "\n".join(self.sentences)
        if self.fresh and story != self.last_story:
            self.story += 1
        self.fresh, self.last_story = False, story
        watched = any(mark != "-" for mark in self.seen)
        return {
            "id": f"{self.path.stem}-{self.number}",
            "story_id": f"{self.path.stem}-{self.story}",
            "benchmark": "tom-babi" if watched else None,
            "split": self.split,
            "story": story,
            "question": question,
            "answer": answer,
            "order": asked.order,
            "chain": list(asked.chain),
            "story_type": self.story_type,
            "observers": "\n".join(self.seen) if watched else None,
        }


def split_of(path: Path) -> str | None:
    """Tell a file's split from its name: `train.txt`, `fb_all_val.txt`, `fb_belief_test_test.txt`."""
    parts = path.stem.replace("-", "_").replace(".", "_").split("_")
    return next((split for split in SPLITS if split in parts), None)


def read_babi(path: Path, rows: int) -> Iterator[pa.Table]:
    """Read a file of either dialect in tables of about so many rows, whole stories each.

    The trace beside it, if there is one, gives question and story types; what the format does not say is null.

    Raises:
        DataError: If a line has no known form; the message names the line.
    """
    parts = path.stem.split("_")
    split = split_of(path)
    # ToM-bAbI says the story type in the file's name; ToMi's published names begin with fb for another reason.
    task = parts[0] if len(parts) > 2 and parts[1] in QUESTIONS else None
    state = _Reader(path, split, next((name for name, short in _TASK_OF.items() if short == task), None))
    waiting: list[dict[str, Any]] = []
    traces = _read_trace(path.with_suffix(".trace"))
    for state.number, line in enumerate(_lines(path), start=1):
        if not line:
            continue
        row = state.take(line)
        if row is None:
            continue
        if traces is not None:
            _add_trace(row, traces, state)
        if len(waiting) >= rows and row["story_id"] != waiting[-1]["story_id"]:
            yield pa.Table.from_pylist(waiting, schema=_SCHEMA)
            waiting = []
        waiting.append(row)
    state.number += 1
    state.end()
    if traces is not None and (left := [number for number, _ in traces]):
        where = f"{path.with_suffix('.trace')}, line {left[0]}"
        raise DataError(
            f"{where}: found {len(left)} lines more than {path.name} has questions; expected a line a question."
        )
    if not waiting and state.story < 0:
        raise DataError(f"{path} holds no question; expected numbered sentences, then a question with tab and answer.")
    if waiting:
        yield pa.Table.from_pylist(waiting, schema=_SCHEMA)


def _lines(path: Path) -> Iterator[str]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            for line in file:
                yield line.rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"cannot read {path}: {error}.") from error


def _read_trace(path: Path) -> Iterator[tuple[int, str]] | None:
    return ((number, line) for number, line in enumerate(_lines(path), start=1) if line) if path.exists() else None


def _add_trace(row: dict[str, Any], traces: Iterator[tuple[int, str]], state: _Reader) -> None:
    path = state.path.with_suffix(".trace")
    number, line = next(traces, (0, ""))
    if not line:
        raise DataError(f"{path} ends before line {state.number} of {state.path.name}; expected a line a question.")
    cells = line.split(",")
    if len(cells) < 3 or cells[-1] not in STORY_TYPES:
        raise DataError(
            f"{path}, line {number}: found '{line[:60]}'; expected it to end in a question type and one of "
            f"{', '.join(STORY_TYPES)}."
        )
    row["benchmark"] = "tomi"  # nobody else writes traces
    row["question_type"], row["story_type"], row["trace"] = cells[-2], cells[-1], ",".join(cells[:-2])
