"""What decides, and the mechanism that made a label, told from the story."""

from __future__ import annotations

import pytest

from storyproof.families.belief.audit.causes import (
    MECHANISMS,
    PRAGMATIC,
    QUESTION_TYPE,
    Stage,
    Stay,
    explain_answer,
    explain_question_type,
    explain_story_type,
    explain_trace,
    set_stage,
)
from storyproof.families.belief.tomi_text import parse
from storyproof.families.belief.world import EventKind, PlotEvent

START = ["Ada entered the attic.", "Ben entered the attic.", "The key is in the box."]
AWAY = [*START, "Ben exited the attic.", "Ada moved the key to the jar."]
UNSEEN = [*AWAY, "Ada exited the attic.", "Ben entered the attic."]
THIRD = ["Zoe entered the attic.", *AWAY]
SEEN = [*START, "Ada moved the key to the jar.", "Ben exited the attic."]
AGAIN = ["Ben exited the attic.", "Ben entered the attic."]


def stage_of(*sentences: str, thing: str = "key") -> Stage:
    return set_stage(parse(list(sentences)), thing)


def test_a_stage() -> None:
    stage = stage_of("Zoe entered the hall.", *UNSEEN, "Ben likes the jar.", "Ben entered the hall.")
    assert stage.places == ["box", "jar"]
    assert (stage.move, stage.mover) == (6, "Ada")
    assert stage.stays == {"Ada": [Stay(2, 7)], "Ben": [Stay(3, 5), Stay(8, 10)]}
    assert stage.elsewhere == {"Zoe": 1}
    assert [number for number, _, _ in stage.actions] == [1, 2, 3, 5, 6, 7, 8, 10]


def test_what_is_not_on_the_stage() -> None:
    stage = stage_of(*AWAY, "Ada likes the key.", "Ada moved the ring to the tin.", "Ada moved the key to the sack.")
    assert stage.places == ["box", "jar", "sack"]
    assert (stage.move, stage.mover) == (8, "Ada")
    assert [number for number, _, _ in stage.actions] == [1, 2, 4, 5, 8]


def test_a_stage_has_the_room_where_the_object_is_at_the_end() -> None:
    story = [
        PlotEvent(EventKind.ENTER, "Ada", "attic"),
        PlotEvent(EventKind.PLACE, None, "attic", "key", "box"),
        PlotEvent(EventKind.MOVE, "Ada", "attic", "key", "jar"),
        PlotEvent(EventKind.ENTER, "Ben", "hall"),
        PlotEvent(EventKind.IS_IN, "Ben", "hall"),
        PlotEvent(EventKind.PLACE, None, "hall", "key", "tin"),
        PlotEvent(EventKind.EXIT, "Zoe", "hall"),  # nobody saw Zoe come, nor Cy
        PlotEvent(EventKind.EXIT, "Cy", "attic"),
        PlotEvent(EventKind.MOVE, "Ben", "attic", "key", "pot"),
        PlotEvent(EventKind.PLACE, None, "hall", "key", "tin"),
        PlotEvent(EventKind.IS_IN, "Di", "hall"),
    ]
    stage = set_stage(story, "key")
    assert stage.stays == {"Ben": [Stay(4, 0)], "Di": [Stay(11, 0)]}
    assert stage.elsewhere == {"Ada": 1}
    assert (stage.move, stage.mover) == (9, "Ben")


def test_who_leaves_in_a_sentence_was_there() -> None:
    assert [stage_of(*AWAY).absent("Ben", sentence) for sentence in (3, 4, 5)] == [0, 0, 4]


@pytest.mark.parametrize(
    ("story", "agent", "expected"),
    [
        (AWAY, "Ben", "Ben left in sentence 4, before the move in 5"),
        (UNSEEN, "Ben", "Ben left in sentence 4, before the move in 5, and came back in 7"),
        (UNSEEN, "Ada", "Ada moved it in sentence 5 and left in 6"),
        (SEEN, "Ben", "Ben saw the move in sentence 4"),
        (SEEN, "Zoe", "Zoe was never in the room of the key"),
        ([*SEEN, "Zoe entered the attic."], "Zoe", "Zoe came in sentence 6, after the move in 4"),
        (START, "Ben", "Ben came in sentence 2"),
        ([*START, *AGAIN], "Ben", "Ben came in sentence 2"),
        ([*START, *AGAIN, *AWAY[3:]], "Ben", "Ben left in sentence 6, before the move in 7"),
        ([*START, *AGAIN, AWAY[4]], "Ben", "Ben saw the move in sentence 6"),
        ([*START, *AGAIN, AWAY[4], AGAIN[0]], "Ben", "Ben saw the move in sentence 6"),
        (
            [*START, "Ada exited the attic.", *UNSEEN[:1], *UNSEEN[4:6]],
            "Ada",
            "Ada moved it in sentence 6 and left in 7",
        ),
        (
            [*SEEN, "Zoe entered the attic.", "Zoe exited the attic.", "Zoe entered the attic."],
            "Zoe",
            "Zoe came in sentence 6, after the move in 4",
        ),
    ],
)
def test_whereabouts(story: list[str], agent: str, expected: str) -> None:
    assert stage_of(*story).whereabouts(agent) == expected


