"""CLUTRR's published CSV, written from and read into examples; see `clutrr_records` for the form of a record.

Names are in brackets, the story is one running text, and edges are numbered in the order of `genders`. Values for which
the published form has no column (placeholders, types of noise, status) are computed again on reading, or left null.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

import pyarrow as pa

from storyproof.errors import DataError, ParseError, quoted
from storyproof.example import SPLITS, plain_schema, story_of_id
from storyproof.families.kinship.clutrr_records import (
    COLUMNS,
    NEEDED,
    ClutrrRow,
    PublishedStep,
    patched_records,
    read_clutrr_row,
    read_records,
    refuse,
)
from storyproof.families.kinship.language.reading import NotUnderstood, Reading
from storyproof.families.kinship.people import person_names
from storyproof.families.kinship.placeholders.files import ours
from storyproof.families.kinship.relations import WORDS, Fact, predicate_of
from storyproof.families.kinship.row import KinshipRow, read_row
from storyproof.families.kinship.schema import KINSHIP_SCHEMA
from storyproof.families.kinship.stated_facts import (
    Piece,
    Text,
    add_brackets,
    fill,
    find_mentions,
    read_texts,
    remove_brackets,
    split_sentences,
    stated_facts,
)
from storyproof.families.kinship.tasks import noise_types, story_type
from storyproof.families.kinship.templates import ask, is_shipped, synthetic_line
from storyproof.formats.chunks import CHUNK_ROWS
from storyproof.formats.delimited import COMMAS, TextRecord, parts_by_bytes
from storyproof.formats.format import WHOLE, Format, Part, Place, Spot, numbers_of, stem_of, with_places
from storyproof.formats.json_edits import Changes, Write
from storyproof.formats.lines import first_line

BESIDE = ("text_query", "text_target", "clean_story", "node_mapping")  # columns that examples do not have, as they are
_SCHEMA = pa.schema(
    [
        *plain_schema(KINSHIP_SCHEMA),
        *((name, pa.string()) for name in ("syn_story", *BESIDE)),
        ("problems", pa.list_(pa.string())),
    ]
)
FIELDS = "fields"  # the column with all fields of a record
_IS_NUMBERED = "is numbered"  # whether the number in the first column fits the rows before
_IDENTITY = ("id", "story_id", "benchmark", "split", "story", "question")
_RAW = pa.schema(
    [
        *((name, pa.string()) for name in (*_IDENTITY, "answer")),
        (FIELDS, pa.list_(pa.string())),
        (_IS_NUMBERED, pa.bool_()),
    ]
)
_HEADER = b"header"
_PRONOUN = re.compile(r"\b(?:he|him|his|himself|she|her|hers|herself|they|them|their)\b", re.IGNORECASE)
_MOST_LACKING = 3  # of the needed columns, in a file that is still one of CLUTRR's
_FEW_ROWS = 64  # to read at a time where few are needed
_MOST_DIGITS = 18  # of the number of a row
_PUBLISHED = {"answer": "target", "edges": "story_edges", "question_type": "task_name", "split": "task_split"}
PUBLISHED_NAMES = {  # what CLUTRR calls columns of examples, or from what they are read
    **_PUBLISHED,
    **{"question": "query", "proof_steps": "proof_state", "k": "task_name", "task": "task_name"},
}


class ClutrrFormat(Format):
    """CLUTRR's published CSV."""

    name = "clutrr"
    suffixes = (".csv",)
    opening = "the columns of CLUTRR"
    short_name = "csv"
    family = "kinship"
    holds_text = True

    def recognise(self, path: Path) -> bool:
        """Return whether the first line names columns of CLUTRR; where few are lacking, the reader says which."""
        try:
            named = set(next(csv.reader([first_line(path)]), []))
        except csv.Error:  # a field that is longer than any of ours
            return False
        if not {"story", "target"} <= named:
            return False
        return "story_edges" in named or len(named.intersection(NEEDED)) >= len(NEEDED) - _MOST_LACKING

    def is_data(self, path: Path) -> bool:
        """Return whether the first line names columns of CLUTRR."""
        return self.recognise(path)

    def read(self, path: Path, rows: int = CHUNK_ROWS, *, places: bool = False) -> Iterator[pa.Table]:
        """Read a file; fields that do not fit the rest of their row are listed in the column `problems`."""
        return read_csv(path, rows, places)

    def read_foreign(self, path: Path, rows: int = CHUNK_ROWS, part: Part = WHOLE) -> Iterator[pa.Table]:
        """Read a file's records as they are, for an audit: each row's text and its fields, see `read_raw_rows`."""
        return read_raw(path, rows, part)

    def parts(self, path: Path, *, as_records: bool) -> Sequence[Part]:
        """Divide a file at ends of records, where quotes and ends of lines tell these."""
        try:
            return parts_by_bytes(path, COMMAS) or [WHOLE]
        except DataError:
            return [WHOLE]  # its reader says what is wrong

    def locate(self, path: Path, column: str, place: Place) -> Spot:
        """Return where a value stands, under the published name of its column."""
        return Spot(path.name, place.line, _PUBLISHED.get(column, column))

    def writer(self, folder: Path, split: str) -> ClutrrSplit:
        """Return what writes a file, and one for each scenario of the test split."""
        return ClutrrSplit(folder, split)

    def patch(self, path: Path, changes: Changes) -> dict[str, Write]:
        """Replace fields in the text of their records, quoted as they were; columns are added at the end."""
        return {path.name: lambda file: file.writelines(patched_records(path, changes))}


