"""Stories cut down to what concerns a question have the same labels."""

from __future__ import annotations

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from storyproof.families.belief.arrays import NOBODY, STRANGER, encode_plots
from storyproof.families.belief.restriction import focus, renumber
from storyproof.families.belief.tomi_labels import ask_plainly, label, story_type
from storyproof.families.belief.world import EventKind, PlotEvent
from tests.families.belief.stories import AGENTS, CHAINS, THING, any_events, possible_stories, returns
from tests.groups import try_examples


@try_examples(150)
@given(
    st.lists(st.one_of(any_events(), returns(), possible_stories(asides=True)), min_size=1, max_size=4),
    st.lists(st.sampled_from([(), *CHAINS, ("Eve", "Ada")]), min_size=3, max_size=3),
    st.booleans(),
)
def test_labels_stay(stories: list[list[PlotEvent]], chains: list[tuple[str, ...]], memory: bool) -> None:
    arrays, names = encode_plots([[event for event in events if event.kind > EventKind.FEEL] for events in stories])
    assume(len(arrays.kind))  # the oracle needs a sentence
    rows = [(number, chain) for number in range(len(stories)) for chain in chains]
    story = np.array([number for number, _ in rows])
    asked = np.full((4, len(rows)), NOBODY, np.int8)
    for row, (number, agents) in enumerate(rows):
        asked[: len(agents), row] = [names[number].agents.get(agent, STRANGER) for agent in agents]
    thing = np.array([names[number].things.get(THING, 99) for number, _ in rows], np.int8)
    mover, other = (
        np.array([names[number].agents.get(agent, STRANGER) for number, _ in rows], np.int8) for agent in AGENTS[:2]
    )
    is_memory = np.full(len(rows), memory)
    columns, zeros = np.arange(len(rows)), np.zeros(len(rows), np.int8)
    right = label(arrays, ask_plainly(story, thing, asked, is_memory), mover)
    agents = np.concatenate([mover[None], other[None], asked])
    about = focus(arrays, story, thing, agents)
    first, second = renumber(agents[:2], agents)
    found = label(about.stories, ask_plainly(columns, zeros, renumber(asked, agents), is_memory), first)
    for name in ("place", "holds", "order", "false_belief", "question_type", "by_reading"):
        assert (getattr(found, name) == getattr(right, name)).all(), name
    types = story_type(about.stories, columns, zeros, first, second)
    assert (types == story_type(arrays, story, thing, mover, other)).all()
    for row in range(len(rows)):
        assert about.time[found.proof[:, row], row].tolist() == np.flatnonzero(right.proof[:, row]).tolist()
