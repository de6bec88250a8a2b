"""The original text formats: numbered sentences, then a question with its answer.

ToMi: `train.txt` with a `train.trace` beside it, the story repeated for each question. ToM-bAbI: the numbers of the
observers after each sentence, and one file per task, question and split; training stories with several questions go
into one file, questions between the sentences. Both are read alike.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from itertools import groupby, islice, pairwise
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TextIO, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from storyproof.errors import DataError, ParseError, quoted
from storyproof.example import plain_schema
from storyproof.families.belief.benchmarks.tom_babi import QUESTIONS, TASKS
from storyproof.families.belief.plot_index import mover_of, other_of
from storyproof.families.belief.tomi_labels import STORY_TYPES
from storyproof.families.belief.tomi_text import narrate, parse, parse_question, parse_sentence
from storyproof.families.belief.world import EventKind, PlotEvent
from storyproof.formats.chunks import CHUNK_ROWS
from storyproof.formats.format import (
    PART_BYTES,
    WHOLE,
    Format,
    Part,
    Place,
    SplitWriter,
    Spot,
    ended,
    split_of,
    stem_of,
    with_places,
)
from storyproof.formats.json_edits import Changes, Write
from storyproof.formats.lines import MARK, bad_byte, filled_lines, first_line, numbered_lines, unreadable
from storyproof.formats.records import BROKEN, RECORD, RECORD_TYPE
from storyproof.io.bounded_input import LONGEST_LINE, open_file


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

    def read_foreign(self, path: Path, rows: int = CHUNK_ROWS, part: Part = WHOLE) -> Iterator[pa.Table]:
        """Read a file with places, as far as it can be read: damaged rows say so in the column `record`."""
        return read_babi(path, rows, places=True, is_strict=False, part=part)

    def parts(self, path: Path, *, as_records: bool) -> Sequence[Part]:
        """Divide a file where a story with one question follows another."""
        return parts_of_stories(path)

    def is_data(self, path: Path) -> bool:
        """Return whether a file is named after a split, has a trace, or begins as these do: no note or licence."""
        if split_of(path) is not None or path.with_suffix(".trace").exists() or not path.exists():
            return True
        try:
            return self.recognise(path)
        except DataError:  # whoever reads it says what is wrong
            return True

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


def read_babi(
    path: Path, rows: int, places: bool = False, *, is_strict: bool = True, part: Part = WHOLE
) -> Iterator[pa.Table]:
    """Read a file of either layout in tables of about `rows` rows, whole stories each.

    The trace beside it, if there is one, gives question and story types; what the format does not say is null.

    Args:
        path: The file.
        rows: About how many rows a table has.
        places: Add the column `place`.
        is_strict: Whether every line must be in ToMi's wording. Else sentences and questions may be in any, and rows
            with damaged lines say so in the column `record`, as long as any row has none.
        part: Where to begin, see `Format.parts`.

    Raises:
        DataError: If a line has no known form, or nothing can be read; the message names the line.
    """
    is_strict = is_strict or not any(not block.damage for block in _blocks(path))
    state = _FilePosition(path, stem_of(path), split_of(path), _story_type(path))
    waiting = _PlacedRows(places, not is_strict, max(part.first - 1, 0))
    for block in _blocks(path, part):
        row = state.take(block, is_strict=is_strict)
        is_over = part.end is not None and waiting.end >= part.end
        most = 1 if is_over else rows
        if len(waiting.rows) >= most and row["story_id"] != waiting.rows[-1]["story_id"]:
            yield waiting.table()
        waiting.add(row, block)
    if not waiting.rows and not state.story:
        raise DataError(f"{path} has no question; expected numbered sentences, then a question with tab and answer.")
    if waiting.rows:
        yield waiting.table()


def _story_type(path: Path) -> str | None:
    """Return the story type in a file's name, where ToM-bAbI says it; names of ToMi begin with fb for other reasons."""
    parts = path.stem.split("_")
    task = parts[0] if len(parts) > 2 and parts[1] in QUESTIONS else None
    return next((name for name, short in _TASK_OF.items() if short == task), None)


