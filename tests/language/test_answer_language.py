import pytest

from storyproof.language.answer_language import (
    PLAIN_TALK,
    Mention,
    language_of,
    other_forms,
    parts_of,
    people_in,
    people_sets,
)


def test_people_in() -> None:
    assert people_in("The answer: Ada and Jean-Luc, so she, X and McA are not Ben's.") == {
        *("ada", "jean-luc", "mca", "ben"),
    }
    assert people_in("nobody, Nobody") == set()
    assert people_in("A-A-A- Ab- --Cd") == {"a-a-a", "ab", "cd"}


def test_parts_of() -> None:
    assert parts_of("Treasure_Chest") == ["treasure", "chest"]
    assert parts_of("_mother - in-law ") == ["mother", "in", "law"]
    assert parts_of(" -_") == []


@pytest.mark.parametrize(
    ("name", "forms"),
    [
        ("jar", ["jars"]),
        ("box", ["boxs", "boxes"]),
        ("bench", ["benchs", "benches"]),
        ("pantry", ["pantrys", "pantries"]),
        ("tray", ["trays"]),
        ("shelf", ["shelfs", "shelves"]),
        ("knife", ["knifes", "knives"]),
        ("jars", ["jarss", "jarses", "jar"]),
        ("gas", ["gass", "gases"]),
        ("glass", ["glasss", "glasses"]),
        ("boxes", ["boxess", "boxeses", "boxe", "box"]),
        ("pantries", ["pantriess", "pantrieses", "pantrie", "pantry"]),
        ("treasure_chest", ["treasure-chests", "treasurechest"]),
        ("a", ["as"]),
        ("", []),
    ],
)
def test_other_forms(name: str, forms: list[str]) -> None:
    assert other_forms(name) == forms


def test_plain_talk_reads_nothing_into_a_reply() -> None:
    mentions = [Mention(0, 3, "box")]
    assert not PLAIN_TALK.claims(["box"])
    assert PLAIN_TALK.forms("box") == ["boxs", "boxes"]
    assert not PLAIN_TALK.set_aside_first("Box", mentions, "Where?")
    assert not PLAIN_TALK.decisive("Box", mentions, "Where?")
    assert not PLAIN_TALK.set_aside_last("Box", "box", mentions, "Where?")
    assert not PLAIN_TALK.reads_always


ANN_AND_BO = ("Ann", "Bo, Ann", "Bo")


def test_sets_of_people_are_candidates_with_the_same_members() -> None:
    sets = people_sets((*ANN_AND_BO, "nobody"))
    assert sets is not None
    assert sets.people == ("Ann", "Bo")
    assert sets.names == {
        frozenset({"Ann"}): "Ann",
        frozenset({"Ann", "Bo"}): "Bo, Ann",
        frozenset({"Bo"}): "Bo",
        frozenset(): "nobody",
    }


def test_sets_may_be_without_nobody_and_of_three() -> None:
    sets = people_sets(ANN_AND_BO)
    assert sets is not None
    assert frozenset() not in sets.names
    three = people_sets(("何飞", "何飞、林悦", "何飞、林悦、郭亮", "林悦", "郭亮"))
    assert three is not None
    assert len(three.people) == 3


@pytest.mark.parametrize(
    "candidates",
    [
        ("box", "jar"),
        ("box",),
        (*ANN_AND_BO, "nobody", "somebody"),  # two names that are in no set
        ("Ann", "Ann, Bo"),  # Bo alone cannot be answered
        (),
    ],
)
def test_other_candidates_are_no_sets(candidates: tuple[str, ...]) -> None:
    assert people_sets(candidates) is None


def test_what_may_be_answered_is_said_in_a_language() -> None:
    with_nobody, without = people_sets((*ANN_AND_BO, "nobody")), people_sets(ANN_AND_BO)
    assert with_nobody is not None
    assert without is not None
    assert with_nobody.describe() == "one or more of the names Ann, Bo, separated by commas; or nobody"
    assert without.describe("es") == "uno o varios de los nombres Ann, Bo, separados por comas"


@pytest.mark.parametrize(
    ("question", "candidates", "language"),
    [
        ("Where is the key?", (), "en"),
        ("Where is the key?", ("nein", "ja"), "en"),  # the question decides
        ("", ("nein", "ja"), "de"),
        ("", ("no", "sí"), "es"),
        ("", ("是", "否"), "zh"),
        ("", ("box", "jar"), "en"),
        ("Wo ist der Hut?", (), "de"),
        ("¿Dónde está?", (), "es"),
        ("地图在哪里？", (), "zh"),
    ],
)
def test_the_language_is_that_of_the_question_or_else_of_the_candidates(
    question: str, candidates: tuple[str, ...], language: str
) -> None:
    assert language_of(question, candidates) == language
