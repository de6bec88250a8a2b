"""Rooms and possibility of many stories at once against what is stated for one story."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from storyproof.families.belief.arrays import decode, encode
from storyproof.families.belief.events import Event, Kind, impossibilities
from storyproof.families.belief.rooms import infer_rooms, occurrences
from storyproof.families.belief.text import resolve_rooms
from tests.families.belief.stories import any_events, possible_stories, returns
from tests.groups import try_examples


def untold(events: list[Event]) -> list[Event]:
    """Leave out the rooms that a text does not name."""
    return [event._replace(room=None) if event.kind in (Kind.PLACE, Kind.MOVE) else event for event in events]


@try_examples(200)
@given(st.lists(st.one_of(any_events(private=False), returns(), possible_stories(asides=True)), min_size=1, max_size=5))
def test_arrays_say_what_single_stories_say(stories: list[list[Event]]) -> None:
    told = [untold(events) for events in stories]
    arrays, names = encode(told)
    inferred = infer_rooms(arrays)
    found = occurrences(inferred)
    for column, events in enumerate(told):
        right = resolve_rooms(list(events))
        assert decode(inferred, column, names[column]) == right
        assert bool(found.possible[column]) == (not impossibilities(right))
        assert bool(found.announced[column]) == _announced(right)


def _announced(events: list[Event]) -> bool:
    where: dict[str | None, str | None] = {}
    for event in events:
        if event.kind is Kind.IS_IN and where.get(event.agent) != event.room:
            return False
        if event.kind is Kind.ENTER:
            where[event.agent] = event.room
        elif event.kind is Kind.EXIT:
            where.pop(event.agent, None)
    return True


def test_an_object_that_waits_in_two_places_for_its_mover() -> None:
    events = [
        Event(Kind.ENTER, "Ada", "attic"),
        Event(Kind.PLACE, None, None, "key", "box"),
        Event(Kind.ENTER, "Bo", "barn"),
        Event(Kind.PLACE, None, None, "key", "jar"),
        Event(Kind.MOVE, "Ada", None, "key", "tin"),
    ]
    arrays, (names,) = encode([events])
    assert [event.room for event in decode(infer_rooms(arrays), 0, names)] == [
        "attic",
        "attic",
        "barn",
        "attic",
        "attic",
    ]
