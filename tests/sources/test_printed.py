"""Every story, question and answer that the five documents print, as typed, through `storyproof.story(text).ask`."""

import pytest

import storyproof
from storyproof.errors import DataError
from tests.sources.printed import COMMANDS, FLAWS, KINSHIP, MINDS, PUZZLES, WRONG_NUMBER, WRONG_TYPE, Printed

BELIEF = [*FLAWS, *COMMANDS, *MINDS]


@pytest.mark.parametrize("printed", BELIEF, ids=str)
def test_questions_about_minds(printed: Printed) -> None:
    found = storyproof.story(printed.story).ask(printed.question)
    assert found.answer == printed.answer
    assert found.is_confirmed


@pytest.mark.parametrize("printed", KINSHIP, ids=str)
def test_questions_about_families(printed: Printed) -> None:
    if printed.refused:
        with pytest.raises(DataError, match=printed.refused):
            storyproof.story(printed.story).ask(printed.question)
        return
    found = storyproof.story(printed.story).ask(printed.question)
    assert found.answer == printed.answer
    assert found.is_confirmed
    assert found.by_reading["published"] == printed.published
    assert found.status == (printed.status if not printed.why else found.status)


def test_there_are_fifteen_puzzles() -> None:
    assert len(PUZZLES) == 15


def test_the_story_type_of_source_000() -> None:
    """Source 000: the code says true_belief, it should be false_belief, as source 000 says itself."""
    found = storyproof.story(WRONG_TYPE).ask("Where will Isla look for the cherry?")
    assert found.example.story_type == "false_belief"


def test_the_agent_number_of_source_000() -> None:
    """Source 000: the code numbers Logan 0, but James moves the object, so Logan is agent 1."""
    found = storyproof.story(WRONG_NUMBER).ask("Where will Logan look for the jeans?")
    assert found.example.question_type == "first_order_1_tom"
