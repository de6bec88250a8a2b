"""Rows from the records of any file: the one way in which an audit reads objects, whatever format holds them.

A format yields `Record`s; `RecordFile` finds out which columns hold what, and yields tables with the columns of
examples, `place` and `record`. Records that cannot be read, and rows that lack something, are rows too.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, lru_cache
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from storyproof.errors import ConfigError, DataError, ParseError, quoted
from storyproof.example import REQUIRED, SCHEMA, plain_schema
from storyproof.families.family import Family, families, recognise
from storyproof.formats.chunks import CHUNK_ROWS
from storyproof.formats.columns import (
    ITEM,
    Columns,
    NoColumnsError,
    RowValues,
    find_columns,
    find_instructions,
    row_hash,
    rows_of,
    without_instructions,
)
from storyproof.formats.format import PLACE, WHOLE, Format, Part, stem_of, with_places
from storyproof.formats.published import find_published
from storyproof.formats.restated import Restated

RECORD = "record"  # the column with what a record says besides the columns of examples
RECORD_TYPE = pa.struct(
    [
        ("number", pa.int64()),  # of the record, from 0
        ("part", pa.string()),  # of the file, such as train
        ("cause", pa.string()),  # what is lacking, if the row cannot be judged
        ("problem", pa.string()),
        ("choices", pa.list_(pa.string())),
        ("labels", pa.list_(pa.string())),  # of the choices
        ("digest", pa.string()),  # of story and question as they stand there; of somebody else's files only
        ("spaced", pa.bool_()),  # names of several words, which we join with _, are written with spaces there
        ("written", pa.string()),  # the answer as it stands there, as JSON, if it is not the text of the answer
    ]
)
BROKEN = "record"  # the cause of records that cannot be read
VALUES = "columns"  # the cause of rows of ours with values of another type
_SAMPLE = 2_000  # records in which instructions are looked for
_SAMPLE_CHARACTERS = 32 << 20
_COMPARED = 200  # records that columns are guessed from
_ROWS = 8_192  # of a table
_LONG = 1_000  # characters of a question that is not remembered
_FEW_ROWS = 64  # to read at a time where few are needed
_NOT_OF_OURS = frozenset((*REQUIRED, "id", "split"))


class Record(NamedTuple):
    """What a file holds per line or object.

    Attributes:
        value: Its values by column; None if it cannot be read.
        line: Its line, from 1; 0 if the format has none.
        number: What ids of rows without an id are made of.
        problem: Why it cannot be read.
        part: The part of the file that it is in, such as `train` in `{"train": [...], "test": [...]}`.
    """

    value: Mapping[str, Any] | None
    line: int
    number: int
    problem: str = ""
    part: str = ""


class RecordFile:
    """The rows of a file of records.

    Args:
        path: The file.
        form: Its format.
        given: What users said about its columns, by role; see `columns.parse_columns`.
        ignored: Columns under names of ours that hold something else.
        rewords: Whether stories and questions of published sets are restated in words that are judged. Otherwise they
            are as they were published, unless a set has no questions.

    Attributes:
        columns: Where its rows are; several if its records have several kinds of questions.
        is_ours: Whether it has the columns of examples, all of them or those of one family.
        family: The family that its columns tell, if they do.
        instructions: Lines around its stories that are no part of them.
        names: The columns of ours that it has, besides those of `columns`.
        given: What users said.
        count: How many records were read.
        published: The published set that it is; None if it is none that is known.

    Raises:
        DataError: If no record can be read, or no column for a story or a question is found.
    """

    def __init__(
        self,
        path: Path,
        form: Format,
        given: Mapping[str, str] | None = None,
        ignored: Collection[str] = (),
        *,
        rewords: bool = False,
    ) -> None:
        self._path, self._form = path, form
        self.given, self.count = dict(given or {}), 0
        records = iter(form.records(path))
        sample = list(_limited(records))
        values = [each.value for each in sample if each.value]
        if sample and not values:
            line = f", line {sample[0].line}" if sample[0].line else ""
            raise DataError(f"{path}{line}: {sample[0].problem or 'there is nothing'}; no row can be read.")
        names = list(dict.fromkeys(name for each in values for name, value in each.items() if value is not None))
        marked = recognise(names)
        needed = set(SCHEMA.names) - ({"answer"} if form.makes_rows else set())  # which such rows have elsewhere
        self.published = find_published(values[:_COMPARED])
        self._restate = self.published.restate if self.published is not None and not given else None
        self._rewords = rewords
        if self._restate is not None:
            found = [(each, row) for each in values for row in self._restatements(each)]
            values = [each if row is None else row.record for each, row in found]
        self.is_ours = not given and (bool(marked.marks) or needed <= set(names))
        self.family: Family | None = marked if marked.marks and not given else None
        self.instructions: frozenset[str] = frozenset()
        self._makes_rows = not given and form.makes_rows
        if self.is_ours or self._makes_rows or not values:
            self.columns = [Columns(("story",), ("question",), ("answer",), id=("id",))]
        else:
            self.columns = find_columns(values[:_COMPARED], given or {}, f"{path}")
            self.instructions = find_instructions(
                row.story for value in values for columns in self.columns for row in rows_of(value, columns)
            )
        ours = {each.name: each for family in families() for each in plain_schema(family.schema)}
        ours |= {each.name: each for each in plain_schema(marked.schema)}
        others = {
            *_NOT_OF_OURS,
            *ignored,
            *(() if self.is_ours else (name for each in self.columns for name in each.firsts)),
        }
        self.names = [name for name in ours if name in names and name not in others]
        self._schema = pa.schema([each for name, each in ours.items() if name in SCHEMA.names or name in self.names])
        self._taken = {*self.names, *({"split"} if self.is_ours else ())}
        self._sample = sample
        self._stories: dict[tuple[str, str], str] = {}  # the last one, with its family's name, as its family reads it
        self._needed: set[str] | None = None
        if form.reads_arrays:  # what is not needed is not read
            self._needed = {*self._taken, *(name for each in self.columns for name in each.firsts)}
            if self._restate is not None and self.published is not None:
                self._needed |= self.published.columns
            self._records: Iterable[Record] = form.records(path, self._needed)
        else:
            self._records = chain(sample, records)

    def parts(self) -> Sequence[Part]:
        """Return parts of the file that can be read by themselves; one if its records have several rows.

        Raises:
            DataError: If the file cannot be read.
        """
        steps = [step for columns in self.columns for step in columns.question or columns.answer or columns.story]
        if self._restate is not None or (not self._makes_rows and (len(self.columns) > 1 or ITEM in steps)):
            return [WHOLE]
        return self._form.parts(self._path, as_records=True)

    @property
    def keeps_ids(self) -> bool:
        """Whether ids are its own under the name of ours, so that none may occur twice."""
        return self.is_ours or self._makes_rows or {each.id for each in self.columns} == {("id",)}

    def described(self) -> dict[str, str]:
        """Return the columns as people read them, by what they hold; empty if all are called as ours."""
        if self.is_ours or self._makes_rows:
            return {}
        roles: dict[str, dict[str, None]] = {}
        for columns in self.columns:
            for role, name in columns.named().items():
                roles.setdefault(role, {})[name] = None
        named = {role: " and ".join(names) for role, names in roles.items()}
        return named if any(role != name for role, name in named.items()) else {}

    def beginning(self, rows: int) -> pa.Table | None:
        """Return the first rows, which need not be read again, as `tables` does; None if there is none."""
        first = list(islice(self._rows(self._sample, WHOLE), rows))
        return self._table(first, 0) if first else None

    def tables(self, rows: int = _ROWS, part: Part = WHOLE) -> Iterator[pa.Table]:
        """Read the file in tables of at most this number of rows, with places and the column `record`.

        Args:
            rows: The number of rows.
            part: Where to begin, see `Format.parts`.
        """
        waiting: list[dict[str, Any]] = []
        most, done = min(rows, _ROWS), max(part.first - 1, 0)
        records: Iterable[Record] = self._records
        if part != WHOLE:
            records = self._form.records(self._path, self._needed, part)  # type: ignore[call-arg]  # see Format.parts
        for row in self._rows(records, part):
            waiting.append(row)
            if len(waiting) == most or done + len(waiting) == part.end:
                yield self._table(waiting, done)
                done, waiting = done + len(waiting), []
                most = most if part.end is None or done < part.end else _FEW_ROWS  # until its last story ends
        if waiting:
            yield self._table(waiting, done)

    def _table(self, rows: list[dict[str, Any]], first: int) -> pa.Table:
        present = set().union(*rows)
        columns = [
            _column([row.get(each.name) for row in rows], each.type)
            if each.name in present
            else pa.nulls(len(rows), each.type)
            for each in self._schema
        ]
        table = pa.table(columns, schema=self._schema)
        table = table.append_column(RECORD, pa.array([row[RECORD] for row in rows], RECORD_TYPE))
        lines, answers = [row["line"] for row in rows], [row["answer at"] for row in rows]
        return with_places(table, first, lines, answers=answers)

    def _rows(self, records: Iterable[Record], part: Part) -> Iterator[dict[str, Any]]:
        self.count = 0
        stem = stem_of(self._path)
        for place, record in enumerate(records, start=max(part.first - 1, 0)):
            self.count += place >= part.first and (part.end is None or place < part.end)
            named = f"{stem}-{record.number}"
            beside = {"number": place, "part": record.part or None}
            empty = {"id": named, "story": "", "question": "", "answer": "", "line": record.line, "answer at": "answer"}
            if record.value is None:
                yield {**empty, RECORD: {**beside, "cause": BROKEN, "problem": record.problem}}
                continue
            value = record.value
            own = {name: value.get(name) for name in self._taken}
            if isinstance(number := own.get("story_id"), int) and not isinstance(number, bool):
                own["story_id"] = str(number)
            if self._makes_rows:
                try:
                    made = self._form.make_row(value)
                except DataError as error:
                    made = {RECORD: {"cause": "question", "problem": str(error)}}
                yield {
                    **empty,
                    **own,
                    **made,
                    "id": made.get("id") or named,
                    RECORD: {**beside, **made.get(RECORD, {})},
                }
                continue
            rows = list(self._values(value))
            if not rows:
                problem = {"cause": "question", "problem": "there is no question"}
                yield {**empty, **own, RECORD: {**beside, **problem}}
            for number, (row, named_by) in enumerate(rows):
                name = (row.id or named) + (f"-{number}" if len(rows) > 1 else "")
                told, about = self._row(row, own)
                if named_by is not None:
                    about |= _named(named_by.story, named_by.question)
                    told["answer at"] = told["answer at"] if named_by.keeps_answer else ""
                yield {**empty, **own, **told, "id": name, RECORD: {**beside, **about}}

    def _restatements(self, value: Mapping[str, Any]) -> Sequence[Restated | None]:
        """Return how the set of a record restates its rows; None for a row that is read as it stands."""
        rows = self._restate(value) if self._restate is not None else ()
        if not rows or (not self._rewords and all(each.question is not None for each in rows)):
            return [None]
        return rows

    def _values(self, value: Mapping[str, Any]) -> Iterator[tuple[RowValues, Restated | None]]:
        """Yield the rows of a record, each with how its set was restated, if it was."""
        for each in self._restatements(value):
            for columns in self.columns:
                for row in rows_of(value if each is None else each.record, columns):
                    is_unfit = each is not None and each.problem and not row.problem[0]
                    yield row._replace(problem=("story", each.problem)) if each is not None and is_unfit else row, each

    def _row(self, row: RowValues, value: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the columns of a row, and what `record` says about it."""
        cause, problem = row.problem
        story, question = row.story or "", row.question or ""
        if self.is_ours:
            if not cause and (wrong := wrong_type(value, self.family or recognise((), question))):
                cause, problem = VALUES, wrong
        else:
            family, question = (_asked if len(question) < _LONG else _asked.__wrapped__)(question)
            if (story, family.name) not in self._stories:  # rows about one story stand together
                self._stories = {(story, family.name): self._lines(story, family)}
            story = self._stories[story, family.name]
        told = {"story": story, "question": question, "answer": row.answer or "", "answer at": ".".join(row.answer_at)}
        about: dict[str, Any] = {"cause": cause or None, "problem": problem or None, "part": row.split}
        if row.choices:
            about |= {"choices": [text for _, text in row.choices], "labels": [label for label, _ in row.choices]}
        if not self.is_ours:
            about |= _named(row.story, row.question)
        if row.choices or row.written != row.answer:
            about["written"] = json.dumps(row.written, default=str)
        return told, {name: each for name, each in about.items() if each is not None}

    def _lines(self, story: str, family: Family) -> str:
        """Return a story without instructions, as the lines that its family reads."""
        story = without_instructions(story, self.instructions)
        with suppress(ParseError):  # in another form: who judges the row says so
            return family.lines(story)
        return story


