import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest

from storyproof.errors import ModelError
from storyproof.example import Example
from storyproof.solvers.llm.language_model import Session, _common
from storyproof.solvers.llm.messages import Message, Reply, Request
from storyproof.solvers.llm.store import Store
from tests.solvers.llm.stand_ins import OneStep, Scripted, TwoSteps, questions

ASKED = questions(12)


def run(model: Scripted, store: Store, prompt: object = None, examples: list[Example] = ASKED) -> Session:
    made = Session(lambda: examples, prompt or OneStep(), model, store)  # type: ignore[arg-type]
    made.ask()
    return made


def test_answers_come_in_the_order_of_the_data() -> None:
    with Store(None) as store:
        found = list(run(Scripted(str.upper), store).answers())
    assert [each.example.id for each in found] == [f"q{n}" for n in range(12)]
    assert [each.text for each in found] == [f"STORY {n // 3}.\nQUESTION {n}?" for n in range(12)]
    assert all(each.complete for each in found)


def test_nothing_is_asked_twice(tmp_path: Path) -> None:
    model = Scripted(str.upper)
    for _ in range(2):
        with Store(tmp_path / "x") as store:
            again = run(model, store)
    assert len(model.asked) == 12
    assert (again.traffic.asked, again.traffic.found) == (0, 12)


def test_same_question_twice_is_asked_once() -> None:
    model = Scripted(str.upper)
    with Store(None) as store:
        found = list(run(model, store, examples=ASKED[:2] * 3).answers())
    assert len(model.asked) == 2
    assert [each.text for each in found[:2]] == [each.text for each in found[2:4]]


def test_other_options_are_other_questions() -> None:
    model = Scripted(str.upper)
    with Store(None) as store:
        run(model, store)
        model.options = {"temperature": 1.0}
        run(model, store)
    assert len(model.asked) == 24


def test_steps_build_on_replies() -> None:
    model = Scripted(lambda text: f"<{text}>")
    with Store(None) as store:
        found = list(run(model, store, TwoSteps()).answers())
        assert found[3].text == "<Question 3?> | <Question 3? <Question 3?>>"
        assert [reply.text for reply in found[3].replies] == ["<Question 3?>", "<Question 3? <Question 3?>>"]
        assert len(model.asked) == 24
        run(model, store, TwoSteps())
    assert len(model.asked) == 24


def test_failure_is_not_an_answer_and_is_asked_again() -> None:
    def reply(text: str) -> str | Reply:
        return Reply("", error="HTTP 500") if "5" in text and broken else "box"

    broken = True
    model = Scripted(reply)
    with Store(None) as store:
        found = list(run(model, store).answers())
        assert [each.example.id for each in found if not each.complete] == ["q5"]
        assert (found[5].error, found[5].text, found[5].asked) == ("HTTP 500", "", True)
        broken = False
        again = run(model, store)
        assert all(each.complete for each in again.answers())
        assert (again.traffic.asked, again.traffic.found) == (1, 11)


def test_failed_step_ends_an_example() -> None:
    model = Scripted(lambda text: Reply("", error="no") if text == "Question 4?" else "box")
    with Store(None) as store:
        found = list(run(model, store, TwoSteps()).answers())
    assert [each.complete for each in found] == [n != 4 for n in range(12)]
    assert len(model.asked) == 23


def test_model_that_gives_up_leaves_what_it_said() -> None:
    def reply(text: str) -> str:
        if len(model.asked) == 6:
            raise ModelError("the server is gone")
        return "box"

    model = Scripted(reply)
    with Store(None) as store:
        made = Session(lambda: ASKED, OneStep(), model, store)
        with pytest.raises(ModelError):
            made.ask()
        found = list(made.answers())
    assert sum(each.complete for each in found) == 5
    assert {each.asked for each in found if not each.complete} == {False}


def test_stop_waits_for_what_is_on_its_way() -> None:
    with Store(None) as store:
        model = Scripted(str.upper)
        made = Session(lambda: ASKED, TwoSteps(), model, store, watch=lambda *_: made.stop())
        made.ask()
        assert len(store) == len(model.asked) == 4  # as many as the model holds at once


def test_choices_only_where_wanted() -> None:
    class Choice(OneStep):
        def request(self, example: Example, replies: object) -> Request | None:
            return None if replies else Request((Message("user", example.question),), 10, choices=("a", "b"))

    seen: list[tuple[str, ...]] = []

    class Model(Scripted):
        def _one(self, asked: tuple[str, Request]) -> tuple[str, Reply]:
            seen.append(asked[1].choices)
            return super()._one(asked)

    for choose in (True, False):
        with Store(None) as store:
            Session(lambda: ASKED[:1], Choice(), Model(str.upper), store, likelihood=choose).ask()
    assert seen == [("a", "b"), ()]


def test_watcher_hears_of_every_reply() -> None:
    heard: list[tuple[str, int, bool]] = []
    with Store(None) as store:
        Session(
            lambda: ASKED[:2],
            TwoSteps(),
            Scripted(str.upper),
            store,
            watch=lambda example, texts, reply, done: heard.append((example.id, len(texts), done)),
        ).ask()
    assert sorted(heard) == [("q0", 1, False), ("q0", 2, True), ("q1", 1, False), ("q1", 2, True)]


def test_counts_what_prompts_share_with_the_one_before() -> None:
    assert [_common(*pair) for pair in (("", "a"), ("abc", "abd"), ("abc", "abc"), ("ab", "abc"), ("x", "abc"))] == [
        0,
        2,
        3,
        2,
        0,
    ]
    with Store(None) as store:
        traffic = run(Scripted(str.upper), store, examples=ASKED[:3]).traffic
    texts = [f"Story 0.\nQuestion {n}?" for n in range(3)]
    assert traffic.shared == 2 * len("Story 0.\nQuestion ")
    assert traffic.characters == sum(map(len, texts))


def test_memory_is_flat(tmp_path: Path) -> None:
    def examples(count: int) -> Iterator[Example]:
        for start in range(0, count, 3):
            for each in questions(3):
                yield Example(**{name: getattr(each, name) for name in Example.__slots__} | {"question": f"{start}?"})

    class Forgetful(Scripted):
        def _one(self, asked: tuple[str, Request]) -> tuple[str, Reply]:
            return asked[0], Reply("box")

    peaks = []
    for number, count in enumerate((300, 300, 3000)):
        with Store(tmp_path / f"{number}") as store:
            tracemalloc.start()
            made = Session(lambda count=count: examples(count), OneStep(), Forgetful(str.upper), store)  # type: ignore[misc]
            made.ask()
            assert sum(each.complete for each in made.answers()) == count
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
    assert peaks[2] < 1.3 * peaks[1], peaks
