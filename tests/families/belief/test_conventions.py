"""The rules that answers rest on: those that a row needs, and no others."""

import re
from collections.abc import Iterator
from string import Formatter

import pytest

import storyproof
from storyproof.example import Example
from storyproof.families.belief.conventions import TEXTS, conventions, find_rules
from storyproof.families.belief.family import FAMILY
from storyproof.families.belief.questions import Ask, BeliefQuestion
from storyproof.families.belief.read_text import read_question, read_story
from storyproof.families.belief.readings import ALL_READINGS, BeliefReading, parse_reading
from storyproof.families.belief.wording import LANGUAGES
from storyproof.families.belief.world import EventKind
from storyproof.io.bounded_input import parse_shipped
from tests.samples import BELIEF, MEMORY, SEARCH, STORY, example

ALL = parse_shipped(TEXTS.read_text(encoding="utf-8"))
SPOKEN = (
    *("Ada entered the den.", "Bo entered the den.", "The key is in the box in the den.", "Bo exited the den."),
    *("Bo entered the hall.", "Ada announced everywhere that the key is in the box."),
)
# What an English rule speaks of, and the kind of sentence that a story then has.
WORDS = {
    "watch": EventKind.PEEK,
    "distracted": EventKind.DISTRACT,
    "pays attention again": EventKind.ATTEND,
    "in private": EventKind.WHISPER,
    "nnouncement": EventKind.ANNOUNCE,
}
OPEN_ROOM = STORY.replace("Ben entered", "Cy entered the cellar.\nBen entered")
MESSAGES = (EventKind.TELL, EventKind.WHISPER, EventKind.ANNOUNCE)


def rules(question: str, *lines: str, reading: str = "open") -> list[str]:
    return find_rules(read_story("\n".join(lines)).events, read_question(question), parse_reading(reading))


def test_all_rules_are_in_all_languages() -> None:
    for name, texts in ALL.items():
        assert tuple(texts) == LANGUAGES, name
        assert len(set(texts.values())) == len(LANGUAGES), name
        slots = [{slot for _, slot, _, _ in Formatter().parse(text) if slot} for text in texts.values()]
        assert all(each == slots[0] for each in slots), name
        for language, text in texts.items():
            assert text.endswith("。" if language == "zh" else "."), text
            assert "\n" not in text


def test_every_rule_is_used() -> None:
    events = [
        *read_story(STORY).events,
        *(read_story("\n".join(SPOKEN)).events),
        *(read_story("\n".join(SPOKEN[:2])).events[0]._replace(kind=kind, lie=True) for kind in EventKind),
    ]
    asked = [
        BeliefQuestion(ask, "key", chain, "box" if ask == Ask.BELIEVERS else None)
        for ask, chains in {
            Ask.MEMORY: [()],
            Ask.REALITY: [()],
            Ask.BELIEF: [("Ada",), ("Ada", "Bo"), ("Ada", "Bo", "Ada")],
            Ask.SAYS: [("Ada",)],
            Ask.KNOWS_WHERE: [("Ada",)],
            Ask.KNOWS_WRONG: [("Ada", "Bo")],
            Ask.BELIEVERS: [(), ("Ada",)],
            Ask.COMMON: [("Ada", "Bo")],
        }.items()
        for chain in chains
    ]
    used = {
        name
        for question in asked
        for reading in ALL_READINGS
        for story in (events, read_story(STORY).events, read_story(OPEN_ROOM).events)
        for tells_rooms in (True, False)
        for name in find_rules(tuple(story), question, reading, tells_rooms=tells_rooms, may_be_unknown=True)
    }
    assert used == set(ALL)


def rows(**settings: str) -> Iterator[Example]:
    for story in storyproof.stream("tom-k", seed=4, **settings)[:12]:
        yield from story.rows


