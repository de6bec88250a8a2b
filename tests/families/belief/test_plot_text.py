from __future__ import annotations

import pytest

from storyproof.errors import ParseError
from storyproof.families.belief.arrays import LocalNames, decode_plot
from storyproof.families.belief.benchmarks.plot_sampler import PlotDials, draw_plots
from storyproof.families.belief.questions import Ask, BeliefQuestion
from storyproof.families.belief.story import Story
from storyproof.families.belief.world import EventKind, PlotEvent
from storyproof.generation.seeds import Draws
from tests.families.belief.plot_text import ask_plot, narrate_plot, parse_plot, parse_plot_question

RICH = PlotDials(agents=5, rooms=3, objects=2, moves=3, tells=3, lies=3, peeks=2, distractions=2, noise=1, walks=10)


def test_every_kind_of_sentence() -> None:
    story = Story().enter("Ann", "hall").enter("Bob", "hall").place("key", "box").move("Ann", "key", "jar")
    story.tell("Ann", "key", "jar").lie("Ann", "key", "box", to="Bob").announce("Ann", "key", "jar").distract("Bob")
    story.attend("Bob").exit("Bob").enter("Bob", "den").peek("Bob", "hall").stop_peeking("Bob")
    story.announce_lie("Bob", "key", "box").noise()
    story.enter("Bob", "hall").lie("Bob", "key", "box").tell("Bob", "key", "jar", to="Ann")
    events = [*story.events, PlotEvent(EventKind.FEEL, "Ann", thing="jar", feeling="likes")]
    text = """\
Ann entered the hall.
Bob entered the hall.
The key is in the box in the hall.
Ann moved the key to the jar.
Ann told everybody in the room that the key is in the jar.
Ann lied to Bob in private and said that the key is in the box.
Ann announced everywhere that the key is in the jar.
Bob got distracted.
Bob paid attention again.
Bob exited the hall.
Bob entered the den.
Bob secretly began to watch the hall.
Bob stopped watching.
Bob lied to everybody everywhere and said that the key is in the box.
Phone rang.
Bob entered the hall.
Bob lied to everybody in the room and said that the key is in the box.
Bob told Ann in private that the key is in the jar.
Ann likes the jar."""
    assert narrate_plot(events) == text
    assert parse_plot(text) == events
    assert parse_plot(text.split("\n")) == events


def test_drawn_stories_are_read_back() -> None:
    drawn, names = draw_plots(RICH, Draws("text"), 100), LocalNames.generic(20)
    for column in range(100):
        lies = drawn.lie[:, column].tolist()
        events = [
            event._replace(lie=lie) for event, lie in zip(decode_plot(drawn.stories, column, names), lies, strict=True)
        ]
        assert parse_plot(narrate_plot(events)) == events


QUESTIONS = {
    "Where is the key really?": BeliefQuestion(Ask.REALITY, "key"),
    "Where was the key at the beginning?": BeliefQuestion(Ask.MEMORY, "key"),
    "Where will Ann look for the key?": BeliefQuestion(Ask.BELIEF, "key", ("Ann",)),
    "Where does Ann think that Bob thinks that Ann searches for the key?": BeliefQuestion(
        Ask.BELIEF, "key", ("Ann", "Bob", "Ann")
    ),
    "What would Ann say if asked where the key is?": BeliefQuestion(Ask.SAYS, "key", ("Ann",)),
    "Does Ann know where the key is?": BeliefQuestion(Ask.KNOWS_WHERE, "key", ("Ann",)),
    "Does Ann know that Bob is wrong about where the key is?": BeliefQuestion(Ask.KNOWS_WRONG, "key", ("Ann", "Bob")),
    "Who believes that the key is in the box?": BeliefQuestion(Ask.BELIEVERS, "key", (), "box"),
    "Who thinks that Bob believes that the key is in the box?": BeliefQuestion(Ask.BELIEVERS, "key", ("Bob",), "box"),
    "Who thinks that Bob thinks that Ann thinks that Carl believes that the key is in the box?": BeliefQuestion(
        Ask.BELIEVERS, "key", ("Bob", "Ann", "Carl"), "box"
    ),
    "Where do Ann and Bob commonly believe the key to be?": BeliefQuestion(Ask.COMMON, "key", ("Ann", "Bob")),
    "Where do Ann, Bob and Carl commonly believe the key to be?": BeliefQuestion(
        Ask.COMMON, "key", ("Ann", "Bob", "Carl")
    ),
}


@pytest.mark.parametrize("text", QUESTIONS)
def test_every_kind_of_question(text: str) -> None:
    assert parse_plot_question(text) == QUESTIONS[text]
    assert ask_plot(QUESTIONS[text]) == text


def test_a_move_by_somebody_who_is_nowhere_happens_where_the_container_stands() -> None:
    events = parse_plot("The key is in the box in the hall.\nAnn moved the key to the box.")
    assert events[1].room == "hall"


@pytest.mark.parametrize(
    ("story", "message"),
    [
        (
            "Ann entered the hall.\nAnn danced.",
            "sentence 2, character 5: not understood: 'danced.'; expected one of: 'entered', 'exited', 'moved',",
        ),
        ("Ann moved the key to the box.", "sentence 1: Ann moves the key but is in no room."),
        ("", "sentence 1, character 1: not understood: the end of the sentence; expected one of: 'A dog barked"),
        (
            "Ann entered the big hall.",
            "sentence 1, character 17: not understood: 'big hall.'; expected one of: 'WORD.'",
        ),
    ],
)
def test_what_cannot_be_read_is_named(story: str, message: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse_plot(story)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("text", ["Why?", "Where do Ann commonly believe the key to be?", "Does Ann know?"])
def test_what_is_not_a_question_is_refused(text: str) -> None:
    with pytest.raises(ParseError, match="not a question about a story"):
        parse_plot_question(text)
