"""Readers of the shortcut audit of stories with messages."""

import re

from storyproof.families.belief.family import FAMILY
from tests.samples import examples

ANNOUNCED = re.compile(
    r"^\S+ (?:announced everywhere|lied to everybody everywhere and said) that the (\S+) (?:is|are) in the (\S+)\.$",
    re.M,
)


def test_a_reader_who_believes_announcements_looks_at_nothing_else() -> None:
    rows = list(examples("tom-k", "test", 48))
    right = announced = 0
    for row in rows:
        said = [place for thing, place in ANNOUNCED.findall(row.story) if f" {thing}" in row.question]
        asks_belief = row.question_type.split("_")[0] in ("first", "second", "third", "says", "common")
        announced += asks_belief and bool(said)
        right += row.answer == (said[-1] if asks_belief and said else FAMILY.rules_answer(row))
    assert announced > len(rows) / 8
    report = FAMILY.shortcuts(None, rows, seed=0, learned=False)
    [found] = [each for each in report.rows if each.name == "last_announced"]
    assert round(found.accuracy.value * len(rows)) == right


def test_a_kind_of_question_has_one_place_among_kinds() -> None:
    places: dict[str, set[object]] = {}
    for row in examples("tom-k", "test", 48):
        places.setdefault(FAMILY.kind(row), set()).add(FAMILY.kind_order(row))
    assert {"believers", "first_order", "third_order"} <= places.keys()
    assert all(len(found) == 1 for found in places.values())
