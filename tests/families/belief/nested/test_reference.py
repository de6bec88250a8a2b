"""Both provers against the decision record, read literally."""

from __future__ import annotations

import random

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from storyproof.families.belief.nested.readings import NESTED_READINGS
from tests.families.belief.nested.plots import PEOPLE, THINGS, ask_checker, ask_oracle, describe, plots
from tests.families.belief.nested.reference import Reference


def assert_as_recorded(seed: int, count: int) -> None:
    rng = random.Random(seed)
    stories = plots(seed, count)
    asked = [tuple(rng.choice(PEOPLE[:4]) for _ in range(1 + rng.randrange(4))) for _ in range(12)]
    for reading in NESTED_READINGS:
        for thing in THINGS:
            answers = ask_oracle(stories, asked, thing, reading)
            for story, found in zip(stories, answers, strict=True):
                reference = Reference(story, reading)
                expected = [reference.belief(chain, thing) for chain in asked]
                assert ask_checker(story, asked, thing, reading) == expected, f"{reading}\n{describe(story)}"
                assert found == expected, f"{reading}\n{describe(story)}"


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=2, phases=(Phase.explicit, Phase.generate))
def test_oracle_and_checker_are_as_recorded(seed: int) -> None:
    assert_as_recorded(seed, 15)


@pytest.mark.slow
@given(st.integers(0, 2**32 - 1))
@settings(max_examples=100, phases=(Phase.explicit, Phase.generate))
def test_oracle_and_checker_are_as_recorded_on_many_stories(seed: int) -> None:
    assert_as_recorded(seed, 30)
