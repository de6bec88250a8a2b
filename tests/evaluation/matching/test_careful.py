import pytest

from storyproof.evaluation.matching.kinds import KINDS
from storyproof.evaluation.matching.matchers import careful as judge_carefully

PLACES = ("basket", "box")
KIN = ("aunt", "grandmother", "mother", "mother-in-law", "sister", "wife")


def kind(reply: str, answer: str = "basket", candidates: tuple[str, ...] = PLACES, question: str = "") -> str:
    return judge_carefully(reply, answer, candidates, question).kind


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("basket", "exact_match"),
        (" BASKET\n", "exact_match"),
        ("The basket.", "normalized_match"),
        ("**Basket**", "normalized_match"),
        ("1. a basket!", "normalized_match"),
        ("baskets", "normalized_match"),
        ("The basket is where it is", "prefix_match"),
        ("Basket, I think", "prefix_match"),
        ("The key is in the basket.", "suffix_match"),
        ("In THE _basket_", "suffix_match"),
        ("It is in the basket now.", "contained_match"),
        ("in the attic", "no_match"),
        ("", "no_match"),
        ("...", "no_match"),
        ("the box", "no_match"),
        ("basketball", "no_match"),
        ("the work-basket", "no_match"),
        ("basket or box", "ambiguous"),
        ("box, basket", "ambiguous"),
        ("either the basket or the box", "ambiguous"),
        ("not in the basket", "negated"),
        ("The key isn't in the basket.", "negated"),
        ("The key isn’t in the basket.", "negated"),
        ("It is no longer in the basket", "negated"),
        ("not in the box", "negated"),
        ("neither the basket nor the box", "negated"),
        ("The basket is empty.", "negated"),
        ("I do not think it is in the basket", "negated"),
    ],
)
def test_rungs(reply: str, expected: str) -> None:
    assert kind(reply) == expected


@pytest.mark.parametrize(
    "reply",
    [
        "not in the box but in the basket",
        "It is not in the box, but in the basket.",
        "the basket, not the box",
        "The basket and not the box.",
        "basket not box",
        "The key isn't in the box; it is in the basket.",
        "The key is no longer in the box. It is in the basket.",
        "The key is not in the box it is in the basket",
        "in the basket instead of the box",
        "the basket rather than the box",
        "Instead of the box, the basket.",
        "Never in the box, always in the basket",
        "The box is empty, so the basket.",
        "The box isn't where he looks, it's the basket.",
        "No, it is in the basket.",
        "There is no doubt that it is in the basket.",
        "Ben will look in the basket because he did not see Ada move it to the box.",
        "Ben will look in the basket, because Ada moved it to the box while he was away.",
        "Although the key is in the box, Ben thinks that it is in the basket.",
        "Ben does not know that it is in the box, so he will look in the basket.",
        "Ada moved the key from the basket to the box. Ben saw nothing. So he looks in the basket.",
        "Basket. Ada moved it to the box later.",
        "Ada moved it to the box, but Ben was away.\n\nBasket",
        "First it was in the basket, then in the box.\nAnswer: basket",
        "First the box. The answer is **basket**.",
        '{"answer": "The basket"}',
        "It went to the box. Final answer: the basket. It stayed there.",
        r"The box? \boxed{basket}",
        "<think>box</think> <answer>basket</answer>",
        "basket\n\nQuestion: Where is the hat?\nAnswer: box",
    ],
)
def test_what_does_not_count(reply: str) -> None:
    assert judge_carefully(reply, "basket", PLACES).right
    assert not judge_carefully(reply, "box", PLACES).right


@pytest.mark.parametrize(
    "reply",
    [
        "not only in the basket but also in the box",
        "The key was in the basket. Ada moved it to the box.",
        "Answer: basket or box",
        "Answer: Ingrid. She saw the basket.",
        "basket\nbox\njar",
        "The answer is not the basket.",
        "It is not in the attic, or the basket.",
        "Nobody looks in the basket",
        "Ben is unaware that it is in the basket.",
        "I don't know if it is in the basket",
    ],
)
def test_what_is_not_right(reply: str) -> None:
    assert not judge_carefully(reply, "basket", PLACES).right


def test_underscores() -> None:
    places = ("bread_bin", "treasure_chest")
    for reply in ("Treasure chest", "the treasure_chest", "treasure-chest", "treasurechest", "Treasure Chests"):
        assert judge_carefully(reply, "treasure_chest", places).right, reply
    assert kind("the treasure of the chest", "treasure_chest", places) == "no_match"


def test_a_candidate_inside_another() -> None:
    places = ("box", "chest", "toolbox", "treasure_chest")
    assert kind("in the treasure chest", "chest", places) == "no_match"
    assert kind("in the treasure chest", "treasure_chest", places) == "suffix_match"
    assert kind("in the chest", "treasure_chest", places) == "no_match"
    assert kind("the toolbox", "box", places) == "no_match"


@pytest.mark.parametrize(("word", "form"), [("box", "boxes"), ("pantry", "pantries"), ("shelf", "shelves")])
def test_number(word: str, form: str) -> None:
    assert judge_carefully(f"in the {form}", word, ()).right
    assert judge_carefully(f"in the {word}", form, ()).right == (form != "shelves")


