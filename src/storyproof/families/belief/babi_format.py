"""The original text formats: numbered sentences, then a question with its answer.

ToMi: `train.txt` with a `train.trace` beside it, the story repeated for each question. ToM-bAbI: the numbers of the
observers after each sentence, and one file per task, question and split; training stories with several questions go
into one file, questions between the sentences. Both are read alike.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, repeat
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TextIO, TypeVar

import pyarrow as pa

from storyproof.errors import DataError, ParseError, quoted
from storyproof.example import plain_schema
from storyproof.families.belief.benchmarks.tom_babi import QUESTIONS, TASKS
from storyproof.families.belief.plot_index import mover_of, other_of
from storyproof.families.belief.tomi_labels import STORY_TYPES
from storyproof.families.belief.tomi_text import narrate, parse, parse_question, parse_sentence
from storyproof.families.belief.world import EventKind, PlotEvent
from storyproof.formats.chunks import CHUNK_ROWS
from storyproof.formats.format import Format, Place, SplitWriter, Spot, split_of, stem_of, with_places
from storyproof.formats.json_edits import Changes, Write
from storyproof.formats.lines import MARK, filled_lines, first_line, numbered_lines, text_lines
from storyproof.io.bounded_input import open_file


def trace(events: Sequence[PlotEvent], mover: str | None, other: str | None) -> list[str]:
    """Return the actions of a ToMi story as its trace file names them."""
    tokens: list[str] = []
    home: dict[str | None, str | None] = {}
    for event in events:
        number = 0 if event.agent == mover else 1 if event.agent == other else 2
        if event.kind is EventKind.MOVE:
            tokens.append(f"agent_{number}_moves_obj")
        elif event.kind is EventKind.EXIT:
            tokens.append(f"agent_{number}_exits")
        elif event.kind in (EventKind.ENTER, EventKind.IS_IN):
            if number == 2:
                tokens.append("agent_2_enters")
            elif event.agent not in home:
                tokens.append(f"enter_agent_{number}")
            else:
                tokens.append(f"agent_{number}_reenters_{'loc' if event.room == home[event.agent] else 'alt_loc'}")
            home.setdefault(event.agent, event.room)
    return tokens


def observers(events: Sequence[PlotEvent]) -> list[list[str]]:
    """Return who sees each sentence, in the order in which they entered the room; people who leave still see it."""
    rooms: dict[str | None, list[str]] = {}
    where: dict[str, str | None] = {}
    seen: list[list[str]] = []
    for event in events:
        agent = event.agent
        if event.kind in (EventKind.ENTER, EventKind.IS_IN) and agent is not None and where.get(agent) != event.room:
            if agent in where:
                rooms[where[agent]].remove(agent)
            where[agent] = event.room
            rooms.setdefault(event.room, []).append(agent)
        room = where.get(agent) if event.kind is EventKind.FEEL and agent is not None else event.room
        seen.append(list(rooms.get(room, ())) if room is not None else [])
        if event.kind is EventKind.EXIT and agent in where:
            rooms[where.pop(agent)].remove(agent)
    return seen


TRACE, OBSERVERS = "trace", "observers"  # columns that only these formats have
MIXED_NAME = "qa21_task_AB_train.txt"  # as the original calls it
_TASK_OF = dict(zip(STORY_TYPES, TASKS, strict=True))
_IN_TRACE = (TRACE, "question_type", "story_type")
Parsed = TypeVar("Parsed")
_SCHEMA = pa.schema([*plain_schema(), (TRACE, pa.string()), (OBSERVERS, pa.string())])


class BabiFormat(Format):
    """Numbered sentences and questions."""

    suffixes = (".txt",)
    opening = "a numbered sentence"
    short_name = "babi"
    family = "belief"
    holds_text = True
    beside = (".trace",)

    def read(self, path: Path, rows: int = CHUNK_ROWS, *, places: bool = False) -> Iterator[pa.Table]:
        """Read a file of either layout, with the trace beside it."""
        return read_babi(path, rows, places)

    def locate(self, path: Path, column: str, place: Place) -> Spot:
        """Return where a value stands: labels in the trace; without one, types are part of the file's name."""
        if column not in _IN_TRACE:
            return super().locate(path, column, place)
        return Spot(path.with_suffix(".trace").name if place.beside else path.name, place.beside, column)

    def patch(self, path: Path, changes: Changes) -> dict[str, Write]:
        """Edit lines of a file and its trace; where a question is left out, the lines after it are renumbered.

        Types that are part of the file's name stay.
        """
        text, beside = _plan(path, changes)
        writes: dict[str, Write] = {path.name: lambda file: _write_patched(path, file, text, _edit_text)}
        trace_path = path.with_suffix(".trace")
        if trace_path.exists():
            writes[trace_path.name] = lambda file: _write_patched(trace_path, file, beside, _edit_trace)
        return writes


