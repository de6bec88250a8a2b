"""What can happen next, and what follows from it."""

import pytest

from storyproof.families.belief.world import EventKind, PlotEvent, PlotState, plot_problems

ADA, BEN = "Ada", "Ben"
PLACED = PlotEvent(EventKind.PLACE, room="attic", thing="key", container="box")


def went(agent: str, room: str = "attic") -> PlotEvent:
    return PlotEvent(EventKind.ENTER, agent, room)


def moved(agent: str = ADA, room: str | None = "attic", container: str = "jar") -> PlotEvent:
    return PlotEvent(EventKind.MOVE, agent, room, "key", container)


def test_kinds_are_numbered_from_zero() -> None:
    """They are stored as bytes, and tables are indexed by them."""
    assert [int(kind) for kind in EventKind] == list(range(len(EventKind)))


def test_messages_are_true_unless_said_otherwise() -> None:
    assert not PlotEvent(EventKind.TELL, ADA, thing="key", container="box").lie


@pytest.mark.parametrize(
    ("event", "lacks"),
    [
        (PlotEvent(EventKind.PLACE, thing="key", container="box"), None),
        (PlotEvent(EventKind.PLACE, container="box"), "the sentence lacks its thing"),
        (PlotEvent(EventKind.MOVE, ADA, thing="key"), "the sentence lacks its container"),
        (PlotEvent(EventKind.ENTER, ADA), "the sentence lacks its room"),
        (PlotEvent(EventKind.PEEK, ADA), "the sentence lacks its room"),
    ],
)
def test_only_placings_and_moves_may_lack_their_room(event: PlotEvent, lacks: str | None) -> None:
    assert PlotState(tells_rooms=False).problem(event) == lacks


def test_a_move_without_a_room_is_possible_if_rooms_are_not_told() -> None:
    placed = PlotEvent(EventKind.PLACE, thing="key", container="box")
    state = PlotState(tells_rooms=False)
    state.advance(placed)
    assert state.problem(PlotEvent(EventKind.MOVE, ADA, None, "key", "jar")) is None
    assert PlotState().problem(placed) == "the sentence lacks its room"


def test_somebody_may_be_said_to_be_where_nobody_was_before() -> None:
    assert plot_problems([PlotEvent(EventKind.IS_IN, ADA, "attic")]) == []
    assert plot_problems([went(ADA), PlotEvent(EventKind.IS_IN, ADA, "hall")]) == [
        (2, "Ada is said to be in the hall but is in the attic")
    ]


@pytest.mark.parametrize(
    ("who", "room", "tells_rooms", "possible"),
    [
        ("attic", "attic", True, True),
        ("hall", "attic", True, False),
        ("attic", "hall", True, False),
        ("attic", "hall", False, True),
        ("hall", "attic", False, False),
    ],
)
def test_things_are_moved_where_they_are(who: str, room: str, tells_rooms: bool, possible: bool) -> None:
    state = PlotState(tells_rooms=tells_rooms)
    for event in (went(ADA, who), PLACED):
        state.advance(event)
    assert (state.problem(moved(room=room)) is None) == possible


def test_who_is_nowhere_is_told_what_is_wrong() -> None:
    state = PlotState()
    assert state.problem(PlotEvent(EventKind.DISTRACT, ADA)) == "Ada gets distracted but is in no room"
    assert state.problem(PlotEvent(EventKind.ATTEND, ADA)) == "Ada pays attention again but is not distracted"
    assert state.problem(PlotEvent(EventKind.UNPEEK, ADA)) == "Ada stops watching but watches no room"


def test_what_is_incomplete_changes_nothing() -> None:
    state = PlotState()
    for event in (
        PlotEvent(EventKind.PLACE, room="attic", thing="key"),
        PlotEvent(EventKind.PLACE, room="attic", container="box"),
        PlotEvent(EventKind.ENTER, ADA),
        PlotEvent(EventKind.PEEK, BEN),
        PlotEvent(EventKind.TELL, BEN, "attic", "key", "box"),
    ):
        state.advance(event)
    assert (state.left, state.homes, state.where, state.watching) == ({}, {}, {}, {})


def test_a_whole_story_tells_in_which_rooms_containers_stand() -> None:
    assert plot_problems([PlotEvent(EventKind.PLACE, thing="key", container="box")]) == [
        (1, "the sentence lacks its room")
    ]
