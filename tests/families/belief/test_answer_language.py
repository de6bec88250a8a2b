import pytest

from storyproof.families.belief.answer_language import TALK, asked_minds
from storyproof.language.answer_language import Mention

FIRST = "Where will Anne look for the ball?"
SECOND = "Where does Anne think that Sally searches for the ball?"


def mentions(said: str) -> list[Mention]:
    """Every "box" and "jar", wherever it stands."""
    text = said.lower()
    places = [(text.find(name, place), name) for name in ("box", "jar") for place in range(len(text))]
    return [Mention(start, start + 3, name) for start, name in sorted(set(places)) if start >= 0]


@pytest.mark.parametrize(
    ("question", "people"),
    [
        (FIRST, {"anne"}),
        ("where would Jean-Luc look for the ball?", {"jean-luc"}),
        (SECOND, {"anne", "sally"}),
        ("Where is the ball really?", None),
        ("Where will she look?", None),
        ("What is Ada to Ben?", None),
    ],
)
def test_asked_minds(question: str, people: set[str] | None) -> None:
    asked = asked_minds(question)
    assert (None if asked is None else set(asked.people)) == people


@pytest.mark.parametrize(
    ("said", "aside"),
    [
        ("Ben will look in the box.", ["box"]),
        ("Ben'll look in the box.", ["box"]),
        ("Ben  also thinks of the box", ["box"]),
        ("Ben is going to the box", ["box"]),
        ("Jean-Luc will look in the box", ["box"]),
        ("the ex-Mayor will look in the box", ["box"]),
        ("jean-Luc-Marie thinks of the box", ["box"]),
        ("The box: Ben will look there. The jar.", ["box"]),
        ("The jar. Ben knows the box? The jar", ["box"]),
        ("Ben thinks of the box; Cid thinks of the jar. The box", ["box", "jar"]),
        ("Anne will look in the box.", []),
        ("Ben will look where Anne does, in the box", []),
        ("She will look in the box.", []),
        ("Then will look in the box", []),
        ("Someone will look in the box", []),
        ("Box will be where it is", []),
        ("Ball will be in the box", []),
        ("ben will look in the box", []),
        ("B will look in the box", []),
        ("Ben- will look in the box", []),
        ("_Ben will look in the box", []),
        ("Ben put it in the box", []),
        ("Ben willingly opens the box", []),
    ],
)
def test_what_others_think_is_set_aside(said: str, aside: list[str]) -> None:
    assert [mention.name for mention in TALK.set_aside_first(said, mentions(said), FIRST)] == aside


def test_nothing_is_set_aside_if_no_mind_is_asked_about() -> None:
    said = "Ben will look in the box."
    assert not TALK.set_aside_first(said, mentions(said), "Where is the ball?")
    assert not TALK.decisive("She looks in the box", mentions("She looks in the box"), "Where is the ball?")


@pytest.mark.parametrize(
    ("said", "decisive"),
    [
        ("Anne will look in the box", ["box"]),
        ("Anne looks in the box and the jar", ["box", "jar"]),
        ("she'll look in the box", ["box"]),
        ("they still probably think of the box", ["box"]),
        ("he is going to search the box", ["box"]),
        ("Mary-Anne looks in the box", []),
        ("ex-Anne looks in the box", ["box"]),
        ("step-she looks in the box", ["box"]),
        ("she-x looks in the box", []),
        ("Ben will look in the box", []),
        ("Anne took the box", []),
        ("The box. Anne looks in the jar.", ["jar"]),
        ("Anne looks in the jar. The box.", ["jar"]),
        ("Anne looks in the jar because of the box", ["jar"]),
        ("Anne looks in the jar; she thinks of the box", ["jar", "box"]),
        ("Anne looks there. The jar. She looks in the box", ["box"]),
        ("Anne looks she looks in the jar. The box", ["jar"]),
        ("Anne looks. She looks there; box", []),
        ("Anne looks; there. She looks. Box; jar", []),
        ("Anne looks\nbox", []),
        ("Anne looks. box", []),
        ("nobody", []),
    ],
)
def test_what_the_person_asked_about_thinks_decides(said: str, decisive: list[str]) -> None:
    assert [mention.name for mention in TALK.decisive(said, mentions(said), FIRST)] == decisive


def test_a_clause_ends_where_the_next_begins() -> None:
    said = "Anne thinks.box"
    assert TALK.decisive(said, [Mention(12, 15, "box")], FIRST) == []
    assert TALK.decisive("Anne thinks box", [Mention(11, 15, " box")], FIRST) == [Mention(11, 15, " box")]