class TomiFormat(BabiFormat):
    """The published files of ToMi."""

    name = "tomi"

    def recognise(self, path: Path) -> bool:
        """Return whether a file begins with a numbered sentence and nothing after it."""
        line = first_line(path)
        return line.split(" ")[0].isdecimal() and "\t" not in line

    def writer(self, folder: Path, split: str) -> SplitWriter:
        """Return what writes text and trace."""
        return TomiSplit(folder, split)


class TomBabiFormat(BabiFormat):
    """The files of ToM-bAbI."""

    name = "tom-babi"

    def recognise(self, path: Path) -> bool:
        """Return whether a file begins with a numbered sentence, a tab and who saw it."""
        line = first_line(path)
        return line.split(" ")[0].isdecimal() and "\t" in line

    def writer(self, folder: Path, split: str) -> SplitWriter:
        """Return what writes one file per task, question and split."""
        return TomBabiSplit(folder, split)


def _question_name(question_type: str) -> str:
    """Return ToM-bAbI's own word for a question type."""
    order = question_type.split("_")[0]
    return {"first": "search", "second": "belief"}.get(order, order)


class TomiSplit:
    """Writes one split as ToMi was published."""

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
        """Finish the files and return them."""
        self._text.close()
        self._trace.close()
        return self._paths


class TomBabiSplit:
    """Writes one split as ToM-bAbI was published."""

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
            done = 0
            for asked, row in enumerate(rows):
                until = row["story"].count("\n") + 1
                for time in range(done, until):
                    seers = " ".join(numbers[agent] for agent in seen[time])
                    file.write(f"{time + asked + 1} {sentences[time]}\t{seers}\n")
                file.write(f"{until + asked + 1} {row['question']}\t{row['answer']}\t1\n")
                done = until

    def _file(self, rows: Sequence[dict[str, Any]]) -> TextIO:
        shard = self._split[len(self._split.partition("-")[0]) :]  # what follows the split, if it is in shards
        name = MIXED_NAME.replace(".", f"{shard}.")
        if len(rows) == 1:
            task, question = _TASK_OF[rows[0]["story_type"]], _question_name(rows[0]["question_type"])
            name = f"{task}_{question}_{self._split}_test.txt"
        path = self._folder / name
        if path not in self._files:
            self._files[path] = path.open("w", encoding="utf-8", newline="\n")
        return self._files[path]

    def close(self) -> list[Path]:
        """Finish the files and return them."""
        for file in self._files.values():
            file.close()
        return sorted(self._files)


def _agents(events: Sequence[PlotEvent]) -> list[str]:
    return list(dict.fromkeys(event.agent for event in events if event.agent and event.kind is not EventKind.FEEL))


