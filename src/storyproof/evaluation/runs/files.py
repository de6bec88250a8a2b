"""The files of a run: `<model>_<split>.json`, with every prediction on a line of its own."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, overload

from storyproof.errors import DataError
from storyproof.files import whole_file

_ODD = re.compile(r"[^\w.+=-]+")
_BEGIN, _END = '"predictions": [\n', "]}\n"


def run_name(model: str, split: str | None, *more: str) -> str:
    """Give a run's file its name; slashes, and whatever else a file's name should not hold, become dashes."""
    parts = [model, split or "all", *more]
    return "_".join(_ODD.sub("-", part).strip("-") for part in parts) + ".json"


class Recorded(Sequence[dict[str, Any]]):
    """Predictions that lie in a run's file, read when they are looked at."""

    def __init__(self, path: Path, count: int) -> None:
        self._path, self._count = path, count

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[dict[str, Any]]:
        with self._path.open(encoding="utf-8") as file:
            for line in file:
                if line == _BEGIN:
                    break
            for line in file:
                if line == _END:
                    return
                yield json.loads(line.rstrip(",\n"))

    @overload
    def __getitem__(self, place: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, place: slice) -> list[dict[str, Any]]: ...
    def __getitem__(self, place: int | slice) -> dict[str, Any] | list[dict[str, Any]]:
        return list(self)[place]


class Recorder:
    """Takes predictions one by one, and writes them to a run's file when all is known.

    Until then they wait in a file without a name, so that memory stays flat and nobody reads half a run.

    Args:
        path: The run's file; None keeps predictions in memory.

    Raises:
        DataError: If nothing can be written there.
    """

    def __init__(self, path: Path | None) -> None:
        self._path, self._count = path, 0
        self._rows: list[dict[str, Any]] = []
        if path is not None:
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                self._draft = TemporaryFile("w+", encoding="utf-8", newline="\n", dir=path.parent)  # noqa: SIM115
            except OSError as error:
                raise _unwritable(path, error) from error

    def add(self, row: dict[str, Any]) -> None:
        """Take the next prediction."""
        self._count += 1
        if self._path is None:
            self._rows.append(row)
        else:
            self._draft.write(json.dumps(row, ensure_ascii=False) + "\n")

    def finish(self, about: dict[str, Any]) -> Sequence[dict[str, Any]]:
        """Write the file, what is known about the run first; gives the predictions."""
        if self._path is None:
            return self._rows
        try:
            with self._draft as rows, whole_file(self._path) as file:
                rows.seek(0)
                file.write((json.dumps(about, indent=2, ensure_ascii=False)[:-2] + ",\n" + _BEGIN).encode())
                before = ""
                for line in rows:
                    file.write((before + line.rstrip("\n")).encode())
                    before = ",\n"
                file.write(("\n" * bool(before) + _END).encode())
        except OSError as error:
            raise _unwritable(self._path, error) from error
        return Recorded(self._path, self._count)

    def drop(self) -> None:
        """Forget what was taken."""
        if self._path is not None:
            self._draft.close()


def _unwritable(path: Path, error: OSError) -> DataError:
    return DataError(f"cannot write {path}: {error.strerror}; choose another --output-dir.")
