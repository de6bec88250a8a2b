from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import storyproof
from storyproof.errors import DataError, ProofError, UnknownNameError
from storyproof.families.belief import Story
from storyproof.families.belief import story as story_module
from storyproof.families.belief.readings import ALL_READINGS, HI_TOM, BeliefReading, parse_reading
from storyproof.families.belief.wording import find_wording
from storyproof.families.belief.world import NOTHING, EventKind, PlotEvent, plot_problems


def hall() -> Story:
    """Ann and Bob see the key in the box; Bob leaves, and Ann moves it."""
    story = Story().enter("Ann", "hall").enter("Bob", "hall").place("key", "box")
    return story.exit("Bob").move("Ann", "key", "jar")


def test_a_story_is_built_and_asked() -> None:
    story = hall()
    answer = story.believes("Ann", "Bob", "key")
    assert (answer.value, answer.place, answer.proof) == ("box", "box", (1, 2, 3, 4))
    assert answer.readings == tuple(map(str, ALL_READINGS))
    assert set(answer.by_reading.values()) == {"box"}
    assert story.says("Bob", "key").place == "box"
    assert story.reality("key").place == "jar"
    assert story.memory("key").place == "box"
    assert story.knows_where("Ann", "key").value == "yes"
    assert story.knows_where("Bob", "key").value == "no"
    assert story.knows_wrong("Ann", "Bob", "key").value == "yes"
    assert story.knows_wrong("Bob", "Ann", "key").value == "no"
    assert story.believers("key", "box").value == ("Bob",)
    assert story.believers("key", "box", ["Bob"]).value == ("Ann",)  # Bob is asked about, and not counted
    assert story.common_belief(["Ann", "Bob"], "key").value is None
    story.enter("Bob", "hall")
    assert story.common_belief(["Ann", "Bob"], "key").value == "jar"
    assert [event.kind for event in story.noise().events[-2:]] == [EventKind.ENTER, EventKind.NOISE]


def test_answers_are_given_under_the_reading_of_the_story() -> None:
    story = Story("fresher").enter("Ann", "hall").enter("Bob", "hall").place("key", "box").exit("Ann").exit("Bob")
    story.enter("Ann", "den").enter("Bob", "yard").announce_lie("Ann", "key", "jar")
    answer = story.believes("Bob", "key")
    assert answer.place == "box"
    assert "open+fresher" in answer.readings
    assert "open+always" not in answer.readings
    assert answer.by_reading["open+always"] == "jar"
    assert Story(BeliefReading(trust=HI_TOM)).reading == parse_reading("open+hi-tom")


def test_an_answer_that_is_not_a_place_says_so() -> None:
    with pytest.raises(DataError, match="the answer is 'yes', not a place"):
        _ = hall().knows_where("Ann", "key").place
    with pytest.raises(DataError, match=r"the answer is \('Bob',\), not a place"):
        _ = hall().believers("key", "box").place


MISTAKES: dict[str, Callable[[], object]] = {
    "sentence 6: Bob exits but is in no room.": lambda: hall().exit("Bob"),
    "sentence 6: Ann exits the den but is in the hall.": lambda: hall().exit("Ann", "den"),
    "sentence 6: Ann is in the hall already.": lambda: hall().enter("Ann", "hall"),
    "sentence 6: the key is said to be in the box but was left elsewhere.": lambda: hall().place("key", "box"),
    "sentence 6: Ann is said to be in the den but is in the hall.": lambda: hall().add(
        PlotEvent(EventKind.IS_IN, "Ann", "den")
    ),
    "sentence 1: the room of the box is unknown; name it.": lambda: Story().place("key", "box"),
    "sentence 6: the box is in the hall, not in the den.": lambda: hall().place("coin", "box", "den"),
    "sentence 6: Ann moves the coin, which is nowhere yet.": lambda: hall().move("Ann", "coin", "box"),
    "sentence 6: Bob moves something but is in no room.": lambda: hall().move("Bob", "key", "box"),
    "sentence 7: Bob moves the key from another room: it is in the hall.": lambda: (
        hall().enter("Bob", "den").move("Bob", "key", "box")
    ),
    "sentence 7: the bag is in the den, not in the hall.": lambda: (
        hall().place("coin", "bag", "den").move("Ann", "key", "bag")
    ),
    "sentence 6: Ann peeks into the hall but is in it.": lambda: hall().peek("Ann", "hall"),
    "sentence 6: Bob peeks into the hall but is in no room.": lambda: hall().peek("Bob", "hall"),
    "sentence 8: Bob already watches the hall.": lambda: (
        hall().enter("Bob", "den").peek("Bob", "hall").peek("Bob", "yard")
    ),
    "sentence 8: Bob watches the hall and must stop watching first.": lambda: (
        hall().enter("Bob", "den").peek("Bob", "hall").exit("Bob")
    ),
    "sentence 9: Bob is distracted and must pay attention again first.": lambda: (
        hall().enter("Bob", "den").peek("Bob", "hall").distract("Bob").stop_peeking("Bob")
    ),
    "sentence 6: Bob stops watching but watches no room.": lambda: hall().stop_peeking("Bob"),
    "sentence 6: Bob gets distracted but is in no room.": lambda: hall().distract("Bob"),
    "sentence 6: Ann pays attention again but is not distracted.": lambda: hall().attend("Ann"),
    "sentence 7: Ann is distracted and must pay attention again first.": lambda: (
        hall().distract("Ann").move("Ann", "key", "box")
    ),
    "sentence 6: Ann speaks of the coin, which is nowhere yet.": lambda: hall().lie("Ann", "coin", "box"),
    "sentence 6: Bob speaks but is in no room.": lambda: hall().tell("Bob", "key", "box"),
    "sentence 6: Ann speaks but is alone in the hall.": lambda: hall().tell("Ann", "key", "jar"),
    "sentence 7: Ann is distracted and must pay attention again first. ": lambda: hall().distract("Ann").exit("Ann"),
    "sentence 8: Ann speaks but everybody else in the hall is distracted.": lambda: (
        hall().enter("Bob", "hall").distract("Bob").tell("Ann", "key", "jar")
    ),
    "sentence 8: Ann speaks to Bob, who is distracted, in private.": lambda: (
        hall().enter("Bob", "hall").distract("Bob").tell("Ann", "key", "jar", to="Bob")
    ),
    "sentence 6: Bob speaks but is in no room. ": lambda: hall().announce("Bob", "key", "box"),
    "sentence 6: Ann speaks to Ann in private.": lambda: hall().tell("Ann", "key", "jar", to="Ann"),
    "sentence 6: Ann speaks to Bob, who is in no room, in private in the hall.": lambda: hall().tell(
        "Ann", "key", "jar", to="Bob"
    ),
    "sentence 7: Ann speaks to Bob, who is in the den, in private in the hall.": lambda: (
        hall().enter("Bob", "den").tell("Ann", "key", "jar", to="Bob")
    ),
    "sentence 6: Ann believes that the key is in the jar; tell that, or call it a lie.": lambda: hall().announce(
        "Ann", "key", "box"
    ),
    "sentence 6: Ann believes that the key is in the jar; say something else, or do not call it a lie.": lambda: (
        hall().announce_lie("Ann", "key", "jar")
    ),
    "sentence 7: Carl has no belief about the key; tell that, or call it a lie.": lambda: (
        hall().enter("Carl", "den").announce("Carl", "key", "jar")
    ),
    "sentence 1: a name is empty.": lambda: Story().enter(" ", "hall"),
    "sentence 1: the sentence lacks its thing and room.": lambda: Story().add(
        PlotEvent(EventKind.PLACE, container="box")
    ),
    "unknown agent 'Bo'. Did you mean 'Bob'? Known: Ann, Bob.": lambda: hall().believes("Ann", "Bo", "key"),
    "unknown object 'coin'. Known: key.": lambda: hall().believes("Ann", "coin"),
    "unknown container 'bag'. Known: box, jar.": lambda: hall().believers("key", "bag"),
    "name at least one agent, and then the object.": lambda: hall().believes("key"),
}