@lru_cache(maxsize=1 << 14)
def _asked(question: str) -> tuple[Family, str]:
    """Return the family that reads a question, and the question in its form, if it can be read."""
    family = recognise((), question)
    with suppress(ParseError):
        question = family.question_in(question)
    return family, question


def _named(story: str | None, question: str | None) -> dict[str, Any]:
    """Return what `record` says of a row's texts as they stand in its file."""
    return {"digest": row_hash(story, question), "spaced": "_" not in (story or "_")}


def has_questions(form: Format, path: Path, *, if_damaged: bool = True) -> bool:
    """Return whether a file has columns for questions with stories or answers; `if_damaged` if it cannot be read."""
    try:
        records = RecordFile(path, form)
    except NoColumnsError:
        return False
    except (DataError, ConfigError):
        return if_damaged
    return any(each.question and (each.story or each.answer) for each in records.columns)


def read_strictly(path: Path, form: Format, rows: int = CHUNK_ROWS, *, places: bool = False) -> Iterator[pa.Table]:
    """Read a file whose columns have other names, for what needs all of its rows.

    Raises:
        DataError: If a row cannot be read; the message says which.
    """
    try:
        file = RecordFile(path, form)
    except NoColumnsError as error:
        raise DataError(f"{error.found}; expected at least {', '.join(REQUIRED)}.") from error
    for table in file.tables(rows):
        for about, place in zip(table.column(RECORD).to_pylist(), table.column(PLACE).to_pylist(), strict=True):
            if about["problem"]:
                at = f"line {place['line']}" if place["line"] else f"row {place['row']}"
                raise DataError(f"{path}, {at}: {about['problem']}.")
        yield table.drop_columns([RECORD] if places else [RECORD, PLACE])


