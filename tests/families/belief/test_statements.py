"""Beliefs that a chain of thought states: read conservatively, and compared with what is proved."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from storyproof.datasets.reading import as_example
from storyproof.families.belief.family import FAMILY
from storyproof.language.chain_of_thought import RIGHT, UNCLEAR, WRONG
from storyproof.stories import story

STORY = """Sally entered the kitchen.
Anne entered the kitchen.
Bob entered the kitchen.
The ball is in the treasure_chest.
Anne exited the kitchen.
Sally moved the ball to the jar.
Bob exited the kitchen.
Sally moved the ball to the box."""
ROW = as_example({"story": STORY, "question": "Where will Anne look for the ball?"})
ANNE, BOB = "Where will Anne look for the ball?", "Where will Bob look for the ball?"
BOB_ANNE = "Where does Bob think that Anne searches for the ball?"
REALLY, FIRST = "Where is the ball really?", "Where was the ball at the beginning?"


def read(text: str) -> list[tuple[str, str, bool]]:
    return [(each.question, each.answers[0], each.is_denied) for each in FAMILY.statements(text, ROW)]


def verdicts(text: str) -> list[str]:
    return [FAMILY.check_statement(each, ROW).kind for each in FAMILY.statements(text, ROW)]


@pytest.mark.parametrize(
    ("text", "question", "place"),
    [
        ("Anne thinks the ball is in the jar.", ANNE, "jar"),
        ("Anne thinks that the ball is in the treasure chest.", ANNE, "treasure_chest"),
        ("anne thinks nothing. So Anne believes the ball is in the Treasure-Chest!", ANNE, "treasure_chest"),
        ("Therefore, Anne still believes that the ball is in the treasure_chest.", ANNE, "treasure_chest"),
        ("Anne will look for the ball in the jar.", ANNE, "jar"),
        ("Anne will look in the jar for the ball first.", ANNE, "jar"),
        ("Anne'll search for it in the jar.", ANNE, "jar"),
        ("Anne searches for the ball inside the jar", ANNE, "jar"),
        ("Anne is going to look in the jar.", ANNE, "jar"),
        ("Anne would look in the jar.", ANNE, "jar"),
        ("Anne expects the ball to be in the jar.", ANNE, "jar"),
        ("Anne is convinced that the ball is in the jar.", ANNE, "jar"),
        ("Anne wrongly assumes the ball is still in the jar.", ANNE, "jar"),
        ("This means that Anne thinks the ball remains in the jar.", ANNE, "jar"),
        ("We know that Anne thinks the ball is in the jar.", ANNE, "jar"),
        ("- **Anne** thinks the `ball` is in the **jar**.", ANNE, "jar"),
        ("Step 3: Anne thinks the ball is in the jar.", ANNE, "jar"),
        ("Since Anne did not see the move, Anne thinks the ball is in the jar.", ANNE, "jar"),
        ("As Anne did not see it, Anne thinks the ball is in the jar.", ANNE, "jar"),
        ("Anne thinks the ball is in the jar, which is not where it is now.", ANNE, "jar"),
        ("Anne did not see it, so Anne thinks the ball is in the jar.", ANNE, "jar"),
        ("Anne doesn't know about the move; Anne thinks the ball is in the jar.", ANNE, "jar"),
        ("Anne has a false belief: Anne thinks the ball is in the jar.", ANNE, "jar"),
        ("Anne thinks the ball is in the jar because she left.", ANNE, "jar"),
        ("Anne thinks the ball is in the jar, not in the box.", ANNE, "jar"),
        ("Bob believes that Anne thinks the ball is in the jar.", BOB_ANNE, "jar"),
        ("Bob thinks that Anne will look for the ball in the jar.", BOB_ANNE, "jar"),
        ("Bob knows that Anne believes that the ball is in the jar.", BOB_ANNE, "jar"),
        ("Now the ball is in the box.", REALLY, "box"),
        ("In reality, the ball is in the box.", REALLY, "box"),
        ("The ball is really in the box.", REALLY, "box"),
        ("Actually it is currently in the box.", REALLY, "box"),
        ("Initially, the ball was in the jar.", FIRST, "jar"),
        ("At the beginning of the story the ball is in the jar.", FIRST, "jar"),
        ("The ball was originally placed in the jar.", FIRST, "jar"),
    ],
)
def test_a_belief_is_read_in_many_phrasings(text: str, question: str, place: str) -> None:
    assert read(text) == [(question, place, False)]


@pytest.mark.parametrize(
    "text",
    [
        "Anne does not think that the ball is in the jar.",
        "Anne doesn't think the ball is in the jar.",
        "Anne thinks the ball is not in the jar.",
        "Anne no longer believes the ball is in the jar.",
        "Anne never thinks that the ball is in the jar.",
        "Anne won't look in the jar.",
        "Anne will not search for the ball in the jar.",
        "Anne thinks that the ball isn't in the jar.",
    ],
)
def test_a_denial_is_read_as_one(text: str) -> None:
    assert read(text) == [(ANNE, "jar", True)]
    assert verdicts(text) == [RIGHT]
    assert verdicts(text.replace("jar", "treasure chest")) == [WRONG]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "jar",
        "Anne thinks.",
        "Does Anne think the ball is in the jar?",
        "Anne thinks the ball is in the jar?",
        "If Anne had seen the move, Anne thinks the ball is in the jar.",
        "Anne thinks the ball is in the jar if she saw it.",
        "Suppose Anne thinks the ball is in the jar.",
        "Had Anne stayed, Anne thinks the ball is in the jar.",
        "Unless she saw it, Anne thinks the ball is in the jar.",
        "Maybe Anne thinks the ball is in the jar.",
        "Anne might think the ball is in the jar.",
        "Anne could look in the jar.",
        "Perhaps the ball is in the jar.",
        "Anne would have looked in the jar.",
        "Anne thinks the ball is in the jar or the box.",
        "Either Anne thinks the ball is in the jar, or she does not.",
        "Anne thinks the ball is in the jar and the box.",
        'The story says "Anne thinks the ball is in the jar".',
        "“Anne thinks the ball is in the jar” would be wrong.",
        "'Anne thinks the ball is in the jar' is one option.",
        '"Anne thinks the ball is in the jar',
        "The ball is in the treasure_chest.",  # a sentence of the story
        "1. The ball is in the treasure_chest",
        "According to Anne, the ball is in the jar.",
        "In Anne's mind, the ball is in the jar.",
        "From Bob's perspective, Anne thinks the ball is in the jar.",
        "For Anne, the ball is in the jar.",
        "Bob suspects that Anne thinks the ball is in the jar.",
        "Bob says that Anne thinks the ball is in the jar.",
        "Bob thinks that Sally left and Anne thinks the ball is in the jar.",
        "It is not the case that Anne thinks the ball is in the jar.",
        "It is false that Anne thinks the ball is in the jar.",
        "It is wrong that Anne thinks the ball is in the jar.",
        "No one told Anne, and Anne thinks the ball is in the jar.",
        "When Bob left, the ball is in the jar.",
        "Before the move, Anne thinks the ball is in the jar.",
        "Then Anne thinks the ball is in the jar.",
        "At that point, Anne thinks the ball is in the jar.",
        "Anne thinks the ball is in the jar until she returns.",
        "Anne thinks the ball is in the jar, before she returns.",
        "Anne thought the ball was in the jar.",
        "Anne thinks the ball is where she left it.",
        "Anne thinks the ball is in the kitchen.",
        "Anne thinks the ball is in the drawer.",
        "Anne thinks the bat is in the jar.",
        "Zoe thinks the ball is in the jar.",
        "She thinks the ball is in the jar.",
        "Everyone thinks the ball is in the jar.",
        "Anne thinks that Anne thinks the ball is in the jar.",
        "Anne does not think that Bob does not think the ball is in the jar.",
        "Anne thinks the ball is in the jar's lid.",
        "Anne, who thinks the ball is in the jar, left.",
        "As far as Anne knows, the ball is in the treasure chest.",
        "As Anne believes, the ball is in the treasure chest.",
        "As Anne sees it, the ball is in the treasure chest.",
        "As for Anne, the ball is in the treasure chest.",
        "Anne thinks the ball is in the box, which cannot be.",
        "Step 4: The ball is in the treasure_chest.",
        "4) The ball is in the treasure_chest.",
        "- The ball is in the treasure_chest.",
    ],
)
def test_what_is_asked_supposed_reported_or_not_understood_states_nothing(text: str) -> None:
    assert read(text) == []


def test_several_people_share_a_verb() -> None:
    assert read("Anne and Bob both think that the ball is in the jar.") == [(ANNE, "jar", False), (BOB, "jar", False)]
    assert verdicts("Anne and Bob think that the ball is in the jar.") == [WRONG, RIGHT]


def test_without_its_name_a_thing_is_understood_only_if_there_is_just_one() -> None:
    two = as_example({"story": f"{STORY}\nThe bat is in the box.", "question": ANNE})
    assert FAMILY.statements("Anne will look in the jar.", two) == []
    assert len(FAMILY.statements("Anne will look in the jar for the bat.", two)) == 1


def test_what_held_before_is_wrong_only_where_the_text_is_not_on_its_way_through_the_story() -> None:
    early = "Bob thinks the ball is in the treasure chest."
    assert verdicts(early) == [WRONG]
    assert verdicts(f"{early} Sally moves the ball to the jar.") == [UNCLEAR]
    assert verdicts("Bob thinks the ball is in the box. Sally moves the ball to the jar.") == [WRONG]
    assert verdicts(f"Sally moves the ball to the jar. {early}") == [WRONG]
    assert verdicts("Bob will look in the treasure chest, since Sally moved the ball.") == [WRONG]


def test_what_depends_on_the_reading_is_unclear() -> None:
    told = f"{STORY}\nAnne entered the kitchen."
    row = as_example({"story": told, "question": ANNE})
    [said] = FAMILY.statements("Anne thinks the ball is in the treasure chest.", row)
    assert FAMILY.check_statement(said, row).kind == UNCLEAR  # true if entering shows nothing
    [said] = FAMILY.statements("Anne thinks the ball is in the jar.", row)
    assert FAMILY.check_statement(said, row).kind == WRONG


@given(st.sampled_from(["Anne", "Bob", "Sally"]), st.sampled_from(["treasure_chest", "jar", "box"]))
def test_a_verdict_is_what_the_prover_answers(who: str, place: str) -> None:
    proved = story(STORY).ask(f"Where will {who} look for the ball?").answer
    assert verdicts(f"{who} thinks the ball is in the {place}.") == [RIGHT if proved == place else WRONG]
    assert verdicts(f"{who} does not think the ball is in the {place}.") == [WRONG if proved == place else RIGHT]


@given(st.text(max_size=300))
@example("In conclusion")
def test_any_text_can_be_read(text: str) -> None:
    for said in FAMILY.statements(text + " Anne thinks the ball is in the jar. " + text, ROW):
        assert 0 <= said.start < said.end