@pytest.mark.parametrize("preset", ["easy", "medium", "hard", "extreme"])
def test_rules_speak_of_nothing_that_the_story_lacks(preset: str) -> None:
    for row in rows(preset=preset):
        said = " ".join(FAMILY.conventions(row))
        kinds = {event.kind for event in read_story(row.story).events}
        assert bool(said) == (row.order > 0)
        for word, kind in WORDS.items():
            if row.order:
                assert (word in said) == (kind in kinds), (word, row)
            else:
                assert word not in said
        spoken = any(kind in kinds for kind in MESSAGES) or row.question_type.startswith("says")
        assert spoken or not re.search(r"\b(?:words|told|heard|hearers|speakers|say|lie)\b", said, re.IGNORECASE)
        asks_of_others = row.order > 1 and not row.question_type.startswith("common")
        assert ("someone else believes" in said or "a third believes" in said) == asks_of_others


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("style", ["plain", "narrative"])
def test_the_language_is_that_of_the_text(language: str, style: str) -> None:
    for row in rows(preset="hard", language=language, style=style):
        assert FAMILY.language(row) == language
        here, english = FAMILY.conventions(row), FAMILY.conventions(row, "en")
        assert len(here) == len(english)
        assert (here == english) == (language == "en" or not row.order)
    assert FAMILY.conventions(row, "pt") == english


def test_rules_by_question() -> None:
    assert rules(MEMORY, *STORY.split("\n")) == []
    assert rules(SEARCH, *STORY.split("\n")) == ["open"]
    assert rules(BELIEF, *STORY.split("\n")) == ["open", "seen-pair"]
    assert rules("Who believes that the key is in the box?", *SPOKEN)[-1] == "in-view"
    assert rules("Who thinks that Bo believes that the key is in the box?", *SPOKEN)[-1] == "believers"
    lie = "Ada lied to everybody everywhere and said that the key is in the jar."
    asked = "What would Ada say if asked where the key is?"
    assert ["says" in rules(asked, *story) for story in (SPOKEN, (*SPOKEN, lie))] == [False, True]
    assert "told-chain" not in rules("Where do Ada and Bo commonly believe the key to be?", *SPOKEN)


def test_rules_by_reading() -> None:
    asked = "Where does Ada think that Bo searches for the key?"
    assert rules(asked, *SPOKEN) == [
        *("open", "announce", "told", "in-view", "in-view-others", "told-pair", "sincere-unless-seen", "no-more"),
    ]
    assert rules(asked, *SPOKEN, reading="closed+hi-tom") == [
        *("closed", "own-room", "announce", "told", "hi-tom", "all-know", "told-pair", "no-more"),
    ]
    assert {"never-liars", "caught", "leaving", "distrust-others"} <= {*rules(asked, *SPOKEN, reading="never-liars")}
    assert rules(BELIEF, *STORY.split("\n"), reading="infer-mover")[-2:] == ["seen-pair", "infer-mover"]
    assert rules(SEARCH, *STORY.split("\n"), reading="fresher") == ["open"]
    # Whether hearers believe a liar depends on what they think that the liar believes.
    assert {"told-pair", "sincere-unless-seen", "in-view-others", "distrust-others", "no-more"} <= {
        *rules("Where will Bo look for the key?", *SPOKEN, reading="never-liars")
    }


def test_the_reading_is_the_first_of_the_row() -> None:
    closed = FAMILY.conventions(example(readings=["closed"]))
    assert closed[0].startswith("Containers are closed")
    assert FAMILY.conventions(example(readings=["open", "closed"]))[0].startswith("Everyone who is in a room")
    assert str(BeliefReading("closed")) == "closed+always"


def test_rooms_are_explained_where_the_text_does_not_name_them() -> None:
    def explains_rooms(*lines: str) -> bool:
        story = [*lines, "The key is in the box.", "Bo exited the den.", "Ada moved the key to the jar."]
        return any("which room" in each for each in conventions(example(story="\n".join(story)), "en"))

    two, elsewhere = ("Ada entered the den.", "Bo entered the den."), "Cy entered the cellar."
    assert not explains_rooms(*two)
    # Where the two sentences before name the object's room, it is plain, whoever is somewhere else.
    assert not explains_rooms(elsewhere, *two)
    assert explains_rooms(two[0], elsewhere, two[1])
    assert explains_rooms(*two, elsewhere)
    assert not any("which room" in each for row in rows(preset="hard") for each in FAMILY.conventions(row))


def test_unknown_is_explained_where_it_is_an_answer() -> None:
    said = FAMILY.conventions(example(candidates=["box", "jar", "unknown"]))
    assert said[-1] == "If there is no such belief, the answer is “unknown”."


def test_a_text_that_cannot_be_read_has_no_rules() -> None:
    unread = example(story="Once upon a time.")
    assert (FAMILY.language(unread), FAMILY.conventions(unread)) == ("en", [])
    assert FAMILY.conventions(example(question="Why?")) == []
