from __future__ import annotations

import pytest

import storyproof
from storyproof import catalog
from storyproof.language.display_names import display_name, spaced


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("memory", "memory"),
        ("first_order_1_no_tom", "first order, true belief (agent 1)"),
        ("second_order_tom", "second order, false belief"),
        ("second_order_no_tom", "second order, true belief"),
        ("says_tom", "says, false belief"),
        ("knows_where", "knows where"),
        ("no_false_belief", "no false belief"),
        ("second_order_false_belief", "second-order false belief"),
        ("task_5.10", "task 5, k = 10"),
        ("messages+lies+peeks", "messages, lies, peeks"),
        ("unknown", "unknown"),
    ],
)
def test_identifiers_have_a_form_for_people(name: str, shown: str) -> None:
    assert display_name(name) == shown


@pytest.mark.parametrize("benchmark", [name for name in catalog.BENCHMARKS if "@" not in name])
def test_types_of_every_benchmark_stay_apart_and_show_no_identifier(benchmark: str) -> None:
    rows = [row for story in storyproof.stream(benchmark, seed=1)[:60] for row in story.rows]
    for column in ("question_type", "story_type"):
        names = {getattr(row, column) for row in rows}
        shown = {display_name(name) for name in names}
        assert len(shown) == len(names)
        assert not any("_" in each for each in shown)


def test_words_of_one_piece_are_read_as_several() -> None:
    assert spaced("The key is in the filing_cabinet.") == "The key is in the filing cabinet."
    assert spaced("Ben is the ___ of @entity_17") == "Ben is the ___ of @entity_17"