class ClutrrSplit:
    """A writer of one split: training and validation go into one file, test rows into one per scenario."""

    def __init__(self, folder: Path, split: str) -> None:
        self._folder = folder
        self._split = split
        self._tasks: dict[str, None] = {}
        self._files: dict[str, TextIO] = {}
        self._writers: dict[str, Any] = {}
        self._rows: dict[str, int] = {}

    def write(self, table: pa.Table) -> None:
        """Add rows."""
        rows = table.to_pylist()
        for row, reading in zip(rows, read_texts(map(_text, rows)), strict=True):
            task = row["question_type"].removeprefix("task_")
            self._tasks[task] = None
            name = task if self._split == "test" else "all"
            if name not in self._files:
                path = self._folder / f"{name}_{self._split}.csv"
                self._files[name] = path.open("w", encoding="utf-8", newline="")
                self._writers[name] = csv.writer(self._files[name], lineterminator="\n")
                self._writers[name].writerow(COLUMNS)
                self._rows[name] = 0
            written = _published(row, reading)
            self._writers[name].writerow([self._rows[name], *(written[column] for column in COLUMNS[1:])])
            self._rows[name] += 1

    def close(self) -> list[Path]:
        """Finish the files and return them."""
        for file in self._files.values():
            file.close()
        paths = []
        for name in self._files:
            path = self._folder / f"{name}_{self._split}.csv"
            if name == "all":  # named after all its tasks, which are known by now
                tasks = sorted(self._tasks, key=lambda task: [int(part) for part in task.split(".")])
                path = path.rename(self._folder / f"{','.join(tasks)}_{self._split}.csv")
            paths.append(path)
        return paths


def _text(values: dict[str, Any]) -> Text:
    """Return the text of a row; natural text as it will be written, in one line."""
    text = Text(values["story"], values["placeholders"], person_names(values["genders"]))
    return text._replace(story=_one_line(text.story)) if text.is_natural else text


def _one_line(story: str) -> str:
    return story.replace("\n", " ")


