from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from storyproof.families.belief import provers, tomi_rows
from storyproof.families.belief.block_checker import answer_under
from storyproof.families.belief.readings import DEFAULT_READING, READINGS
from storyproof.families.belief.tomi_rows import BeliefProofs, prove
from storyproof.families.belief.tomi_text import ask, narrate
from storyproof.families.belief.world import PlotEvent
from tests.families.belief.asking import belief
from tests.families.belief.possible_worlds import MindWorlds
from tests.families.belief.stories import THING, possible_stories
from tests.groups import try_examples

STORY = "Ada entered the attic.\nBo entered the attic.\nThe key is in the box.\nBo exited the attic.\n"
STORY += "Ada moved the key to the jar."


def prove_one(story: str, question: str) -> BeliefProofs:
    return prove(pa.array([story]), np.zeros(1, np.intp), pa.array([question]))


@given(st.lists(possible_stories(asides=True), min_size=1, max_size=4, unique_by=narrate))
@try_examples(60)
def test_rows_are_answered_as_the_checker_does(stories: list[list[PlotEvent]]) -> None:
    chains = [(), ("Ada",), ("Bo",), ("Ada", "Bo"), ("Bo", "Ada", "Bo"), ("Eve",)]
    story_of = np.repeat(np.arange(len(stories)), len(chains))
    questions = [ask(belief(THING, *chain)) for _ in stories for chain in chains]
    found = prove(pa.array([narrate(story) for story in stories]), story_of, pa.array(questions))
    assert not found.problems
    answers = found.columns["answer"].to_pylist()
    for row, (story, chain) in enumerate((story, chain) for story in stories for chain in chains):
        assert answers[row] == MindWorlds(story, DEFAULT_READING).belief(chain, THING)


@pytest.mark.parametrize(
    ("story", "question", "what"),
    [
        (STORY.replace("exited", "exitted"), "Where is the key really?", "sentence 4: not a sentence"),
        (STORY, "Where is the key?", "not a question"),
        (STORY, "Where is the ring really?", "the ring is nowhere in the story"),
        (STORY.replace("Bo exited", "Cy exited"), "Where is the key really?", "Cy exits the attic but is in no room"),
        (STORY, ask(belief("key", *("Ada", "Bo") * 5)), "order 10"),
    ],
)
def test_what_cannot_be_right_is_named(story: str, question: str, what: str) -> None:
    problems = prove_one(story, question).problems
    assert len(problems) == 1
    assert what in problems[0].found


def test_who_never_saw_the_object_has_no_answer() -> None:
    assert prove_one(STORY, "Where will Eve look for the key?").columns["answer"].to_pylist() == [None]


def test_without_a_second_agent_there_is_no_story_type() -> None:
    alone = "Ada entered the attic.\nThe key is in the box.\nAda moved the key to the jar."
    assert prove_one(alone, "Where will Ada look for the key?").columns["story_type"].to_pylist() == [None]
    assert prove_one(STORY, "Where is the key really?").columns["story_type"].to_pylist() == ["false_belief"]


def test_a_checker_that_differs_is_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    def contrary(*args: Any) -> npt.NDArray[Any]:
        return np.full_like(answer_under(*args), 9)

    monkeypatch.setattr(tomi_rows, "_confirmed", set())
    monkeypatch.setattr(provers, "answer_under", contrary)
    problems = prove_one(STORY, "Where will Bo look for the key?").problems
    assert problems == prove_one(STORY, "Where will Bo look for the key?").problems  # they are not taken for confirmed
    assert [(problem.what, problem.found, problem.expected) for problem in problems] == [
        *((f"answer under {reading} (oracle and checker)", "c0", "c9") for reading in READINGS),
        *(
            ("story type's belief under open (oracle and checker)", place, "c9")
            for place in ("c1", "c0", "c0", "c0", "c1")
        ),
        ("proof (by deletion)", "needlessly names sentence 2, 3, 4", "a valid proof"),
    ]


def test_what_is_asked_again_is_confirmed_once_and_its_problems_are_told_each_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def contrary(*args: Any) -> npt.NDArray[Any]:
        return np.full_like(answer_under(*args), 9)

    # Stories of one plot that are asked about different companions; where the key was is the same question.
    story = "Cy entered the attic.\n" + STORY
    stories = pa.array([story, story.replace("Cy", "Di")])
    memory = "Where was the key at the beginning?"
    questions = pa.array(["Where will Bo look for the key?", memory, "Where will Di look for the key?", memory])
    rows = np.array([0, 0, 1, 1]), questions
    monkeypatch.setattr(tomi_rows, "_confirmed", set())
    assert prove(stories, *rows).problems == []
    assert len(tomi_rows._confirmed) == 3 + 2  # questions, and pairs
    monkeypatch.setattr(provers, "answer_under", contrary)
    assert prove(stories, *rows).problems == []
    monkeypatch.setattr(tomi_rows, "_confirmed", set())
    found = prove(stories, *rows).problems
    for what in ("answer under open", "story type's belief under open", "proof (by deletion)"):
        times = 5 if what.startswith("story") else 1
        assert sorted(each.row for each in found if each.what.startswith(what)) == np.repeat(range(4), times).tolist()
    assert tomi_rows._confirmed == set()


def test_nobody_is_in_a_room_that_nobody_can_tell() -> None:
    story = "The map is in the urn.\nZoe entered the hall.\nZoe exited the hall."
    found = prove(pa.array([story]), np.array([0]), pa.array(["Where will Zoe look for the map?"]))
    assert found.problems == []  # oracle and checker agree
    assert found.columns["answer"].to_pylist() == [None]
