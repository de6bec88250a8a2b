"""Labels of the oracle against the checker, and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from storyproof.errors import ProofError
from storyproof.families.belief.arrays import NOBODY, encode_plots
from storyproof.families.belief.questions import Ask, BeliefQuestion
from storyproof.families.belief.readings import DEFAULT, READINGS
from storyproof.families.belief.tomi_labels import (
    MOST_ORDER,
    QUESTION_TYPES,
    STORY_TYPES,
    Questions,
    ask_plainly,
    confirm,
    label,
    story_type,
)
from storyproof.families.belief.world import EventKind, PlotEvent
from tests.families.belief.asking import ask_checker, belief
from tests.families.belief.stories import AGENTS, CHAINS, THING, possible_stories
from tests.groups import try_examples

SALLY_ANNE = [
    PlotEvent(EventKind.ENTER, "Ada", "attic"),
    PlotEvent(EventKind.ENTER, "Bo", "attic"),
    PlotEvent(EventKind.PLACE, None, "attic", THING, "jar"),
    PlotEvent(EventKind.EXIT, "Bo", "attic"),
    PlotEvent(EventKind.MOVE, "Ada", "attic", THING, "pot"),
]
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")


def ask(events: list[PlotEvent], chains: list[tuple[str, ...]], mover: str = "Ada", other: str = "Bo") -> Questions:
    """Ask chains of one story, where the empty chain stands for memory, and the last question for reality."""
    stories, (names,) = encode_plots([events])
    count = len(chains) + 1
    asked = np.full((MOST_ORDER, count), NOBODY, np.int8)
    for column, chain in enumerate(chains):
        asked[: len(chain), column] = [names.agents[agent] for agent in chain]
    memory = np.array([not chain for chain in chains] + [False], np.bool_)
    columns = np.zeros(count, np.intp)
    thing = np.full(count, names.things[THING], np.int8)
    pair = [np.full(count, names.agents[agent], np.int8) for agent in (mover, other)]
    kinds = story_type(stories, columns, thing, *pair)
    labels = label(stories, ask_plainly(columns, thing, asked, memory), pair[0])
    return Questions(columns, thing, asked, memory, kinds, labels)


def type_by_checker(events: list[PlotEvent], one: str, other: str) -> str:
    real = ask_checker(events, belief(THING))
    first, second = (ask_checker(events, belief(THING, agent)) for agent in (one, other))
    if first != real or second != real:
        return "false_belief"
    thought = ask_checker(events, belief(THING, other, one)), ask_checker(events, belief(THING, one, other))
    return "true_belief" if thought == (first, second) else "second_order_false_belief"


@given(possible_stories())
@try_examples(40)
def test_labels_are_what_the_checker_says(events: list[PlotEvent]) -> None:
    present = [agent for agent in AGENTS if any(event.agent == agent for event in events)]
    chains = [chain for chain in CHAINS[:84] if set(chain) <= set(present)]
    asked = ask(events, [(), *chains])
    real = ask_checker(events, belief(THING))
    boxes = tuple(encode_plots([events])[1][0].containers)
    names = [None if place == NOBODY else boxes[place] for place in asked.labels.place.tolist()]
    assert (names[0], names[-1]) == (ask_checker(events, BeliefQuestion(Ask.MEMORY, THING)), real)
    assert [QUESTION_TYPES[kind] for kind in asked.labels.question_type[[0, -1]]] == ["memory", "reality"]
    assert not asked.labels.false_belief[[0, -1]].any()
    assert asked.labels.holds[:, [0, -1]].all()
    assert STORY_TYPES[asked.story_type[0]] == type_by_checker(events, "Ada", "Bo")
    for column, chain in enumerate(chains, start=1):
        believed = [ask_checker(events, belief(THING, *chain), reading) for reading in READINGS]
        right = believed[READINGS.index(DEFAULT)]
        assert names[column] == right
        assert [None if place < 0 else boxes[place] for place in asked.labels.by_reading[:, column]] == believed
        assert asked.labels.holds[:, column].tolist() == [right is not None and each == right for each in believed]
        assert asked.labels.order[column] == len(chain)
        assert asked.labels.false_belief[column] == (right != real)
        number, mark = int(chain[0] != "Ada"), "tom" if right != real else "no_tom"
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
        [1, 2, 3],
        [0, 1, 2, 3],
        [1, 2, 3],
        [4],
    ]
    assert asked.labels.place.tolist() == [0, 1, 0, 0, 0, 1]


def test_who_knows_nothing_holds_nothing() -> None:
    asked = ask([PlotEvent(EventKind.ENTER, "Cy", "barn"), *SALLY_ANNE], [("Cy",), ("Ada", "Cy"), ("Ada",)])
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
    back = [*SALLY_ANNE, PlotEvent(EventKind.ENTER, "Bo", "attic")]
    crossed = [*SALLY_ANNE, PlotEvent(EventKind.EXIT, "Ada", "attic"), PlotEvent(EventKind.ENTER, "Bo", "attic")]
    for story, kind in (
        (SALLY_ANNE, "false_belief"),
        (back, "true_belief"),
        (crossed, "second_order_false_belief"),
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


def test_what_the_checker_does_not_confirm_is_refused() -> None:
    asked = ask(SALLY_ANNE, [("Bo",), ("Ada",)])
    stories, _ = encode_plots([SALLY_ANNE])
    mover, other = np.zeros(3, np.int8), np.ones(3, np.int8)
    confirm(stories, asked, mover, other)
    asked.labels.by_reading[1, 0] = 1
    with pytest.raises(ProofError, match="answer under closed: c1 against c0"):
        confirm(stories, asked, mover, other)
