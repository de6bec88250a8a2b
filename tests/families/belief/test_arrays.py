from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storyproof.errors import DataError
from storyproof.families.belief.arrays import decode, encode, number
from storyproof.families.belief.events import Event, Kind
from tests.families.belief.stories import any_events, possible_stories
from tests.groups import try_examples


@given(st.lists(possible_stories(private=True, asides=True), min_size=1, max_size=4))
@try_examples(50)
def test_decoding_gives_back_what_was_encoded(stories: list[list[Event]]) -> None:
    arrays, names = encode(stories)
    assert [decode(arrays, column, names[column]) for column in range(len(stories))] == stories


@given(any_events(private=True))
def test_alike_stories_have_equal_numbers(events: list[Event]) -> None:
    def renamed(word: str | None) -> str | None:
        return None if word is None else word[::-1] + "x"

    other = [
        Event(
            event.kind,
            renamed(event.agent),
            renamed(event.room),
            renamed(event.thing),
            renamed(event.container),
            event.feeling,
            None if event.observers is None else frozenset(f"{name[::-1]}x" for name in event.observers),
        )
        for event in events
    ]
    # Observers are numbered in alphabetical order, which renaming may change; without them numbers must be equal.
    if all(event.observers is None for event in events):
        assert number(other)[0] == number(events)[0]


def test_too_many_agents_are_refused() -> None:
    with pytest.raises(DataError, match="at most 64 agents"):
        encode([[Event(Kind.ENTER, f"agent{index}", "attic") for index in range(65)]])
