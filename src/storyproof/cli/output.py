"""Files that results are written to."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from storyproof.cli.screen import echo_text
from storyproof.errors import DataError
from storyproof.files import write_whole


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
        DataError: If there is no such folder, or the file is an input.
    """
    if out is None or str(out) == "-":
        return
    if out.is_dir() or not out.parent.is_dir():
        why = "it is a folder" if out.is_dir() else "there is no such folder"
        raise DataError(f"cannot write {out}: {why}; choose another file for {option}.")
    from storyproof.datasets.protection import refuse_overwriting

    refuse_overwriting(inputs, out, option)


def write_results(json_out: Path | None, results: Sequence[dict[str, Any]]) -> bool:
    """Write results as JSON, one alone or several as a list, to a file or for `-` to standard output.

    Returns:
        Whether standard output is taken, so that nothing else may go there.
    """
    if json_out is None:
        return False
    text = json.dumps(results[0] if len(results) == 1 else results, indent=2)
    if str(json_out) == "-":
        echo_text(text.replace("\x7f", "\\u007f"))  # the one control character that JSON does not escape
        return True
    write_text(json_out, text + "\n")
    return False
