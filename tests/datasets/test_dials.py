"""Dials say truly how far they can be turned."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

import pytest

import storyproof
from storyproof.catalog import load, names
from storyproof.datasets.dials import CHOICE, CHOICES, FILE, KINDS, NUMBER, NUMBERS, SWITCH, TEXT, Dial, turn
from storyproof.errors import StoryproofError

ALL = [(benchmark, dial) for benchmark in names("benchmark") for dial in storyproof.dials(benchmark).values()]
# What has to be set beside a dial, since not everything goes together.
BESIDE: dict[tuple[str, str, Any], dict[str, Any]] = {
    ("tom-k", "agents", 8): {"questions": ("says", "knows-where")},
    ("tom-k", "rooms", 1): {"peeks": 0, "lies": 0},
    ("tom-k", "order", 8): {"agents": 7, "questions": ("says", "knows-where")},
    ("tom-k", "agents", 2): {"order": 3},
    ("tom-k", "style", "tomi"): {
        **{"order": 2, "objects": 1},
        **dict.fromkeys(("tells", "lies", "peeks", "distractions"), 0),
    },
}
RANGED = [(benchmark, dial) for benchmark, dial in ALL if dial.least is not None]


def inside(dial: Dial) -> Iterator[Any]:
    """Yield values at the ends of a dial's range."""
    assert dial.least is not None
    assert dial.most is not None
    ends = [math.nextafter(dial.least, math.inf) if dial.is_above else dial.least, dial.most]
    yield from ([end] for end in ends) if dial.kind == NUMBERS else ends


def outside(dial: Dial) -> Iterator[Any]:
    """Yield values just beyond them."""
    assert dial.least is not None
    assert dial.most is not None
    step = 1 if dial.kind == NUMBERS or isinstance(dial.default, int) else 1e-9
    ends = [dial.least if dial.is_above else dial.least - step, dial.most + step]
    yield from ([end] for end in ends) if dial.kind == NUMBERS else ends


@pytest.mark.parametrize(("benchmark", "dial"), RANGED, ids=lambda value: getattr(value, "name", value))
def test_the_ends_of_a_range_can_be_set_and_nothing_beyond(benchmark: str, dial: Dial) -> None:
    for value in inside(dial):
        chosen = tuple(value) if isinstance(value, list) else value
        turn(benchmark, 0, {dial.name: chosen, **BESIDE.get((benchmark, dial.name, chosen), {})})
    for value in outside(dial):
        with pytest.raises(StoryproofError):
            turn(benchmark, 0, {dial.name: tuple(value) if isinstance(value, list) else value})


@pytest.mark.parametrize(("benchmark", "dial"), ALL, ids=lambda value: getattr(value, "name", value))
def test_every_dial_says_what_it_takes(benchmark: str, dial: Dial) -> None:
    assert dial.kind in KINDS
    assert dial.help.endswith(".")
    assert dial.flag.startswith("--")
    assert json.loads(json.dumps(dial.as_dict()))["name"] == dial.name
    if dial.kind == NUMBER or dial.kind == NUMBERS:
        assert dial.least is not None, f"{benchmark}: {dial.name} needs a range"
    if dial.kind not in (FILE, CHOICES):
        turn(benchmark, 0, {dial.name: dial.default})
    if dial.kind in (CHOICE, CHOICES):
        for choice in dial.choices:
            chosen = (choice,) if dial.kind == CHOICES else choice
            turn(benchmark, 0, {dial.name: chosen, **BESIDE.get((benchmark, dial.name, chosen), {})})
        with pytest.raises(StoryproofError):
            turn(benchmark, 0, {dial.name: ("nonsense",) if dial.kind == CHOICES else "nonsense"})
    assert dial.kind != TEXT, f"{benchmark}: give {dial.name} choices or a range"


def test_dials_are_the_options_of_the_config() -> None:
    for benchmark in names("benchmark"):
        assert list(storyproof.dials(benchmark)) == list(load("benchmark", benchmark).config_type.options())


def test_ranges_in_words() -> None:
    found = storyproof.dials("clutrr")
    assert found["keep_placeholders"].range == "above 0 to 1"
    assert found["holdout"].kind == SWITCH
    assert found["holdout"].range == "true, false"
    assert found["rules"].range == "a path"
    assert found["names"].range == "one, mixed"