@dataclass
class _FilePosition:
    """Where a file has been read up to."""

    path: Path
    stem: str
    split: str | None
    story_type: str | None
    number: int = 0
    sentences: list[str] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    seen: list[str] = field(default_factory=list)
    story: int = -1
    last_story: str = ""
    fresh: bool = True
    asked: bool = True
    last_count: int = 0

    def fail(self, found: str, expected: str) -> DataError:
        return DataError(f"{self.path}, line {self.number}: {found}; expected {expected}.")

    def take(self, line: str) -> dict[str, Any] | None:
        """Read a line; return a row if it is a question."""
        count, space, rest = line.partition(" ")
        if not space or not count.isdecimal() or len(count) > 9:
            raise self.fail(f"found {quoted(line, 60)}", "a sentence number, a space and a sentence")
        if int(count) not in (1, self.last_count + 1):
            raise self.fail(f"found number {count} after {self.last_count}", "the next number, or 1 for a new story")
        if int(count) == 1:
            self.end()
            self.sentences, self.lines, self.seen, self.fresh = [], [], [], True
        self.last_count = int(count)
        cells = rest.split("\t")
        if not cells[0].endswith("?"):
            if len(cells) > 2:
                raise self.fail(f"found {len(cells)} columns", "a sentence, and at most one column of observers")
            self._check(parse_sentence, cells[0])
            self.asked = False
            self.sentences.append(cells[0])
            self.lines.append(self.number)
            self.seen.append(cells[1].strip() if len(cells) == 2 else "-")
            return None
        if len(cells) < 2 or not cells[1]:
            raise self.fail(f"the question {quoted(cells[0])} has no answer", "question, tab, answer, tab, number")
        if not self.sentences:
            raise self.fail("a question without a story", "sentences before it, numbered from 1")
        return self._row(cells[0], cells[1])

    def end(self) -> None:
        """Raise DataError if a story has no question."""
        if not self.asked:
            raise self.fail("the story before it ends without a question", "a question with tab and answer")

    def _check(self, parser: Callable[[str], Parsed], text: str) -> Parsed:
        try:
            return parser(text)
        except ParseError as error:
            raise DataError(f"{self.path}, line {self.number}: {error}") from error

    def _row(self, question: str, answer: str) -> dict[str, Any]:
        belief_question = self._check(parse_question, question)
        self.asked = True
        story = "\n".join(self.sentences)
        if self.fresh and story != self.last_story:
            self.story += 1
        self.fresh, self.last_story = False, story
        watched = any(mark != "-" for mark in self.seen)
        return {
            "id": f"{self.stem}-{self.number}",
            "story_id": f"{self.stem}-{self.story}",
            "benchmark": "tom-babi" if watched else None,
            "split": self.split,
            "story": story,
            "question": question,
            "answer": answer,
            "order": belief_question.order,
            "chain": list(belief_question.chain),
            "story_type": self.story_type,
            OBSERVERS: "\n".join(self.seen) if watched else None,
        }


def read_babi(path: Path, rows: int, places: bool = False) -> Iterator[pa.Table]:
    """Read a file of either layout in tables of about `rows` rows, whole stories each.

    The trace beside it, if there is one, gives question and story types; what the format does not say is null.

    Args:
        path: The file.
        rows: About how many rows a table has.
        places: Add the column `place`.

    Raises:
        DataError: If a line has no known form; the message names the line.
    """
    parts = path.stem.split("_")
    split = split_of(path)
    # ToM-bAbI says the story type in the file's name; ToMi's published names begin with fb for another reason.
    task = parts[0] if len(parts) > 2 and parts[1] in QUESTIONS else None
    state = _FilePosition(
        path, stem_of(path), split, next((name for name, short in _TASK_OF.items() if short == task), None)
    )
    waiting = _PlacedRows(places)
    traces = _read_trace(path.with_suffix(".trace"))
    for state.number, line in enumerate(_lines(path), start=1):
        if not line:
            continue
        row = state.take(line)
        if row is None:
            continue
        beside = 0 if traces is None else _add_trace(row, traces, state)
        if len(waiting.rows) >= rows and row["story_id"] != waiting.rows[-1]["story_id"]:
            yield waiting.table()
        waiting.add(row, state, beside)
    state.number += 1
    state.end()
    if traces is not None and (left := [number for number, _ in traces]):
        where = f"{path.with_suffix('.trace')}, line {left[0]}"
        raise DataError(
            f"{where}: found {len(left)} more lines than {path.name} has questions; expected one line per question."
        )
    if not waiting.rows and state.story < 0:
        raise DataError(f"{path} has no question; expected numbered sentences, then a question with tab and answer.")
    if waiting.rows:
        yield waiting.table()


