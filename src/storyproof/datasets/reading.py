"""Finds and reads examples: in a dataset folder, one of its splits, or a single file; on this machine or at a URL.

Columns that a format leaves out are worked out from the text.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa

from storyproof.datasets.folders import MARKER, is_unfinished
from storyproof.datasets.manifest import MANIFEST, file_sha256, parse_manifest, read_manifest
from storyproof.errors import DataError, UnknownNameError, quoted
from storyproof.example import SCHEMA, SPLITS, WRITTEN, Example, plain_schema, story_of_id
from storyproof.families.family import Family, families, family_of_table, load_family, own_example, recognise
from storyproof.formats.chunks import CHUNK_ROWS, in_parts, whole_stories
from storyproof.formats.format import format_of, formats, split_in, split_of, stem_of, suffixes
from storyproof.io.bounded_input import FILE, FOLDER, kind_of, name_of
from storyproof.io.storage import RemoteFolder, as_place, is_url
from storyproof.stories import OwnText, read_own, restated

ERRATA = "errata.csv"  # what an audit writes beside the files that it has fixed
_MOST_FOLDERS = 10_000
_SHARD = re.compile(r"(?P<name>.+)-(?P<number>\d{5})-of-(?P<of>\d{5})")  # the stem of a shard's file
_DOCUMENTS = ".json"  # manifests and metadata; lists of examples in such files are read on this machine only
_UNFINISHED = "is unfinished: the run that wrote it was killed; run the same command again"
_TOLD = ("id", "benchmark")  # columns whose first values tell shards apart
_COMPARED = 32  # of these values
_REMEDY = "copy the dataset again, or generate it again"
_MOST_REFUSED = 50  # rows of a file in vain; to read one in other words takes milliseconds


@dataclass(frozen=True, slots=True)
class DataFile:
    """A file with examples.

    Attributes:
        place: Its path, or its URL.
    """

    place: str

    @property
    def name(self) -> str:
        """Its name, without folders, as text that every file can hold."""
        return PurePosixPath(self.place).name if self.is_remote else name_of(Path(self.place).name)

    @property
    def stem(self) -> str:
        """The stem of its name, from which rows without an id get one."""
        return stem_of(Path(self.place))

    @property
    def is_remote(self) -> bool:
        """Whether it is at a URL."""
        return is_url(self.place)

    @property
    def folder(self) -> str:
        """Where it lies."""
        return self.place.rpartition("/")[0] if self.is_remote else str(Path(self.place).parent)

    def sha256(self) -> str:
        """Return its hash."""
        with self.opened() as path:
            return file_sha256(path)

    @contextmanager
    def opened(self) -> Iterator[Path]:
        """Open it as a file on this machine; one at a URL is fetched, with the files beside it, and removed again.

        Raises:
            DataError: If it cannot be fetched; what others raise meanwhile names the URL.
        """
        if not self.is_remote:
            yield Path(self.place)
            return
        folder = RemoteFolder(self.folder)
        with TemporaryDirectory() as scratch:
            path = folder.fetch(self.name, Path(scratch))
            beside = {suffix for each in formats() if path.suffix in each.suffixes for suffix in each.beside}
            for other in sorted(path.with_suffix(suffix).name for suffix in beside):
                if folder.read(other) is not None:
                    folder.fetch(other, Path(scratch))
            try:
                yield path
            except DataError as error:
                raise DataError(str(error).replace(str(path.parent), self.folder)) from error


@dataclass(frozen=True, slots=True)
class Source:
    """The files of one split, in order: one file, the shards of a split, or however it is divided.

    Attributes:
        files: The files.
        split: Their split, if that can be told.
    """

    files: tuple[DataFile, ...]
    split: str | None

    @property
    def name(self) -> str:
        """Where it is, for messages."""
        return self.files[0].place if len(self.files) == 1 else self.files[0].folder

    @property
    def paths(self) -> tuple[Path, ...]:
        """Return the files that are on this machine."""
        return tuple(Path(file.place) for file in self.files if not file.is_remote)

    @property
    def is_remote(self) -> bool:
        """Whether it is at a URL."""
        return self.files[0].is_remote

    def manifest(self) -> dict[str, Any] | None:
        """Return the manifest of the folder that the files lie in, if there is one.

        Raises:
            DataError: If it is damaged.
        """
        folder = self.files[0].folder
        if not self.is_remote:
            return read_manifest(Path(folder))
        content = RemoteFolder(folder).read(MANIFEST)
        return None if content is None else parse_manifest(content, f"{folder}/{MANIFEST}")

    def tables(self, rows: int = CHUNK_ROWS) -> Iterator[pa.Table]:
        """Read all examples in tables of about `rows` rows, whole stories each.

        Raises:
            DataError: If a file cannot be read, or a shard has other columns than those before it.
        """
        yield from whole_stories(self._tables(rows))

    def _tables(self, rows: int) -> Iterator[pa.Table]:
        shards = _Shards()
        for file in self.files:
            with file.opened() as path:
                for number, table in enumerate(format_of(path).read(path, rows)):
                    if not number:
                        first_rows = table.slice(0, _COMPARED).select(
                            [name for name in _TOLD if name in table.column_names]
                        )
                        shards.check(file, set(table.column_names), first_rows.to_pylist())
                    yield table


class _Shards:
    """What the shards of a split have in common, and what only one of them has."""

    def __init__(self) -> None:
        self._columns: dict[str, set[str]] = {}  # by folder and name of the split, as all of these
        self._benchmarks: dict[str, str] = {}
        self._firsts: dict[tuple[str, ...], str] = {}  # the files that begin with some rows, by their ids

    def check(self, file: DataFile, columns: set[str], first: Sequence[Mapping[str, Any]]) -> None:
        """Check that a file, if it is a shard, fits those before it.

        Args:
            file: The file.
            columns: Its columns; none if its format does not say them.
            first: Its first rows, at least `_TOLD` of them; a few that were changed are left to whoever judges rows.

        Raises:
            DataError: If it has other columns or rows of another benchmark, or begins as another one does.
        """
        shard = _SHARD.fullmatch(Path(file.place).stem)
        if shard is None:
            return
        split = f"{file.folder}/{shard['name']}"
        known = self._columns.setdefault(split, columns) if columns else columns
        lacking, more = sorted(known - columns), sorted(columns - known)
        if lacking or more:
            how = f"lacks the column '{lacking[0]}'" if lacking else f"has another column, '{more[0]}'"
            raise DataError(f"{file.place} {how}; expected the columns of the shards before it; {_REMEDY}.")
        names = [each.get("id") or "" for each in first]
        benchmarks = {each.get("benchmark") for each in first}
        if not all(isinstance(each, str) and story_of_id(each) for each in names) or not names:
            return  # somebody else's
        expected = self._benchmarks.setdefault(split, f"{first[0].get('benchmark')}")
        if expected not in benchmarks:
            raise DataError(
                f"{file.place} holds rows of {quoted(first[0].get('benchmark'))}; expected {quoted(expected)} as in the"
                f" shards before it; {_REMEDY}."
            )
        other = self._firsts.setdefault((split, *names), file.name)
        if other != file.name:
            raise DataError(
                f"{file.place} begins with the rows of {other}, from {names[0]} on, so they are there twice; {_REMEDY}."
            )


def check_shards_fit(files: Iterable[DataFile]) -> None:
    """Check that the shards of each split on this machine fit each other, by their columns and their first rows.

    Raises:
        DataError: If one has other columns or rows of another benchmark, or begins as another one does.
    """
    shards = _Shards()
    for file in files:
        path = Path(file.place)
        if file.is_remote or not _SHARD.fullmatch(path.stem) or not (form := format_of(path)).has_records:
            continue
        columns: set[str] = set()
        first: list[Mapping[str, Any]] = []
        with suppress(DataError):  # whoever reads the file says what is wrong
            columns = set(form.columns(path)) if form.reads_arrays else columns
            first = [each.value or {} for each in islice(form.records(path, _TOLD), _COMPARED)]
        shards.check(file, columns, first)


def find_sources(place: str | Path) -> list[Source]:
    """Return all examples at a path or a URL: one source for a file, one per split for a folder.

    Raises:
        DataError: If there is nothing there that can be read, or a shard is missing or there twice.
    """
    place = as_place(place)
    if isinstance(place, Path):
        kind = kind_of(place)
        if kind == FILE:
            format_of(place)  # raises if its suffix is unknown
            return [Source((DataFile(str(place)),), split_of(place))]
        paths = data_files(place, kind, "give a dataset folder or a file")
        if not paths:
            raise DataError(f"{place} contains no data; expected files ending in {', '.join(suffixes())}.")
        return _by_split([DataFile(str(path)) for path in paths])
    if PurePosixPath(place).suffix in suffixes():
        return [Source((DataFile(place),), split_of(Path(place)))]
    present = RemoteFolder(place).sizes()
    names = sorted(filter(_is_remote_data, present))
    if not names:
        known = ", ".join(suffix for suffix in suffixes() if suffix != _DOCUMENTS)
        raise DataError(f"{place} contains no data; expected files ending in {known}.")
    check_shards(place, names, is_unfinished=MARKER in present)
    return _by_split([DataFile(f"{place}/{name}") for name in names])


def folders_with_data(paths: Sequence[str | Path]) -> tuple[list[str | Path], list[str]]:
    """Return paths with the folders below that hold data, and the files in them in which no questions are found.

    A folder with a manifest is a dataset by itself. Hidden folders are left out, and links are not followed.
    """
    folders: dict[str | Path, None] = {}
    left_out: list[str] = []
    for path in paths:
        if is_url(path) or kind_of(Path(path)) != FOLDER:
            folders[path] = None
            continue
        below: list[Path] = []
        for folder, names, files in os.walk(path):
            names[:] = sorted(name for name in names if not name.startswith(".")) if MANIFEST not in files else []
            here = Path(folder)
            likely = [here / name for name in sorted(files) if Path(name).suffix in suffixes()]
            data = [file for file in likely if is_data(file)]
            if data or (here == Path(path) and is_unfinished(here)):
                below.append(here)
            left_out += [name_of(file) for file in likely if file not in data and file.name not in (MANIFEST, ERRATA)]
            if len(below) > _MOST_FOLDERS:
                raise DataError(f"{path} has more than {_MOST_FOLDERS:,} folders with data; audit them in parts.")
        if not below:
            below = [Path(path)]  # whoever reads it says what is wrong
        folders |= dict.fromkeys(each if each != Path(path) else path for each in below)
    return list(folders), left_out


def _by_split(files: Sequence[DataFile]) -> list[Source]:
    splits = {file: split_in(Path(file.place)) for file in files}
    return [
        Source(tuple(file for file in files if splits[file] == split), split)
        for split in (*SPLITS, None)
        if split in splits.values()
    ]


def _is_remote_data(name: str) -> bool:
    path = PurePosixPath(name)
    hidden = "/" in name or name.startswith(".") or name in (MANIFEST, ERRATA)
    return not hidden and path.suffix in suffixes() and path.suffix != _DOCUMENTS


def data_files(path: Path, kind: str, remedy: str) -> list[Path]:
    """Return the files in a folder that hold examples, sorted.

    Args:
        path: The folder.
        kind: What is at the path, see `kind_of`.
        remedy: What users should do if it is not a folder.

    Raises:
        DataError: If it is not a folder, or cannot be read, or a shard is missing or there twice.
    """
    if not kind and is_unfinished(path):
        raise DataError(f"{path} {_UNFINISHED}.")
    if kind != FOLDER:
        raise DataError(f"{path} {f'is {kind}' if kind else 'does not exist'}; {remedy}.")
    try:
        paths = sorted(file for file in path.iterdir() if is_data(file))
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror}; {remedy}.") from error
    unfinished = is_unfinished(path)
    if unfinished and not paths:
        raise DataError(f"{path} {_UNFINISHED}.")
    check_shards(str(path), [file.name for file in paths], is_unfinished=unfinished)
    return paths


def is_data(file: Path) -> bool:
    """Return whether a file of a folder holds examples: whether its suffix is that of a format that takes it.

    A file that is named as a shard of a split is taken as such, so that one that is damaged or doubled is named.
    """
    if kind_of(file) != FILE or file.name in (ERRATA, MANIFEST):
        return False
    if file.suffix in suffixes() and _SHARD.fullmatch(file.stem) and split_of(file) is not None:
        return True
    return any(each.is_data(file) for each in formats() if file.suffix in each.suffixes)


def check_shards(folder: str, names: Iterable[str], *, is_unfinished: bool = False) -> None:
    """Check that of each split that is in shards all are there, and once.

    In formats that divide a split by its questions, such as csv, a shard is several files.

    Args:
        folder: Where the files are, for messages.
        names: The names of the data files.
        is_unfinished: Whether shards are missing because they are still to be made.

    Raises:
        DataError: If a shard is missing or there twice.
    """
    names = sorted(names)
    stems: dict[str, str] = {}
    counts: dict[str, str] = {}  # of shards, by what comes before their numbers
    groups: dict[tuple[str, str, int], dict[int, str]] = defaultdict(dict)  # numbers and names of shards
    for name in names:
        path = PurePosixPath(name)
        shard = _SHARD.fullmatch(path.stem)
        if shard is None:
            continue
        other = stems.setdefault(path.stem, name)
        if other != name or counts.setdefault(shard["name"], shard["of"]) != shard["of"]:
            one = other if other != name else f"{shard['name']}-…-of-{counts[shard['name']]}{path.suffix}"
            raise DataError(f"{folder} contains {name} besides {one}, so rows are there twice; remove one of them.")
        split = split_of(Path(name)) or shard["name"]
        groups[split, path.suffix, int(shard["of"])][int(shard["number"])] = name
    for (split, _, of), shards in groups.items():
        first = shards[min(shards)]
        missing = next((number for number in range(of) if number not in shards), None)
        if missing is not None:
            if is_unfinished:
                raise DataError(f"{folder} {_UNFINISHED}.")
            lost = re.sub(r"-\d{5}-of-", f"-{missing:05d}-of-", first)
            raise DataError(f"{folder} has no {lost}, one of the {of} shards of '{split}'; {_REMEDY}.")
        whole = re.sub(r"-\d{5}-of-\d{5}", "", first)
        if whole in names or max(shards) >= of:
            other = whole if whole in names else shards[max(shards)]
            raise DataError(f"{folder} contains {other} besides the {of} shards of '{split}'; remove one of them.")


def find_source(place: str | Path, split: str | None = None) -> Source:
    """Return the examples of one split at a path or a URL; if none is named, the test split or the only one there is.

    Raises:
        DataError: If there is no such split, naming those there are.
    """
    if split is not None and split not in SPLITS:
        raise UnknownNameError("split", split, SPLITS)
    sources = find_sources(place)
    if split is None and len(sources) == 1:
        return sources[0]
    wanted = split or "test"
    for source in sources:
        if source.split == wanted:
            return source
    known = ", ".join(source.split or "unnamed" for source in sources)
    raise DataError(f"{place} has no {wanted} split, only: {known}; choose one with --split.")


def read_examples(source: Source, *, proved: bool = False, max_stories: int | None = None) -> list[Example]:
    """Read all examples of a source.

    Args:
        source: Where they are.
        proved: Replace all labels by those that follow from the text.
        max_stories: Read at most this number of stories.

    Raises:
        DataError: If the data cannot be read, or lack something that their text does not tell either.
    """
    return list(iterate_examples(source, proved=proved, max_stories=max_stories))


def iterate_examples(
    source: Source, *, proved: bool = False, max_stories: int | None = None, rows: int = CHUNK_ROWS
) -> Iterator[Example]:
    """Read the examples of a source one after the other, as `read_examples` does, without holding all of them.

    Args:
        source: Where they are.
        proved: Replace all labels by those that follow from the text.
        max_stories: Read at most this number of stories.
        rows: About how many to hold at a time.
    """
    stories: set[tuple[str, str]] = set()
    for table in source.tables(rows):
        try:
            completed = _complete_rows(table, proved=proved)
        except DataError as error:
            raise DataError(f"{source.name}: {error}") from error
        for family, row in completed:
            if max_stories is not None:
                stories.add((row["split"], row["story_id"]))
                if len(stories) > max_stories:
                    return
            if row["question_type"] is None:
                raise DataError(
                    f"{source.name}: row {quoted(row['id'])} has no question_type, and it does not follow from the "
                    "rest; add it."
                )
            yield Example.from_row(row, family.name)


def _complete_rows(table: pa.Table, *, proved: bool) -> list[tuple[Family, dict[str, Any]]]:
    """Return complete rows with their families: one for all, or that of each question where one alone cannot read all.

    Raises:
        DataError: If a row cannot be read.
    """
    family = family_of_table(table)
    try:
        return [(family, row) for row in complete(table, family, proved=proved).to_pylist()]
    except DataError:
        names = [recognise((), question or "").name for question in table.column("question").to_pylist()]
        if len(set(names)) < 2 or any(each.marks & set(table.column_names) for each in families()):
            raise
    completed = []
    for name in sorted(set(names)):
        part = table.filter(pa.array([each == name for each in names]))
        rows = complete(part, load_family(name), proved=proved).to_pylist()
        completed += [(load_family(name), row) for row in rows]
    places = {row_id: place for place, row_id in enumerate(table.column("id").to_pylist())}
    return sorted(completed, key=lambda each: places[each[1]["id"]])


def complete(table: pa.Table, family: Family | None = None, *, proved: bool = False) -> pa.Table:
    """Fill in the columns that a table lacks, or with `proved` replace all labels, from its text and facts.

    With `proved`, rows from which no answer follows are left out. Stories in running text, with numbered sentences or
    in other words are put into sentences that their family reads, if they cannot be read otherwise; the column
    `WRITTEN` then has those in other words as they were written, for those who are asked about them.

    Raises:
        DataError: If a row cannot be read.
    """
    family = family or family_of_table(table)
    present = set(table.column_names)
    lacking = any(
        name not in present or (table.column(name).null_count and name not in family.nullable)
        for name in family.schema.names
    )
    if not table.num_rows or not (lacking or proved):
        return table
    parts = [_completed(part, family, proved=proved) for part in in_parts(table)]
    return pa.concat_tables(parts, promote_options="default")


def _completed(table: pa.Table, family: Family, *, proved: bool) -> pa.Table:
    try:
        return family.complete(table, proved=proved)
    except DataError:
        restated, written, refused = _restate(table, family)
        if not written:
            raise
    try:
        completed = family.complete(restated, proved=proved)
    except DataError as error:
        about = next((row for row in refused if str(error).startswith(f"row {row}: ")), None)
        raise DataError(f"row {about}: {refused[about]}") if about is not None else error from None
    keys = completed.select(["id", "story", "question"]).to_pylist()
    stories = [written.get(tuple(each.values())) for each in keys]
    return completed.append_column(WRITTEN, pa.array(stories, pa.string()))


def _restate(table: pa.Table, family: Family) -> tuple[pa.Table, dict[tuple[str, ...], str | None], dict[str, str]]:
    """Return rows in sentences that their family reads, one per line, as far as it understands them.

    Returns:
        The rows, and the stories of those that are changed by their ids, sentences and questions: as they were written
        if their words are others, else None; and what is not understood of the others, by their ids.
    """
    rows: list[dict[str, Any]] = []
    written: dict[tuple[str, ...], str | None] = {}
    refused: dict[str, str] = {}
    for row in table.to_pylist():
        rows.append(row)
        if any(row.get(name) is not None for name in family.facts) or len(refused) >= _MOST_REFUSED:
            continue  # it says what its text states, or so many are refused that all will be
        _, text, problems = read_own(OwnText(row["story"], row["question"], family=family.name))
        if stopping := [each.message for each in problems if each.is_fatal or each.is_impossible]:
            refused[row["id"]] = stopping[0]
        elif text.question == row["question"] and (family.facts or text.story != row["story"]):
            rows[-1] = restated(row, family.prove_text(text.story, text.question, text.people), family)
            written[row["id"], rows[-1]["story"], row["question"]] = row["story"] if text.read_as else None
    if not written:
        return table, written, refused
    present = set(table.column_names)
    facts = [each for each in plain_schema(family.schema) if each.name in family.facts and each.name not in present]
    schema = pa.schema([*table.schema, *facts])
    return pa.Table.from_pylist(rows, schema=schema), written, refused


def as_example(row: Example | Mapping[str, Any]) -> Example:
    """Return a row as an example; what a dictionary lacks is worked out from its text, as far as that can be read.

    Raises:
        DataError: If the row has no story or no question.
    """
    if isinstance(row, Example):
        return row
    if not isinstance(row, Mapping):
        raise DataError(f"the row is {quoted(row)}; expected an example, or a dictionary with story and question.")
    given = {name: value for name, value in row.items() if value is not None}
    for name in ("story", "question"):
        if not isinstance(given.get(name), str) or not given[name].strip():
            raise DataError(f"the row has {name} {quoted(row.get(name))}; expected a text.")
    family = recognise(given, given["question"])
    if all(name in given for name in SCHEMA.names):
        return Example.from_row(dict(given), family.name)
    blank = {**own_example(given).as_row(), **_unknown(given)}
    try:
        [completed] = complete(pa.Table.from_pylist([blank]), family).to_pylist()
    except (DataError, ValueError, pa.ArrowInvalid):  # a family that has more to read, or text that nobody can read
        completed = _proved(family, given)
    return own_example(
        {**{name: value for name, value in completed.items() if value is not None}, **given}, family.name
    )


def _proved(family: Family, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what follows from the text of a row; nothing if it cannot be read."""
    try:
        return family.prove_text(given["story"], given["question"]).as_row()
    except DataError:
        return {}


def _unknown(given: Mapping[str, Any]) -> dict[str, None]:
    """Return the columns that a row lacks, as missing values; its ids and its origin stay empty."""
    return {name: None for name in SCHEMA.names if name not in {*given, "id", "story_id", "benchmark", "split"}}
