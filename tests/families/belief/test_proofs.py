from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings

from storyproof.families.belief.checker import Worlds
from storyproof.families.belief.derivation import prove
from storyproof.families.belief.events import Event, Kind
from storyproof.families.belief.readings import OPEN
from storyproof.families.belief.text import Question, ask, narrate, parse
from tests.families.belief.stories import THING, possible_stories

CROSSED = """Ada entered the attic.
Cy likes the box.
Bo entered the attic.
The key is in the box.
Bo exited the attic.
Phone rang.
Ada moved the key to the jar.
Ada exited the attic.
Bo entered the attic."""


def proof(story: str, *chain: str, memory: bool = False) -> list[int]:
    question = ask(Question(THING, chain, memory))
    found = prove(pa.array([story]), np.zeros(1, np.intp), pa.array([question]))
    assert not found.problems
    return found.columns["proof"].to_pylist()[0]


@pytest.mark.parametrize(
    ("chain", "expected"),
    [
        (("Ada",), [1, 7]),  # came in, moved it
        (("Bo",), [7, 9]),  # the move, and the coming back that showed it
        (("Ada", "Bo"), [1, 3, 4, 5, 7]),  # both came, it was placed; Bo's exit broke them up, the move was missed
        (("Bo", "Ada"), [1, 3, 4, 5, 7]),
    ],
)
def test_a_belief_rests_on_what_design_says(chain: tuple[str, ...], expected: list[int]) -> None:
    assert proof(CROSSED, *chain) == expected


def test_controls_rest_on_one_sentence() -> None:
    assert proof(CROSSED, memory=True) == [4]
    assert proof(CROSSED) == [7]


def test_leaving_by_going_elsewhere_breaks_a_chain_up() -> None:
    story = "Ada entered the attic.\nBo entered the attic.\nThe key is in the box.\nBo entered the barn.\n"
    assert proof(story + "Ada moved the key to the jar.", "Ada", "Bo") == [1, 2, 3, 4, 5]


def test_being_told_again_is_no_move() -> None:
    story = "Ada entered the attic.\nBo entered the attic.\nThe key is in the box.\nBo exited the attic.\n"
    assert proof(story + "The key is in the box.", "Ada", "Bo") == [1, 2, 3]


@given(possible_stories(asides=True))
@settings(max_examples=100, deadline=None)
def test_the_sentences_of_a_proof_are_enough(events: list[Event]) -> None:
    """Telling only the proof gives the same answer, once everybody's being there is told."""
    story = narrate(events)
    for chain in [("Ada",), ("Bo",), ("Ada", "Bo")]:
        before = Worlds(events, THING).belief(chain, OPEN)
        needed = set(proof(story, *chain))
        kept = [event for number, event in enumerate(events, start=1) if number in needed]
        # A move in the proof is made by somebody whose coming the proof need not mention.
        movers = {event.agent for event in kept if event.kind is Kind.MOVE} - set(chain)
        present = [Event(Kind.ENTER, agent, "attic") for agent in sorted(filter(None, movers))]
        assert Worlds([*present, *kept], THING).belief(chain, OPEN) == before


def test_proofs_count_sentences_of_the_text() -> None:
    assert [event.kind for event in parse(CROSSED)][6] is Kind.MOVE
