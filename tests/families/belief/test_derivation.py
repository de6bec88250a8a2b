from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from storyproof.families.belief import agreement
from storyproof.families.belief.block_worlds import BlockWorlds
from storyproof.families.belief.checker import Worlds
from storyproof.families.belief.derivation import BeliefProofs, prove
from storyproof.families.belief.events import Event
from storyproof.families.belief.readings import READINGS
from storyproof.families.belief.text import Question, ask, narrate
from tests.families.belief.stories import THING, possible_stories
from tests.groups import try_examples

STORY = "Ada entered the attic.\nBo entered the attic.\nThe key is in the box.\nBo exited the attic.\n"
STORY += "Ada moved the key to the jar."


def prove_one(story: str, question: str) -> BeliefProofs:
    return prove(pa.array([story]), np.zeros(1, np.intp), pa.array([question]))


@given(st.lists(possible_stories(asides=True), min_size=1, max_size=4, unique_by=narrate))
@try_examples(60)
def test_rows_are_answered_as_the_checker_does(stories: list[list[Event]]) -> None:
    chains = [(), ("Ada",), ("Bo",), ("Ada", "Bo"), ("Bo", "Ada", "Bo"), ("Eve",)]
    story_of = np.repeat(np.arange(len(stories)), len(chains))
    questions = [ask(Question(THING, chain)) for _ in stories for chain in chains]
    found = prove(pa.array([narrate(story) for story in stories]), story_of, pa.array(questions))
    assert not found.problems
    answers = found.columns["answer"].to_pylist()
    for row, (story, chain) in enumerate((story, chain) for story in stories for chain in chains):
        worlds = Worlds(story, THING)
        assert answers[row] == (worlds.belief(chain, "open") if chain else worlds.reality)


@pytest.mark.parametrize(
    ("story", "question", "what"),
    [
        (STORY.replace("exited", "exitted"), "Where is the key really?", "sentence 4: not a sentence"),
        (STORY, "Where is the key?", "not a question"),
        (STORY, "Where is the ring really?", "the ring is nowhere in the story"),
        (STORY.replace("Bo exited", "Cy exited"), "Where is the key really?", "Cy exits the attic without being there"),
        (STORY, ask(Question("key", ("Ada", "Bo") * 5)), "order 10"),
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
    class Contrary(BlockWorlds):
        def beliefs(self, chain: npt.NDArray[Any]) -> npt.NDArray[Any]:
            return np.full_like(super().beliefs(chain), 9)

        def story_types(self, mover: npt.NDArray[Any], other: npt.NDArray[Any]) -> npt.NDArray[Any]:
            return (super().story_types(mover, other) + 1) % 3

    monkeypatch.setattr(agreement, "BlockWorlds", Contrary)
    problems = prove_one(STORY, "Where will Bo look for the key?").problems
    assert [(problem.what, problem.found, problem.expected) for problem in problems] == [
        *((f"answer under {reading} (oracle and checker)", "c0", "c9") for reading in READINGS),
        ("story type (oracle and checker)", "false_belief", "second_order_false_belief"),
    ]


def test_nobody_is_in_a_room_that_nobody_can_tell() -> None:
    story = "The map is in the urn.\nZoe entered the hall.\nZoe exited the hall."
    found = prove(pa.array([story]), np.array([0]), pa.array(["Where will Zoe look for the map?"]))
    assert found.problems == []  # oracle and checker agree
    assert found.columns["answer"].to_pylist() == [None]
