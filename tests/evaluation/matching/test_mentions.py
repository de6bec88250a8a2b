import pytest

from storyproof.evaluation.matching.careful import ENGLISH
from storyproof.evaluation.matching.languages import CHINESE
from storyproof.evaluation.matching.mentions import name_finder, within
from storyproof.families.kinship.answer_language import TALK as KIN_TALK
from storyproof.language.answer_language import PLAIN_TALK, Mention

PLACES = ("box", "chest", "treasure_chest")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("box", [(0, 3, "box")]),
        ("a box, a chest", [(2, 5, "box"), (9, 14, "chest")]),
        ("the treasure chest", [(4, 18, "treasure_chest")]),
        ("the treasure \t_- chest", [(4, 22, "treasure_chest")]),
        ("the treasurechest", [(4, 17, "treasure_chest")]),
        ("boxes", [(0, 5, "box")]),
        ("boxbox", []),
        ("xbox box", [(5, 8, "box")]),
        ("box-box", []),
        ("a-box", []),
        ("a_box", []),
        ("-box", [(1, 4, "box")]),
        ("_box_", [(1, 4, "box")]),
        ("--box-- -box", [(2, 5, "box"), (9, 12, "box")]),
        ("a--box", [(3, 6, "box")]),
        ("box_a", []),
        ("box2", []),
        ("2box", []),
        ("toolbox, box", [(9, 12, "box")]),
        ("box\u0301", [(0, 3, "box")]),
        ("", []),
    ],
)
def test_find(text: str, found: list[tuple[int, int, str]]) -> None:
    assert name_finder(PLACES, PLAIN_TALK, ENGLISH).find(text) == [Mention(*each) for each in found]


def test_kin_that_only_sounds_alike_stands_under_its_own_words() -> None:
    finder = name_finder(("aunt", "mother"), KIN_TALK, ENGLISH)
    names = [mention.name for mention in finder.find("his great-aunt, his step mother, his cousins, his mum")]
    assert names == ["great-aunt", "step mother", "cousin", "mother"]


def test_the_longest_name_counts() -> None:
    finder = name_finder(("treasure", "treasure_chest"), PLAIN_TALK, ENGLISH)
    assert [mention.name for mention in finder.find("treasure chest, treasure")] == ["treasure_chest", "treasure"]


def test_names_that_begin_with_a_sign() -> None:
    assert name_finder(("$5", "5"), PLAIN_TALK, ENGLISH).find("$5 x$5") == [Mention(0, 2, "$5"), Mention(5, 6, "5")]


def test_the_first_name_to_claim_a_form_keeps_it() -> None:
    finder = name_finder(("boxes", "Box", "box", " ", "-"), PLAIN_TALK, ENGLISH)
    assert [mention.name for mention in finder.find("box boxes boxess")] == ["Box", "boxes", "boxes"]
    assert name_finder((), PLAIN_TALK, ENGLISH).find("box") == []
    for names in (("box", "boxe"), ("boxe", "box")):
        assert [mention.name for mention in name_finder(names, PLAIN_TALK, ENGLISH).find("boxe boxes")] == [
            "boxe",
            "box",
        ]


def test_a_candidate_goes_before_a_further_name_with_its_spelling() -> None:
    finder = name_finder(("Aunt",), KIN_TALK, ENGLISH)
    assert [mention.name for mention in finder.find("aunt uncle")] == ["Aunt", "uncle"]


def test_finders_are_kept() -> None:
    assert name_finder(PLACES, PLAIN_TALK, ENGLISH) is name_finder(PLACES, PLAIN_TALK, ENGLISH)


def test_within() -> None:
    places = [Mention(start, start + 1, "x") for start in (0, 2, 4, 6, 8, 10)]
    spans = [(2, 4), (5, 9), (6, 9), (10, 10)]
    assert [mention.start for mention in within(places, spans)] == [2, 6, 8]
    assert within(places, []) == []
    assert within([], spans) == []


def test_words_without_spaces_may_stand_amid_others() -> None:
    finder = name_finder(("钱包", "盒子"), PLAIN_TALK, CHINESE)
    assert [each.name for each in finder.find("它在钱包里，不在盒子里")] == ["钱包", "盒子"]
    assert [each.name for each in finder.find("它在零钱包里")] == ["零钱包"]  # another thing
    assert [each.name for each in name_finder(("零钱包", "盒子"), PLAIN_TALK, CHINESE).find("在零钱包里")] == ["零钱包"]
