"""What is found right as arrays is found right row by row, and most rows are found."""

from __future__ import annotations

import random
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import storyproof
from storyproof.audits.row_pass import examine_table
from storyproof.example import plain_schema
from storyproof.families.kinship.audit import fast_rows, judge
from storyproof.families.kinship.audit.fast_rows import find_proved_rows
from storyproof.families.kinship.generation.proof_file import Proofs
from storyproof.families.kinship.schema import KINSHIP_SCHEMA
from tests.families.kinship.audit.test_labels import CHANGES, OF_WORDS, Change, kin_word, pronoun, renumbered

pytestmark = pytest.mark.usefixtures("small_blocks")

Row = dict[str, Any]
LENGTHS = (2, 3, 5, 8)


@cache
def made(**settings: Any) -> pa.Table:
    return storyproof.generate("clutrr", train=400, seed=6, **{"train_k": LENGTHS, **settings})


def as_table(rows: list[Row]) -> pa.Table:
    return pa.Table.from_pylist(rows, schema=plain_schema(KINSHIP_SCHEMA))


@pytest.mark.parametrize("plain", [False, True])
def test_rows_of_natural_text_are_found(plain: bool) -> None:
    table = made()
    assert find_proved_rows(as_table(table.to_pylist()) if plain else table).all()


@pytest.mark.parametrize(
    "settings",
    [{"text": "plain"}, {"cloze": True}, {"names": "mixed"}, {"sibling_run": 1}, {"train_k": (12,)}],
    ids=str,
)
def test_rows_of_other_settings_are_found(settings: Row) -> None:
    assert find_proved_rows(made(**settings)).all()


def test_a_line_that_only_looks_like_synthetic_text_is_read() -> None:
    rows = [{**row, "story": f"{row['story']}\nHere is the last page of the album."} for row in made().to_pylist()[:20]]
    assert find_proved_rows(as_table(rows)).all()


@pytest.mark.parametrize(
    "settings",
    [
        {"text": "synthetic"},
        {"text": "placeholders"},
        {"task": "all", "train_k": (2,)},
        {"task": "memory", "train_k": (2,)},
    ],
    ids=str,
)
def test_other_rows_are_left(settings: Row) -> None:
    assert not find_proved_rows(made(**settings)).any()


def test_chains_of_the_published_rules_are_found_where_they_are_strict() -> None:
    table = made(reading="published", train_k=(3,))
    found, status = find_proved_rows(table), np.array(table.column("status").to_pylist())
    assert not found[status != "entailed"].any()


@pytest.mark.parametrize(
    "change",
    [*(change for change in CHANGES if change not in OF_WORDS), kin_word, pronoun],
    ids=lambda each: each.__name__,
)
def test_a_changed_row_is_left(change: Change) -> None:
    dice = random.Random(change.__name__)
    rows = []
    for row in dice.sample(made().to_pylist(), 60):
        what = change(row, dice)
        if what is not None:
            rows.append(renumbered({**row, **what}, len(rows)))
    if rows:
        assert not find_proved_rows(as_table(rows)).any()


@pytest.mark.parametrize("change", OF_WORDS, ids=lambda each: each.__name__)
def test_what_is_found_has_no_findings_row_by_row(change: Change, monkeypatch: pytest.MonkeyPatch) -> None:
    dice = random.Random(change.__name__)
    rows = []
    for row in made().to_pylist():
        what = change(row, dice) if row["proof"][0] == 1 else None  # where every line has a name
        if what is not None:
            rows.append(renumbered({**row, **what}, len(rows)))
    if not rows:
        return
    table = as_table(rows)
    found = find_proved_rows(table)
    monkeypatch.setattr(judge, "find_proved_rows", lambda table: np.zeros(table.num_rows, np.bool_))
    wrong = {finding.id for finding in examine_table(table).disagreements}
    assert [row["id"] for row in rows if row["id"] not in wrong] == [
        row["id"] for row, right in zip(rows, found, strict=True) if right
    ]


@pytest.mark.parametrize("name", [name for name in KINSHIP_SCHEMA.names[4:] if name not in ("story", "question")])
def test_a_row_that_lacks_a_value_is_left_alone(name: str) -> None:
    rows = made().to_pylist()[:10]
    rows[3][name] = None
    found = find_proved_rows(as_table(rows))
    assert found.tolist() == [number != 3 for number in range(10)]
    assert not find_proved_rows(made().drop_columns([name])).any()


def test_rows_are_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = made().to_pylist()[:40]
    rows[7]["status"], rows[9]["story"] = "ambiguous", rows[8]["story"]
    table = as_table(rows)
    fast = examine_table(table)
    monkeypatch.setattr(judge, "find_proved_rows", lambda table: np.zeros(table.num_rows, np.bool_))
    slow = examine_table(table)
    assert fast.statuses == slow.statuses == {"entailed": 40}
    assert fast.unchecked == slow.unchecked
    assert [str(each) for each in fast.disagreements] == [str(each) for each in slow.disagreements]
    assert [each.row for each in fast.disagreements] == [7, 9]


def test_nothing_is_found_without_proofs(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setattr(fast_rows, "strict_proofs", lambda: Proofs(tmp_path / "none"))
    assert not find_proved_rows(made()).any()


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("k", pa.float64()),
        ("order", pa.string()),
        ("false_belief", pa.int8()),
        ("edges", pa.list_(pa.list_(pa.float64()))),
        ("answer", pa.large_string()),
    ],
)
def test_columns_of_other_types_are_looked_at_row_by_row(name: str, kind: pa.DataType) -> None:
    table = as_table(made().to_pylist()[:5])
    place = table.column_names.index(name)
    other = table.set_column(place, name, table.column(name).cast(kind))
    assert not find_proved_rows(other).any()


def test_no_rows() -> None:
    assert find_proved_rows(made().slice(0, 0)).tolist() == []
