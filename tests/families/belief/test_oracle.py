from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from storyproof.families.belief import oracle as beliefs
from storyproof.families.belief.arrays import NOBODY, encode
from storyproof.families.belief.checker import Worlds
from storyproof.families.belief.events import Event, Kind
from storyproof.families.belief.oracle import STRANGER
from storyproof.families.belief.readings import CLOSED, INFER_MOVER, OPEN, READINGS
from tests.families.belief.stories import AGENTS, CHAINS, OTHER_THING, THING, any_events, possible_stories, returns
from tests.families.belief.test_checker import MARBLE, NO_BLAME
from tests.groups import try_examples

Story = list[Event]


def oracle(events: Story, chains: Sequence[tuple[str, ...]], reading: str) -> list[str | None]:
    """Ask the array oracle all chains of one story at once."""
    stories, (names,) = encode([events])
    columns = np.zeros(len(chains), np.intp)
    asked = np.full((max(map(len, chains)), len(chains)), NOBODY, np.int8)
    for column, chain in enumerate(chains):
        asked[: len(chain), column] = [names.agents.get(agent, STRANGER) for agent in chain]
    thing = np.full(1, names.things.get(THING, 99), np.int8)
    places = beliefs.belief(beliefs.view(stories, thing).pick(columns), asked, reading).place
    return [None if place == NOBODY else tuple(names.containers)[place] for place in places.tolist()]


def assert_checker_agrees(events: Story) -> None:
    worlds = Worlds(events, THING)
    for reading in READINGS:
        assert oracle(events, CHAINS, reading) == [worlds.belief(chain, reading) for chain in CHAINS], reading


@given(any_events(private=False).filter(bool))
@try_examples(150)
def test_oracle_and_checker_agree_on_any_events(events: Story) -> None:
    assert_checker_agrees(events)


@given(any_events(private=True).filter(bool))
@try_examples(150)
def test_oracle_and_checker_agree_whoever_observes(events: Story) -> None:
    assert_checker_agrees(events)


@given(possible_stories(asides=True))
@try_examples(150)
def test_oracle_and_checker_agree_on_stories_that_can_happen(events: Story) -> None:
    assert_checker_agrees(events)


@given(possible_stories(private=True))
@try_examples(150)
def test_oracle_and_checker_agree_on_private_events(events: Story) -> None:
    assert_checker_agrees(events)


@given(returns())
@try_examples(150)
def test_oracle_and_checker_agree_when_people_return(events: Story) -> None:
    assert_checker_agrees(events)


@given(returns(private=True))
@try_examples(150)
def test_oracle_and_checker_agree_when_people_return_and_peek(events: Story) -> None:
    assert_checker_agrees(events)


@given(st.lists(possible_stories(private=True, asides=True), min_size=2, max_size=5))
@try_examples(50)
def test_a_block_answers_as_its_stories_do_alone(stories: list[Story]) -> None:
    arrays, names = encode(stories)
    for reading in READINGS:
        for chain in [("Ada",), ("Ada", "Bo"), ("Bo", "Ada", "Bo")]:
            asked = np.array([[known.agents[agent] for known in names] for agent in chain], np.int8)
            things = np.array([known.things[THING] for known in names], np.int8)
            places = beliefs.belief(beliefs.view(arrays, things), asked, reading).place
            together = [
                None if place == NOBODY else tuple(known.containers)[place]
                for place, known in zip(places.tolist(), names, strict=True)
            ]
            assert together == [oracle(story, [chain], reading)[0] for story in stories]


@given(possible_stories(), st.permutations(["Uma", "Vi", "Wu", "Xi"]))
@try_examples(50)
def test_renaming_people_changes_no_answer(events: Story, others: list[str]) -> None:
    new = dict(zip(AGENTS, others, strict=True))
    renamed = [Event(e.kind, new.get(e.agent or ""), e.room, e.thing, e.container, e.feeling) for e in events]
    chains = CHAINS[:20]
    for reading in READINGS:
        found = oracle(renamed, [tuple(new[agent] for agent in chain) for chain in chains], reading)
        assert found == oracle(events, chains, reading)


@given(possible_stories(), st.data())
@try_examples(100)
def test_what_nobody_in_the_chain_saw_changes_no_belief(events: Story, data: st.DataObject) -> None:
    chain = data.draw(st.sampled_from(CHAINS[:20]))
    outsiders = frozenset(AGENTS) - set(chain)
    unseen = Event(Kind.MOVE, "Di", "attic", THING, "tin", observers=outsiders)
    moved = [*events, unseen]
    assert oracle(moved, [chain], OPEN) == oracle(events, [chain], OPEN)
    assert oracle(moved, [chain], CLOSED) == oracle(events, [chain], CLOSED)


