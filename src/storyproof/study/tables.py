"""The tables of an export: for each column its name, its type, what it means, and where its value comes from."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from operator import attrgetter
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from storyproof.study.folder import Study
from storyproof.study.items import MAIN, StudyItem
from storyproof.study.results import ReviewedText, StudyRows, list_payouts, review_texts

_FORMULA = ("=", "+", "-", "@", "\t")  # what spreadsheets take for a formula
_TEXT, _WHOLE, _TRUTH = pa.string(), pa.int64(), pa.bool_()


@dataclass(frozen=True)
class TableSource:
    """What tables are made of.

    Attributes:
        study: The study.
        rows: Its rows.
        excluded: Why participants are left out of results, by number.
    """

    study: Study
    rows: StudyRows
    excluded: Mapping[int, list[str]]

    def code(self, row: Any) -> str:
        """Return the pseudonym of whom a result belongs to."""
        return str(self.rows.participants[row.participant_id].code)

    def why_excluded(self, number: int) -> str:
        """Return why a participant is excluded; empty if not."""
        return " ".join(self.excluded.get(number, []))

    def item(self, row: Any) -> StudyItem:
        """Return the item of a result."""
        return self.study.items[row.item]

    @cached_property
    def reviewed(self) -> Mapping[int, ReviewedText]:
        """All stories with all reviews."""
        return {each.row.id: each for each in review_texts(self.study.design, self.rows, {})}

    @cached_property
    def counted(self) -> Mapping[int, ReviewedText]:
        """The stories and reviews of participants who are not excluded."""
        return {each.row.id: each for each in review_texts(self.study.design, self.rows, self.excluded)}


class TableColumn(NamedTuple):
    """A column of an exported table.

    Attributes:
        name: Its name.
        type: Its type.
        meaning: What it holds, for the codebook.
        value: Returns its value for a row.
    """

    name: str
    type: pa.DataType
    meaning: str
    value: Callable[[TableSource, Any], Any]


class ExportedTable(NamedTuple):
    """A table of the export.

    Attributes:
        rows: Returns its rows.
        columns: Its columns.
    """

    rows: Callable[[TableSource], Iterable[Any]]
    columns: Sequence[TableColumn]


def _same(name: str, type_: pa.DataType, meaning: str, attribute: str = "") -> TableColumn:
    """Return a column that holds an attribute of the row, by default the one of the same name."""
    read = attrgetter(attribute or name)
    return TableColumn(name, type_, meaning, lambda source, row: read(row))


def _time(name: str, meaning: str) -> TableColumn:
    read = attrgetter(name)
    return TableColumn(name, _TEXT, f"{meaning} (UTC)", lambda source, row: iso(read(row)))


_EXCLUDED_MEANS = "why the participant is excluded by the rules of the design; empty if not excluded"
_OWNER = TableColumn("participant", _TEXT, "the pseudonym of the participant", lambda source, row: source.code(row))
_EXCLUDED = TableColumn("excluded", _TEXT, _EXCLUDED_MEANS, lambda source, row: source.why_excluded(row.participant_id))
_CODE = _same("participant", _TEXT, _OWNER.meaning, "code")
_SOURCE = _same("source", _TEXT, "link, prolific or mturk")
_CONDITION = _same("condition", _TEXT, "the condition")
_STATUS = _same("status", _TEXT, "working, or done")
_ROLE = _same("role", _TEXT, "main, practice, or attention (a check that does not count as a result)")
_ITEM = _same("item", _WHOLE, "the number of the item in items.jsonl")
_TIMES = [
    _time("shown_at", "when the page was first shown, by the server's clock"),
    _time("received_at", "when the form arrived, by the server's clock"),
    _same("browser_ms", _WHOLE, "milliseconds on the page by the browser's clock; empty if it sent none"),
    _same("hidden_ms", _WHOLE, "milliseconds of these in which the page was hidden, as behind another tab"),
    _same("server_ms", _WHOLE, "milliseconds from shown_at to received_at"),
    _same(
        "timing",
        _TEXT,
        "ok; no-browser-time; browser-exceeds-server: the browser's time cannot be true; gap: the server's time is "
        "more than a minute longer, as after a reload or a pause",
    ),
]
TABLES: dict[str, ExportedTable] = {
    "participants": ExportedTable(
        lambda source: source.rows.participants.values(),
        [
            _CODE,
            _SOURCE,
            _CONDITION,
            _STATUS,
            _same("language", _TEXT, "the language of the pages"),
            _time("consented_at", "when the participant consented"),
            _time("finished_at", "when the participant finished; empty if not yet"),
            TableColumn("excluded", _TEXT, _EXCLUDED_MEANS, lambda source, row: source.why_excluded(row.id)),
        ],
    ),
    "answers": ExportedTable(
        lambda source: source.rows.answers,
        [
            _OWNER,
            _CONDITION,
            _ROLE,
            _ITEM,
            TableColumn("id", _TEXT, "the id of the question in its dataset", lambda source, row: source.item(row).key),
            TableColumn(
                "kind",
                _TEXT,
                "the kind of question, over which items are balanced",
                lambda source, row: source.item(row).stratum,
            ),
            _same("answer", _TEXT, "the answer; empty if time was over"),
            TableColumn("target", _TEXT, "the right answer", lambda source, row: source.item(row).answer),
            _same("right", _TRUTH, "whether the answer is right and came in time", "is_right"),
            _same("timed_out", _TRUTH, "whether it came after the time limit, or not at all", "is_timed_out"),
            _same("difficulty", _WHOLE, "the rating, from 1 (very easy) to 5 (very difficult); empty if not rated"),
            *_TIMES,
            _EXCLUDED,
        ],
    ),
    "texts": ExportedTable(
        lambda source: source.rows.texts,
        [
            _OWNER,
            _same("text_id", _WHOLE, "the number of the story", "id"),
            _ITEM,
            TableColumn("key", _TEXT, "relations and genders of the facts", lambda source, row: source.item(row).key),
            _same("text", _TEXT, "the story"),
            _same("remarks", _TEXT, "what the checks said when it was sent, as JSON"),
            TableColumn(
                "good_reviews",
                _WHOLE,
                "how many reviewers find it good, excluded ones among them",
                lambda source, row: sum(source.reviewed[row.id].votes),
            ),
            TableColumn(
                "reviews",
                _WHOLE,
                "how many have reviewed it, excluded ones among them",
                lambda source, row: len(source.reviewed[row.id].votes),
            ),
            TableColumn(
                "accepted",
                _TRUTH,
                "whether it has all reviews and all find it good; excluded writers and reviewers do not count",
                lambda source, row: row.id in source.counted and source.counted[row.id].is_accepted,
            ),
            *_TIMES,
            _EXCLUDED,
        ],
    ),
    "reviews": ExportedTable(
        lambda source: source.rows.reviews,
        [
            _OWNER,
            _ROLE,
            TableColumn(
                "text_id",
                _WHOLE,
                "the number of the story; empty for an attention check",
                lambda source, row: row.target if row.role == MAIN else None,
            ),
            TableColumn(
                "item",
                _WHOLE,
                "the number of the item of an attention check; empty for others",
                lambda source, row: None if row.role == MAIN else row.target,
            ),
            _same("good", _TRUTH, "whether the reviewer finds the story good", "is_good"),
            _same("right", _TRUTH, "of an attention check: whether the verdict is right", "is_right"),
            TableColumn(
                "reasons",
                _TEXT,
                "why it is bad, separated by spaces",
                lambda source, row: " ".join(json.loads(row.reasons)),
            ),
            *_TIMES,
            _EXCLUDED,
        ],
    ),
    "payouts": ExportedTable(
        lambda source: list_payouts(source.study.design, source.rows),
        [
            _CODE,
            _SOURCE,
            _same("external_id", _TEXT, "the id at the site, for paying; in no other table"),
            _STATUS,
            _same("tasks", _WHOLE, "questions answered, or stories written"),
            _same("reviews", _WHOLE, "reviews"),
            TableColumn("amount", _TEXT, "the pay, as a decimal number", lambda source, row: str(row.amount)),
            TableColumn("currency", _TEXT, "its currency", lambda source, row: source.study.design.currency),
        ],
    ),
}


def iso(time: float | None) -> str | None:
    """Return a time as text, to the millisecond, in UTC."""
    return None if time is None else datetime.fromtimestamp(time, UTC).isoformat(timespec="milliseconds")


def build_exported(name: str, source: TableSource) -> pa.Table:
    """Build a table of the export."""
    rows, columns = list(TABLES[name].rows(source)), TABLES[name].columns
    arrays = [pa.array([each.value(source, row) for row in rows], each.type) for each in columns]
    return pa.table(arrays, pa.schema([(each.name, each.type) for each in columns]))


def parquet_bytes(table: pa.Table) -> bytes:
    """Return a table as Parquet."""
    held = io.BytesIO()
    pyarrow.parquet.write_table(table, held)
    return held.getvalue()


def csv_bytes(table: pa.Table) -> bytes:
    """Return a table as CSV; an apostrophe in front of text keeps spreadsheets from running it as a formula."""
    for place, field in enumerate(table.schema):
        if field.type == _TEXT:
            values = [f"'{each}" if each and each.startswith(_FORMULA) else each for each in table[place].to_pylist()]
            table = table.set_column(place, field, pa.array(values, _TEXT))
    held = io.BytesIO()
    pyarrow.csv.write_csv(table, held)
    return held.getvalue()


def codebook(names: Sequence[str]) -> str:
    """Return what the columns of tables mean, as Markdown."""
    parts = [
        "# Codebook\n",
        "Each table is there as CSV and as Parquet. In CSV, text that a spreadsheet would run as a formula has an "
        "apostrophe in front; Parquet has the text as it was sent. Times are in UTC.\n",
    ]
    for name in names:
        parts += [f"## {name}\n", "| column | type | meaning |", "|---|---|---|"]
        parts += [f"| {each.name} | {each.type} | {each.meaning} |" for each in TABLES[name].columns]
        parts.append("")
    return "\n".join(parts)
