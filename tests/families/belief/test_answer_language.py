import pytest

from storyproof.families.belief.answer_language import TALK
from storyproof.language.answer_language import Mention

FIRST = "Where will Anne look for the ball?"


def mentions(said: str) -> list[Mention]:
    """Every "box" and "jar", wherever it stands."""
    text = said.lower()
    places = [(text.find(name, place), name) for name in ("box", "jar") for place in range(len(text))]
    return [Mention(start, start + 3, name) for start, name in sorted(set(places)) if start >= 0]


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
        ("she-x looks in the box", ["box"]),  # nothing holds it
        ("Ben will look in the box", []),
        ("Anne took the box", ["box"]),
        ("The box. Anne looks in the jar.", ["jar"]),
        ("Anne looks in the jar. The box.", ["jar"]),
        ("Anne looks in the jar because of the box", ["jar"]),
        ("Anne looks in the jar; she thinks of the box", ["jar", "box"]),
        ("Anne looks there. The jar. She looks in the box", ["box"]),
        ("Anne looks she looks in the jar. The box", ["jar"]),
        ("Anne looks. She looks there; box", ["box"]),
        ("Anne looks; there. She looks. Box; jar", ["box", "jar"]),
        ("Anne looks\nbox", ["box"]),
        ("Anne looks. box; she looks in the jar", ["jar"]),
        ("nobody", []),
    ],
)
def test_what_the_person_asked_about_thinks_decides(said: str, decisive: list[str]) -> None:
    assert [mention.name for mention in TALK.decisive(said, mentions(said), FIRST)] == decisive


def test_a_clause_ends_where_the_next_begins() -> None:
    box, jar = Mention(12, 15, "box"), Mention(28, 31, "jar")
    assert TALK.decisive("Anne thinks.box Anne thinks jar", [box, jar], FIRST) == [jar]
    assert TALK.decisive("Anne thinks box Anne thinks jar", [box, jar], FIRST) == [box, jar]


@pytest.mark.parametrize(
    ("question", "said", "decisive"),
    [
        ("Where is the ball really?", "It is in the box now; Ben still thinks it is in the jar.", ["box"]),
        ("Where is the ball really?", "It was moved from the jar to the box.", ["box"]),
        ("Where is the ball really?", "jar -> box", ["box"]),
        ("Where is the ball really?", "It is actually in the box. It is in the jar.", ["box", "jar"]),
        ("Where is the ball really?", "It is actually in the box. Ben thinks of the jar.", ["box"]),
        ("Where was the ball at the beginning?", "It started out in the jar and was later moved to the box.", ["jar"]),
        ("Where was the ball at the beginning?", "First in the jar, then in the box, and finally in the box.", ["jar"]),
        ("Where was the ball at the beginning?", "The jar at first, the box later.", ["jar"]),
        ("Where was the ball at the beginning?", "The jar first held the box", ["box"]),
        (FIRST, "My answer: the box.", ["box"]),
        (FIRST, "The box is where Anne will look; the jar is empty.", ["box"]),
        (FIRST, "I first thought of the jar. He'd go to the box.", ["box"]),
        (FIRST, "Ben knows that it is in the jar. From Anne's perspective, it is in the box.", ["box"]),
        ("What would Anne say if asked where the ball is?", "She thinks it is in the jar but would say box.", ["box"]),
        (
            "Where do Anne and Ben commonly believe the ball to be?",
            "Ben knows of the jar; both think of the box",
            ["box"],
        ),
        (
            "Where does Anne think that Ben searches for the ball?",
            "Ben himself would look in the jar. Anne, however, does not know that, so she thinks he'd look in the box.",
            ["box"],
        ),
        (
            "Where does Anne think that Ben thinks that Cy searches for the ball?",
            "Cy: jar\nBen about Cy: jar\nAnne about Ben about Cy: box",
            ["box"],
        ),
        (
            "Where does Anne think that Ben thinks that Cy searches for the ball?",
            "Ben about Anne about Cy: jar. Anne about Ben: jar. Anne about Ben about Cy: box",
            ["box"],
        ),
        (
            "Where does Anne think that Ben searches for the ball?",
            "Ben: jar\nBen about Anne: jar\nAnne about Ben: box\nAnne about Ben about Ben: jar",
            ["box"],
        ),
        ("Where does Anne think that Ben searches for the ball?", "Anne: jar\nAnne about Ben: box", ["box"]),
        (
            "Where is the ball really?",
            "The jar. Ben thinks of the jar. It is really in the box. Ben is back. It is in the jar.",
            ["box", "jar"],
        ),
    ],
)
def test_what_the_question_asks_for_decides(question: str, said: str, decisive: list[str]) -> None:
    assert [mention.name for mention in TALK.decisive(said, mentions(said), question)] == decisive