@given(possible_stories())
@try_examples(50)
def test_in_plain_sight_only_the_set_of_agents_matters(events: Story) -> None:
    for reading in (OPEN, CLOSED):
        assert oracle(events, [("Ada", "Bo")], reading) == oracle(events, [("Bo", "Ada")], reading)


def sally_and_anne(*rest: Event) -> Story:
    start = [Event(Kind.ENTER, "Ada", "attic"), Event(Kind.ENTER, "Bo", "attic")]
    return [*start, Event(Kind.PLACE, None, "attic", THING, "jar"), *rest]


def test_order_matters_when_somebody_peeks() -> None:
    peeked = sally_and_anne(
        Event(Kind.EXIT, "Bo", "attic"),
        Event(Kind.MOVE, "Ada", "attic", THING, "pot", observers=frozenset({"Ada", "Bo"})),
    )
    # Bo peeks from outside: Bo knows that Ada knows, Ada does not know that Bo does.
    assert oracle(peeked, [("Bo",), ("Bo", "Ada"), ("Ada", "Bo")], OPEN) == ["pot", "pot", "jar"]


def test_order_matters_when_somebody_does_not_look() -> None:
    missed = sally_and_anne(Event(Kind.MOVE, "Ada", "attic", THING, "pot", observers=frozenset({"Ada"})))
    assert oracle(missed, [("Bo",), ("Ada", "Bo"), ("Bo", "Ada")], OPEN) == ["jar", "pot", "jar"]


def test_order_matters_when_the_mover_is_inferred() -> None:
    crossed = sally_and_anne(
        Event(Kind.EXIT, "Bo", "attic"),
        Event(Kind.MOVE, "Ada", "attic", THING, "pot"),
        Event(Kind.EXIT, "Ada", "attic"),
        Event(Kind.ENTER, "Bo", "attic"),
    )
    chains = [("Bo",), ("Bo", "Ada"), ("Ada", "Bo"), ("Bo", "Ada", "Bo")]
    assert oracle(crossed, chains, INFER_MOVER) == ["pot", "pot", "jar", "jar"]
    assert oracle(crossed, chains, OPEN) == ["pot", "jar", "jar", "jar"]
    assert oracle(crossed, chains, CLOSED) == ["jar", "jar", "jar", "jar"]


def test_nobody_is_blamed_who_was_last_seen_elsewhere() -> None:
    met = sally_and_anne(
        Event(Kind.EXIT, "Ada", "attic"),
        Event(Kind.MOVE, "Bo", "attic", THING, "pot"),
        Event(Kind.EXIT, "Bo", "attic"),
        Event(Kind.ENTER, "Ada", "barn"),
        Event(Kind.ENTER, "Bo", "barn"),
        Event(Kind.EXIT, "Ada", "barn"),
        Event(Kind.ENTER, "Ada", "attic"),
    )
    for asked in (oracle(met, [("Ada",), ("Ada", "Bo")], INFER_MOVER), beliefs_of(met, INFER_MOVER)):
        assert asked == ["pot", "jar"]  # Ada last saw Bo in the barn


def test_nobody_is_blamed_for_an_object_not_seen_before() -> None:
    story = [
        Event(Kind.ENTER, "Ada", "attic"),
        Event(Kind.ENTER, "Bo", "attic"),
        Event(Kind.EXIT, "Ada", "attic"),
        Event(Kind.PLACE, None, "attic", THING, "jar"),
        Event(Kind.EXIT, "Bo", "attic"),
        Event(Kind.ENTER, "Ada", "attic"),
    ]
    for asked in (oracle(story, [("Ada",), ("Ada", "Bo")], INFER_MOVER), beliefs_of(story, INFER_MOVER)):
        assert asked == ["jar", None]  # Ada remembers no other place, so nothing was moved behind her back


@pytest.mark.parametrize("name", NO_BLAME)
def test_oracle_and_checker_agree_on_who_is_not_blamed(name: str) -> None:
    names = {"Sally": "Ada", "Anne": "Bo", "Max": "Cy", "Zoe": "Di", MARBLE: THING}
    events = [
        event._replace(
            agent=names.get(event.agent or ""),
            thing=names.get(event.thing or ""),
            observers=None if event.observers is None else frozenset(names[who] for who in event.observers),
        )
        for event in NO_BLAME[name]
    ]
    assert_checker_agrees(events)