@pytest.mark.parametrize(
    ("story", "chain", "found", "expected", "reading", "name", "reason"),
    [
        (THIRD, "Ada Ben", "jar", "box", "", "third_agent", "the third agent, Zoe (sentence 1), was inserted later"),
        (THIRD, "Ben Ada", "jar", "box", "", "third_agent", "Ben left in sentence 5, before the move in 6"),
        (UNSEEN, "Ada Ben", "jar", "box", "", "unseen_return", "Ben re-entered in sentence 7 unseen by Ada"),
        (
            ["Zoe entered the attic.", *UNSEEN],
            "Ada Ben",
            "jar",
            "box",
            "",
            "third_agent_or_return",
            "or because Ben re-entered",
        ),
        (UNSEEN, "Ben Ada", "jar", "box", "infer-mover", "blamed_mover", "finds it moved and infers that Ada knows"),
        (UNSEEN, "Ben", "box", "jar", "closed", "closed_containers", "entering a room shows nothing"),
        (["Zoe entered the hall.", *AWAY], "Ada Ben", "jar", "box", "", "third_agent_elsewhere", "Zoe (sentence 1)"),
        (AWAY, "Ada Ben", "jar", "box", "", "reality", "the real place of the key: Ada moved it"),
        (THIRD, "Ben", "jar", "box", "", "reality", "Ben left in sentence 5"),
        (AWAY, "Ada", "box", "jar", "", "first_place", "where the key was first"),
        (AWAY, "", "box", "jar", "", "first_place", "first mentioned in sentence 3 and last placed in 5"),
        (AWAY, "", "jar", "box", "", "reality", "first mentioned in sentence 3 and last placed in 5"),
        (AWAY, "Ben", "sack", "box", "", "no_place", "never in the sack"),
        ([*AWAY, "Ada moved the key to the tin."], "Ben", "jar", "box", "", "another_place", "another place"),
        (AWAY, "Zoe", "box", None, "", "no_answer", "Zoe was never in the room of the key"),
        # Ada moved it, so she is no third agent; Cy comes for the first time, so he does not return.
        ([*AWAY, "Cy entered the attic."], "Ben Cy", "jar", "box", "", "reality", "Cy came in sentence 6, after the"),
        ([*AWAY, "Ben entered the attic."], "Ada Ben", "jar", "box", "", "reality", "and came back in 6"),
        (
            [*THIRD, "Zoe exited the attic.", "Zoe entered the attic."],
            "Ada Ben",
            "jar",
            "box",
            "",
            "third_agent",
            "Zoe (sentence 1)",
        ),
        (
            [*AWAY, "Ada moved the key to the tin."],
            "",
            "box",
            "tin",
            "",
            "first_place",
            "first mentioned in sentence 3 and last placed in 6",
        ),
    ],
)
def test_answers(
    story: list[str], chain: str, found: str, expected: str | None, reading: str, name: str, reason: str
) -> None:
    cause = explain_answer(stage_of(*story), chain.split(), found, expected, reading)
    assert cause.name == name
    assert reason in cause.reason


def test_an_object_that_is_nowhere_has_no_answer() -> None:
    cause = explain_answer(stage_of(*AWAY, thing="ring"), ["Ada"], "box", None, "")
    assert cause == ("no_answer", "the ring is nowhere in the story")


@pytest.mark.parametrize(
    ("story", "found", "name", "reason"),
    [
        ([*AWAY, "Ben entered the attic."], "false_belief", "position_of_move", "action 2: Ben left in sentence 4"),
        (
            [*START, "Ben exited the attic.", "Ben entered the hall.", "Ada moved the key to the jar."],
            "true_belief",
            "position_of_move",
            "action 3: Ben left in sentence 4, before the move in 6",
        ),
        (
            [*AWAY, "Ada exited the attic."],
            "second_order_false_belief",
            "mover_leaves",
            "the mover's exit in sentence 6",
        ),
        (AWAY, "true_belief", "other_story_type", "Ben left in sentence 4"),
        (AWAY, "second_order_false_belief", "other_story_type", "Ben left in sentence 4"),
        (UNSEEN, "false_belief", "other_story_type", "came back in 7"),
        (START, "true_belief", "other_story_type", "Ben came in sentence 2"),
    ],
)
def test_story_types(story: list[str], found: str, name: str, reason: str) -> None:
    cause = explain_story_type(stage_of(*story), "Ben", found)
    assert cause.name == name
    assert reason in cause.reason


LATE = ["Ben entered the attic.", "Ada entered the attic.", *AWAY[2:]]


