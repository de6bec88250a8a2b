"""Stories of people who come, go and move things in plain sight, by hand and by their laws; both provers are asked."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storyproof.families.belief.questions import Ask, BeliefQuestion
from storyproof.families.belief.readings import CLOSED, INFER_MOVER, OPEN, READINGS
from storyproof.families.belief.world import EventKind, PlotEvent
from tests.families.belief.asking import ask_both, ask_oracle, belief
from tests.families.belief.stories import AGENTS, CHAINS, THING, any_events, possible_stories, returns
from tests.groups import try_examples

Story = list[PlotEvent]
MARBLE = "marble"


def enter(agent: str, room: str = "den") -> PlotEvent:
    return PlotEvent(EventKind.ENTER, agent, room)


def leave(agent: str, room: str = "den") -> PlotEvent:
    return PlotEvent(EventKind.EXIT, agent, room)


def is_in(agent: str, room: str = "den") -> PlotEvent:
    return PlotEvent(EventKind.IS_IN, agent, room)


def place(container: str, room: str | None = "den") -> PlotEvent:
    return PlotEvent(EventKind.PLACE, None, room, MARBLE, container)


def move(agent: str, container: str, room: str = "den") -> PlotEvent:
    return PlotEvent(EventKind.MOVE, agent, room, MARBLE, container)


def ask(events: Sequence[PlotEvent], *chain: str, reading: str = OPEN) -> object:
    return ask_both(events, belief(MARBLE, *chain), reading)


SALLY_ANNE = [enter("Sally"), enter("Anne"), place("box"), leave("Sally"), move("Anne", "jar")]
CROSSED = [*SALLY_ANNE, leave("Anne"), enter("Sally")]


@pytest.mark.parametrize("reading", READINGS)
def test_sally_anne(reading: str) -> None:
    assert ask(SALLY_ANNE, "Sally", reading=reading) == "box"
    assert ask(SALLY_ANNE, "Anne", reading=reading) == "jar"
    assert ask(SALLY_ANNE, "Anne", "Sally", reading=reading) == "box"
    assert ask(SALLY_ANNE, "Sally", "Anne", reading=reading) == "box"
    assert ask(SALLY_ANNE, "Anne", "Sally", "Anne", reading=reading) == "box"
    assert ask(SALLY_ANNE, reading=reading) == "jar"
    assert ask_both(SALLY_ANNE, BeliefQuestion(Ask.MEMORY, MARBLE), reading) == "box"


def test_entering_shows_the_object_unless_containers_are_closed() -> None:
    back = [*SALLY_ANNE, enter("Sally")]
    assert ask(back, "Sally") == ask(back, "Anne", "Sally") == "jar"
    assert ask(back, "Sally", reading=CLOSED) == ask(back, "Anne", "Sally", reading=CLOSED) == "box"


def test_being_said_to_be_in_the_room_shows_the_object() -> None:
    back = [*SALLY_ANNE, is_in("Sally")]
    assert ask(back, "Sally") == "jar"
    assert ask(back, "Sally", reading=CLOSED) == "box"


def test_second_order_false_belief() -> None:
    assert ask(CROSSED, "Sally") == ask(CROSSED, "Anne") == "jar"
    assert ask(CROSSED, "Anne", "Sally") == ask(CROSSED, "Anne", "Sally", reading=INFER_MOVER) == "box"
    assert [ask(CROSSED, "Sally", "Anne", reading=reading) for reading in READINGS] == ["box", "box", "jar"]
    assert ask(CROSSED, "Sally", "Sally", "Anne", "Anne", reading=INFER_MOVER) == "jar"
    # Only what Sally thinks Anne believes is inferred; what she thinks Anne thinks of others is not.
    assert ask(CROSSED, "Sally", "Anne", "Sally", reading=INFER_MOVER) == "box"
    assert ask(CROSSED, "Anne", "Sally", "Anne", reading=INFER_MOVER) == "box"


NO_BLAME: dict[str, Story] = {
    "Anne left first": [
        *(enter("Sally"), enter("Anne"), enter("Max"), place("box"), leave("Anne"), leave("Sally")),
        *(move("Max", "jar"), leave("Max"), enter("Sally")),
    ],
    "Anne left first, the second time": [
        *(enter("Sally"), enter("Anne"), place("box"), leave("Sally"), enter("Sally"), leave("Anne"), leave("Sally")),
        *(move("Max", "jar"), enter("Sally")),
    ],
    "met again elsewhere": [*SALLY_ANNE, leave("Anne"), enter("Anne", "yard"), enter("Sally", "yard"), enter("Sally")],
    "not moved": [enter("Sally"), enter("Anne"), place("box"), leave("Sally"), leave("Anne"), enter("Sally")],
    "moved back": [*SALLY_ANNE, move("Anne", "box"), leave("Anne"), enter("Sally")],
    "said to be in": [*SALLY_ANNE, leave("Anne"), is_in("Sally")],
    "Sally had no idea": [enter("Sally"), enter("Anne"), leave("Sally"), leave("Anne"), place("box"), enter("Sally")],
    "never met": [
        *(enter("Sally"), place("box"), leave("Sally"), enter("Anne"), move("Anne", "jar"), leave("Anne")),
        enter("Sally"),
    ],
}


@pytest.mark.parametrize("name", NO_BLAME)
def test_who_is_not_blamed(name: str) -> None:
    story = NO_BLAME[name]
    assert ask(story, "Sally", "Anne", reading=INFER_MOVER) == ask(story, "Sally", "Anne", reading=OPEN)


def test_all_last_seen_are_blamed() -> None:
    story = [
        *(enter("Sally"), enter("Anne"), enter("Max"), enter("Zoe"), place("box"), leave("Zoe")),
        *(enter("Sally", "attic"), move("Anne", "jar"), leave("Anne"), leave("Max"), enter("Sally")),
    ]
    blamed = {other: ask(story, "Sally", other, reading=INFER_MOVER) for other in ("Sally", "Anne", "Max", "Zoe")}
    assert blamed == {"Sally": "jar", "Anne": "jar", "Max": "jar", "Zoe": "box"}
    assert ask(story, "Sally", "Anne", "Max", reading=INFER_MOVER) == "box"


def test_a_nested_belief_is_what_all_the_chain_saw_together() -> None:
    story = [
        *(enter("Sally"), enter("Anne"), enter("Max"), place("box"), leave("Sally")),
        *(move("Anne", "jar"), leave("Anne"), move("Max", "pot")),
    ]
    expected = {"Sally": "box", "Anne": "jar", "Max": "pot"}
    for order in (1, 2, 3, 4):
        for chain in product(expected, repeat=order):
            first = next(agent for agent in expected if agent in chain)
            assert ask(story, *chain) == expected[first], chain


def test_who_was_never_there_believes_nothing() -> None:
    for reading in READINGS:
        assert ask(CROSSED, "Zoe", reading=reading) is None
        assert ask(CROSSED, "Zoe", "Anne", reading=reading) is None
        assert ask(CROSSED, "Anne", "Zoe", "Anne", reading=reading) is None
    elsewhere = [enter("Zoe", "attic"), *CROSSED]
    assert ask(elsewhere, "Zoe") is None
    assert ask(elsewhere, "Anne", "Zoe") is None


def test_nobody_is_in_a_room_that_is_not_told() -> None:
    assert ask([enter("Ada"), leave("Ada"), place("jar", None)], "Ada") is None


def test_nothing_placed() -> None:
    story = [enter("Sally"), leave("Sally"), PlotEvent(EventKind.NOISE)]
    assert ask(story) is None
    assert ask(story, "Sally") is None


def test_the_room_of_the_object_may_change() -> None:
    story = [enter("Sally"), enter("Anne", "attic"), place("box"), place("jar", "attic"), enter("Max")]
    assert [ask(story, agent) for agent in ("Sally", "Anne", "Max")] == ["box", "jar", None]


# --- laws


@given(st.one_of(any_events().filter(bool), possible_stories(asides=True), returns()), st.data())
@try_examples(60)
def test_oracle_and_checker_agree(events: Story, data: st.DataObject) -> None:
    for chain in data.draw(st.lists(st.sampled_from(CHAINS), min_size=6, max_size=6)):
        for reading in READINGS:
            ask_both(events, belief(THING, *chain), reading)


@given(possible_stories(), st.permutations(["Uma", "Vi", "Wu", "Xi"]))
@try_examples(30)
def test_renaming_people_changes_no_answer(events: Story, others: list[str]) -> None:
    new = dict(zip(AGENTS, others, strict=True))
    renamed = [event._replace(agent=new.get(event.agent or "")) for event in events]
    for reading, chain in product(READINGS, CHAINS[:8]):
        answer = ask_oracle(renamed, belief(THING, *(new[agent] for agent in chain)), reading)
        assert answer == ask_oracle(events, belief(THING, *chain), reading)


@given(possible_stories(), st.data())
@try_examples(40)
def test_feelings_noise_and_other_objects_change_nothing(events: Story, data: st.DataObject) -> None:
    idle = st.sampled_from(
        (
            PlotEvent(EventKind.NOISE),
            PlotEvent(EventKind.FEEL, "Bo", thing="jar", feeling="likes"),
            PlotEvent(EventKind.FEEL, "Di", thing=THING, feeling="hates"),
            PlotEvent(EventKind.MOVE, "Ada", "attic", "coin", "jar"),
        )
    )
    longer = list(events)
    for _ in range(data.draw(st.integers(1, 4))):
        longer.insert(data.draw(st.integers(0, len(longer))), data.draw(idle))
    for reading, chain in product(READINGS, CHAINS[:12]):
        assert ask_oracle(longer, belief(THING, *chain), reading) == ask_oracle(events, belief(THING, *chain), reading)


@given(possible_stories())
@try_examples(30)
def test_in_plain_sight_only_the_set_of_agents_matters(events: Story) -> None:
    for reading, (one, other, third) in product((OPEN, CLOSED), [("Ada", "Bo", "Cy"), ("Bo", "Ada", "Bo")]):
        answer = ask_oracle(events, belief(THING, one, other, third), reading)
        assert answer == ask_oracle(events, belief(THING, third, one, other), reading)


@given(returns())
@try_examples(30)
def test_repeating_an_agent_adds_nothing(events: Story) -> None:
    for reading in READINGS:
        answer = ask_oracle(events, belief(THING, "Ada", "Bo"), reading)
        assert answer == ask_oracle(events, belief(THING, "Ada", "Ada", "Bo", "Bo", "Bo"), reading)


@given(possible_stories(), st.data())
@try_examples(40)
def test_what_others_do_elsewhere_changes_no_belief(events: Story, data: st.DataObject) -> None:
    """Comings and goings of a stranger in other rooms."""
    walks = [PlotEvent(EventKind.ENTER, "Eve", "yard"), PlotEvent(EventKind.EXIT, "Eve", "yard")]
    longer = list(events)
    for walk in reversed(walks):
        longer.insert(data.draw(st.integers(0, len(events))), walk)
    for reading, chain in product((OPEN, CLOSED), CHAINS[:12]):
        assert ask_oracle(longer, belief(THING, *chain), reading) == ask_oracle(events, belief(THING, *chain), reading)
