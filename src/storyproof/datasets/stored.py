"""Data in many files, each of which can be read apart: on this machine, or fetched from a URL."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from storyproof.datasets.manifest import MANIFEST
from storyproof.datasets.reading import ERRATA, find_sources
from storyproof.errors import DataError, UnknownNameError
from storyproof.example import SPLITS
from storyproof.formats.format import formats, split_of, suffixes
from storyproof.inputs import name_of
from storyproof.storage import StoredFolder, is_url

_DOCUMENTS = ".json"  # manifests and metadata; lists of examples in such files are read on this machine only


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file with examples.

    Attributes:
        place: Its path, or its URL.
    """

    place: str

    @property
    def name(self) -> str:
        """Its name, without folders, as text that every file can hold."""
        return PurePosixPath(self.place).name if is_url(self.place) else name_of(Path(self.place).name)

    @contextmanager
    def opened(self) -> Iterator[Path]:
        """Open it as a file on this machine; one at a URL is fetched, with the files beside it, and removed again.

        Raises:
            DataError: If it cannot be fetched; what others raise meanwhile names the URL.
        """
        if not is_url(self.place):
            yield Path(self.place)
            return
        folder, _, name = self.place.rpartition("/")
        stored = StoredFolder(folder)
        with TemporaryDirectory() as scratch:
            path = stored.fetch(name, Path(scratch))
            beside = {suffix for each in formats() if path.suffix in each.suffixes for suffix in each.beside}
            for other in sorted(path.with_suffix(suffix).name for suffix in beside):
                if stored.read(other) is not None:
                    stored.fetch(other, Path(scratch))
            try:
                yield path
            except DataError as error:
                raise DataError(str(error).replace(str(path.parent), folder)) from error


@dataclass(frozen=True, slots=True)
class StoredSource:
    """The files of one split, in order; see `reading.Source`."""

    files: tuple[StoredFile, ...]
    split: str | None

    @property
    def name(self) -> str:
        """Where it is, for messages."""
        first = self.files[0].place
        if len(self.files) == 1:
            return first
        return first.rpartition("/")[0] if is_url(first) else str(Path(first).parent)


def find_stored(place: str | Path) -> list[StoredSource]:
    """Return all examples at a path or a URL: one source for a file, one per split for a folder.

    Raises:
        DataError: If there is nothing there that can be read.
    """
    if not is_url(place):
        return [
            StoredSource(tuple(StoredFile(str(file)) for file in source.files), source.split)
            for source in find_sources(place)
        ]
    url = str(place).rstrip("/")
    name = url.rpartition("/")[2]
    if PurePosixPath(name).suffix in suffixes():
        return [StoredSource((StoredFile(url),), split_of(Path(name)))]
    names = sorted(name for name in StoredFolder(url).sizes() if _is_data(name))
    if not names:
        known = ", ".join(suffix for suffix in suffixes() if suffix != _DOCUMENTS)
        raise DataError(f"{url} holds no data; expected files ending in {known}.")
    splits = {name: split_of(Path(name)) for name in names}
    return [
        StoredSource(tuple(StoredFile(f"{url}/{name}") for name in names if splits[name] == split), split)
        for split in (*SPLITS, None)
        if split in splits.values()
    ]


def choose_stored(place: str | Path, split: str | None) -> StoredSource:
    """Return the examples of one split, as `reading.find_source` does.

    Raises:
        DataError: If there is no such split, naming those there are.
    """
    if split is not None and split not in SPLITS:
        raise UnknownNameError("split", split, SPLITS)
    sources = find_stored(place)
    if split is None and len(sources) == 1:
        return sources[0]
    for source in sources:
        if source.split == (split or "test"):
            return source
    known = ", ".join(source.split or "unnamed" for source in sources)
    raise DataError(f"{place} has no {split or 'test'} split, only: {known}; choose one with --split.")


def _is_data(name: str) -> bool:
    path = PurePosixPath(name)
    hidden = "/" in name or name.startswith(".") or name in (MANIFEST, ERRATA)
    return not hidden and path.suffix in suffixes() and path.suffix != _DOCUMENTS