def test_both_numbers_as_candidates() -> None:
    assert kind("the drawers", "drawer", ("drawer", "drawers")) == "no_match"
    assert kind("the drawer", "drawer", ("drawer", "drawers")) == "normalized_match"


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("Ada is the mother of Ben.", "mother"),
        ("Ada is Ben's mother", "mother"),
        ("Ada is Ben's mother-in-law.", "mother-in-law"),
        ("mother in law", "mother-in-law"),
        ("She is his grand-mother.", "grandmother"),
        ("Grandma", "grandmother"),
        ("his mom", "mother"),
        ("not his mother but his mother-in-law", "mother-in-law"),
    ],
)
def test_kinship(reply: str, answer: str) -> None:
    for word in KIN:
        assert judge_carefully(reply, word, KIN).right == (word == answer), word


@pytest.mark.parametrize("reply", ["stepmother", "step-mother", "great grandmother", "godmother", "mother's sister"])
def test_other_kin(reply: str) -> None:
    for word in KIN:
        assert not judge_carefully(reply, word, KIN).right, word


def test_kin_that_is_no_candidate_is_still_named() -> None:
    assert kind("his mother-in-law", "mother", ("mother", "aunt")) == "no_match"
    assert kind("his mother or sister", "mother", ("mother", "aunt")) == "ambiguous"


@pytest.mark.parametrize(
    ("reply", "right"),
    [
        ("Elsa is Marco's daughter-in-law.", True),
        ("Elsa is the daughter-in-law of Marco", True),
        ("She is his daughter-in-law.", True),
        ("Marco's daughter-in-law is Elsa", True),
        ("Adam's wife Elsa is Marco's daughter-in-law.", True),
        ("Adam is Marco's son and Elsa is Adam's wife, so Elsa is Marco's daughter-in-law.", True),
        ("Marco is Elsa's daughter-in-law.", False),
        ("Marco is the daughter-in-law of Elsa.", False),
        ("Adam is Marco's daughter-in-law", False),
        ("Elsa is Adam's daughter-in-law", False),
        ("Elsa is Adam's wife.", False),
        ("Elsa is Marco's wife or daughter-in-law", False),
    ],
)
def test_whose_kin(reply: str, right: bool) -> None:
    found = judge_carefully(reply, "daughter-in-law", (), "What is Elsa to Marco?")
    assert found.right == right, found


@pytest.mark.parametrize(
    ("reply", "right"),
    [
        ("Sally will look in the basket.", True),
        ("She will look in the basket.", True),
        ("Sally'll look in the basket", True),
        ("Anne moved it to the box, so Sally will look in the basket.", True),
        ("Anne thinks it is in the box. Sally thinks it is in the basket.", True),
        ("Anne will look in the box; Sally will look in the basket", True),
        ("Basket will be where she looks", True),
        ("Marble will be in the basket", True),
        ("Someone would look in the basket", True),
        ("Anne will look in the basket.", False),
        ("Anne'll look in the basket", False),
        ("Sally is not there. Anne thinks that it is in the basket.", False),
        ("Anne will look in the basket. Sally will look in the box.", False),
    ],
)
def test_whose_mind(reply: str, right: bool) -> None:
    found = judge_carefully(reply, "basket", ("basket", "box"), "Where will Sally look for the marble?")
    assert found.right == right, found


@pytest.mark.parametrize(
    "reply",
    [
        "Anne will look in the green_drawer. She left the room before Sally moved the apple to the red_box.",
        "The apple is actually in the red_box, but Anne believes it is in the green_drawer.",
        "Because Anne was away when the apple was moved to the red_box, she will search the green_drawer.",
        "Anne does not know that Sally moved the apple and will look in the green_drawer.",
        "Anne never saw Sally move the apple and she still believes it is in the green_drawer.",
        "Not having seen the move Anne will look in the green_drawer",
        "red_box. Actually, correction: green_drawer.",
        "I think it's the red_box... wait, no, Anne left before the move. It's the green_drawer.",
        "My answer: red_box\nNo wait.\nFinal answer: green_drawer",
        "The answer is the red_box? No. The answer is the green_drawer.",
        r"$\boxed{\text{green\_drawer}}$",
        r"Anne will look in the **green\_drawer**.",
        "green–drawer",
        "<think>It was moved to the red_box.</think>green_drawer",
    ],
)
def test_right_whatever_else_is_said(reply: str) -> None:
    found = judge_carefully(reply, "green_drawer", ("green_drawer", "red_box"), "Where will Anne look for the apple?")
    assert found.right, found


@pytest.mark.parametrize(
    "reply",
    [
        "Anywhere but the green_drawer.",
        "I doubt it's the green_drawer.",
        "If Anne had seen the move she would look in the green_drawer.",
        "Anne does not know that it is in the green_drawer.",
        "Anne did not see it in the green_drawer",
        "<think> The apple is in the green_drawer. Anne",
        "The correct answer is: red_box. The answer is green_drawer.",
        "Anne thinks of the red_box. Anne will look in the green_drawer.",
    ],
)
def test_not_right_for_all_that_is_said(reply: str) -> None:
    found = judge_carefully(reply, "green_drawer", ("green_drawer", "red_box"), "Where will Anne look for the apple?")
    assert not found.right, found


def test_where_things_are_anybody_may_say() -> None:
    for question in ("Where is the marble really?", "Where was the marble at the beginning?"):
        assert judge_carefully("Anne will find it in the basket", "basket", ("basket", "box"), question).right
    second = "Where does Sally think that Anne searches for the marble?"
    assert judge_carefully("Anne will look in the basket", "basket", ("basket", "box"), second).right


def test_kinds() -> None:
    assert set(KINDS) >= {kind(reply) for reply in ("basket", "no", "not the basket", "basket, box")}