@pytest.mark.parametrize(
    ("story", "pair", "found", "expected", "answer", "causes"),
    [
        (LATE, "Ben Ada", "first_order_0_tom", "first_order_1_tom", "box", {PRAGMATIC: "order_of_entry"}),
        (LATE, "Ada Ben", "first_order_1_no_tom", "first_order_0_no_tom", "jar", {PRAGMATIC: "order_of_entry"}),
        (AWAY, "Ben Ada", "first_order_0_tom", "first_order_1_tom", "box", {PRAGMATIC: "other_number"}),
        (AWAY, "Ada", "first_order_1_no_tom", "first_order_0_no_tom", "jar", {PRAGMATIC: "other_number"}),
        (START, "Ben Ada", "first_order_0_no_tom", "first_order_1_no_tom", "box", {PRAGMATIC: "other_number"}),
        (AWAY, "Ben Ada", "second_order_1_no_tom", "second_order_1_tom", "jar", {QUESTION_TYPE: "follows_label"}),
        (AWAY, "Ada Ben", "first_order_0_tom", "first_order_0_no_tom", "box", {QUESTION_TYPE: "follows_label"}),
        (AWAY, "Ben Ada", "second_order_1_no_tom", "second_order_1_tom", "box", {QUESTION_TYPE: "other_mark"}),
        (AWAY, "Ben Ada", "first_order_1_tom", "second_order_1_tom", "box", {QUESTION_TYPE: "other_question"}),
        (AWAY, "Ben Ada", "memory", "reality", "jar", {QUESTION_TYPE: "other_question"}),
        (AWAY, "Ben Ada", "search", "first_order_1_tom", "box", {QUESTION_TYPE: "other_question"}),
        (
            LATE,
            "Ben Ada",
            "first_order_0_no_tom",
            "first_order_1_tom",
            "jar",
            {PRAGMATIC: "order_of_entry", QUESTION_TYPE: "follows_label"},
        ),
    ],
)
def test_question_types(
    story: list[str], pair: str, found: str, expected: str, answer: str, causes: dict[str, str]
) -> None:
    asked, *other = pair.split()
    found_causes = explain_question_type(
        stage_of(*story), (asked, other[0] if other else None), found, expected, answer
    )
    assert {kind: cause.name for kind, cause in found_causes.items()} == causes


@pytest.mark.parametrize(
    ("story", "pair", "found", "expected", "answer", "reason"),
    [
        (
            LATE,
            ("Ben", "Ada"),
            "first_order_0_tom",
            "first_order_1_tom",
            "box",
            "Ben entered first (sentence 1), hence agent_0, but agent_0 is Ada, who moves the key in sentence 5",
        ),
        (
            LATE,
            ("Ada", "Ben"),
            "first_order_1_no_tom",
            "first_order_0_no_tom",
            "jar",
            "Ada entered second (sentence 2), hence agent_1, but agent_0 is Ada, who moves the key in sentence 5",
        ),
        (
            AWAY,
            ("Zoe", "Ada"),
            "first_order_0_tom",
            "first_order_1_tom",
            "box",
            "agent_0 is Ada, who moves the key in sentence 5",
        ),
        (
            [*AWAY, "Ada moved the key to the tin."],
            ("Ben", "Ada"),
            "second_order_1_no_tom",
            "second_order_1_tom",
            "tin",
            "'no_tom' follows the answer given, tin",
        ),
        (
            AWAY,
            ("Ben", "Ada"),
            "second_order_1_no_tom",
            "second_order_1_tom",
            "box",
            "'no_tom' does not fit the answer",
        ),
    ],
)
def test_reasons_of_question_types(
    story: list[str], pair: tuple[str, str], found: str, expected: str, answer: str, reason: str
) -> None:
    (cause,) = explain_question_type(stage_of(*story), pair, found, expected, answer).values()
    assert cause.reason == reason


def test_the_question_type_of_an_object_that_is_nowhere() -> None:
    stage = stage_of(*AWAY, thing="ring")
    causes = explain_question_type(stage, ("Ben", "Ada"), "first_order_1_tom", "first_order_1_no_tom", "box")
    assert causes[QUESTION_TYPE].name == "follows_label"


@pytest.mark.parametrize(
    ("found", "expected", "name"),
    [
        (
            "agent_2_enters,agent_0_exits,agent_1_exits",
            "agent_2_enters,agent_1_exits,agent_0_exits",
            "swapped_numbers",
        ),
        (
            "agent_0_moves_obj,enter_agent_0,agent_2_enters",
            "enter_agent_0,agent_0_moves_obj,agent_2_enters",
            "other_actions",
        ),
        (
            "enter_agent_0,agent_2_enters,agent_0_moves_obj",
            "enter_agent_0,agent_0_moves_obj,agent_2_enters",
            "third_agent_misplaced",
        ),
        ("enter_agent_1,enter_agent_0,agent_0_exits", "enter_agent_0,enter_agent_1,agent_1_exits", "swapped_numbers"),
        ("enter_agent_0", "enter_agent_0,agent_2_enters", "other_actions"),
        ("enter_agent_1,enter_agent_0", "enter_agent_0,agent_1_exits", "other_actions"),
    ],
)
def test_traces(found: str, expected: str, name: str) -> None:
    cause = explain_trace(found, expected)
    assert cause.name == name
    assert name in MECHANISMS
