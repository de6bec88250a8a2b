from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storyproof.errors import ParseError
from storyproof.families.belief.questions import Ask, BeliefQuestion
from storyproof.families.belief.tomi_text import (
    FEELINGS,
    NOISE,
    ask,
    narrate,
    narrate_sentence,
    parse,
    parse_question,
    parse_sentence,
)
from storyproof.families.belief.world import IDLE, WALKS, EventKind, PlotEvent
from tests.families.belief.stories import possible_stories

NAME = st.from_regex(r"[A-Za-z][A-Za-z0-9_'-]*", fullmatch=True).filter(lambda name: name != "The")


@given(possible_stories(asides=True))
def test_parsing_a_story_gives_back_what_was_told(events: list[PlotEvent]) -> None:
    assert parse(narrate(events)) == events


@given(possible_stories(asides=True))
def test_parsing_the_published_dialect_gives_back_what_was_told(events: list[PlotEvent]) -> None:
    assert parse(narrate(events, published=True)) == events


@given(st.sampled_from((*IDLE, *WALKS, EventKind.PLACE, EventKind.MOVE)), NAME, NAME, NAME, st.sampled_from(FEELINGS))
def test_parsing_a_sentence_gives_back_any_names(kind: EventKind, one: str, two: str, three: str, feeling: str) -> None:
    event = {
        EventKind.PLACE: PlotEvent(kind, thing=one, container=two),
        EventKind.MOVE: PlotEvent(kind, one, thing=two, container=three),
        EventKind.FEEL: PlotEvent(kind, one, thing=two, feeling=feeling),
        EventKind.NOISE: PlotEvent(kind),
    }.get(kind, PlotEvent(kind, one, two))
    assert parse_sentence(narrate_sentence(event)) == event


@given(NAME, st.lists(NAME, max_size=5), st.booleans())
def test_parsing_a_question_gives_back_what_was_asked(thing: str, chain: list[str], memory: bool) -> None:
    kind = Ask.BELIEF if chain else Ask.MEMORY if memory else Ask.REALITY
    question = BeliefQuestion(kind, thing, tuple(chain))
    assert parse_question(ask(question)) == question


@pytest.mark.parametrize(
    "sentence",
    [
        "",
        "Ada enterd the attic.",
        "Ada entered the attic",
        "Ada entered the attic. ",
        " Ada entered the attic.",
        "Ada entered attic.",
        "The key is in the box",
        "Ada likes the box..",
        "phone rang.",
        "Ada entered the big attic.",
    ],
)
def test_what_is_no_sentence_is_refused(sentence: str) -> None:
    with pytest.raises(ParseError, match="not a sentence"):
        parse_sentence(sentence)


def test_a_broken_story_names_the_sentence() -> None:
    with pytest.raises(ParseError, match=r"sentence 2: .*enterd"):
        parse("Ada entered the attic.\nBo enterd the attic.")


@pytest.mark.parametrize(
    "question", ["Where is the key?", "Where will Ada look?", "Where does Ada think that searches for the key?", "Why?"]
)
def test_what_is_no_question_is_refused(question: str) -> None:
    with pytest.raises(ParseError, match="not a question"):
        parse_question(question)


def test_likes_may_lack_the_full_stop() -> None:
    assert parse_sentence("Ada-May dislikes the box") == PlotEvent(
        EventKind.FEEL, "Ada-May", thing="box", feeling="dislikes"
    )


def rooms(story: str) -> list[str | None]:
    return [event.room for event in parse(story) if event.container]


def test_a_placing_is_in_the_room_of_whoever_moves_the_object_next() -> None:
    story = "Ada entered the attic.\nBo entered the barn.\nThe key is in the box.\nAda moved the key to the jar."
    assert rooms(story) == ["attic", "attic"]


def test_an_object_stays_in_its_room_for_later_placings() -> None:
    story = "Ada entered the attic.\nThe key is in the box.\nAda moved the key to the jar.\n"
    story += "Bo entered the barn.\nThe key is in the jar."
    assert rooms(story) == ["attic", "attic", "attic"]


def test_without_a_mover_the_room_last_entered_counts() -> None:
    assert rooms("Ada entered the attic.\nBo entered the barn.\nThe key is in the box.") == ["barn"]


def test_a_mover_from_a_room_that_was_empty_does_not_decide() -> None:
    story = "Ada entered the attic.\nThe key is in the box.\nAda exited the attic.\nAda entered the barn.\n"
    assert rooms(story + "Ada moved the key to the jar.") == ["attic", "barn"]


def test_a_word_may_be_room_and_container_in_published_files() -> None:
    story = "Ada entered the pantry.\nThe key is in the pantry.\nAda moved the key to the jar."
    assert rooms(story) == ["pantry", "pantry"]


