from typing import Any

import pytest

from storyproof.evaluation import answer_judge as judging
from storyproof.evaluation.answer_judge import AnswerJudge
from storyproof.evaluation.matching import MATCHERS, Match, Matcher, exact
from storyproof.evaluation.matching.kinds import NO_MATCH
from storyproof.evaluation.options import Prices
from storyproof.evaluation.runs import Recorder
from storyproof.solvers.llm.messages import Reply
from storyproof.solvers.solver import Answer
from tests.samples import example


class Counting:
    """A user's own matcher that counts how often it is asked."""

    __name__ = "counting"

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    def __call__(self, reply: str, answer: str, candidates: object) -> bool:
        self.asked.append((reply, answer))
        return answer in reply


def judge_of(matcher: Matcher | None = None, **options: Any) -> AnswerJudge:
    if matcher is None:
        return AnswerJudge(MATCHERS, "careful", free_text=True, **options)
    return AnswerJudge({**MATCHERS, "own": matcher}, "own", free_text=True, **options)


def rows(judge: AnswerJudge, *answers: Answer) -> list[dict[str, Any]]:
    recorder = Recorder(None)
    for answer in answers:
        judge.add(answer, recorder)
    return list(recorder.finish({}))


def said(text: str, **changes: Any) -> Answer:
    return Answer(example(**changes), text, (Reply(text),))


@pytest.mark.parametrize(
    ("text", "right", "answer"),
    [
        ("It is in the box.", True, "box"),
        ("It is in the jar.", False, "jar"),
        ("JAR", False, "jar"),
        ("not the jar", False, "not the jar"),
        ("the box or the jar", False, "the box or the jar"),
        ("the shelf", False, "the shelf"),
        ("", False, ""),
    ],
)
@pytest.mark.parametrize("watched", [False, True])
def test_what_a_reply_means_is_recorded(text: str, right: bool, answer: str, watched: bool) -> None:
    judge = judge_of()
    if watched:
        assert judge.is_right(said(text)) == right
    [row] = rows(judge, said(text))
    assert (row["right"], row["answer"], row["reply"]) == (right, answer, text)


def test_a_candidate_that_the_data_do_not_list_is_meant_by_nobody() -> None:
    [row] = rows(judge_of(), said("the aunt", answer="mother", candidates=["mother"], question="What is Ada to Ben?"))
    assert row["answer"] == "the aunt"
    [row] = rows(judge_of(), said("the jar or the bin", answer="bin"))
    assert row["answer"] == "the jar or the bin"  # the right answer is looked for even if it is no candidate


@pytest.mark.parametrize(("text", "asked"), [("the box", 1), ("the jar", 3), ("nothing", 3)])
def test_an_answer_is_judged_once_whoever_asks(text: str, asked: int) -> None:
    matcher = Counting()
    judge = judge_of(matcher)
    assert judge.is_right(said(text)) == (text == "the box")
    rows(judge, said(text))
    assert len(matcher.asked) == asked
    rows(judge, said(text))  # a further answer is judged again
    assert len(matcher.asked) == 2 * asked


def test_answers_are_told_apart() -> None:
    judge = judge_of()
    other = {"answer": "jar", "id": "1"}
    assert judge.is_right(said("box"))
    assert not judge.is_right(said("box", **other))
    assert not judge.is_right(Answer(example(), "box", cut_off=True))
    found = rows(judge, said("box", **other), Answer(example(), "box", cut_off=True), said("box"), said("jar"))
    assert [row["right"] for row in found] == [False, False, True, False]
    assert [row["answer"] for row in found] == ["box", "", "box", "jar"]


def test_few_verdicts_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judging, "_MOST_KEPT", 2)
    matcher = Counting()
    judge = judge_of(matcher)
    texts = ("box 1", "box 2", "box 3")
    for text in texts:
        assert judge.is_right(said(text))
    assert [row["right"] for row in rows(judge, *map(said, texts))] == [True] * 3
    assert [reply for reply, _ in matcher.asked] == [*texts, "box 3"]


def test_half_a_character_is_judged() -> None:
    judge = judge_of()
    assert judge.is_right(said("box \ud800"))
    assert rows(judge, said("box \ud800"))[0]["right"]


def test_solvers_that_choose_are_judged_by_equality() -> None:
    judge = AnswerJudge({"exact": exact}, "exact", free_text=False)
    first, second = rows(judge, Answer(example(), "box"), Answer(example(), "Box"))
    assert (first["right"], first["answer"]) == (True, "box")
    assert (second["right"], second["answer"]) == (False, "Box")
    assert "reply" not in first
    assert judge.details() == {"matching": "exact"}


def test_what_needs_no_search_for_a_meaning_causes_none() -> None:
    matcher = Counting()
    [row] = rows(judge_of(matcher), Answer(example(), "jar", cut_off=True))
    assert matcher.asked == []
    assert (row["answer"], row["cut_off"]) == ("", True)
    rows(AnswerJudge({"own": matcher}, "own", free_text=False), Answer(example(), "jar"))
    assert matcher.asked == [("jar", "box")]


def test_what_a_solver_cannot_say_is_counted() -> None:
    judge = AnswerJudge(
        {"exact": exact}, "exact", free_text=False, can_answer=lambda each: each.answer in ("box", "jar")
    )
    rows(judge, *(Answer(example(answer=answer), "box") for answer in ("box", "bin", "jar", "tin", "can")))
    assert judge.details() == {"matching": "exact", "unknown_answers": 3}


