"""The plainest way to verify kinship rows: one row after the other, each read, derived and checked on its own."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from storyproof.families.kinship.audit.labels import check_row, natural_text
from storyproof.families.kinship.language.reader import NotUnderstood, Reading, read
from storyproof.families.kinship.prove_labels import judge
from storyproof.families.kinship.row import read_row
from storyproof.families.kinship.stated_facts import Text


def verify_plainly(rows: Iterable[dict[str, Any]]) -> int:
    """Return how many disagreements rows have."""
    found = 0
    for values in rows:
        row = read_row(values)
        [judged] = judge([row.structure])
        found += len(list(check_row(row, judged, reading=_read(natural_text(row)))))
    return found


def _read(text: Text | None) -> Reading | NotUnderstood | None:
    if text is None:
        return None
    try:
        return read(text.story, text.names)
    except NotUnderstood as reason:
        return reason