class _PlacedRows:
    """Rows that have been read, and where they stand."""

    def __init__(self, places: bool) -> None:
        self._places, self._done = places, 0
        self._clear()

    def _clear(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self._lines: list[int] = []
        self._beside: list[int] = []
        self._sentences: list[list[int]] = []

    def add(self, row: dict[str, Any], state: _FilePosition, beside: int) -> None:
        """Add the row whose question has just been read."""
        self.rows.append(row)
        if self._places:
            self._lines.append(state.number)
            self._beside.append(beside)
            self._sentences.append(state.lines.copy())

    def table(self) -> pa.Table:
        """Return the rows as a table, and begin the next one."""
        table = pa.Table.from_pylist(self.rows, schema=_SCHEMA)
        if self._places:
            table = with_places(table, self._done, self._lines, beside=self._beside, sentences=self._sentences)
        self._done += len(self.rows)
        self._clear()
        return table


def _lines(path: Path) -> Iterator[str]:
    try:
        for line in text_lines(path, newline=""):
            yield line.rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise DataError(f"cannot read {path}: {error}.") from error


def _read_trace(path: Path) -> Iterator[tuple[int, str]] | None:
    return ((number, line) for number, line in enumerate(_lines(path), start=1) if line) if path.exists() else None


def _add_trace(row: dict[str, Any], traces: Iterator[tuple[int, str]], state: _FilePosition) -> int:
    """Add the labels of the next line of the trace to a row; return the line's number."""
    path = state.path.with_suffix(".trace")
    number, line = next(traces, (0, ""))
    if not line:
        raise DataError(f"{path} ends before line {state.number} of {state.path.name}; expected one line per question.")
    cells = line.split(",")
    if len(cells) < 3 or cells[-1] not in STORY_TYPES:
        raise DataError(
            f"{path}, line {number}: found {quoted(line, 60)}; expected it to end in a question type and one of "
            f"{', '.join(STORY_TYPES)}."
        )
    row["benchmark"] = "tomi"  # no other benchmark has traces
    row["question_type"], row["story_type"], row[TRACE] = cells[-2], cells[-1], ",".join(cells[:-2])
    return number


class _Edit(NamedTuple):
    """A value to be replaced: its name, the new value, and what stands there now if that is known."""

    name: str
    value: str
    found: str | None


@dataclass(slots=True)
class _LineEdits:
    """What changes in a file, by line; where a number is 0 the line is left out."""

    edits: dict[int, list[_Edit]] = field(default_factory=dict)
    numbers: dict[int, int] = field(default_factory=dict)


class _Block(NamedTuple):
    """The lines of a row: its own, the last with the answer; sentences before them; the line of the trace."""

    lines: list[int]
    before: tuple[int, ...]
    beside: int


def _blocks(path: Path) -> Iterator[_Block]:
    """Find where each row of a file stands, without parsing it."""
    trace_path = path.with_suffix(".trace")
    traces: Iterator[int] = (number for number, _ in filled_lines(trace_path)) if trace_path.exists() else repeat(0)
    lines: list[int] = []
    before: tuple[int, ...] = ()
    for number, line in filled_lines(path):
        if int(line.partition(b" ")[0].decode()) == 1:
            before = ()
        lines.append(number)
        if line.partition(b"\t")[0].endswith(b"?"):
            yield _Block(lines, before, next(traces, 0))
            lines, before = [], (*before, *lines[:-1])


def _plan(path: Path, changes: Changes) -> tuple[_LineEdits, _LineEdits]:
    """Find the lines of a file and of its trace that change."""
    text, beside = _LineEdits(), _LineEdits()
    if not changes.values and not changes.gone and changes.rows is None:
        return text, beside
    story: list[tuple[int, _Block]] = []
    rows = 0
    try:
        for row, block in enumerate(_blocks(path)):
            rows = row + 1
            if not block.before and story:
                text.numbers |= _renumbered(story, changes)
                story = []
            story.append((row, block))
            if row in changes.gone:
                beside.numbers[block.beside] = 0
            for name, value in changes.values.get(row, {}).items():
                column, _, part = name.partition(".")
                edit = _Edit(column, value, changes.expected(row, name))
                if column in _IN_TRACE:
                    if block.beside:
                        beside.edits.setdefault(block.beside, []).append(edit)
                else:
                    line = [*block.before, *block.lines[:-1]][int(part) - 1] if part else block.lines[-1]
                    text.edits.setdefault(line, []).append(edit)
    except (ValueError, IndexError) as error:
        raise DataError(f"{path} has other lines ({error}); expected it as it was audited.") from error
    text.numbers |= _renumbered(story, changes)
    changes.check_rows(path, rows)
    return text, beside


def _renumbered(story: Sequence[tuple[int, _Block]], changes: Changes) -> dict[int, int]:
    """Return new numbers for the lines of a story from which questions are left out; 0 for those that go with them."""
    if not any(row in changes.gone for row, _ in story):
        return {}
    numbers: dict[int, int] = {}
    last = max((row for row, _ in story if row not in changes.gone), default=-1)
    number = 0
    for row, block in story:
        for line in block.lines:
            stays = row <= last and (row not in changes.gone or line != block.lines[-1])
            number += stays
            numbers[line] = number if stays else 0
    return numbers


def _write_patched(path: Path, file: BinaryIO, plan: _LineEdits, edit: Callable[[str, Sequence[_Edit]], str]) -> None:
    """Copy a file, changing only the lines that have to be."""
    if not plan.edits and not plan.numbers:
        with open_file(path) as source:
            shutil.copyfileobj(source, file)
        return
    for number, line in numbered_lines(path):
        if plan.numbers.get(number) == 0:
            continue
        if number in plan.edits or number in plan.numbers:
            body = line.rstrip(b"\r\n")
            mark = MARK if number == 1 and body.startswith(MARK) else b""
            try:
                text = body.removeprefix(mark).decode()
                if number in plan.numbers:
                    text = f"{plan.numbers[number]} {text.partition(' ')[2]}"
                text = edit(text, plan.edits.get(number, ()))
            except (DataError, ValueError) as error:
                raise DataError(
                    f"{path}, line {number}: found {body[:60]!r}; expected it as it was audited."
                ) from error
            line = mark + text.encode() + line[len(body) :]
        file.write(line)


def _replaced(value: str, edit: _Edit) -> str:
    if edit.found not in (None, value, value.strip()):
        raise DataError(f"'{value}' is not '{edit.found}'.")
    return edit.value


def _edit_text(text: str, edits: Sequence[_Edit]) -> str:
    cells = text.split("\t")
    for each in edits:  # the answer, or who saw the sentence
        cells[1:2] = [_replaced(cells[1] if len(cells) > 1 else "-", each)]
    return "\t".join(cells)


def _edit_trace(text: str, edits: Sequence[_Edit]) -> str:
    *actions, question_type, story_type = text.split(",")
    labels = dict(zip(_IN_TRACE, (",".join(actions), question_type, story_type), strict=True))
    for each in edits:
        labels[each.name] = _replaced(labels[each.name], each)
    return ",".join(labels.values())


TOMI, TOM_BABI = TomiFormat(), TomBabiFormat()