class _Block(NamedTuple):
    """The lines of a row.

    Attributes:
        lines: Its own lines, the last with question and answer.
        texts: What they say after their numbers, as far as they are not damaged.
        before: The sentences of the story before them.
        begins: Whether it begins a story.
        asks: Whether its last line is a question.
        beside: Its line of the trace; 0 if there is none.
        labels: What that says.
        damage: Why it cannot be read; empty if it can.
        at: The line that this is about.
        is_numbered: Whether its lines have their numbers.
    """

    lines: list[int]
    texts: list[str]
    before: tuple[int, ...]
    begins: bool
    asks: bool
    beside: int = 0
    labels: Mapping[str, str] = {}
    damage: str = ""
    at: int = 0
    is_numbered: bool = True


def _blocks(path: Path, part: Part = WHOLE) -> Iterator[_Block]:
    """Find the rows of a file, with their lines of the trace, without parsing sentences or questions.

    Args:
        path: The file.
        part: Where to begin, see `Format.parts`.

    Raises:
        DataError: If the file cannot be read, or the trace has other rows.
    """
    trace_path = path.with_suffix(".trace")
    if not trace_path.exists():
        yield from _divide(path, part)
        return
    traces, left_out = filled_lines(trace_path, part.beside, max(part.first, 1)), None
    for block in _divide(path, part):
        if not block.asks:  # perhaps its question was damaged, and has a line there
            if left_out is None:
                rows = [each.asks for each in _divide(path)]
                left_out = len(rows) > sum(rows) == sum(1 for _ in filled_lines(trace_path))
            if left_out:
                yield block
                continue
        number, content = next(traces, (0, b""))
        if not number:
            where = f"before line {block.lines[-1]} of {path.name}"
            raise DataError(f"{trace_path} ends {where}; expected one line per question.")
        try:
            yield block._replace(beside=number, labels=_labels(f"{trace_path}, line {number}", content))
        except DataError as error:
            yield block if block.damage else block._replace(beside=number, damage=str(error), at=block.lines[-1])
    if left := [number for number, _ in traces]:
        where = f"{trace_path}, line {left[0]}"
        raise DataError(
            f"{where}: found {len(left)} more lines than {path.name} has questions; expected one line per question."
        )


def _labels(where: str, content: bytes) -> dict[str, str]:
    """Return the labels in a line of a trace."""
    try:
        cells = content.decode().split(",")
    except UnicodeDecodeError as error:
        raise bad_byte(where, error) from error
    if len(cells) < 3 or cells[-1] not in STORY_TYPES:
        raise DataError(
            f"{where}: found {quoted(','.join(cells), 60)}; expected it to end in a question type and one of "
            f"{', '.join(STORY_TYPES)}."
        )
    return {"question_type": cells[-2], "story_type": cells[-1], TRACE: ",".join(cells[:-2])}


def _divide(path: Path, part: Part = WHOLE) -> Iterator[_Block]:
    """Divide a file into rows, whose lines may be damaged: a row ends with a question, or where another story begins.

    What comes after a damaged line is damaged as well, up to the next story, as it may be about other events.
    """
    block, last, number = _Block([], [], (), True, False), 0, 0
    for number, content in filled_lines(path, part.at, part.line):
        if _number_of(content) == 1:
            if block.lines:
                yield _unasked(block, number)
            block, last = _Block([], [], (), True, False), 0
        block.lines.append(number)
        asks = content.partition(b"\t")[0].endswith(b"?")
        if not block.damage:
            try:
                block.texts.append(_text_of(content, last, asks, bool(block.before or block.texts)))
                last += 1
            except DataError as error:
                block = block._replace(damage=str(error), at=number, is_numbered=False)
        if asks:
            yield block._replace(asks=True)
            block = block._replace(lines=[], texts=[], before=(*block.before, *block.lines[:-1]), begins=False)
    if block.lines:
        yield _unasked(block, number + 1)