def _published(values: dict[str, Any], reading: Reading | NotUnderstood | None) -> dict[str, str]:
    """Return a row in the published columns.

    Args:
        values: The row.
        reading: What the reader found in natural text; None for other text.

    Raises:
        ParseError: If its text does not state its facts.
    """
    row = read_row(values)
    story, placeholders = values["story"], values["placeholders"]
    text = Text(story if reading is None else _one_line(story), placeholders, row.names)
    facts = stated_facts(row, text, reading=reading)
    number = {fact: place for place, fact in enumerate(row.facts)}
    if isinstance(reading, Reading):
        pieces = split_sentences(row, text.story, reading)
        if pieces is None:
            raise ParseError(f"{quoted(values['id'])}: the story states other facts than the edges.")
    else:
        lines = story.split("\n")
        pieces = [(line, frozenset(number[fact] for fact in each)) for line, each in zip(lines, facts, strict=True)]
    plain = " ".join(_plain_sentence(row, fact) for line in facts for fact in line)
    return {
        "id": values["id"],
        "story": add_brackets(_one_line(story), row.names),
        "query": repr(row.asked_names),
        "text_query": "",
        "target": values["answer"],
        "text_target": repr([target_texts(row)[0]]),
        "clean_story": clean_story(row, pieces, is_natural=reading is not None),
        "proof_state": repr(_proof_state(row)),
        "f_comb": "-".join(row.words[: row.k]),
        "task_name": values["question_type"],
        "story_edges": repr(list(row.edges)),
        "edge_types": repr(list(row.words)),
        "query_edge": repr(row.asked),
        "genders": ",".join(values["genders"]),
        "syn_story": "" if _is_foreign(placeholders) else add_brackets(plain, row.names),
        "node_mapping": node_mapping(row),
        "task_split": values["split"],
    }


def _is_foreign(placeholders: Sequence[str]) -> bool:
    """Return whether a story uses placeholders of another collection, so that its text cannot be parsed from a CSV."""
    return not all(map(is_shipped, placeholders))


def _plain_sentence(row: KinshipRow, fact: Fact) -> str:
    first, _, second = fact
    key = (row.word(fact),), (row.genders[first], row.genders[second])
    return fill(synthetic_line(key), row, (first, second))


def target_texts(row: KinshipRow) -> list[str]:
    """Return sentences that state the answer: by the first placeholder, if there is one, and in plain words."""
    first, second = row.pair
    key = (row.values["answer"],), (row.genders[first], row.genders[second])
    templates = (*ours().templates.get(key, ())[:1], synthetic_line(key))
    return [add_brackets(fill(each, row, (first, second)), row.names) for each in templates]


def clean_story(row: KinshipRow, pieces: Sequence[Piece], *, is_natural: bool = False) -> str:
    """Return the chain alone, in the words of the story.

    Of natural text the sentences that state noise, or name somebody who is not in the chain, are left out. A pronoun
    after them may then have lost its meaning; if there is one, the chain is stated in plain sentences.

    Args:
        row: The row.
        pieces: Its story, each piece with the numbers of the facts that it states.
        is_natural: Whether its pieces are the sentences of natural text, in their order; else each states facts that
            follow each other, and they are put into the order of the chain.
    """
    if not is_natural:
        pieces = sorted((each for each in pieces if min(each[1]) < row.k), key=lambda each: min(each[1]))
        return add_brackets(" ".join(text for text, _ in pieces), row.names)
    inside = {person for edge in row.edges[: row.k] for person in edge}
    outside = [name for person, name in enumerate(row.names) if person not in inside]
    kept: list[str] = []
    for place, (text, facts) in enumerate(pieces):
        if max(facts, default=0) >= row.k or find_mentions(text, outside, bracketed=False):
            continue
        if len(kept) < place and _PRONOUN.search(text):
            kept = [_plain_sentence(row, fact) for fact in row.chain]
            break
        kept.append(text)
    return add_brackets(" ".join(kept), row.names)


def node_mapping(row: KinshipRow) -> str:
    """Return who is who in the family that the story was cut from; generated families have nobody else."""
    return repr({number: number for number in range(len(row.names))})


def _proof_state(row: KinshipRow) -> list[dict[Any, Any]]:
    """Return the proof in the published form: one dictionary per step, the conclusion first."""
    steps, relations = row.values["proof_steps"], row.values["proof_relations"]
    known = dict(zip(row.edges, row.words, strict=True))
    known |= {(first, second): relation for (first, _, second), relation in zip(steps, relations, strict=True)}

    def triple(first: int, second: int) -> tuple[str, str, str]:
        return row.names[first], known[first, second], row.names[second]

    return [{triple(first, second): [triple(first, via), triple(via, second)]} for first, via, second in steps]


