"""What is found in single rows in ToMi's wording."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from storyproof.example import SCHEMA, plain_schema
from storyproof.families.belief.audit.causes import IMPOSSIBLE_STORY, QUESTION_TYPE, SEMANTIC, STRUCTURAL
from storyproof.families.belief.audit.counts import AuditTally
from storyproof.families.belief.audit.tomi_judge import TomiJudge
from storyproof.families.belief.babi_format import OBSERVERS, TRACE
from storyproof.families.file_judge import Subject
from storyproof.findings import COLUMN, TEXT, UNREAD, Finding
from storyproof.formats.format import load_format, with_places

Row = dict[str, Any]

START = "Ada entered the attic.\nBen entered the attic.\nThe key is in the box."
AWAY = f"{START}\nBen exited the attic.\nAda moved the key to the jar."
SCHEMAS = pa.schema([*plain_schema(SCHEMA), (TRACE, pa.string()), (OBSERVERS, pa.string())])
RIGHT: Row = {
    "id": "mine",
    "story": AWAY,
    "question": "Where will Ben look for the key?",
    "answer": "box",
    "candidates": ["box", "jar"],
    "question_type": "first_order_1_tom",
    "order": 1,
    "chain": ["Ben"],
    "story_type": "false_belief",
    "false_belief": True,
    "readings": ["open", "closed", "infer-mover"],
    "proof": [2, 3, 4],
}


def row(story: str, question: str = "Where will Ben look for the key?", **given: Any) -> Row:
    """Return a row without labels but those given."""
    return {"id": "mine", "story": story, "question": question, **given}


def claims(*rows: Row) -> tuple[list[Finding], Counter[str]]:
    """Return what is found in rows from row 5 and line 20 on, and what is not checked."""
    names = [name for name in SCHEMAS.names if any(name in each for each in rows)]
    table = pa.Table.from_pylist(list(rows), schema=pa.schema([SCHEMAS.field(name) for name in names]))
    return judged(with_places(table, 5, list(range(20, 20 + len(rows)))))


def judged(table: pa.Table) -> tuple[list[Finding], Counter[str]]:
    unchecked: Counter[str] = Counter()
    subject = Subject(Path("some.jsonl"), load_format("jsonl"), "some.jsonl")
    return TomiJudge(subject, AuditTally(unchecked, set())).judge(table, is_certain=True), unchecked


def told(found: list[Finding]) -> list[tuple[int, str, str, str, str]]:
    return [(each.row, each.kind, each.field, each.found, each.expected) for each in found]


def test_a_row_as_it_should_be() -> None:
    found, unchecked = claims(RIGHT, RIGHT)
    assert found == []
    assert unchecked == {}
    assert list(unchecked) == []


@pytest.mark.parametrize(
    ("name", "value", "kind", "found", "expected"),
    [
        ("answer", "jar", STRUCTURAL, "jar", "box"),
        ("candidates", ["box"], COLUMN, '["box"]', '["box", "jar"]'),
        ("question_type", "reality", QUESTION_TYPE, "reality", "first_order_1_tom"),
        ("order", 2, COLUMN, "2", "1"),
        ("chain", [], COLUMN, "[]", '["Ben"]'),
        ("story_type", "true_belief", SEMANTIC, "true_belief", "false_belief"),
        ("false_belief", False, COLUMN, "false", "true"),
        ("readings", ["open"], COLUMN, '["open"]', '["open", "closed", "infer-mover"]'),
        ("proof", [3], COLUMN, "[3]", "[2, 3, 4]"),
    ],
)
def test_a_wrong_label(name: str, value: Any, kind: str, found: str, expected: str) -> None:
    others, unchecked = claims(RIGHT, {**RIGHT, name: value, "id": "wrong"}, {**RIGHT, name: None})
    assert told(others) == [(6, kind, name, found, expected)]
    assert (others[0].file, others[0].line, others[0].id, others[0].is_claim) == ("some.jsonl", 21, "wrong", True)
    assert others[0].fix == name
    assert unchecked == {name: 1}


def test_rows_without_a_value_are_counted() -> None:
    for name in ("answer", "proof"):
        found, unchecked = claims({**RIGHT, name: None}, {**RIGHT, name: None})
        assert (found, unchecked) == ([], {name: 2})
        found, unchecked = claims({**RIGHT, name: None}, RIGHT, {**RIGHT, name: None})
        assert (found, unchecked) == ([], {name: 2})


def test_who_never_saw_the_object_has_no_belief() -> None:
    late = f"Zoe entered the hall.\n{AWAY}"
    found, unchecked = claims(row(late, "Where will Zoe look for the key?", answer="box"), row(late, answer="box"))
    assert told(found) == [(5, STRUCTURAL, "answer", "box", "")]
    assert unchecked == {}


def test_the_type_of_a_story_that_does_not_tell_whom_it_is_about_is_not_checked() -> None:
    found, unchecked = claims(row(START, story_type="true_belief"), row(AWAY, story_type="true_belief"))
    assert told(found) == [(6, SEMANTIC, "story_type", "true_belief", "false_belief")]
    assert unchecked == {"story_type": 1}


def test_a_missing_type_is_counted_even_if_nobody_knows_it() -> None:
    found, unchecked = claims(row(START, story_type=None), row(AWAY, story_type="false_belief"))
    assert (found, unchecked) == ([], {"story_type": 1})


def test_rows_that_cannot_be_read_shift_no_others() -> None:
    rows = [row("Gibberish.", answer="jar"), row(AWAY, answer="jar"), row(AWAY, "Why?", answer="jar")]
    found, unchecked = claims(*rows)
    assert [(each.row, each.kind, each.field) for each in found] == [
        (5, UNREAD, "story"),
        (6, STRUCTURAL, "answer"),
        (7, UNREAD, "question"),
    ]
    assert unchecked == {}
    found, unchecked = claims(rows[0], rows[2])
    assert [each.row for each in found] == [5, 6]
    found, _ = claims(rows[0], {**rows[0], "id": "next"})
    assert [(each.row, each.id) for each in found] == [(5, "mine"), (6, "next")]  # each row, not each story


def test_a_story_that_cannot_happen() -> None:
    found, _ = claims(row(f"{START}\nZoe exited the attic."))
    assert [(each.kind, each.field, each.expected) for each in found] == [(IMPOSSIBLE_STORY, "story", "")]
    assert found[0].is_disagreement


# --- recipes

SUDDEN = AWAY.replace("Ada entered", "Ada is in", 1)
OURS = "train-000000001-0"


@pytest.mark.parametrize("coded", [False, True])
def test_only_our_stories_must_tell_how_everybody_came(coded: bool) -> None:
    given = [("mine", "lab"), (OURS, "lab"), (None, "lab"), (OURS, None), (OURS, "lab")]
    table = pa.table(
        {
            "id": [name for name, _ in given],
            "story": [SUDDEN] * 4 + [AWAY],
            "question": [RIGHT["question"]] * 5,
            "benchmark": pa.array([benchmark for _, benchmark in given], pa.string()),
        }
    )
    if coded:
        table = table.set_column(3, "benchmark", table.column("benchmark").dictionary_encode())
    found, _ = judged(with_places(table, 0))
    assert told(found) == [(1, TEXT, "story", "somebody 'is in' a room without having come there", "a story of lab")]


def test_a_story_that_is_none_of_its_benchmark() -> None:
    short = "Ada entered the attic.\nThe key is in the box."
    question = "Where will Ada look for the key?"
    rows = [
        row(short, question, benchmark=None),
        row(short, question, benchmark="tomi"),
        row(short, question, benchmark="lab"),
        row(short, question, benchmark="tomi", id=OURS),
    ]
    found, _ = claims(*rows)
    assert [(each.row, each.kind, each.field, each.expected) for each in found] == [
        (6, TEXT, "story", "a story of tomi"),
        (8, TEXT, "story", "a story of tomi"),
    ]
    assert found[0].found == found[1].found != ""


# --- annotations of the original files

ACTIONS = "enter_agent_0,enter_agent_1,agent_1_exits,agent_0_moves_obj"


def test_traces() -> None:
    rows = [row(AWAY, trace=ACTIONS), row(AWAY, trace=None), row(AWAY, trace="enter_agent_0")]
    found, unchecked = claims(*rows)
    assert told(found) == [(7, TRACE, TRACE, "enter_agent_0", ACTIONS)]
    assert unchecked == {}


@pytest.mark.parametrize(
    ("marks", "sentence", "found", "expected"),
    [
        (["3", "3 1", "3 1", "3 1", "3"], 0, "", ""),
        (["3", "3 1", "3 1", "3 1", "3 1"], 5, "3 1", "3"),
        (["3", "3 1", "3 2", "3 1", "3 2"], 3, "3 2", "3 1"),
        (["3", "3 3", "3 3", "3 3", "3"], 2, "3 3", "3 1"),
        (["3", "3", "3 1", "3 1", "3"], 2, "3", "3 1"),
        (["3", "3 1", "", "3 1", "3"], 3, "", "3 1"),
    ],
)
def test_observers(marks: list[str], sentence: int, found: str, expected: str) -> None:
    others = [row(AWAY, observers=None), row("Gibberish.", observers="1")]
    problem, *wrong = claims(*others, row(AWAY, observers="\n".join(marks)))[0]
    assert (problem.kind, problem.field) == (UNREAD, "story")
    first = [(7, OBSERVERS, OBSERVERS, found, expected)] if sentence else []
    assert told(wrong)[: len(first) or None] == first
    assert [each.sentences for each in wrong[:1]] == ([(sentence,)] if sentence else [])
    assert [each.fix for each in wrong[:1]] == ([f"observers.{sentence}"] if sentence else [])


def test_who_sees_nothing() -> None:
    story = "Ada entered the attic.\nAda exited the attic.\nThe key is in the box.\nPhone rang."
    found, _ = claims(row(story, "Where is the key really?", observers="1\n1\n\n1"))
    assert told(found) == [(5, OBSERVERS, OBSERVERS, "1", "")]
    assert found[0].sentences == (4,)
