"""Opens whatever holds examples: a dataset folder, one of its splits, or a single file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from storyproof.datasets.chunks import whole_stories
from storyproof.errors import DataError, UnknownNameError
from storyproof.example import SPLITS
from storyproof.families.belief.babi_format import read_babi, split_of
from storyproof.families.kinship.clutrr_csv import read_csv
from storyproof.formats.inspect_jsonl import is_inspect, read_inspect
from storyproof.formats.json_list import begins_a_list, lists_questions, read_json
from storyproof.formats.jsonl import read_jsonl
from storyproof.formats.parquet import read_parquet

CHUNK_ROWS = 36_864  # read at a time: bounded memory, and large enough for arrays to pay


def _read_lines(path: Path, rows: int) -> Iterator[pa.Table]:
    """Read JSON lines, ours or in the manner of evaluation frameworks."""
    return read_inspect(path, rows) if is_inspect(path) else read_jsonl(path, rows)


ERRATA = "errata.csv"  # what an audit writes beside the files it has mended
_READERS: dict[str, Callable[[Path, int], Iterator[pa.Table]]] = {
    ".parquet": read_parquet,
    ".jsonl": _read_lines,
    ".txt": read_babi,
    ".csv": read_csv,
    ".json": read_json,
}
SUFFIXES = tuple(sorted(_READERS))


@dataclass(frozen=True, slots=True)
class Source:
    """Files that hold examples, and the split they are of, if that can be told."""

    files: tuple[Path, ...]
    split: str | None

    @property
    def name(self) -> str:
        """Where it is, for messages."""
        return str(self.files[0] if len(self.files) == 1 else self.files[0].parent)

    def tables(self, rows: int = CHUNK_ROWS) -> Iterator[pa.Table]:
        """Read all examples in tables of about so many rows, whole stories each."""
        yield from whole_stories(table for file in self.files for table in _READERS[file.suffix](file, rows))


def find_sources(path: str | Path) -> list[Source]:
    """Find all examples at a path: one source for a file, one a split for a folder.

    Raises:
        DataError: If there is nothing there that can be read.
    """
    path = Path(path)
    if path.is_file():
        if path.suffix not in _READERS:
            raise DataError(f"{path} has an unknown form; expected a file ending in {', '.join(SUFFIXES)}.")
        return [Source((path,), split_of(path))]
    if not path.is_dir():
        raise DataError(f"{path} does not exist; give a dataset folder or a file.")
    files = sorted(file for file in path.iterdir() if is_data(file))
    if not files:
        raise DataError(f"{path} holds no data; expected files ending in {', '.join(SUFFIXES)}.")
    splits = {file: split_of(file) for file in files}
    order = [*SPLITS, None]
    return [
        Source(tuple(file for file in files if splits[file] == split), split)
        for split in order
        if split in splits.values()
    ]


def is_data(file: Path) -> bool:
    """Say whether a file of a folder holds examples; of JSON only lists called after a split, or of questions, do."""
    if file.suffix not in _READERS or not file.is_file() or file.name == ERRATA:
        return False
    if file.suffix != ".json":
        return True
    return begins_a_list(file) and (split_of(file) is not None or lists_questions(file))


def find_source(path: str | Path, split: str | None = None) -> Source:
    """Find the examples of one split at a path; unless another is named, the test split or the only one there is.

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