@pytest.mark.parametrize("message", MISTAKES)
def test_mistakes_are_named_in_one_sentence(message: str) -> None:
    with pytest.raises((DataError, UnknownNameError)) as caught:
        MISTAKES[message]()
    assert str(caught.value) == message.rstrip()


def test_a_refused_sentence_leaves_the_story_as_it_was() -> None:
    story = hall()
    before = story.events
    with pytest.raises(DataError):
        story.tell("Ann", "key", "jar")
    assert story.events == before
    assert story.exit("Ann").enter("Ann", "den").events[:5] == before


def test_who_watches_or_is_distracted_stops_before_walking() -> None:
    story = hall().distract("Ann").attend("Ann").exit("Ann").enter("Ann", "den").peek("Ann", "hall")
    assert len(story.stop_peeking("Ann").exit("Ann").events) == 12


def test_people_may_go_from_room_to_room_without_leaving_first() -> None:
    story = hall().enter("Ann", "den")
    assert story.enter("Bob", "den").tell("Ann", "key", "jar").believes("Bob", "key").place == "jar"


def test_where_an_object_is_may_be_said_again() -> None:
    assert hall().place("key", "jar").reality("key").place == "jar"


def test_oracle_and_checker_must_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(story_module, "oracle_answer", lambda *_: "nonsense")
    with pytest.raises(ProofError, match=r"differ under open\+always: nonsense against jar"):
        hall().reality("key")


def test_a_whole_story_is_checked() -> None:
    good = hall().events
    assert plot_problems([*good, NOTHING]) == []
    wrong = [*good, PlotEvent(EventKind.EXIT, "Bob", "hall"), PlotEvent(EventKind.UNPEEK, "Bob")]
    assert plot_problems(wrong) == [
        (6, "Bob exits the hall but is in no room"),
        (7, "Bob stops watching but watches no room"),
    ]


def test_readings_have_names() -> None:
    for reading in ALL_READINGS:
        assert parse_reading(str(reading)) == reading
    assert str(parse_reading("closed")) == "closed+always"
    assert str(parse_reading("hi-tom")) == "open+hi-tom"
    with pytest.raises(UnknownNameError, match="unknown reading 'shut'"):
        parse_reading("shut")


def test_the_example_of_the_page_prints_what_the_page_says(capsys: pytest.CaptureFixture[str]) -> None:
    page = (Path(__file__).parents[3] / "docs" / "readings.md").read_text(encoding="utf-8")
    code, _, rest = page.partition("```python\n")[2].partition("```\n\n```\n")
    exec(code, {})
    assert capsys.readouterr().out == rest.partition("```")[0]


def test_what_nobody_knows_is_confirmed_too() -> None:
    story = (
        Story()
        .enter("Ann", "hall")
        .place("key", "box")
        .enter("Bob", "den")
        .distract("Bob")
        .announce("Ann", "key", "box")
    )
    text = "\n".join(find_wording().narrate(story.events))
    found = storyproof.story(text).ask("Where will Bob look for the key?")
    assert (found.answer, found.is_confirmed) == ("unknown", True)
