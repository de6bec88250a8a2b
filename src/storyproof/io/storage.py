"""Folders that are written to: on this machine, in a bucket (S3, Google Cloud Storage), or wherever fsspec reaches.

A file is there whole or not at all: on this machine it is written elsewhere in the folder and renamed, and a bucket
shows an object once all of it has arrived. fsspec is imported for URLs only, since that takes longer than generating
some thousand stories.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory
from typing import Any, Protocol

from storyproof.errors import ConfigError, DataError, StoryproofError, shorten
from storyproof.io.atomic_files import write_whole
from storyproof.io.bounded_input import read_bytes
from storyproof.runtime.optional_packages import need

_EXTRAS = {"s3": "s3", "s3a": "s3", "gs": "gcs", "gcs": "gcs"}  # of storyproof, by the beginning of a URL
_HERE = "file://"
# Libraries that print tracebacks of requests that they repeat; programs that configure logging still get them.
_TALKATIVE = ("gcsfs", "s3fs")
_SILENCE = logging.NullHandler()


def is_url(place: str | Path) -> bool:
    """Return whether a place is a URL, such as `s3://bucket/data`, rather than a path."""
    return "://" in str(place)


def as_place(place: str | Path) -> str | Path:
    """Return a place as a URL, without a slash at its end, or as a path if it is on this machine (`file://` too)."""
    text = str(place)
    if not is_url(text):
        return Path(place)
    return Path(text.removeprefix(_HERE)) if text.startswith(_HERE) else text.rstrip("/")


class Folder(Protocol):
    """A folder that a dataset is written to, by several processes or machines."""

    def sizes(self) -> dict[str, int]:
        """Return the sizes of all files by name, with folders before it."""

    def read(self, name: str) -> bytes | None:
        """Read a small file; None if it does not exist."""

    def write(self, name: str, content: bytes) -> None:
        """Write a small file, whole or not at all."""

    def scratch(self) -> Any:
        """Open a folder on this machine for files that `put` will take; on this disk if the folder is on it, too."""

    def put(self, file: Path, name: str) -> None:
        """Store a file of a scratch folder, whole or not at all."""

    def remove_folder(self, name: str) -> None:
        """Remove a folder with all that it holds, if it exists."""


class LocalFolder:
    """A folder on this machine, or one that several machines see under the same path.

    Errors are OSErrors: `folders.whole_folder` names the dataset that could not be written.

    Args:
        path: The folder, which exists.
        scratch: A folder inside it, for files that are being written.
    """

    def __init__(self, path: Path, scratch: str) -> None:
        self._path, self._scratch = path, scratch

    def sizes(self) -> dict[str, int]:
        """Return the sizes of all files by name, with folders before it."""
        files = (path for path in self._path.rglob("*") if path.is_file())
        return {path.relative_to(self._path).as_posix(): path.stat().st_size for path in files}

    def read(self, name: str) -> bytes | None:
        """Read a small file; None if it does not exist."""
        try:
            return read_bytes(self._path / name)
        except FileNotFoundError:
            return None

    def write(self, name: str, content: bytes) -> None:
        """Write a small file, whole or not at all."""
        path = self._path / name
        path.parent.mkdir(exist_ok=True)
        write_whole(path, content)

    @contextmanager
    def scratch(self) -> Iterator[Path]:
        """Open a folder inside this one for files that `put` will take."""
        (self._path / self._scratch).mkdir(exist_ok=True)
        with TemporaryDirectory(dir=self._path / self._scratch) as folder:
            yield Path(folder)

    def put(self, file: Path, name: str) -> None:
        """Move a file of a scratch folder to its place."""
        file.replace(self._path / name)

    def remove_folder(self, name: str) -> None:
        """Remove a folder with all that it holds, if it exists."""
        rmtree(self._path / name, ignore_errors=True)


class RemoteFolder:
    """A folder at a URL.

    Args:
        url: A URL that fsspec knows.

    Raises:
        ConfigError: If there is no such kind of storage, or the package for it is not installed.
    """

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")
        self._files, self._root = self._open()

    def __str__(self) -> str:
        return self.url

    def __reduce__(self) -> tuple[Any, ...]:
        return RemoteFolder, (self.url,)  # the receiver connects again

    def sizes(self) -> dict[str, int]:
        """Return the sizes of all files by name, with folders before it.

        Raises:
            DataError: If it cannot be listed.
        """
        with self._reaching("list"):
            files = self._files.find(self._root, detail=True)
        return {name[len(self._root) + 1 :]: each["size"] for name, each in files.items() if name != self._root}

    def read(self, name: str) -> bytes | None:
        """Read a small file; None if it does not exist.

        Raises:
            DataError: If it cannot be read.
        """
        with self._reaching("read"):
            try:
                content: bytes = self._files.cat_file(self._path(name))
            except FileNotFoundError:
                return None
        return content

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
            self._files.pipe_file(self._path(name), content)

    @contextmanager
    def scratch(self) -> Iterator[Path]:
        """Open a folder on this machine for files that `put` will take."""
        with TemporaryDirectory() as folder:
            yield Path(folder)

    def put(self, file: Path, name: str) -> None:
        """Store a file of a scratch folder, whole or not at all.

        Raises:
            DataError: If it cannot be written.
        """
        with self._reaching("write to"):
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
        kind = self.url.partition("://")[0]
        fsspec = need("fsspec", _EXTRAS.get(kind, "ray"), self.url)
        for library in _TALKATIVE:
            logging.getLogger(library).addHandler(_SILENCE)
        try:
            files, root = fsspec.url_to_fs(self.url, use_listings_cache=False)
        except ImportError as error:
            package = getattr(error, "name", None) or shorten(str(error))
            remedy = f"pip install 'storyproof[{_EXTRAS[kind]}]'" if kind in _EXTRAS else "install it"
            raise ConfigError(f"{self.url} needs a package that is not installed ({package}): {remedy}.") from error
        except ValueError as error:
            raise ConfigError(
                f"{self.url} cannot be reached ({shorten(str(error)).rstrip('.')}); give a folder, or a URL such as "
                "s3://bucket/folder or gs://bucket/folder."
            ) from error
        return files, root.rstrip("/")

    @contextmanager
    def _reaching(self, what: str, name: str = "") -> Iterator[None]:
        """Name the place in whatever a storage complains about: each library has exceptions of its own."""
        place = f"{self.url}/{name}" if name else self.url
        remedy = "check the bucket, its rights and your keys"
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