def _limited(records: Iterator[Record]) -> Iterator[Record]:
    """Yield the first records: some thousand, and of bounded size."""
    size = 0
    for record in islice(records, _SAMPLE):
        yield record
        size += sum(len(each) if isinstance(each, str) else len(str(each)) for each in (record.value or {}).values())
        if size > _SAMPLE_CHARACTERS:
            return


def _column(values: list[Any], kind: pa.DataType) -> pa.Array:
    """Return values as a column; those of another type are null."""
    try:
        return pa.array(values, kind)
    except (ValueError, TypeError, OverflowError, pa.ArrowException):
        return pa.array([value if _converts(value, kind) else None for value in values], kind)


def _converts(value: Any, kind: pa.DataType) -> bool:
    try:
        pa.array([value], kind)
    except (ValueError, TypeError, OverflowError, pa.ArrowException):
        return False
    return True


# Types of the columns of examples.


def wrong_type(row: Mapping[str, Any], family: Family) -> str:
    """Return which value of a row has another type than in its family; empty if all have their types."""
    for name, fits, kind in _columns(family):
        value = row.get(name)
        if value is not None and not fits(value):
            return f"'{name}' is {quoted(value)}, expected {_expected(kind)}"
    return ""


@cache
def _columns(family: Family) -> tuple[tuple[str, Callable[[Any], bool], pa.DataType], ...]:
    """Return name, test of values and type of each column: asking Arrow for every row takes as long as reading it."""
    return tuple((field.name, _test_of(field.type), field.type) for field in family.schema)


def _test_of(kind: pa.DataType) -> Callable[[Any], bool]:
    """Return what tells whether a value has a type."""
    if pa.types.is_list(kind):
        fits = _test_of(kind.value_type)
        return lambda value: isinstance(value, list) and all(map(fits, value))
    if pa.types.is_boolean(kind):
        return lambda value: isinstance(value, bool)
    if pa.types.is_integer(kind):
        most = 1 << (kind.bit_width - 1)
        return lambda value: isinstance(value, int) and not isinstance(value, bool) and abs(value) < most
    return lambda value: isinstance(value, str)


def _expected(kind: pa.DataType) -> str:
    if pa.types.is_list(kind):
        inner = kind.value_type
        return "a list of " + (
            "lists of numbers" if pa.types.is_list(inner) else "numbers" if pa.types.is_integer(inner) else "words"
        )
    return "true or false" if pa.types.is_boolean(kind) else "a number" if pa.types.is_integer(kind) else "text"
