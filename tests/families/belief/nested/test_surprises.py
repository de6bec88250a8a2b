from __future__ import annotations

import pytest

from storyproof.families.belief.nested.checker import MindWorlds
from storyproof.families.belief.nested.readings import NESTED_READINGS, parse_reading
from storyproof.families.belief.nested.world import PlotEvent
from tests.families.belief.nested.plots import PEOPLE, Chain, ask_checker, ask_oracle, chains
from tests.families.belief.nested.reference import Reference
from tests.families.belief.nested.surprises import SURPRISES


@pytest.mark.parametrize(("what", "story", "chain", "reading", "place"), SURPRISES, ids=[row[0] for row in SURPRISES])
def test_a_surprise(what: str, story: tuple[PlotEvent, ...], chain: Chain, reading: str, place: str | None) -> None:
    expected = parse_reading(reading)
    assert MindWorlds(story, expected).belief(chain, "key") == place, what
    assert ask_oracle([list(story)], [chain], "key", expected) == [[place]]
    assert Reference(story, expected).belief(chain, "key") == place


def test_oracle_and_checker_agree_on_all_of_every_surprise() -> None:
    stories, asked = [list(row[1]) for row in SURPRISES], chains(PEOPLE[:3], 3)
    for reading in NESTED_READINGS:
        expected = [ask_checker(story, asked, "key", reading) for story in stories]
        assert ask_oracle(stories, asked, "key", reading) == expected
