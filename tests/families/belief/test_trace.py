from __future__ import annotations

from storyproof.families.belief.babi_format import observers, trace
from storyproof.families.belief.plot_index import mover_of, other_of
from storyproof.families.belief.tomi_text import parse

STORY = parse(
    """Cy entered the barn.
Bo entered the attic.
Ada entered the attic.
Bo likes the box.
The key is in the box.
Bo exited the attic.
Ada moved the key to the jar.
Cy exited the barn.
Bo entered the barn."""
)


def test_actions_are_named_as_published() -> None:
    assert trace(STORY, "Ada", "Bo") == [
        "agent_2_enters",
        "enter_agent_1",
        "enter_agent_0",
        "agent_1_exits",
        "agent_0_moves_obj",
        "agent_2_exits",
        "agent_1_reenters_alt_loc",
    ]


def test_observers_stand_in_order_of_arrival_and_see_themselves_leave() -> None:
    seen = observers(STORY)
    assert seen[0] == ["Cy"]
    assert seen[2] == ["Bo", "Ada"]
    assert seen[5] == ["Bo", "Ada"]
    assert seen[6] == ["Ada"]
    assert seen[8] == ["Bo"]


def test_noise_has_no_observers() -> None:
    assert observers(parse("Ada entered the attic.\nPhone rang.")) == [["Ada"], []]


def test_the_pair_is_who_moves_and_who_else_is_asked_about() -> None:
    assert mover_of(STORY, "key") == "Ada"
    assert mover_of(STORY, "ring") is None
    assert other_of("Ada", [(), ("Ada",), ("Ada", "Bo")]) == "Bo"
    assert other_of("Ada", [(), ("Ada",)]) is None
    assert other_of("Ada", [("Bo",), ("Cy",)]) is None
