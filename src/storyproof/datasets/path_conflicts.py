"""Keeps what a command reads apart from what it writes."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from storyproof.datasets.manifest import MANIFEST
from storyproof.errors import DataError
from storyproof.example import SPLITS
from storyproof.formats.format import formats
from storyproof.io.bounded_input import resolved


def refuse_overlap(inputs: Iterable[str | Path | None], out: str | Path | None, option: str = "--out") -> None:
    """Check that a folder to be written whole is no input, is inside none, and contains none; links are followed.

    Args:
        inputs: Files and folders that are read; None, and what does not exist, is left out.
        out: The folder; None if nothing is written.
        option: What users call it.

    Raises:
        DataError: If it overlaps an input.
    """
    for path, place in _pairs(inputs, out):
        if path == place or path in place.parents or place in path.parents:
            how = "is" if path == place else "lies inside" if path in place.parents else "contains"
            raise DataError(f"{option} is {out}, which {how} the input {path}; choose another folder for {option}.")


def refuse_same_folder(inputs: Iterable[str | Path | None], out: str | Path | None, option: str = "--out") -> None:
    """Check that a folder that files are added to is no input; links are followed.

    Raises:
        DataError: If it is.
    """
    for path, place in _pairs(inputs, out):
        if path == place:
            raise DataError(f"{option} is {out}, which is also the input; choose another folder for {option}.")


def refuse_overwriting(inputs: Iterable[str | Path | None], out: str | Path | None, option: str = "--json") -> None:
    """Check that a file to be written is no input, and would not be read as a part of one; links are followed.

    Raises:
        DataError: If it is or would be.
    """
    for path, place in _pairs(inputs, out):
        same = path == place or (place.is_file() and path.is_file() and path.samefile(place))
        if same or (path.is_dir() and place.parent == path and _is_part(place)):
            what = "is an input" if same else f"would be read as a part of the input {path}"
            raise DataError(f"{option} is {out}, which {what}; choose another file for {option}.")


def _pairs(inputs: Iterable[str | Path | None], out: str | Path | None) -> list[tuple[Path, Path]]:
    if out is None:
        return []
    try:
        place = resolved(Path(out))
    except OSError as error:
        raise DataError(f"cannot write {out}: {error.strerror}; choose another place.") from error
    pairs = []
    for path in inputs:
        try:
            if path is not None and Path(path).exists():
                pairs.append((resolved(Path(path)), place))
        except (OSError, TypeError, ValueError):  # no path, so not an input
            continue
    return pairs


def _is_part(file: Path) -> bool:
    """Return whether a file in a dataset's folder belongs to the dataset, or would if it were there."""
    if file.name == MANIFEST or any(file.suffix in each.beside for each in formats()):
        return True
    fitting = [each for each in formats() if file.suffix in each.suffixes]
    return any(file.stem in SPLITS or each.is_data(file) for each in fitting)
