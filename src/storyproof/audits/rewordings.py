"""Rows that a family does not understand as they are, in words that it does.

Stories and questions of others are read as `storyproof.story` reads a user's own text: as running text or one sentence
per line, numbered or not, and in other words than ours. What a row does not say of its text's facts is filled in.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

import pyarrow as pa

from storyproof.errors import DataError
from storyproof.example import Example, plain_schema
from storyproof.families.family import Family, load_family, recognise
from storyproof.formats.format import PLACE
from storyproof.stories import OwnText, prove_own, restated

_MOST_IN_VAIN = 500  # stories of a file that are tried although none before could be read: each takes milliseconds
_MOST_KEPT = 10_000  # stories that cannot be read


class Reworded(NamedTuple):
    """Rows in other words.

    Attributes:
        tables: The rows that can be read, by the name of their family, in words that it reads.
        reasons: Why the others cannot, by their numbers in the file.
    """

    tables: dict[str, pa.Table]
    reasons: dict[int, str]


class Rewordings:
    """Reads the rows of one file in other words.

    Args:
        family: The only family that its format can hold; empty for any.
    """

    def __init__(self, family: str) -> None:
        self._family = family
        self._unread: dict[str, str] = {}  # stories that cannot be read, and why
        self._failed = 0

    def find(self, table: pa.Table, rows: Collection[int]) -> Reworded:
        """Return what can be read of some rows.

        Args:
            table: Rows with their places, among them these.
            rows: Their numbers in the file.
        """
        groups: dict[str, list[dict[str, Any]]] = {}
        reasons: dict[int, str] = {}
        for values in table.to_pylist():
            number = values[PLACE]["row"]
            if number not in rows:
                continue
            family = recognise((), values["question"])
            has_facts = any(values.get(name) is not None for name in family.facts)
            if has_facts or self._family not in ("", family.name):
                continue  # it says what its text states, and that cannot be read
            try:
                groups.setdefault(family.name, []).append(restated(values, self._read(values, family), family))
            except DataError as error:
                reasons[number] = str(error)
        schemas = {name: [*plain_schema(load_family(name).schema), table.schema.field(PLACE)] for name in groups}
        tables = {
            name: pa.Table.from_pylist(rows, schema=pa.schema(schemas[name])) for name, rows in groups.items() if rows
        }
        return Reworded(tables, reasons)

    def _read(self, values: dict[str, Any], family: Family) -> Example:
        """Read a row.

        Raises:
            DataError: If it cannot be read.
        """
        story = values["story"]
        if story in self._unread:
            raise DataError(self._unread[story])
        if self._failed >= _MOST_IN_VAIN:
            raise DataError(f"story: in words that are not known, like the {_MOST_IN_VAIN} stories before.")
        try:
            example = prove_own(OwnText(story, values["question"], family=family.name))
        except DataError as error:
            if str(error).startswith("story"):
                self._failed += 1
                if len(self._unread) < _MOST_KEPT:
                    self._unread[story] = str(error)
            raise
        self._failed = 0
        return example