def parts_of_stories(path: Path) -> list[Part]:
    """Divide a file into parts of `PART_BYTES`, each of which begins with a story.

    Reading begins with the row before, which is that of another story. Files that cannot be divided by their first
    letters, tabs and ends of lines alone have one part, and so have files whose trace has other rows.

    Raises:
        DataError: If the file cannot be read.
    """
    parts = [WHOLE]
    if not path.is_file() or path.stat().st_size <= PART_BYTES:
        return parts  # whoever reads a missing file says so
    row, line, has_asked, is_whole = 0, 1, True, True  # of the next line, of the last one, and of all stories so far
    last: Part | None = None  # where a story begins, with the number of its row
    for at, block in _blocks_of_bytes(path):
        lines = _Lines.of(block, is_first=not at)
        if lines is None or (lines.letters[lines.starts] == ord("0")).any():  # numbers may begin with it
            return [WHOLE]
        asks, begins = lines.ask(), lines.begin()
        unasked = begins & ~np.append(has_asked, asks)[:-1]
        rows = row + np.cumsum(asks) - asks + np.cumsum(unasked)
        stories = [
            Part(first, None, at + start, line + number)
            for first, start, number in zip(
                *(each[begins].tolist() for each in (rows, lines.starts, lines.numbers)), strict=True
            )
        ]
        stories = stories if last is None else [last, *stories]
        for before, story in pairwise(stories if at else ()):
            if story.first == before.first + 1 and _are_different(*islice(_divide(path, before), 2)):
                parts.append(before._replace(first=story.first))
                break
        last = stories[-1] if stories else None
        row, line = row + int(asks.sum() + unasked.sum()), line + lines.total
        has_asked, is_whole = bool(asks[-1]) if len(asks) else has_asked, is_whole and not unasked.any()
    trace_path = path.with_suffix(".trace")
    if len(parts) < 2 or not trace_path.exists():
        return ended(parts)
    begins_beside = _starts_of_lines(trace_path, [max(each.first - 1, 0) for each in parts], row)
    if begins_beside is None or not has_asked or not is_whole:
        return [WHOLE]
    return ended([each._replace(beside=start) for each, start in zip(parts, begins_beside, strict=True)])


def _are_different(one: _Block, other: _Block) -> bool:
    """Return whether two rows can be read, and have different stories."""
    return not one.damage and not other.damage and one.texts[:-1] != other.texts[:-1]


def _starts_of_lines(path: Path, numbers: Sequence[int], count: int) -> list[int] | None:
    """Return where some lines begin, counted from 0 and sorted; None if there is not this number of lines, all filled.

    Raises:
        DataError: If the file cannot be read.
    """
    starts: list[int] = []
    done = 0
    for at, block in _blocks_of_bytes(path):
        lines = _Lines.of(block, is_first=not at)
        if lines is None or len(lines.starts) != lines.total:
            return None
        here = [each - done for each in numbers if done <= each < done + lines.total]
        starts += [at + int(lines.starts[each]) if at or each else 0 for each in here]
        done += lines.total
    return starts if done == count else None


def _blocks_of_bytes(path: Path) -> Iterator[tuple[int, bytes]]:
    """Read a file in blocks of whole lines of about `PART_BYTES`, each with where it begins.

    Raises:
        DataError: If the file cannot be read.
    """
    at = 0
    try:
        with open_file(path) as file:
            while block := file.read(PART_BYTES):
                block += file.readline(LONGEST_LINE + 1)
                yield at, block
                at += len(block)
    except OSError as error:
        raise unreadable(path, error) from error


class _Lines(NamedTuple):
    """The lines of a block that are not empty.

    Attributes:
        letters: The bytes of the block.
        starts: [line], where it begins.
        ends: [line], where it ends, without the end of line.
        numbers: [line], its number in the block, from 0.
        total: How many lines there are, empty ones too.
    """

    letters: npt.NDArray[np.uint8]
    starts: npt.NDArray[np.intp]
    ends: npt.NDArray[np.intp]
    numbers: npt.NDArray[np.intp]
    total: int

    @classmethod
    def of(cls, block: bytes, *, is_first: bool) -> _Lines | None:
        """Return the lines of a block; None if they end in other ways than with line feeds, or one is too long."""
        letters = np.frombuffer(block, np.uint8)
        ends = np.flatnonzero(letters == ord("\n"))
        if not block.endswith(b"\n"):
            ends = np.append(ends, len(block))
        starts = np.append([0], ends[:-1] + 1)
        if block.count(b"\r") != block.count(b"\r\n") or int((ends - starts).max()) > LONGEST_LINE:
            return None
        starts[0] = len(MARK) if is_first and block.startswith(MARK) else 0
        ends = ends - (letters[np.maximum(ends - 1, 0)] == ord("\r"))
        filled = np.flatnonzero(ends > starts)
        return cls(letters, starts[filled], ends[filled], filled, len(starts))

    def begin(self) -> npt.NDArray[np.bool_]:
        """Return which lines have the number 1."""
        second = self.letters[np.minimum(self.starts + 1, self.ends - 1)]
        begins: npt.NDArray[np.bool_] = (self.letters[self.starts] == ord("1")) & (second == ord(" "))
        return begins

    def ask(self) -> npt.NDArray[np.bool_]:
        """Return which lines are questions: what stands before their first tab ends with a question mark."""
        tabs = np.append(np.flatnonzero(self.letters == ord("\t")), len(self.letters))
        ends = np.minimum(tabs[np.searchsorted(tabs, self.starts)], self.ends)
        asks: npt.NDArray[np.bool_] = (ends > self.starts) & (self.letters[ends - 1] == ord("?"))
        return asks


