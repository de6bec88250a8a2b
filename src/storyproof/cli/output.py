"""Files that results are written to."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from storyproof.cli.safe_terminal import echo_text, note
from storyproof.errors import DataError
from storyproof.io.atomic_files import write_whole

JsonOut = Annotated[
    Path | None, typer.Option("--json", help="Write what was done to a JSON file; - for standard output.")
]


def write_text(path: Path, text: str, option: str = "--json") -> None:
    """Write a result to a file, whole or not at all.

    Raises:
        DataError: If it cannot be written; a file that was there stays as it was.
    """
    try:
        write_whole(path, text.encode("utf-8", "backslashreplace"))  # JSON writes surrogates so, too
    except OSError as error:
        raise DataError(f"cannot write {path}: {error.strerror}; choose another file for {option}.") from error


def check_results(out: Path | None, inputs: Iterable[str | Path | None] = (), option: str = "--json") -> None:
    """Check that results can be written where they are wanted, and overwrite no input, before the work is done.

    Raises:
        DataError: If there is no such folder, nothing can be written there, or the file is an input.
    """
    if out is None or str(out) == "-":
        return
    why = _why_not(out)
    if why:
        raise DataError(f"cannot write {out}: {why}; choose another file for {option}.")
    from storyproof.datasets.path_conflicts import refuse_overwriting

    refuse_overwriting(inputs, out, option)


def check_folder(out: Path, option: str) -> None:
    """Check that files can be written to a folder, or that it can be made, before the work is done.

    Raises:
        DataError: If it is a file, or nothing can be written there.
    """
    place = out
    try:
        while not os.path.lexists(place) and place.parent != place:
            place = place.parent
        why = "" if place.is_dir() else f"{place} is not a folder"
    except OSError as error:
        why = error.strerror or str(error)
    if not why and not os.access(place, os.W_OK | os.X_OK):
        why = f"{place} is read-only"
    if why:
        raise DataError(f"cannot write to {out}: {why}; choose another folder for {option}.")


def _why_not(out: Path) -> str:
    """Return why a file cannot be written; empty if nothing speaks against it."""
    try:
        if out.is_dir():
            return "it is a folder"
        if not out.parent.is_dir():
            return "there is no such folder"
        stands = out.exists() and not out.is_file()  # a pipe or a device, which is written to as it is
    except OSError as error:
        return error.strerror or str(error)
    return "" if stands or os.access(out.parent, os.W_OK | os.X_OK) else "the folder is read-only"


def takes_output(out: Path | None) -> bool:
    """Return whether a result goes to standard output, so that nothing else may go there."""
    return out is not None and str(out) == "-"


def write_result(out: Path, text: str, option: str = "--json") -> None:
    """Write a result to a file, whole or not at all; for `-` to standard output.

    Raises:
        DataError: If it cannot be written.
    """
    if takes_output(out):
        echo_text(text.replace("\x7f", "\\u007f"), end="")  # the one control character that JSON does not escape
    else:
        write_text(out, text, option)


def write_results(json_out: Path | None, results: Sequence[dict[str, Any]]) -> bool:
    """Write results as JSON, one alone or several as a list, to a file, and say so, or for `-` to standard output.

    Returns:
        Whether standard output is taken, so that nothing else may go there.
    """
    if json_out is None:
        return False
    write_result(json_out, json.dumps(results[0] if len(results) == 1 else results, indent=2) + "\n")
    if not takes_output(json_out):
        note(f"written to {json_out}")
    return takes_output(json_out)
