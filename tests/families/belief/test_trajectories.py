"""A course without sentences is the course of the story without them."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from storyproof.families.belief.arrays import NOBODY, encode_plots
from storyproof.families.belief.oracle import beliefs, reality
from storyproof.families.belief.readings import DEFAULT_READING
from storyproof.families.belief.trajectories import Course
from tests.families.belief.plots import any_plot, plots

SAID = ("walks", "looks", "heeds", "puts", "by", "to", "about", "told", "announced")
SETS = ("inside", "watching", "home", "away", *SAID)


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
        found, right = course.hearing, expected.hearing
        assert found.group.tolist() == right.group.tolist()
        assert found.hearing.tolist() == right.hearing.tolist()
        nobody, key = np.full((1, len(stories)), NOBODY, np.int8), np.zeros(len(stories), np.int8)
        really = (beliefs(each, columns, key, nobody, DEFAULT_READING).tolist() for each in (course, expected))
        assert next(really) == next(really) == reality(arrays.without(gone), key).tolist()


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=5)
def test_sentences_can_be_deleted(seed: int) -> None:
    assert_deleted(seed, 20)


@pytest.mark.parametrize("length", [64, 65, 150])
def test_sentences_of_long_stories_can_be_deleted(length: int) -> None:
    assert_deleted(length, length)


def test_the_parts_of_sentences_do_not_overlap() -> None:
    sentences = Course.of(encode_plots(plots(3, 12))[0]).sentences
    sets = np.zeros_like(sentences.sets)
    for name in ("enters", "peeks", "placed", "distracts", *SAID):
        assert not sentences.of(sets, name).any(), name
        sentences.of(sets, name)[:] = 1
    assert sets.all()


def test_columns_are_picked() -> None:
    arrays, _ = encode_plots(plots(3, 12))
    course = Course.of(arrays)
    few = course.pick(np.array([4, 2, 2]))
    assert few.count == 3
    assert few.origin.tolist() == [4, 2, 2]
    assert few.inside.tolist() == course.inside[..., [4, 2, 2]].tolist()
    shorter = few.without(np.arange(3), np.array([0, 1, 2]))
    again = few.keep(np.array([2, 1]), shorter.kept[:, [2, 1]])
    assert again.origin.tolist() == [2, 2]
    assert again.inside.tolist() == shorter.inside[..., [2, 1]].tolist()
