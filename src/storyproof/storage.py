"""Folders on this machine, in a bucket (S3, Google Cloud Storage), or on any other storage that fsspec knows.

A file is there whole or not at all: on this machine it is written elsewhere in the folder and renamed, and a bucket
shows an object once all of it has arrived.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from storyproof.errors import ConfigError, DataError, StoryproofError, shorten
from storyproof.extras import need

_EXTRAS = {"s3": "s3", "s3a": "s3", "gs": "gcs", "gcs": "gcs"}  # of storyproof, by the beginning of a URL
_LOCAL = "file"
# Libraries that print tracebacks of requests that they repeat; whoever configures logging still gets them.
_TALKATIVE = ("gcsfs", "s3fs")
_SILENCE = logging.NullHandler()


def is_url(place: str | Path) -> bool:
    """Return whether a place is a URL, such as `s3://bucket/data`, rather than a path."""
    return "://" in str(place)


def as_place(text: str) -> str | Path:
    """Return what users wrote for a place: a URL as it is, anything else as a path."""
    return text if is_url(text) else Path(text)


class StoredFolder:
    """A folder, wherever it is.

    Args:
        place: A path, or a URL that fsspec knows.
        scratch: A folder inside it, for files that are being written, if it is on this machine.

    Raises:
        ConfigError: If there is no such kind of storage, or the package for it is not installed.
    """

    def __init__(self, place: str | Path, scratch: str = "") -> None:
        self.place = str(place).rstrip("/") if is_url(place) else str(Path(place).resolve())
        self._scratch = scratch
        self._files, self._root = self._open()
        self.is_local = _LOCAL in _protocols(self._files)

    def __str__(self) -> str:
        return self.place

    def __reduce__(self) -> tuple[Any, ...]:
        return StoredFolder, (self.place, self._scratch)  # whoever receives it connects anew

    def sizes(self) -> dict[str, int]:
        """Return the sizes of all files by name, with folders before it.

        Raises:
            DataError: If it cannot be listed.
        """
        with self._reaching("list"):
            try:
                found = self._files.find(self._root, detail=True)
            except FileNotFoundError:
                if self.is_local:
                    return {}
                raise
        return {name[len(self._root) + 1 :]: each["size"] for name, each in found.items() if name != self._root}

    def is_file(self) -> bool:
        """Return whether there is a file at the place, rather than a folder or nothing."""
        with self._reaching("read"):
            return bool(self._files.isfile(self._root))

    def read(self, name: str) -> bytes | None:
        """Read a small file; None if it does not exist.

        Raises:
            DataError: If it cannot be read.
        """
        with self._reaching("read"):
            try:
                found: bytes = self._files.cat_file(self._path(name))
            except FileNotFoundError:
                return None
        return found

    def fetch(self, name: str, into: Path) -> Path:
        """Copy a file to a folder on this machine, and return where it is.

        Raises:
            DataError: If it cannot be read.
        """
        target = into / Path(name).name
        with self._reaching("read", name):
            self._files.get_file(self._path(name), str(target))
        return target

    def write(self, name: str, content: bytes) -> None:
        """Write a small file, whole or not at all.

        Raises:
            DataError: If it cannot be written.
        """
        with self._reaching("write to"):
            if not self.is_local:
                self._files.pipe_file(self._path(name), content)
                return
            draft = self._path(f"{self._scratch}/{Path(name).name}.{secrets.token_hex(4)}")
            for path in (draft, self._path(name)):
                self._files.makedirs(self._files._parent(path), exist_ok=True)
            self._files.pipe_file(draft, content)
            self._files.mv(draft, self._path(name))

    @contextmanager
    def scratch(self) -> Iterator[Path]:
        """Open a folder on this machine for files that `put` will take; on this disk if the folder is on it, too.

        Raises:
            DataError: If it cannot be made.
        """
        beside = Path(self._path(self._scratch)) if self.is_local else None
        with self._reaching("write to"):
            if beside is not None:
                beside.mkdir(parents=True, exist_ok=True)
            folder = TemporaryDirectory(dir=beside)
        with folder as path:
            yield Path(path)

    def put(self, file: Path, name: str) -> None:
        """Store a file of a scratch folder, whole or not at all.

        Raises:
            DataError: If it cannot be written.
        """
        with self._reaching("write to"):
            if self.is_local:
                self._files.mv(str(file), self._path(name))
            else:
                self._files.put_file(str(file), self._path(name))

    def remove(self, names: Iterable[str]) -> None:
        """Remove files; those that do not exist are passed over.

        Raises:
            DataError: If they cannot be removed.
        """
        with self._reaching("remove files of"):
            for name in names:
                try:
                    self._files.rm_file(self._path(name))
                except FileNotFoundError:
                    continue

    def remove_folder(self, name: str) -> None:
        """Remove a folder with all that it holds, if it exists.

        Raises:
            DataError: If it cannot be removed.
        """
        with self._reaching("remove files of"):
            try:
                self._files.rm(self._path(name), recursive=True)
            except FileNotFoundError:
                return

    def _path(self, name: str) -> str:
        return f"{self._root}/{name}"

    def _open(self) -> tuple[Any, str]:
        """Return the file system and the path there."""
        kind = self.place.partition("://")[0] if is_url(self.place) else _LOCAL
        fsspec = need("fsspec", _EXTRAS.get(kind, "ray"), self.place if kind in _EXTRAS else "a dataset in shards")
        for library in _TALKATIVE:
            logging.getLogger(library).addHandler(_SILENCE)
        try:
            files, root = fsspec.url_to_fs(self.place, use_listings_cache=False)
        except ImportError as error:
            package = getattr(error, "name", None) or shorten(str(error))
            remedy = f"pip install 'storyproof[{_EXTRAS[kind]}]'" if kind in _EXTRAS else "install it"
            raise ConfigError(f"{self.place} needs a package that is not installed ({package}): {remedy}.") from error
        except ValueError as error:
            raise ConfigError(
                f"{self.place} cannot be reached ({shorten(str(error)).rstrip('.')}); give a folder, or a URL such as "
                "s3://bucket/folder or gs://bucket/folder."
            ) from error
        return files, root.rstrip("/")

    @contextmanager
    def _reaching(self, what: str, name: str = "") -> Iterator[None]:
        """Name the place in whatever a storage complains about: each library has exceptions of its own."""
        place = f"{self.place}/{name}" if name else self.place
        remedy = "check the path and the permissions" if self.is_local else "check the bucket, its rights and your keys"
        try:
            yield
        except StoryproofError:
            raise
        except FileNotFoundError as error:
            raise DataError(f"cannot {what} {place}: it does not exist; {remedy}.") from error
        except PermissionError as error:
            raise DataError(f"cannot {what} {place}: permission denied ({_reason(error)}); {remedy}.") from error
        except Exception as error:
            raise DataError(f"cannot {what} {place}: {_reason(error)}; {remedy}.") from error


def _reason(error: Exception) -> str:
    """Return what a storage said, in one line."""
    said = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return shorten(said).rstrip(".")


def _protocols(files: Any) -> tuple[str, ...]:
    return (files.protocol,) if isinstance(files.protocol, str) else tuple(files.protocol)
