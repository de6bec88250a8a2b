from __future__ import annotations

from dataclasses import replace

import pytest

import storyproof
from storyproof.catalog import names
from storyproof.errors import ConfigError, DataError, UnknownNameError
from storyproof.families.family import load_family

SALLY = """
    1. Sally entered the den.  2. Anne entered the den.
    3. The marble is in the basket.
    4. Sally exited the den.
    5. Anne moved the marble to the box.
"""


def story_people(row: storyproof.Example) -> tuple[str, ...]:
    return tuple(load_family(row.family).people(row))


KIN = "Anna is the mother of Ben. Ben has a sister called Cleo. Dan is Cleo's uncle."


@pytest.mark.parametrize(
    "text",
    [
        "Sally entered the den.\nAnne entered the den.\nThe marble is in the basket.\nSally exited the den.\n"
        "Anne moved the marble to the box.",
        "Sally entered the den. Anne entered the den. The marble is in the basket. Sally exited the den. "
        "Anne moved the marble to the box.",
        "1. Sally entered the den.\r\n2. Anne entered the den.\r\n3. The marble is in the basket.\r\n"
        "4. Sally exited the den.\r\n5. Anne moved the marble to the box.\r\n",
    ],
)
def test_beliefs_can_be_asked_for(text: str) -> None:
    story = storyproof.story(text)
    found = story.ask("Where will Sally look for the marble?")
    assert (found.answer, str(found), found.is_settled, found.is_confirmed) == ("basket", "basket", True, True)
    assert found.proof == [
        "Sally entered the den.",
        "The marble is in the basket.",
        "Sally exited the den.",
    ]
    assert found.by_reading == {"open": "basket", "closed": "basket", "infer-mover": "basket"}
    assert found.question == "Where will Sally look for the marble?"
    assert story.ask("Where does Anne think that Sally searches for the marble?").answer == "basket"
    assert story.ask("Where is the marble really?").answer == "box"
    assert len(found.steps()) == 5
    assert found.pictures()
    for question in story.questions(order=3):
        assert story.ask(question).is_confirmed


def test_kinship_can_be_asked_for() -> None:
    story = storyproof.story(KIN)
    found = story.ask("What is Cleo to Anna?")
    assert (found.answer, found.status, found.is_confirmed) == ("daughter", "entailed", True)
    assert set(story.questions()) >= {"What is Cleo to Anna?", "What is Dan to Anna?"}


def test_what_does_not_follow_has_no_answer_but_worlds() -> None:
    found = storyproof.story(KIN).ask("What is Dan to Anna?")
    assert (found.answer, found.status, found.is_settled) == ("", "ambiguous", False)
    assert str(found) == "ambiguous: brother or brother-in-law"
    assert {model.answer for model in found.models()} == {"brother", "brother-in-law"}


def test_people_can_be_listed_where_the_text_alone_does_not_tell() -> None:
    """A word with which a sentence begins may be the name of somebody: his could be Jackdaws'."""
    text = "Jackdaws circled above. Czesław brushed the sawdust off the jacket of his daughter Brygida."
    question = "What is Brygida to Czesław?"
    with pytest.raises(DataError, match="not clear who is meant"):
        storyproof.story(text).ask(question)
    people = {"Czesław": "male", "Brygida": "female"}
    assert storyproof.story(text, people=people).ask(question).answer == "daughter"


@pytest.mark.parametrize("benchmark", [*names("benchmark")])
def test_stories_of_every_benchmark_can_be_asked_their_own_questions(benchmark: str) -> None:
    for story in storyproof.stream(benchmark, seed=6)[:3]:
        assert story.sentences == story.rows[-1].story.split("\n")
        row = story.rows[-1]  # of ToM-bAbI, the question that follows the whole story
        for rows in (story.rows, ()):  # as the benchmark proved it, and from the text alone
            found = replace(story, rows=rows, people=story_people(row)).ask(row.question)
            assert (found.answer, found.is_confirmed) == (row.answer, True)


def test_what_cannot_be_read_is_said_with_its_place() -> None:
    story = storyproof.story("Sally entered the den.\nSally ate the marble.")
    with pytest.raises(DataError, match="story, line 2: 'ate' does not fit here"):
        story.ask("Where is the marble really?")
    problems = story.problems("Where is the marble really?")
    assert [(each.line, each.is_fatal) for each in problems] == [(2, True)]
    with pytest.raises(DataError, match="question: "):
        storyproof.story(SALLY).ask("Why?")
    with pytest.raises(DataError, match="no question can be asked about this text"):
        storyproof.story("It rained all day.").questions()


@pytest.mark.parametrize("text", ["", "  \n ", None, 3])
def test_a_story_needs_a_text(text: object) -> None:
    with pytest.raises(ConfigError, match="the story is"):
        storyproof.story(text)  # type: ignore[arg-type]


def test_family_and_people_are_checked() -> None:
    with pytest.raises(UnknownNameError, match="unknown family 'kin'"):
        storyproof.story(KIN, family="kin")
    with pytest.raises(ConfigError, match="expected a list of names"):
        storyproof.story(KIN, people="Anna")
    assert storyproof.story(KIN, family="kinship").ask("What is Cleo to Anna?").answer == "daughter"


def test_a_near_miss_in_the_first_sentence_of_a_running_text_is_named() -> None:
    said = r"sentence 1: not understood: 'Ada entred the hall\.'\. Did you mean 'Ada entered the hall\.'"
    with pytest.raises(DataError, match=said):
        storyproof.story("Ada entred the hall. The key is in the box.").ask("Where is the key?")
