"""Finds and reads examples: in a dataset folder, one of its splits, or a single file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from storyproof.datasets.folders import is_unfinished
from storyproof.errors import DataError, UnknownNameError
from storyproof.example import SPLITS
from storyproof.formats.chunks import CHUNK_ROWS, whole_stories
from storyproof.formats.format import format_of, formats, split_of, suffixes
from storyproof.inputs import FILE, FOLDER, kind_of

ERRATA = "errata.csv"  # what an audit writes beside the files that it has fixed


@dataclass(frozen=True, slots=True)
class Source:
    """Files that hold examples, and their split, if that can be told."""

    files: tuple[Path, ...]
    split: str | None

    @property
    def name(self) -> str:
        """Where it is, for messages."""
        return str(self.files[0] if len(self.files) == 1 else self.files[0].parent)

    def tables(self, rows: int = CHUNK_ROWS) -> Iterator[pa.Table]:
        """Read all examples in tables of about so many rows, whole stories each."""
        yield from whole_stories(table for file in self.files for table in format_of(file).read(file, rows))


def find_sources(path: str | Path) -> list[Source]:
    """Return all examples at a path: one source for a file, one per split for a folder.

    Raises:
        DataError: If there is nothing there that can be read.
    """
    path = Path(path)
    kind = kind_of(path)
    if kind == FILE:
        format_of(path)  # raises if its suffix is unknown
        return [Source((path,), split_of(path))]
    files = data_files(path, kind, "give a dataset folder or a file")
    if not files and is_unfinished(path):
        raise DataError(f"{path} is unfinished: the run that wrote it was killed; run the same command again.")
    if not files:
        raise DataError(f"{path} holds no data; expected files ending in {', '.join(suffixes())}.")
    splits = {file: split_of(file) for file in files}
    order = [*SPLITS, None]
    return [
        Source(tuple(file for file in files if splits[file] == split), split)
        for split in order
        if split in splits.values()
    ]


def data_files(path: Path, kind: str, remedy: str) -> list[Path]:
    """Return the files in a folder that hold examples, sorted.

    Args:
        path: The folder.
        kind: What is at the path, see `kind_of`.
        remedy: What users should do if it is not a folder.

    Raises:
        DataError: If it is not a folder, or cannot be read.
    """
    if kind != FOLDER:
        raise DataError(f"{path} {f'is {kind}' if kind else 'does not exist'}; {remedy}.")
    try:
        return sorted(file for file in path.iterdir() if is_data(file))
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror}; {remedy}.") from error


def is_data(file: Path) -> bool:
    """Return whether a file of a folder holds examples: whether its suffix is that of a format that takes it."""
    if kind_of(file) != FILE or file.name == ERRATA:
        return False
    return any(each.is_data(file) for each in formats() if file.suffix in each.suffixes)


def find_source(path: str | Path, split: str | None = None) -> Source:
    """Return the examples of one split at a path; unless another is named, the test split or the only one there is.

    Raises:
        DataError: If there is no such split, naming those there are.
    """
    if split is not None and split not in SPLITS:
        raise UnknownNameError("split", split, SPLITS)
    sources = find_sources(path)
    if split is None and len(sources) == 1:
        return sources[0]
    wanted = split or "test"
    for source in sources:
        if source.split == wanted:
            return source
    known = ", ".join(source.split or "unnamed" for source in sources)
    raise DataError(f"{path} has no {wanted} split, only: {known}; choose one with --split.")
