"""Every story, question and answer that the five documents print, as typed, through `storyproof.story(text).ask`."""

import re
from collections import Counter

import pytest

import storyproof
from storyproof.errors import DataError
from storyproof.families.kinship.relations import WORDS
from storyproof.families.kinship.rules import published_rules
from tests.sources.printed import (
    COMMANDS,
    FLAWS,
    KINSHIP,
    MINDS,
    PUZZLES,
    RELATIONS,
    RULES,
    WRONG_NUMBER,
    WRONG_TYPE,
    Printed,
)

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


def test_the_rules_and_relations_of_source_002() -> None:
    printed = {}
    for line in RULES.split("\n"):
        head, first, second = re.findall(r"\[([\w-]+), \w, \w\]", line)
        printed[first, second] = head
    assert len(printed) == 16
    assert printed == dict(published_rules().heads)
    assert sorted(RELATIONS.split(", ")) == sorted(WORDS)


def test_algorithm_1_of_source_004_solves_tom_babi() -> None:
    """Its rules "perfectly solve all tasks" of ToM-bAbI; of ToMi they solve 77.5% in the paper, and not all of ours."""
    tom_babi = storyproof.generate("tom-babi", test=120, seed=1)
    assert storyproof.evaluate("rules", tom_babi).scores.accuracy == 1
    tomi = storyproof.generate("tomi", test=60, seed=1)
    assert 0.5 < storyproof.evaluate("rules", tomi).scores.accuracy < 0.95


def test_algorithms_1_to_3_of_source_003_make_balanced_stories_of_their_sentences() -> None:
    """As many stories of each type, with two people who matter, a move, up to two walks, and distractors."""
    rows = storyproof.generate("tomi", test=60, seed=1).to_pylist()
    stories = {row["story_id"]: row for row in rows}
    assert set(Counter(row["story_type"] for row in stories.values()).values()) == {len(stories) // 3}
    forms = r"\w+ (?:entered|exited) the \w+\.|The \w+ is in the \w+\.|\w+ moved the \w+ to the \w+\."
    likes = r"\w+ (?:likes|dislikes|loves|hates) the \w+\.|\w+ is in the \w+\."
    for row in stories.values():
        lines = row["story"].split("\n")
        assert all(re.fullmatch(f"{forms}|{likes}", line) for line in lines)
        assert sum(" moved " in line for line in lines) == 1
        assert sum(" likes | dislikes | loves | hates " in line for line in lines) <= 2
