"""Proofs of plain stories: by hand, and by their definition."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from storyproof.families.belief.questions import Ask, BeliefQuestion
from storyproof.families.belief.readings import READINGS
from storyproof.families.belief.tomi_rows import prove
from storyproof.families.belief.tomi_text import ask, parse
from storyproof.families.belief.world import PlotEvent
from tests.families.belief.asking import belief, defined_proof, proof_of
from tests.families.belief.stories import CHAINS, THING, any_events, possible_stories, returns
from tests.groups import try_examples

CROSSED = """Ada entered the attic.
Cy likes the box.
Bo entered the attic.
The key is in the box.
Bo exited the attic.
Phone rang.
Ada moved the key to the jar.
Ada exited the attic.
Bo entered the attic."""


def proof(story: str, question: BeliefQuestion) -> list[int]:
    proved = prove(pa.array([story]), np.zeros(1, np.intp), pa.array([ask(question)]))
    assert not proved.problems
    numbers: list[int] = proved.columns["proof"].to_pylist()[0]
    return numbers


@pytest.mark.parametrize(
    ("chain", "expected"),
    [
        (("Ada",), [1, 7]),  # came in, moved it
        (("Bo",), [7, 9]),  # the move, and the coming back that showed it
        # Both came, it was placed, Bo left; had Ada stayed, the two would have seen the jar together.
        (("Ada", "Bo"), [1, 3, 4, 5, 8]),
        (("Bo", "Ada"), [1, 3, 4, 5, 8]),
    ],
)
def test_a_belief_rests_on_what_would_change_it(chain: tuple[str, ...], expected: list[int]) -> None:
    assert proof(CROSSED, belief(THING, *chain)) == expected


def test_memory_and_reality_rest_on_one_sentence() -> None:
    assert proof(CROSSED, BeliefQuestion(Ask.MEMORY, THING)) == [4]
    assert proof(CROSSED, BeliefQuestion(Ask.REALITY, THING)) == [7]


def test_of_two_grounds_the_later_is_named() -> None:
    story = "Ada entered the attic.\nThe key is in the box.\nAda exited the attic.\nAda entered the attic."
    assert proof(story, belief(THING, "Ada")) == [2, 4]


@given(st.one_of(possible_stories(asides=True), returns(), any_events().filter(bool)), st.data())
@try_examples(40)
def test_a_proof_is_what_the_definition_says(events: list[PlotEvent], data: st.DataObject) -> None:
    reading = data.draw(st.sampled_from(READINGS))
    questions = [BeliefQuestion(Ask.MEMORY, THING), belief(THING)]
    questions += [belief(THING, *chain) for chain in data.draw(st.lists(st.sampled_from(CHAINS), max_size=2))]
    for question in questions:
        assert proof_of(events, question, reading) == defined_proof(events, question, reading), (question, reading)


def test_proofs_count_sentences_of_the_text() -> None:
    assert parse(CROSSED)[6].container == "jar"
