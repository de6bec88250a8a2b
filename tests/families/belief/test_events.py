from __future__ import annotations

import pytest
from hypothesis import given

from storyproof.families.belief.events import Event, impossibilities, presence
from storyproof.families.belief.text import parse
from tests.families.belief.stories import possible_stories

START = "Ada entered the attic.\nBo entered the attic.\nThe key is in the box.\n"


@given(possible_stories(asides=True))
def test_stories_that_can_happen_raise_no_objection(events: list[Event]) -> None:
    assert impossibilities(events) == []


@pytest.mark.parametrize(
    ("rest", "number", "what"),
    [
        ("Bo exited the barn.", 4, "Bo exits the barn without being there"),
        ("Cy exited the attic.", 4, "Cy exits the attic without being there"),
        ("Bo entered the attic.", 4, "Bo enters the attic, being there already"),
        ("Bo is in the barn.", 4, "Bo is said to be in the barn but went elsewhere"),
        ("Cy moved the key to the jar.", 4, "Cy moves the key from another room"),
        ("Bo exited the attic.\nBo moved the key to the jar.", 5, "Bo moves the key from another room"),
        ("Ada moved the ring to the jar.", 4, "Ada moves the ring, which is nowhere yet"),
        ("The key is in the jar.", 4, "the key is said to be in the jar but was left elsewhere"),
    ],
)
def test_what_cannot_happen_is_named(rest: str, number: int, what: str) -> None:
    assert impossibilities(parse(START + rest)) == [(number, what)]


def test_going_into_another_room_leaves_the_first() -> None:
    after = presence(parse("Ada entered the attic.\nAda entered the barn.\nAda exited the barn."))
    assert after == [{"Ada": "attic"}, {"Ada": "barn"}, {}]
