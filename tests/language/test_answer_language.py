import pytest

from storyproof.language.answer_language import PLAIN_TALK, Mention, other_forms, parts_of, people_in


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
