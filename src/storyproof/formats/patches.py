"""Changes to the rows of a file that leave all else as it is."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

from storyproof.errors import DataError
from storyproof.example import plain
from storyproof.families.family import families
from storyproof.findings import Finding

Write = Callable[[BinaryIO], object]  # writes a whole file


@dataclass(slots=True)
class Changes:
    """What is to become of a file's rows.

    Attributes:
        values: New values by row and name. A dot leads into a value: `metadata.question_type` is a member of an object,
            `observers.3` the third of a list.
        found: What stands there now, as text, where that is known. Formats of plain text refuse to replace anything
            else.
        gone: Rows to leave out.
        added: Columns that rows may lack, and that are then added: the value of rows that are not changed. JSON need
            not say it.
        rows: How many rows the file has; None if that is not known.
    """

    values: dict[int, dict[str, Any]] = field(default_factory=dict)
    found: dict[int, dict[str, str]] = field(default_factory=dict)
    gone: Collection[int] = ()
    added: dict[str, str] = field(default_factory=dict)
    rows: int | None = None

    def put(self, row: int, name: str, value: Any, found: str | None = None) -> None:
        """Change a value."""
        self.values.setdefault(row, {})[name] = value
        if found is not None:
            self.found.setdefault(row, {})[name] = found

    def expected(self, row: int, name: str) -> str | None:
        """Return what stands now where a value is to be changed; None if that is not known."""
        return self.found.get(row, {}).get(name)

    def check_rows(self, path: Path, rows: int) -> None:
        """Raise DataError unless a file with this number of rows can be the one that is to be changed."""
        if self.rows is not None and rows != self.rows:
            raise DataError(f"{path} has another number of rows than when it was audited; audit it again.")
        if (last := max([*self.values, *self.gone], default=-1)) >= rows:
            raise DataError(f"{path} has {rows} rows; expected row {last}, as it was audited.")


def contents(writes: Mapping[str, Write]) -> dict[str, bytes]:
    """Return what is written, by the files' names."""
    found = {}
    for name, write in writes.items():
        out = BytesIO()
        write(out)
        found[name] = out.getvalue()
    return found


def is_text(column: str) -> bool:
    """Return whether a column holds words rather than lists or numbers."""
    types = (plain(family.schema.field(column).type) for family in families() if column in family.schema.names)
    return all(pa.types.is_string(kind) for kind in types)


def right_value(finding: Finding) -> Any:
    """Return the value that a finding expects; for columns that do not hold text it is given as JSON."""
    return finding.expected if is_text(finding.field) else json.loads(finding.expected)