def read_csv(path: Path, rows: int, places: bool = False) -> Iterator[pa.Table]:
    """Read a file in tables of at most `rows` rows.

    Args:
        path: The file.
        rows: How many rows a table has.
        places: Add the column `place`.

    Raises:
        DataError: If its columns are not those of CLUTRR, or a field cannot be read; the message names row and column.
    """
    records = read_records(path)
    header = next(records).cells
    numbers = _RowNumbers()
    found = (
        example_of(path, read_clutrr_row(path, record, header), is_numbered=numbers.fit(record, header))
        for record in records
        if record.cells
    )
    done = 0
    while part := list(islice(found, rows)):
        table = pa.Table.from_pylist(part, schema=_SCHEMA)
        yield with_places(table, done, [row["line"] for row in part]) if places else table
        done += len(part)


def read_raw(path: Path, rows: int, part: Part = WHOLE) -> Iterator[pa.Table]:
    """Read a file's records in tables of at most `rows` rows: which row it is, its text, all fields, and places.

    Args:
        path: The file.
        rows: How many rows a table has.
        part: Where to begin, see `Format.parts`.

    Raises:
        DataError: If its columns are not those of CLUTRR; the message says what was found, and where.
    """
    records = read_records(path, part)
    header = next(records).cells
    schema = pa.schema(_RAW, metadata={_HEADER: json.dumps(header)})
    numbers = _RowNumbers()
    if part.first:
        numbers.fit(next(each for each in islice(read_records(path), 1, None) if each.cells), header)
    done = max(part.first - 1, 0)
    filled = (record for record in records if record.cells)
    most = rows if part.end is None else min(rows, part.end - done)
    while some := list(islice(filled, most)):
        identities = [_identity(path, dict(zip(header, each.cells, strict=True)), each.row) for each in some]
        columns: list[list[Any]] = [[each[name] for each in identities] for name in (*_IDENTITY, "answer")]
        columns += [[each.cells for each in some], [numbers.fit(each, header) for each in some]]
        table = pa.table([pa.array(each, field.type) for each, field in zip(columns, _RAW, strict=True)], schema)
        yield with_places(table, done, [each.line for each in some])
        done += len(some)
        if part.end is not None:
            most = min(rows, part.end - done) if done < part.end else _FEW_ROWS  # until its last story ends


def read_raw_rows(path: Path, table: pa.Table) -> Iterator[tuple[ClutrrRow, bool] | DataError]:
    """Read the rows of a table of records, see `read_raw`; yield the error of one with a field that CLUTRR has not.

    Yields:
        The row, and whether its number fits the rows before.
    """
    header = json.loads(table.schema.metadata[_HEADER])
    about = (*numbers_of(table), *(table.column(name).to_pylist() for name in (FIELDS, _IS_NUMBERED)))
    for number, line, fields, is_numbered in zip(*about, strict=True):
        try:
            yield read_clutrr_row(path, TextRecord(number, line, "", fields), header), is_numbered
        except DataError as error:
            yield error


def _identity(path: Path, fields: Mapping[str, str], number: int) -> dict[str, str | None]:
    """Return which row a record is, and its text and question as they are."""
    unnamed = f"{stem_of(path)}-{number}"
    return {
        "id": fields["id"] or unnamed,
        "story_id": story_of_id(fields["id"]) or fields["id"] or unnamed,
        "benchmark": "clutrr",
        "split": fields["task_split"] if fields["task_split"] in SPLITS else None,
        "answer": fields["target"],
        "story": remove_brackets(fields["story"]),
        "question": fields["query"],
    }


class _RowNumbers:
    """Checks that the first column numbers the rows of a file; only of generated rows.

    Where rows are missing, the numbers run ahead of the rows, but stay in step with the numbers in the ids. What fits
    follows from the first row of the file and the one before.
    """

    def __init__(self) -> None:
        self._first, self._last = (0, 0), (0, 0)
        self._ahead = 0

    def fit(self, record: TextRecord, header: Sequence[str]) -> bool:
        """Return whether the number of the next row fits."""
        place, fields = record.row, dict(zip(header, record.cells, strict=True))
        name, given = fields["id"] or "", fields.get("")
        if given is None or not story_of_id(name):
            return True
        counts = given.isdecimal() and len(given) <= _MOST_DIGITS
        index, number = int(given) if counts else -1, int(name[-11:-2])
        first, last = self._first, self._last
        strays = (index - first[0]) * (last[1] - first[1]) != (number - first[1]) * (last[0] - first[0])
        fits = self._ahead <= index - place <= number - place and (index == place or place <= 1 or not strays)
        self._first, self._last = (index, number) if not place else first, (index, number)
        self._ahead = index - place
        return fits


