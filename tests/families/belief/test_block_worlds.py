"""The checker for whole blocks against the checker for one story."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from storyproof.errors import ProofError
from storyproof.families.belief.agreement import confirm
from storyproof.families.belief.arrays import NOBODY, encode
from storyproof.families.belief.block_worlds import TYPES, BlockWorlds, EventBlock
from storyproof.families.belief.checker import Worlds
from storyproof.families.belief.events import Event, Kind
from storyproof.families.belief.labels import Questions, label, story_type
from storyproof.families.belief.oracle import STRANGER, view
from storyproof.families.belief.readings import READINGS
from tests.families.belief.stories import AGENTS, CHAINS, THING, any_events, possible_stories, returns
from tests.groups import try_examples

_SHORT = [(), *(chain for chain in CHAINS if len(chain) < 3), ("Ada", "Bo", "Ada"), ("Eve",), ("Bo", "Eve")]


@try_examples(150)
@given(
    st.lists(st.one_of(any_events(private=False), returns(), possible_stories(asides=True)), min_size=1, max_size=5),
    st.data(),
)
def test_blocks_are_checked_as_single_stories_are(stories: list[list[Event]], data: st.DataObject) -> None:
    arrays, names = encode(stories)
    rows = [(number, chain) for number in range(len(stories)) for chain in _SHORT]
    story = np.array([number for number, _ in rows])
    known = [data.draw(st.integers(0, len(events)), "sentences known") for events in stories]
    chain = np.full((3, len(rows)), NOBODY, np.int8)
    for row, (number, agents) in enumerate(rows):
        chain[: len(agents), row] = [names[number].agents.get(agent, STRANGER) for agent in agents]
    thing = np.array([names[number].things.get(THING, 99) for number, _ in rows])
    block = EventBlock(arrays.kind, arrays.agent, arrays.room, arrays.thing, arrays.container)
    found = BlockWorlds(block, story, thing, np.array(known)[story])
    beliefs = found.beliefs(chain)
    pair = [np.array([names[number].agents.get(agent, STRANGER) for number, _ in rows]) for agent in AGENTS[:2]]
    types = found.story_types(*pair)
    for row, (number, agents) in enumerate(rows):
        worlds = Worlds(stories[number][: known[number]], THING)
        containers = (*names[number].containers, None)
        assert [containers[place] for place in beliefs[:, row]] == [worlds.belief(agents, name) for name in READINGS]
        assert containers[found.reality[row]] == worlds.reality
        assert containers[found.memory[row]] == worlds.memory
        assert TYPES[types[row]] == worlds.story_type("Ada", "Bo")


def _questions(stories: Sequence[Sequence[Event]]) -> tuple[object, ...]:
    arrays, _ = encode(stories)
    zeros = np.zeros(len(stories), np.int8)
    seen = view(arrays, zeros)
    chain = np.stack([zeros + np.int8(1)])
    memory = zeros.astype(np.bool_)
    labels = label(seen, chain, memory, zeros)
    types = story_type(seen, zeros, zeros + np.int8(1))
    return arrays, Questions(np.arange(len(stories)), zeros, chain, memory, types, labels), zeros, zeros + np.int8(1)


def test_a_wrong_answer_is_not_confirmed() -> None:
    story = [
        Event(Kind.ENTER, "Ada", "attic"),
        Event(Kind.ENTER, "Bo", "attic"),
        Event(Kind.PLACE, None, "attic", "key", "box"),
        Event(Kind.EXIT, "Bo", "attic"),
        Event(Kind.MOVE, "Ada", "attic", "key", "jar"),
    ]
    arrays, questions, mover, other = _questions([story])
    confirm(arrays, questions, mover, other)  # type: ignore[arg-type]
    questions.labels.by_reading[1] = 1  # type: ignore[attr-defined]
    with pytest.raises(ProofError, match="answer under closed: c1 against c0"):
        confirm(arrays, questions, mover, other)  # type: ignore[arg-type]
    questions.labels.by_reading[1] = 0  # type: ignore[attr-defined]
    questions.story_type[0] = 2  # type: ignore[attr-defined]
    with pytest.raises(ProofError, match="second_order_false_belief against false_belief"):
        confirm(arrays, questions, mover, other)  # type: ignore[arg-type]


def test_sets_of_many_agents_are_told_apart() -> None:
    people = [f"p{number}" for number in range(60)]
    story = [Event(Kind.ENTER, name, "hall") for name in people]
    story += [Event(Kind.PLACE, None, "hall", "key", "box"), Event(Kind.EXIT, "p59", "hall")]
    story += [Event(Kind.MOVE, "p0", "hall", "key", "jar")]
    other = [*story[:-2], story[-1]]  # nobody leaves
    arrays, _ = encode([story, other])
    block = EventBlock(arrays.kind, arrays.agent, arrays.room, arrays.thing, arrays.container)
    found = BlockWorlds(block, np.array([0, 1, 0]), np.zeros(3, np.int8))
    assert found.beliefs(np.array([[59, 59, 58]]))[0].tolist() == [0, 1, 1]