def _unasked(block: _Block, number: int) -> _Block:
    if block.damage:
        return block
    damage = "the story before it ends without a question; expected a question with tab and answer."
    return block._replace(damage=damage, at=number, is_numbered=False)


def _number_of(content: bytes) -> int | None:
    """Return the number with which a line begins; None if there is none."""
    count, space, _ = content.partition(b" ")
    return int(count) if space and count.isdigit() and len(count) < 10 else None


def _text_of(content: bytes, last: int, asks: bool, has_story: bool) -> str:
    """Return what a line says after its number.

    Raises:
        DataError: If it is damaged; the message does not name the line.
    """
    try:
        line = content.decode()
    except UnicodeDecodeError as error:
        raise DataError(f"found the byte 0x{content[error.start]:02x}; expected text in UTF-8.") from error
    number, cells = _number_of(content), line.partition(" ")[2].split("\t")
    if number is None:
        found, expected = f"found {quoted(line, 60)}", "a sentence number, a space and a sentence"
    elif number != last + 1:
        found, expected = f"found number {number} after {last}", "the next number, or 1 for a new story"
    elif not asks and len(cells) > 2:
        found, expected = f"found {len(cells)} columns", "a sentence, and at most one column of observers"
    elif asks and (len(cells) < 2 or not cells[1]):
        found, expected = f"the question {quoted(cells[0])} has no answer", "question, tab, answer, tab, number"
    elif asks and not has_story:
        found, expected = "a question without a story", "sentences before it, numbered from 1"
    else:
        return "\t".join(cells)
    raise DataError(f"{found}; expected {expected}.")


@dataclass
class _FilePosition:
    """Where a file has been read up to."""

    path: Path
    stem: str
    split: str | None
    story_type: str | None
    sentences: list[str] = field(default_factory=list)
    seen: list[str] = field(default_factory=list)
    story: int = 0  # the line at which it begins
    last_story: str = ""
    fresh: bool = True

    def take(self, block: _Block, *, is_strict: bool) -> dict[str, Any]:
        """Return the next row.

        Raises:
            DataError: If it cannot be read, and all must be.
        """
        if block.begins:
            self.sentences, self.seen, self.fresh = [], [], True
        cells = [each.split("\t") for each in block.texts]
        told = cells if block.damage and block.is_numbered is False else cells[:-1]
        if is_strict:
            for number, (sentence, *_) in zip(block.lines, told, strict=False):
                self._check(parse_sentence, sentence, number)
        if block.damage:
            if is_strict:
                raise DataError(block.damage if block.is_numbered else f"{self.path}, line {block.at}: {block.damage}")
            return self._damaged(block)
        self.sentences += [sentence for sentence, *_ in told]
        self.seen += [marks[0].strip() if marks else "-" for _, *marks in told]
        return self._row(block, cells[-1][0], cells[-1][1], is_strict)

    def _check(self, parser: Callable[[str], Parsed], text: str, number: int) -> Parsed:
        try:
            return parser(text)
        except ParseError as error:
            raise DataError(f"{self.path}, line {number}: {error}") from error

    def _row(self, block: _Block, question: str, answer: str, is_strict: bool) -> dict[str, Any]:
        asked: dict[str, Any] = {}
        with nullcontext() if is_strict else suppress(DataError):
            belief_question = self._check(parse_question, question, block.lines[-1])
            asked = {"order": belief_question.order, "chain": list(belief_question.chain)}
        story = "\n".join(self.sentences)
        if self.fresh and story != self.last_story:
            self.story = block.lines[0]
        self.fresh, self.last_story = False, story
        watched = any(mark != "-" for mark in self.seen)
        benchmark = "tomi" if block.labels else "tom-babi" if watched else None  # no other benchmark has traces
        return {
            "id": f"{self.stem}-{block.lines[-1]}",
            "story_id": f"{self.stem}-{self.story}",
            "benchmark": benchmark,
            "split": self.split,
            "story": story,
            "question": question,
            "answer": answer,
            **asked,
            "story_type": self.story_type,
            OBSERVERS: "\n".join(self.seen) if watched else None,
            **block.labels,
        }

    def _damaged(self, block: _Block) -> dict[str, Any]:
        name = f"{self.stem}-{block.lines[-1]}"
        known = {"id": name, "story_id": f"{name}-damaged", "split": self.split}
        damage = {"cause": BROKEN, "problem": block.damage.rstrip(".")}
        return {**known, "story": "", "question": "", "answer": "", RECORD: damage}