def test_noise_is_told_as_the_paper_does() -> None:
    assert narrate([PlotEvent(EventKind.NOISE)]) == NOISE == "Phone rang."


def test_likes_have_a_full_stop_but_in_published_files() -> None:
    likes = PlotEvent(EventKind.FEEL, "Ada", thing="box", feeling="likes")
    assert narrate_sentence(likes) == narrate([likes]) == "Ada likes the box."
    assert narrate_sentence(likes, published=True) == narrate([likes], published=True) == "Ada likes the box"


def test_questions_of_each_order() -> None:
    for chain, text in (
        (("Ada",), "Where will Ada look for the key?"),
        (("Ada", "Bo"), "Where does Ada think that Bo searches for the key?"),
        (("Ada", "Bo", "Cy"), "Where does Ada think that Bo thinks that Cy searches for the key?"),
    ):
        question = BeliefQuestion(Ask.BELIEF, "key", chain)
        assert ask(question) == text
        assert parse_question(text) == question


@pytest.mark.parametrize(
    ("story", "expected"),
    [
        # A sentence says where a container stands; the mover and the room last entered say something else.
        (
            "Ada entered the barn.\nThe box is in the attic.\nThe key is in the box.\nAda moved the key to the jar.",
            ["attic", "attic", "barn"],
        ),
        # Nothing is said of the jar, which is in the room last entered.
        (
            "The box is in the attic.\nAda entered the barn.\nThe key is in the box.\nThe hat is in the jar.",
            ["attic", "attic", "barn"],
        ),
        # What holds an object, too, is a container that stands in another one, unless somebody enters it.
        (
            "Ada entered the barn.\nThe box is in the case.\nThe hat is in the case.\nThe key is in the box.",
            ["barn"] * 3,
        ),
        (
            "Ada entered the hall.\nAda entered the barn.\nThe box is in the hall.\nThe hat is in the hall.\n"
            "The key is in the box.",
            ["hall"] * 3,
        ),
        # Whoever is said to be in a room is there.
        (
            "Ada is in the attic.\nBo entered the barn.\nThe key is in the box.\nAda moved the key to the jar.",
            ["attic"] * 2,
        ),
        # Whoever left is nowhere: the object stays in its room.
        (
            "Ada entered the attic.\nThe key is in the box.\nAda exited the attic.\nBo entered the barn.\n"
            "Ada moved the key to the jar.",
            ["attic", "attic"],
        ),
        # A container is where something was put into it.
        (
            "Ada entered the attic.\nThe key is in the box.\nAda moved the key to the jar.\nBo entered the barn.\n"
            "The hat is in the jar.\nThe cap is in the box.",
            ["attic"] * 4,
        ),
        # An object has been moved to another room since it was placed.
        (
            "Ada entered the attic.\nThe key is in the box.\nBo entered the barn.\nBo moved the key to the jar.\n"
            "The key is in the jar.\nAda moved the key to the box.",
            ["attic", "barn", "attic", "attic"],
        ),
        # What is in a room is no container that stands there: it goes where it is moved.
        (
            "Ada entered the pantry.\nThe key is in the pantry.\nBo entered the barn.\nBo moved the key to the jar.",
            ["pantry", "barn"],
        ),
        # What is moved into a container is where that stands, and not where the mover was.
        (
            "Ada entered the barn.\nThe jar is in the attic.\nThe key is in the box.\nAda moved the key to the jar.",
            ["attic", "barn", "attic"],
        ),
        # Whoever left a room moves things where these are.
        (
            "Ada entered the attic.\nBo entered the barn.\nThe key is in the box.\nBo moved the key to the jar.\n"
            "Ada exited the attic.\nAda moved the key to the pot.",
            ["barn"] * 3,
        ),
        # A mover says nothing of where an object was before it was placed in a container that stands elsewhere.
        (
            "Ada entered the attic.\nBo entered the hall.\nThe key is in the pot.\nThe box is in the barn.\n"
            "The key is in the box.\nAda moved the key to the can.",
            ["hall", "barn", "barn", "attic"],
        ),
        # Nobody says where an object is that has been moved: it is in the room where it was.
        (
            "Ada entered the attic.\nThe key is in the box.\nAda moved the key to the jar.\nBo entered the barn.\n"
            "The key is in the pot.\nCy moved the key to the can.",
            ["attic"] * 4,
        ),
        (
            "Ada entered the attic.\nThe key is in the box.\nAda moved the key to the jar.\nBo entered the barn.\n"
            "The key is in the pot.",
            ["attic"] * 3,
        ),
        # What holds something may be moved itself; that says nothing of where anything stands.
        ("Ada entered the attic.\nThe key is in the box.\nAda moved the box to the case.", ["attic"] * 2),
    ],
)
def test_rooms_that_the_text_gives(story: str, expected: list[str]) -> None:
    assert rooms(story) == expected
