"""Texts that nobody should read with confidence: none of them may be answered."""

from pathlib import Path
from typing import Any

import pytest

import storyproof
from storyproof.errors import DataError
from storyproof.io.bounded_input import parse_shipped

TEXTS: list[dict[str, Any]] = parse_shipped(Path(__file__).with_name("bad_texts.yaml").read_text(encoding="utf-8"))


def test_there_are_two_hundred_and_no_two_alike() -> None:
    assert len({(each["text"], each["question"]) for each in TEXTS}) == len(TEXTS) >= 200


@pytest.mark.parametrize("entry", TEXTS, ids=lambda entry: f"{entry['kind']}: {entry['why']}")
def test_a_bad_text_is_refused(entry: dict[str, Any]) -> None:
    with pytest.raises(DataError):
        storyproof.story(entry["text"]).ask(entry["question"])