def test_nobody_is_blamed_who_was_never_met() -> None:
    apart = [
        Event(Kind.ENTER, "Ada", "attic"),
        Event(Kind.MOVE, "Ada", "attic", THING, "jar"),
        Event(Kind.EXIT, "Ada", "attic"),
        Event(Kind.ENTER, "Bo", "attic"),
        Event(Kind.MOVE, "Bo", "attic", THING, "pot"),
        Event(Kind.EXIT, "Bo", "attic"),
        Event(Kind.ENTER, "Ada", "attic"),
    ]
    for asked in (oracle(apart, [("Ada",), ("Ada", "Bo")], INFER_MOVER), beliefs_of(apart, INFER_MOVER)):
        assert asked == ["pot", None]


def test_nobody_is_in_a_room_that_is_not_told() -> None:
    gone = [
        Event(Kind.ENTER, "Ada", "attic"),
        Event(Kind.EXIT, "Ada", "attic"),
        Event(Kind.PLACE, None, None, THING, "jar"),
    ]
    assert oracle(gone, [("Ada",)], OPEN) == [None]
    assert Worlds(gone, THING).belief(("Ada",), OPEN) is None


@given(any_events(private=True).filter(bool))
@try_examples(30)
def test_beliefs_so_far_are_those_of_the_story_so_far(events: Story) -> None:
    stories, (names,) = encode([events])
    seen = beliefs.view(stories, np.full(1, names.things.get(THING, 99), np.int8))
    boxes = tuple(names.containers)
    for chain in (("Ada",), ("Ada", "Bo"), ("Bo", "Ada", "Ada")):
        asked = np.array([[names.agents.get(agent, STRANGER)] for agent in chain], np.int8)
        for reading in READINGS:
            found = beliefs.beliefs_so_far(seen, asked, reading)[:, 0].tolist()
            for time, place in enumerate(found):
                believed = Worlds(events[: time + 1], THING).belief(chain, reading)
                assert (None if place == NOBODY else boxes[place]) == believed


def beliefs_of(events: Story, reading: str) -> list[str | None]:
    """Return by the checker what Ada believes, and what she thinks that Bo believes."""
    worlds = Worlds(events, THING)
    return [worlds.belief(chain, reading) for chain in [("Ada",), ("Ada", "Bo")]]


def test_a_stranger_believes_nothing() -> None:
    story = sally_and_anne()
    assert oracle(story, [("Eve",), ("Ada", "Eve"), ("Ada",)], OPEN) == [None, None, "jar"]


@pytest.mark.parametrize("agents", [9, 17, 40, 64])
def test_many_agents_fit(agents: int) -> None:
    crowd = [f"agent{number}" for number in range(agents)]
    events = [Event(Kind.ENTER, agent, "attic") for agent in crowd]
    events += [Event(Kind.PLACE, None, "attic", THING, "jar"), Event(Kind.EXIT, crowd[-1], "attic")]
    events += [Event(Kind.MOVE, crowd[0], "attic", THING, "pot")]
    chains = [(crowd[-1],), (crowd[-2],), (crowd[0], crowd[-1]), (crowd[0], crowd[-2])]
    assert oracle(events, chains, OPEN) == ["jar", "pot", "jar", "pot"]


def test_memory_is_the_first_place_and_reality_the_last() -> None:
    stories, (names,) = encode([sally_and_anne(Event(Kind.MOVE, "Ada", "attic", THING, "pot"))])
    seen = beliefs.view(stories, np.array([names.things[THING]], np.int8))
    places = tuple(names.containers)
    assert places[beliefs.memory(seen).place[0]] == "jar"
    assert places[beliefs.reality(seen).place[0]] == "pot"
    assert (beliefs.memory(seen).decided.tolist(), beliefs.reality(seen).decided.tolist()) == ([2], [3])


def test_an_object_that_is_never_placed_is_nowhere() -> None:
    stories, _ = encode([[Event(Kind.ENTER, "Ada", "attic"), Event(Kind.PLACE, None, "attic", OTHER_THING, "jar")]])
    seen = beliefs.view(stories, np.array([99], np.int8))
    for found in (beliefs.memory(seen), beliefs.reality(seen)):
        assert (found.place.tolist(), found.decided.tolist()) == ([NOBODY], [-1])
