import pytest

from storyproof.evaluation.matching.careful import read_reply
from storyproof.families.kinship.answer_language import TALK, asked_pair
from storyproof.families.kinship.relations import WORDS
from storyproof.language.answer_language import Mention

QUESTION = "What is Ada to Ben?"


def aside(said: str, word: str = "aunt", question: str = QUESTION) -> bool:
    start = said.lower().index(word)
    mention = Mention(start, start + len(word), word)
    return bool(TALK.set_aside_last(said, said.lower(), [mention], question))


def test_asked_pair() -> None:
    assert asked_pair(QUESTION) == ("ada", "ben")
    assert asked_pair("what is Jean-Luc to Ada  ?") == ("jean-luc", "ada")
    assert asked_pair("Where will Ada look?") is None


@pytest.mark.parametrize(
    "said",
    [
        "aunt",
        "Ada is Ben's aunt.",
        "Ada is the aunt of Ben",
        "Ada, the aunt of Ben",
        "Ben's aunt Ada",
        "Ben's aunt, Ada",
        "Ben's aunt is Ada",
        "Ben's dear old aunt",
        "Cid's very dear old aunt",  # three words between: too far to be sure
        "Cid's friend is my aunt",
        "Cid's and her aunt",
        "Her aunt",
        "Ada must be also really the aunt",
        "Ada, is his aunt",
        "Ada = aunt",
        "whatever's aunt",  # nobody of that name
        "aunt of nobody",
        "this is his aunt",
        "Ben's aunt is named Ada",
        "Ben's aunt, Cid's mother",
        "Ben's aunt is Cid's mother",
        "Ada is Ben's old aunt",
    ],
)
def test_what_is_said_of_the_pair_counts(said: str) -> None:
    assert not aside(f"{said}. Cid")


@pytest.mark.parametrize(
    "said",
    [
        "Ada is Cid's aunt",
        "Ada is the aunt of Cid",
        "Ada is an aunt to Cid",
        "Ada was Cid's old aunt",
        "Cid's dear old aunt",
        "Cid' aunt",
        "Cid is Ben's aunt",
        "Cid is the aunt of Ben",
        "Cid must be Ben's aunt",
        "Cid  must  be  also  really  Ben's  dear  aunt",
        "Cid, is not actually the aunt",
        "Cid = aunt",
        "Ben's aunt Cid",
        "Ben's aunt, Cid",
        "Ben's aunt is Cid",
        "Ben's aunt must be Cid",
        "Ben's aunt is named Cid",
        "Ben's aunt called Cid",
        "Cid is is aunt",
    ],
)
def test_what_is_said_of_others_is_set_aside(said: str) -> None:
    assert aside(f"{said}. Cid")
    assert not aside(f"{said}. Cid", question="Where?")


def test_the_people_asked_about_need_no_capital_letter() -> None:
    assert aside("the aunt of ada")
    assert aside("ben is the aunt")
    assert not aside("ada is the aunt")
    assert not aside("the aunt of cid")


def test_a_reply_with_one_word_of_kin_is_read_too() -> None:
    for reply, name in (("Ada is Ben's aunt", "aunt"), ("Cid is Ben's aunt", None), ("the step-aunt", "step-aunt")):
        assert read_reply(reply, ("aunt", "uncle"), QUESTION, TALK).name == name


@pytest.mark.parametrize("word", WORDS)
def test_kin_that_only_sounds_alike(word: str) -> None:
    for alike in (f"great-{word}", f"step{word}s", f"god {word}", f"great grand-{word}"):
        assert read_reply(alike, (word,), QUESTION, TALK).name == alike
    assert read_reply(word, (word,), QUESTION, TALK).name == word


def test_names_with_hyphens() -> None:
    assert aside("Jean-Luc's aunt")
    assert not aside("Jean-Luc's aunt", question="What is Ada to Jean-Luc?")
    assert aside("Jean-Luc is Ben's aunt")
    assert aside("Ben's aunt is Jean-Luc")


def test_each_mention_is_asked_for_itself() -> None:
    said = "Ada is Cid's aunt and Ben's aunt"
    first, last = said.index("aunt"), said.rindex("aunt")
    found = [Mention(first, first + 4, "aunt"), Mention(last, last + 4, "aunt")]
    assert TALK.set_aside_last(said, said.lower(), found, QUESTION) == found[:1]


def test_forms() -> None:
    assert TALK.forms("mother-in-law") == ["mothers-in-law", "mother-inlaw", "mother-in-laws"]
    assert TALK.forms("grandmother") == [
        *("grandmothers", "grand-mother", "grand-mothers"),
        *("grandma", "grandmas", "granny", "grannys"),
    ]
    assert TALK.forms("aunt") == ["aunts"]
    assert TALK.forms("grand piano") == ["grand-pianos", "grand-pianoes", "grandpiano"]
    assert TALK.forms("Mother")[-2:] == ["mama", "mamas"]


def test_claims() -> None:
    assert TALK.claims(("box", "Aunt"))
    assert not TALK.claims(("box", "great-aunt"))
    assert not TALK.claims(())


@pytest.mark.parametrize(
    ("reply", "name"),
    [
        ("She is his aunt, i.e. his mother's sister.", "aunt"),
        ("She is his mother's sister, i.e. his aunt.", "aunt"),
        ("She is his mother's sister.", None),  # said in two steps only
        ("She is his grandmother on his mother's side.", "grandmother"),
        ("Ben's mother is Cid's sister. Ada is his aunt.", "aunt"),
    ],
)
def test_kin_said_in_several_steps(reply: str, name: str | None) -> None:
    assert read_reply(reply, tuple(WORDS), QUESTION, TALK).name == name