class _PlacedRows:
    """Rows that have been read, and where they stand."""

    def __init__(self, places: bool, records: bool, done: int) -> None:
        self._places, self._records, self._done = places, records, done
        self._clear()

    def _clear(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self._blocks: list[_Block] = []

    @property
    def end(self) -> int:
        """The number of the row after them."""
        return self._done + len(self.rows)

    def add(self, row: dict[str, Any], block: _Block) -> None:
        """Add a row."""
        self.rows.append(row)
        self._blocks.append(block)

    def table(self) -> pa.Table:
        """Return the rows as a table, and begin the next one."""
        table = pa.Table.from_pylist(self.rows, schema=_SCHEMA)
        if self._records:
            about = pa.array([row.get(RECORD, {}) for row in self.rows], RECORD_TYPE)
            table = table.append_column(RECORD, about)
        if self._places:
            lines = [each.at or each.lines[-1] for each in self._blocks]
            sentences = [[*each.before, *each.lines[:-1]] for each in self._blocks]
            beside = [each.beside for each in self._blocks]
            table = with_places(table, self._done, lines, beside=beside, sentences=sentences)
        self._done += len(self.rows)
        self._clear()
        return table


class _Edit(NamedTuple):
    """A value to be replaced: its name, the new value, and what stands there now if that is known."""

    name: str
    value: str
    found: str | None


@dataclass(slots=True)
class _LineEdits:
    """What changes in a file, by line: values, and by how much its number decreases; None if it is left out."""

    edits: dict[int, list[_Edit]] = field(default_factory=dict)
    numbers: dict[int, int | None] = field(default_factory=dict)


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
            if block.begins and story:
                text.numbers |= _renumbered(story, changes)
                story = []
            story.append((row, block))
            if row in changes.gone:
                beside.numbers[block.beside] = None
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


def _renumbered(story: Sequence[tuple[int, _Block]], changes: Changes) -> dict[int, int | None]:
    """Return by how much the numbers of a story's lines decrease if questions are left out; None for lines that go.

    Those of damaged lines do too: what was out of order must not come into order.
    """
    if not any(row in changes.gone for row, _ in story):
        return {}
    numbers: dict[int, int | None] = {}
    last = max((row for row, _ in story if row not in changes.gone), default=-1)
    gone = 0
    for row, block in story:
        for line in block.lines:
            stays = row <= last and (row not in changes.gone or line != block.lines[-1])
            gone += not stays
            numbers[line] = gone if stays else None
    return numbers


def _decreased(line: bytes, gone: int) -> bytes:
    """Return a line with a smaller number, if it has one: 0 for what would begin a story."""
    number, rest = _number_of(line), line.partition(b" ")[2]
    return line if number is None or not gone else b"%d %b" % (number - gone if number > gone + 1 else 0, rest)


def _write_patched(path: Path, file: BinaryIO, plan: _LineEdits, edit: Callable[[str, Sequence[_Edit]], str]) -> None:
    """Copy a file, changing only the lines that have to be."""
    if not plan.edits and not plan.numbers:
        with open_file(path) as source:
            shutil.copyfileobj(source, file)
        return
    for number, line in numbered_lines(path):
        if plan.numbers.get(number, 0) is None:
            continue
        if number in plan.edits or number in plan.numbers:
            body = line.rstrip(b"\r\n")
            mark = MARK if number == 1 and body.startswith(MARK) else b""
            changed = _decreased(body.removeprefix(mark), plan.numbers.get(number) or 0)
            if edits := plan.edits.get(number):
                try:
                    changed = edit(changed.decode(), edits).encode()
                except (DataError, ValueError) as error:
                    raise DataError(
                        f"{path}, line {number}: found {body[:60]!r}; expected it as it was audited."
                    ) from error
            line = mark + changed + line[len(body) :]
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
