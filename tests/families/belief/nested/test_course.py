"""A course without sentences is the course of the story without them."""

from __future__ import annotations

import random
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from storyproof.families.belief.nested.arrays import encode_plots
from storyproof.families.belief.nested.course import Course
from storyproof.families.belief.nested.instants import has
from tests.families.belief.nested.plots import any_plot, plots

THEN = ("room", "watched", "distracted")  # when messages are sent
SETS = [item.name for item in fields(Course) if item.name not in ("stories", "origin", "sent", *THEN)]


def assert_deleted(seed: int, length: int) -> None:
    rng = random.Random(seed)
    stories = [*plots(seed, 40), *(any_plot(rng, ("Ada", "Bo", "Cy"), length) for _ in range(8))]
    arrays, _ = encode_plots(stories)
    steps, columns = len(arrays.kind), np.arange(len(stories))
    course, gone = Course.of(arrays), np.zeros((steps, len(stories)), np.bool_)
    for _ in range(4):
        time = np.array([rng.choice(np.flatnonzero(~gone[:, column]).tolist()) for column in columns])
        gone[time, columns] = True
        course, expected = course.without(columns, time), Course.of(arrays.without(gone))
        for name in SETS:
            assert getattr(course, name).tolist() == getattr(expected, name).tolist(), name
        left = has(course.spoken, course.sent)
        for column in columns:
            kept = np.flatnonzero(left[:, column])
            for name in THEN:
                right = getattr(expected, name)[: len(kept), :, column]
                assert getattr(course, name)[kept, :, column].tolist() == right.tolist(), name


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=5)
def test_sentences_can_be_deleted(seed: int) -> None:
    assert_deleted(seed, 20)


@pytest.mark.parametrize("length", [64, 65, 150])
def test_sentences_of_long_stories_can_be_deleted(length: int) -> None:
    assert_deleted(length, length)


def test_columns_are_picked_and_replaced() -> None:
    arrays, _ = encode_plots(plots(3, 12))
    course = Course.of(arrays)
    few = course.pick(np.array([4, 2, 2]))
    assert few.count == 3
    shorter = few.without(np.arange(3), np.array([0, 1, 2]))
    few.assign(np.array([1]), shorter.pick(np.array([2])))
    assert few.inside[..., 1].tolist() == shorter.inside[..., 2].tolist()
    assert few.origin.tolist() == [4, 2, 2]