def example_of(path: Path, row: ClutrrRow, *, is_numbered: bool) -> dict[str, Any]:
    """Return one row in the columns of an example.

    Args:
        path: The file.
        row: The row.
        is_numbered: Whether its number fits the rows before.

    Raises:
        DataError: If it refers to people whom it does not have.
    """
    fields, asked = row.values, _numbers(row.names, row.asked_names)
    for name, pairs in (("story_edges", row.edges), ("query_edge", [row.query_edge])):
        for pair in pairs:
            if not all(0 <= person < len(row.names) for person in pair):
                form = f"pairs of {len(row.names)} people, counted from 0, not {pair!r}"
                refuse(path, row.record, f"{name} is '{fields[name]}', expected {form}")
    noise = noise_types(row.edges, row.k)
    return {
        **_identity(path, fields, row.record.row),
        "question": ask(*row.asked_names),
        "answer": fields["target"],
        "question_type": fields["task_name"],
        "order": 0,
        "chain": [],
        "story_type": story_type(noise, (asked[0], asked[1]), row.edges),
        "false_belief": False,
        "k": row.k,
        "task": row.task,
        "query": list(row.asked_names),
        "genders": fields["genders"].split(","),
        "edges": [list(edge) for edge in row.edges],
        "edge_types": list(row.words),
        "noise_types": noise,
        "pattern": " ".join(predicate_of(relation) for relation in row.words[: row.k] if relation in WORDS),
        "proof_steps": [_step(path, row, step) for step in row.proof],
        "proof_relations": [step.head[1] for step in row.proof],
        "line": row.record.line,
        "syn_story": remove_brackets(fields.get("syn_story", "")),
        **{name: fields.get(name) for name in BESIDE},
        "problems": [*_problems(row), *_loose_premises(row), *([] if is_numbered else [f"index: {fields['']}"])],
    }


def _numbers(names: Sequence[str], some: Sequence[str]) -> list[int]:
    """Return people's numbers; -1 for somebody unknown."""
    return [names.index(name) if name in names else -1 for name in some]


def _step(path: Path, row: ClutrrRow, step: PublishedStep) -> list[int]:
    """Return a step of the proof as three people: the first, the linking one and the second."""
    numbers = _numbers(row.names, (step.head[0], step.left[2], step.head[2]))
    if -1 in numbers:
        form = "{(a, r, c): [(a, r1, b), (b, r2, c)]} with known names"
        refuse(path, row.record, f"proof_state has {{{step.head}: [{step.left}, {step.right}]}}, expected {form}")
    return numbers


def _problems(row: ClutrrRow) -> Iterator[str]:
    """Yield the fields that do not fit the rest of the row, each as `field: value`."""
    fields = row.values
    first, second = _numbers(row.names, row.asked_names)
    if fields["query_edge"].replace(" ", "") != f"({first},{second})":
        yield f"query_edge: {fields['query_edge']}"
    if fields["task_split"] not in SPLITS:
        yield f"task_split: {fields['task_split']}"
    if fields["f_comb"] != "-".join(row.words[: row.k]):
        yield f"f_comb: {fields['f_comb']}"


def _loose_premises(row: ClutrrRow) -> Iterator[str]:
    """Yield steps of a proof whose premises are neither stated nor concluded elsewhere."""
    stated = zip(row.edges, row.words, strict=False)
    known = {(row.names[first], word, row.names[second]) for (first, second), word in stated}
    known |= {step.head for step in row.proof}
    for (first, _, second), one, other in row.proof:
        if (one[0], other[2], one[2]) != (first, second, other[0]) or not {one, other} <= known:
            yield f"proof_state: {one} and {other}"


FORMAT = ClutrrFormat()