def test_a_users_kind_of_match_is_kept() -> None:
    def rhyme(reply: str, answer: str, candidates: object) -> Match:
        return Match("rhyme", True) if reply[1:] == answer[1:] else NO_MATCH

    [row] = rows(judge_of(rhyme), said("fox"))
    assert (row["match"], row["right"], row["answer"]) == ("rhyme", True, "box")


def test_missing_and_failed() -> None:
    judge = judge_of()
    assert judge.missing == 0.0
    rows(judge, said("box"), said("jar"), Answer(example(), "", error="busy"), Answer(example(), "", asked=False))
    assert judge.missing == 0.5
    failures = judge.details()["failures"]
    assert failures == {"failed": 1, "not_asked": 1, "of": 4, "errors": {"busy": 1}}


def test_only_the_commonest_errors_are_listed() -> None:
    judge = judge_of()
    failed = [Answer(example(), "", error=f"error {number}") for number in range(25) for _ in range(25 - number)]
    rows(judge, said("box"), *failed)
    assert list(judge.details()["failures"]["errors"].items()) == [(f"error {each}", 25 - each) for each in range(20)]


def test_joint_accuracy() -> None:
    judge = judge_of()
    rows(judge, said("box", story_id="s"), said("box", story_id="t"), said("jar", story_id="t"))
    found = judge.details()["matchings"]["strict"]
    assert found["joint_accuracy"] == 0.5
    assert found["intervals"]["joint_accuracy"][0] < 0.5 < found["intervals"]["joint_accuracy"][1]
    broken = judge_of()
    rows(broken, said("box"), Answer(example(), "", error="busy"))
    found = broken.details()["matchings"]["strict"]
    assert (found["accuracy"], found["joint_accuracy"], found["intervals"]["joint_accuracy"]) == (1.0, None, None)


def test_steps_and_scores_of_choices() -> None:
    first, last = Reply("A", choice_scores=(-1.0, -2.0)), Reply("B", choice_scores=(-3.0, -0.5), seconds=0.12345678)
    several, one, plain = rows(
        judge_of(),
        Answer(example(), "jar", (first, last)),
        Answer(example(), "jar", (last,)),
        Answer(example(), "B", (last,)),
    )
    assert several["steps"] == ["A", "B"]
    assert several["choice_scores"] == one["choice_scores"] == [-3.0, -0.5]
    assert one["steps"] == ["B"]
    assert {"steps", "cut_off"}.isdisjoint(plain)
    assert plain["effort"]["seconds"] == 0.123457


def test_details() -> None:
    judge = judge_of(prices=Prices(1.0, 2.0, 0.5))
    first = Reply("box", prompt_tokens=100, output_tokens=10, cached_tokens=40, seconds=0.25)
    second = Reply("box", prompt_tokens=200, output_tokens=20, cached_tokens=None, seconds=0.5)
    recorder = Recorder(None)
    judge.add(Answer(example(), "box", (first, second)), recorder)
    judge.add(Answer(example(), "jar", (Reply("jar", cut_off=True),), cut_off=True), recorder)
    found = judge.details()
    assert found["matching"] == "careful"
    assert found["cut_off"] == 1
    assert found["unparsed"] == 0.5
    assert found["tokens"] == {"prompt": 300, "output": 30, "cached": 40}
    assert found["cost"] == pytest.approx((260 * 1.0 + 30 * 2.0 + 40 * 0.5) / 1e6)
    assert found["match_types"]["exact_match"] == 0.5
    assert found["matchings"]["careful"]["accuracy"] == 0.5
    assert set(found["matchings"]) == set(MATCHERS)
    rows_made = recorder.finish({})
    assert rows_made[0]["steps"] == ["box", "box"]
    assert rows_made[0]["effort"] == {
        "prompt_tokens": 300,
        "output_tokens": 30,
        "cached_tokens": 40,
        "seconds": 0.75,
        "retries": 0,
    }
    assert rows_made[1].get("steps") is None


def test_tokens_that_nobody_counted_are_left_out() -> None:
    judge = judge_of(prices=Prices(1.0, 2.0))
    rows(judge, said("box"))
    assert {"tokens", "cost"}.isdisjoint(judge.details())
    judge = judge_of()
    rows(judge, Answer(example(), "box", (Reply("box", prompt_tokens=0),)))
    assert judge.details()["tokens"] == {"prompt": 0, "output": 0, "cached": 0}
    assert "cost" not in judge.details()


def test_replies_at_their_limit_and_those_that_name_nothing_are_counted() -> None:
    judge = judge_of()
    rows(
        judge,
        Answer(example(), "It is in the box", (Reply("It is in the box"),), at_limit=True),
        said("the box or the jar"),
        said("jar"),
        said("box"),
    )
    details = judge.details()
    assert (details["at_limit"], details["cut_off"], details["unparsed"]) == (1, 0, 0.25)
    choosing = AnswerJudge({"exact": exact}, "exact", free_text=False)
    rows(choosing, Answer(example(), "the box or the jar"))
    assert choosing._unparsed == 0


def test_parts_of_a_run_are_counted_together() -> None:
    def judge() -> AnswerJudge:
        return AnswerJudge({"exact": exact}, "exact", free_text=False, can_answer=lambda row: row.answer != "box")

    whole, part = judge(), judge()
    rows(whole, Answer(example(), "box"))
    rows(part, Answer(example(id="2"), "box"), Answer(example(id="3"), "jar"))
    whole.extend(part.tally, part.unknown_answers)
    assert len(whole.tally) == 3
    assert whole.tally.accuracy("exact").value == pytest.approx(2 / 3)
    assert whole.details()["unknown_answers"] == 3
