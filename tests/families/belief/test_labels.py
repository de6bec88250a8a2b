"""Labels of the oracle against the checker, and by hand."""

from __future__ import annotations

import numpy as np
from hypothesis import given

from storyproof.families.belief import oracle
from storyproof.families.belief.arrays import NOBODY, encode
from storyproof.families.belief.checker import Worlds
from storyproof.families.belief.events import Event, Kind
from storyproof.families.belief.labels import MOST_ORDER, QUESTION_TYPES, STORY_TYPES, Questions, label, story_type
from storyproof.families.belief.readings import DEFAULT, READINGS
from tests.families.belief.stories import AGENTS, CHAINS, THING, possible_stories
from tests.groups import try_examples

SALLY_ANNE = [
    Event(Kind.ENTER, "Ada", "attic"),
    Event(Kind.ENTER, "Bo", "attic"),
    Event(Kind.PLACE, None, "attic", THING, "jar"),
    Event(Kind.EXIT, "Bo", "attic"),
    Event(Kind.MOVE, "Ada", "attic", THING, "pot"),
]
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")


def ask(events: list[Event], chains: list[tuple[str, ...]], mover: str = "Ada", other: str = "Bo") -> Questions:
    """Ask chains of one story, where the empty chain stands for memory, and the last question for reality."""
    stories, (names,) = encode([events])
    count = len(chains) + 1
    asked = np.full((MOST_ORDER, count), NOBODY, np.int8)
    for column, chain in enumerate(chains):
        asked[: len(chain), column] = [names.agents[agent] for agent in chain]
    memory = np.array([not chain for chain in chains] + [False], np.bool_)
    columns = np.zeros(count, np.intp)
    seen = oracle.view(stories, np.array([names.things[THING]], np.int8)).pick(columns)
    pair = [np.full(count, names.agents[agent], np.int8) for agent in (mover, other)]
    kinds = story_type(seen, *pair)
    return Questions(columns, columns.astype(np.int8), asked, memory, kinds, label(seen, asked, memory, pair[0]))


@given(possible_stories(private=True))
@try_examples(40)
def test_labels_are_what_the_checker_says(events: list[Event]) -> None:
    present = [agent for agent in AGENTS if any(event.agent == agent for event in events)]
    chains = [chain for chain in CHAINS[:84] if set(chain) <= set(present)]
    asked, worlds = ask(events, [(), *chains]), Worlds(events, THING)
    boxes = tuple(encode([events])[1][0].containers)
    names = [None if place == NOBODY else boxes[place] for place in asked.labels.place.tolist()]
    assert (names[0], names[-1]) == (worlds.memory, worlds.reality)
    assert [QUESTION_TYPES[kind] for kind in asked.labels.question_type[[0, -1]]] == ["memory", "reality"]
    assert not asked.labels.false_belief[[0, -1]].any()
    assert asked.labels.holds[:, [0, -1]].all()
    assert STORY_TYPES[asked.story_type[0]] == worlds.story_type("Ada", "Bo")
    for column, chain in enumerate(chains, start=1):
        believed = [worlds.belief(chain, reading) for reading in READINGS]
        right = believed[READINGS.index(DEFAULT)]
        assert names[column] == right
        assert [None if place < 0 else boxes[place] for place in asked.labels.by_reading[:, column]] == believed
        assert asked.labels.holds[:, column].tolist() == [right is not None and each == right for each in believed]
        assert asked.labels.order[column] == len(chain)
        assert asked.labels.false_belief[column] == (right != worlds.reality)
        number, mark = int(chain[0] != "Ada"), "tom" if right != worlds.reality else "no_tom"
        kind = QUESTION_TYPES[asked.labels.question_type[column]]
        assert kind == f"{ORDINALS[len(chain) - 1]}_order_{number}_{mark}"


def test_by_hand() -> None:
    asked = ask(SALLY_ANNE, [(), ("Ada",), ("Bo",), ("Ada", "Bo"), ("Bo",) * 8])
    assert [QUESTION_TYPES[kind] for kind in asked.labels.question_type] == [
        "memory",
        "first_order_0_no_tom",
        "first_order_1_tom",
        "second_order_0_tom",
        "eighth_order_1_tom",
        "reality",
    ]
    assert [np.flatnonzero(proof).tolist() for proof in asked.labels.proof.T] == [
        [2],
        [0, 4],
        [1, 2, 3, 4],
        [0, 1, 2, 3, 4],
        [1, 2, 3, 4],
        [4],
    ]
    assert asked.labels.place.tolist() == [0, 1, 0, 0, 0, 1]


def test_who_knows_nothing_holds_nothing() -> None:
    asked = ask([Event(Kind.ENTER, "Cy", "barn"), *SALLY_ANNE], [("Cy",), ("Ada", "Cy"), ("Ada",)])
    assert asked.labels.place.tolist() == [NOBODY, NOBODY, 1, 1]
    assert (
        asked.labels.holds.all(axis=0).tolist() == asked.labels.holds.any(axis=0).tolist() == [False, False, True, True]
    )


def test_every_order_has_its_types() -> None:
    assert len(ORDINALS) == MOST_ORDER
    assert len(QUESTION_TYPES) == 2 + 4 * MOST_ORDER
    assert QUESTION_TYPES[2:6] == tuple(
        f"first_order_{number}_{mark}" for number in (0, 1) for mark in ("no_tom", "tom")
    )


def test_story_types_by_hand() -> None:
    back = [*SALLY_ANNE, Event(Kind.ENTER, "Bo", "attic")]
    crossed = [*SALLY_ANNE, Event(Kind.EXIT, "Ada", "attic"), Event(Kind.ENTER, "Bo", "attic")]
    peeked = [*SALLY_ANNE[:4], SALLY_ANNE[4]._replace(observers=frozenset({"Ada", "Bo"}))]
    for story, kind in (
        (SALLY_ANNE, "false_belief"),
        (back, "true_belief"),
        (crossed, "second_order_false_belief"),
        (peeked, "second_order_false_belief"),  # Ada does not know that Bo knows
    ):
        for pair in (("Ada", "Bo"), ("Bo", "Ada")):
            assert STORY_TYPES[ask(story, [], *pair).story_type[0]] == kind


def test_picked_questions_are_those_asked() -> None:
    asked = ask(SALLY_ANNE, [(), ("Ada",), ("Bo",)])
    rows, story = np.array([2, 0, 2]), np.array([7, 8, 9])
    some = asked.pick(rows, story)
    assert some.story.tolist() == [7, 8, 9]
    assert some.chain.tolist() == asked.chain[:, rows].tolist()
    assert (some.memory.tolist(), some.thing.tolist()) == ([False, True, False], [0, 0, 0])
    assert some.labels.place.tolist() == [0, 0, 0]
    assert some.labels.proof.T.tolist() == asked.labels.proof.T[rows].tolist()
    assert some.story_type.tolist() == asked.story_type[rows].tolist()
