"""Measures of language, and the limits that narrated stories keep."""

from __future__ import annotations

from pathlib import Path

import pytest

import storyproof
from storyproof.audits.language import measure_language
from storyproof.example import Example
from tests.samples import example


def test_the_commonest_three_words_are_counted_once_a_story_and_not_across_sentences() -> None:
    stories = ["She sat in the rain. It rained in the rain.", "He ran in the rain.", "He slept in. The rain fell."]
    measures = measure_language([example(story_id=f"x-{number}", story=story) for number, story in enumerate(stories)])
    assert (measures.commonest_words, measures.commonest_share) == ("in the rain", 0.6667)


def test_texts_of_two_words_have_no_commonest_words() -> None:
    measures = measure_language([example(story="Ann slept.")])
    assert (measures.commonest_words, measures.commonest_share) == ("", 0)


@pytest.mark.parametrize("seed", [1, 7, 10])
def test_no_three_words_stand_in_many_narrated_stories(seed: int, tmp_path: Path) -> None:
    folder = tmp_path / "kin"
    counts = {"train": 600, "test": 300}
    storyproof.generate("clutrr", **counts, seed=seed, train_k=(2, 3), test_k=(2, 3), out=folder)
    for split in counts:
        rows = storyproof.load(folder, split=split).to_pylist()
        measures = measure_language([Example.from_row(row) for row in rows])
        assert measures.commonest_share < 0.15, (split, measures.commonest_words)
