"""Rows of theory of mind that are judged together."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from storyproof.families.belief.audit.rows import ProvedRows, answers_under, asked_of, plain, right_marks
from storyproof.families.belief.readings import CLOSED, INFER_MOVER
from storyproof.families.belief.tomi_rows import RowProblem
from storyproof.families.belief.tomi_text import parse, parse_question
from storyproof.formats.format import with_places

START = "Ada entered the attic.\nBen entered the attic.\nThe key is in the box."
AWAY = f"{START}\nBen exited the attic.\nAda moved the key to the jar."
CROSSED = f"{AWAY}\nAda exited the attic.\nBen entered the attic."
BEN, ADA_OF_BEN, BEN_OF_ADA = (
    "Where will Ben look for the key?",
    "Where does Ada think that Ben searches for the key?",
    "Where does Ben think that Ada searches for the key?",
)


def proved(*rows: tuple[str, str], lines: bool = True, **columns: Any) -> ProvedRows:
    """Prove rows of a story and a question each, from row 5 and line 20 on."""
    given = {"id": [str(number) for number in range(len(rows))], "story": [story for story, _ in rows]}
    table = pa.table({**given, "question": [question for _, question in rows], **columns})
    return ProvedRows(with_places(table, 5, list(range(20, 20 + len(rows))) if lines else None))


def test_what_is_asked() -> None:
    assert [asked_of(kind) for kind in ("memory", "reality", "first_order_1_tom")] == [
        "memory",
        "reality",
        "first_order",
    ]


def test_words_instead_of_codes() -> None:
    coded = pa.array(["b", "a", "b"]).dictionary_encode()
    assert plain(coded).to_pylist() == plain(plain(coded)).to_pylist() == ["b", "a", "b"]


def test_stories_are_numbered_and_keep_their_numbers() -> None:
    part = proved((START, BEN), (AWAY, BEN), (AWAY, ADA_OF_BEN), (CROSSED, BEN), (START, BEN))
    part.number_stories(7)
    assert part.run.tolist() == [7, 8, 8, 9, 10]
    kept = part.keep(np.array([False, True, False, False, True]))
    assert kept.run.tolist() == [8, 10]
    assert [kept.place(row).row for row in (0, 1)] == [6, 9]
    assert kept.values([1])[1]["story"] == START


def test_wrong_values_of_stories_that_can_happen() -> None:
    impossible, unknown = f"{START}\nZoe exited the attic.", START
    far = "Where will Zoe look for the key?"
    part = proved(
        (impossible, BEN),
        (AWAY, BEN),
        (f"Zoe entered the hall.\n{AWAY}", far),
        (unknown, BEN),
        (AWAY, BEN),
        answer=["tin", "jar", "jar", "box", None],
        story_type=["false_belief", "true_belief", "false_belief", "true_belief", "false_belief"],
        chain=[["Ada"], ["Ben"], ["Ben"], None, ["Ada"]],
    )
    assert part.wrong("answer") == [(1, "box"), (2, None)]
    assert part.wrong("story_type") == [(1, "false_belief")]
    assert part.wrong("chain") == [(2, ["Zoe"]), (4, ["Ben"])]
    assert part.wrong("proof") == []
    assert part.possible.tolist() == [False, True, True, True, True]


@pytest.mark.parametrize(("story", "question", "what"), [("Gibberish.", BEN, "story"), (AWAY, "Why?", "question")])
def test_what_cannot_be_read_is_known(story: str, question: str, what: str) -> None:
    part = proved((AWAY, BEN), (story, question), (story, question))
    assert {row: problem.what for row, problem in part.unread.items()} == {1: what, 2: what}
    assert proved((AWAY, BEN)).unread == {}


def test_what_oracle_and_checker_differ_about_is_known() -> None:
    part = proved((f"{START}\nZoe exited the attic.", BEN), (AWAY, BEN))
    assert part.doubts == []  # a story that cannot happen is no reason
    problem = RowProblem(1, "answer under open (oracle and checker)", "box", "jar")
    part.proved = replace(part.proved, problems=[*part.proved.problems, problem])
    assert part.doubts == [problem]


def test_pairs() -> None:
    felt = f"Zoe likes the box.\n{AWAY}"
    late = "Ada entered the attic.\nThe key is in the box.\nBen entered the attic.\nBen moved the key to the jar."
    part = proved((felt, BEN), (START, "Where is the key really?"), (late, "Where will Ada look for the key?"))
    assert part.pair(0, felt) == ("Ada", "Ben")
    assert part.pair(1, START) == (None, None)
    assert part.pair(2, late) == ("Ben", "Ada")


def test_answers_under_other_readings() -> None:
    assert answers_under([], [CLOSED]) == []
    liked = AWAY.replace("The key", "Zoe likes the box.\nThe key")
    cases = [
        (parse(story), parse_question(question))
        for story, question in (
            (CROSSED, BEN),
            (CROSSED, BEN_OF_ADA),
            (liked, "Where will Ada look for the key?"),
            (AWAY, "Where will Zoe look for the key?"),
        )
    ]
    assert answers_under(cases, [CLOSED, INFER_MOVER]) == [
        {CLOSED: "box", INFER_MOVER: "jar"},
        {CLOSED: "box", INFER_MOVER: "jar"},
        {CLOSED: "jar", INFER_MOVER: "jar"},
        {CLOSED: None, INFER_MOVER: None},
    ]


@pytest.mark.parametrize(
    ("marks", "right"),
    [
        (["3", "3 1", "3 1", "3 1", "3"], ["3", "3 1", "3 1", "3 1", "3"]),
        (["3", "3 1", "3 2", "3 1", "3"], ["3", "3 1", "3 1", "3 1", "3"]),  # most often 1
        (["2", "2 2", "", "", ""], ["2", "2 1", "2 1", "2 1", "2"]),  # each number once
        (["-", "-", "-", "-", "-"], ["1", "1 2", "1 2", "1 2", "1"]),
        (["", "1 2 3", "", "", ""], ["1", "1 2", "1 2", "1 2", "1"]),  # as many numbers as agents
        (["2", "", "", "", ""], ["2", "2 1", "2 1", "2 1", "2"]),
    ],
)
def test_right_marks(marks: list[str], right: list[str]) -> None:
    assert right_marks(parse(AWAY), marks) == right
