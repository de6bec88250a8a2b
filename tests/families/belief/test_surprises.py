from __future__ import annotations

import pytest

from storyproof.families.belief.readings import ALL_READINGS, parse_reading
from storyproof.families.belief.world import PlotEvent
from tests.families.belief.plots import PEOPLE, Chain, ask_checker, ask_oracle, chains
from tests.families.belief.possible_worlds import MindWorlds
from tests.families.belief.reference import Reference
from tests.families.belief.surprises import SURPRISES
from tests.families.belief.test_reference import tale_of


@pytest.mark.parametrize(("what", "story", "chain", "reading", "place"), SURPRISES, ids=[row[0] for row in SURPRISES])
def test_a_surprise(what: str, story: tuple[PlotEvent, ...], chain: Chain, reading: str, place: str | None) -> None:
    expected = parse_reading(reading)
    assert MindWorlds(story, expected).belief(chain, "key") == place, what
    assert ask_oracle([list(story)], [chain], "key", expected) == [[place]]
    assert Reference(tale_of(list(story)), reading).believes(chain, "key") == place


def test_oracle_and_checker_agree_on_all_of_every_surprise() -> None:
    stories, asked = [list(row[1]) for row in SURPRISES], chains(PEOPLE[:3], 3)
    for reading in ALL_READINGS:
        expected = [ask_checker(story, asked, "key", reading) for story in stories]
        assert ask_oracle(stories, asked, "key", reading) == expected
