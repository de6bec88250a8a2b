import itertools
import random
import time
from functools import partial

import pytest

from storyproof.evaluation.matching.matchers import careful, lenient, strict
from tests.evaluation.matching.adversaries import KNOWN, QUESTIONS, Family, assert_linear, drawn, single
from tests.evaluation.matching.test_languages import judged
from tests.groups import only_first

LENGTH = 16_000


def judge_by_all(reply: str, answer: str, candidates: tuple[str, ...], question: str) -> None:
    careful(reply, answer, candidates, question)
    lenient(reply, answer, candidates)
    strict(reply, answer, candidates)


@pytest.mark.parametrize("name", KNOWN)
def test_known_shapes_take_time_in_proportion(name: str) -> None:
    for answer, candidates, question in QUESTIONS:
        judge = partial(judge_by_all, answer=answer, candidates=candidates, question=question)
        assert_linear(judge, KNOWN[name], 6 * LENGTH)


@pytest.mark.parametrize(("answer", "candidates", "question"), only_first(1, QUESTIONS))
@pytest.mark.parametrize("count", [10, pytest.param(40, marks=pytest.mark.slow)])
def test_repeating_anything_takes_time_in_proportion(
    answer: str, candidates: tuple[str, ...], question: str, count: int
) -> None:
    judge = partial(judge_by_all, answer=answer, candidates=candidates, question=question)
    for family in (*single(), *drawn(count, seed=7)):
        assert_linear(judge, family, LENGTH)


@pytest.mark.parametrize("count", [2, pytest.param(12, marks=pytest.mark.slow)])
@pytest.mark.parametrize("language", ["de", "es", "zh"])
def test_other_languages_take_time_in_proportion(language: str, count: int) -> None:
    rows = judged(language)
    asked = {row["question"]: row for row in rows}.values()
    draw = random.Random(7)
    pieces = [row["reply"] for row in draw.sample(rows, count)] + ["Answer: ", "A-", ", ", "\n- "]
    pairs = list(itertools.product(asked, pieces))
    for row, piece in pairs[::5] if count == 2 else pairs:  # every question, with another of the six pieces each
        judge = partial(
            judge_by_all, answer=row["answer"], candidates=tuple(row["candidates"]), question=row["question"]
        )
        assert_linear(judge, Family("", piece + " ", draw.choice(pieces), ""), LENGTH)


def test_a_square_is_noticed() -> None:
    def judge(reply: str) -> None:
        end = time.process_time() + 5e-10 * len(reply) ** 2
        while time.process_time() < end:
            pass

    with pytest.raises(AssertionError, match="16,000 characters took"):
        assert_linear(judge, Family("", "a", "", ""), LENGTH)


def test_a_line_that_is_steep_passes() -> None:
    def judge(reply: str) -> None:
        end = time.process_time() + 8e-6 * len(reply)
        while time.process_time() < end:
            pass

    assert_linear(judge, Family("", "a", "", ""), LENGTH)


def test_an_answer_after_very_much_text_is_found() -> None:
    thought = "Anne thinks of the box. " * 5_000
    question = "Where will Anne look for the ball?"
    assert careful(f"<think>{thought}</think>basket", "basket", ("basket", "box"), question).right
    assert careful(f"{thought}\nAnswer: basket", "basket", ("basket", "box"), question).right


@pytest.mark.parametrize(
    "piece",
    [
        "\n",
        " ",
        "basket\n",
        "basket. ",
        "answer: ",
        "not ",
        "so ",
        "basket, not box; ",
        "Ada's mother ",
        "answer:",
        "\n\n* ",
        "-_",
        "wait, box. ",
        "if she had ",
        "not seen ",
        "Anne will look in the basket. ",
        "The answer is box. No. ",
    ],
)
def test_long_replies_take_no_time(piece: str) -> None:
    start = time.process_time()
    careful("a " + piece * (50_000 // len(piece)), "basket", ("basket", "box"), "Where will Anne look for the ball?")
    careful("a " + piece * (50_000 // len(piece)), "basket", ("basket", "box"))
    careful("a " + piece * (50_000 // len(piece)), "mother", (), "What is Ada to Ben?")
    assert time.process_time() - start < 5
