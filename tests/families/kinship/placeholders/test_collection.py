from __future__ import annotations

import json
import math
import re
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storyproof.errors import ConfigError, DataError
from storyproof.families.kinship.placeholders.collection import Key, Placeholders, missing, require_singles
from storyproof.families.kinship.placeholders.files import expand, load_placeholders, ours, read_collection
from storyproof.families.kinship.relations import BASIC, GENDERS, NAMES, gender_of, predicate_of

OTHER = {"male": "female", "female": "male"}
SON_WIFE: Key = (("son", "wife"), ("male", "male", "female"))
SON: Key = (("son",), ("male", "male"))


def collection(templates: str) -> Placeholders:
    return read_collection(templates, "test.yaml")


def published(tmp_path: Path, data: object) -> Path:
    path = tmp_path / "mine.json"
    path.write_text(data if isinstance(data, str) else json.dumps(data), encoding="utf-8")
    return path


# ------------------------------------------------------------------------------------------------------- expansion


def test_a_text_is_put_into_the_form_for_all_genders() -> None:
    found = collection('  child SO: ["{0} asked {0.his} {1.son} {1} to bring {1.his} {2.husband} {2}."]')
    assert found.templates == {
        (("son", "wife"), ("male", "male", "female")): (
            "ENT_0_male asked his son ENT_1_male to bring his wife ENT_2_female.",
        ),
        (("daughter", "husband"), ("male", "female", "male")): (
            "ENT_0_male asked his daughter ENT_1_female to bring her husband ENT_2_male.",
        ),
        (("son", "wife"), ("female", "male", "female")): (
            "ENT_0_female asked her son ENT_1_male to bring his wife ENT_2_female.",
        ),
        (("daughter", "husband"), ("female", "female", "male")): (
            "ENT_0_female asked her daughter ENT_1_female to bring her husband ENT_2_male.",
        ),
    }
    assert found.aligned
    assert found.name == "storyproof"


@pytest.mark.parametrize(("predicates", "count"), [("child", 4), ("SO", 2), ("un inv-un", 8), ("child SO sibling", 8)])
def test_spouses_are_of_opposite_gender_and_all_else_is_free(predicates: str, count: int) -> None:
    assert len(collection(f'  {predicates}: ["{{0}} waved."]').templates) == count


@pytest.mark.parametrize(
    ("male", "female"),
    [
        ("he", "she"),
        ("him", "her"),
        ("his", "her"),
        ("himself", "herself"),
        ("He", "She"),
        ("His", "Her"),
        ("dad", "mom"),
        ("grandpa", "grandma"),
        ("boy", "girl"),
        ("man", "woman"),
        ("groom", "bride"),
        ("father-in-law", "mother-in-law"),
        ("Brother-in-law", "Sister-in-law"),
        ("nephew", "niece"),
        ("Uncle", "Aunt"),
    ],
)
def test_words_have_a_form_for_each_gender(male: str, female: str) -> None:
    assert expand(f"{{0.{male}}}", ["male"]) == male
    assert expand(f"{{0.{male}}}", ["female"]) == female


PIECES = ["{0}", "{1}", "{2}", "{0.he}", "{1.him}", "{2.himself}", "{1.son}", "{0.Uncle}", "and", "waved", "."]
FEMALE = {"he": "she", "him": "her", "himself": "herself", "son": "daughter", "Uncle": "Aunt"}


@given(st.lists(st.sampled_from(PIECES)), st.lists(st.sampled_from(GENDERS), min_size=3, max_size=3))
def test_swapping_genders_swaps_words_and_nothing_else(pieces: list[str], genders: list[str]) -> None:
    one = expand(" ".join(pieces), genders).split()
    other = expand(" ".join(pieces), [OTHER[gender] for gender in genders]).split()
    for piece, here, there in zip(pieces, one, other, strict=True):
        field = re.fullmatch(r"\{(\d)(?:\.(\w+))?\}", piece)
        if field is None:
            assert here == there == piece
        elif field[2] is None:
            assert {here, there} == {f"ENT_{field[1]}_{gender}" for gender in GENDERS}
            assert here == f"ENT_{field[1]}_{genders[int(field[1])]}"
        else:
            forms = {"male": field[2], "female": FEMALE[field[2]]}
            assert here == forms[genders[int(field[1])]]
            assert there == forms[OTHER[genders[int(field[1])]]]


@pytest.mark.parametrize(
    ("templates", "message"),
    [
        ('  child: ["{0} and {1.king}."]', r"'child', number 1: unknown word in \{1.king\}; expected one of he, him"),
        ('  child: ["{0}.", "{0} and {2}."]', r"'child', number 2: \{2\} refers to a person beyond the last, 1"),
        ('  child: ["{0} and {1."]', r"'child', number 1: a brace outside of fields"),
        ('  child: ["{0} and {1 .he}"]', r"'child', number 1: a brace outside of fields"),
        ('  child: ["{0}.", "{0}."]', r"'child': a text occurs twice: '\{0\}.'"),
        ('  child: "{0}."', r"'child': expected a list of texts, found str"),
        ("  child: [12]", r"'child', number 1: expected a text, found 12"),
        ('  child: [" "]', r"'child', number 1: expected a text, found ' '"),
        ('  cousin: ["{0}."]', r"'cousin': expected one to three of child, inv-child"),
        ('  child  child: ["{0}."]', r"expected one to three of"),
        ('  child child child child: ["{0}."]', r"expected one to three of"),
        ("  []", r"expected lists of texts by predicates, found list"),
    ],
)
def test_an_error_says_which_text_and_what_was_expected(templates: str, message: str) -> None:
    with pytest.raises(DataError, match=rf"^test.yaml: .*{message}|^test.yaml: {message}"):
        collection(templates)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("child: [", r"^test.yaml, line 1: not valid YAML"),
        ("12", r"^test.yaml: expected lists of texts by predicates, found int"),
        ("", r"^test.yaml: expected lists of texts by predicates, found NoneType"),
    ],
)
def test_what_is_no_collection_is_refused(text: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_collection(text, "test.yaml")


# ---------------------------------------------------------------------------------------------- the one that ships


def test_every_single_fact_can_be_told() -> None:
    require_singles(ours(), NAMES)
    assert all(len(texts) >= 2 for (words, _), texts in ours().templates.items() if len(words) == 1)


def test_our_collection_fits_its_keys() -> None:
    for (words, genders), texts in ours().templates.items():
        assert [gender_of(word) for word in words] == list(genders[1:])
        slots = {f"ENT_{number}_{gender}" for number, gender in enumerate(genders)}
        assert all(set(re.findall(r"ENT_\w+", text)) == slots for text in texts)
        assert not any("{" in text or "}" in text for text in texts)


def test_our_collection_is_read_once() -> None:
    assert ours() is ours()
    assert set(map(len, ours().templates.values())) == {24, 16, 5, 2}


SEVERAL = "son daughter brother sister grandson granddaughter grandfather grandmother nephew niece uncle aunt"


@pytest.mark.parametrize(
    "pattern",
    [
        rf"\bthe (?:{'|'.join(SEVERAL.split())})(?:-in-law)? of\b",  # as if there were one only
        r"\b(?:mom|dad)\b",
        r"\b(?:pounds?|euros?|dollars?)\b",
        r"\bhusband and wife\b",
        r"\bmarried ENT_",  # weddings, after which nobody has grown children
        r"\b(?:older|younger|elder|eldest|youngest)\b",
        r"\b(?:works|worked|job at) (?:as|at|in|on)\b|\bis the new\b",
    ],
)
def test_no_text_of_ours_says(pattern: str) -> None:
    assert [text for texts in ours().templates.values() for text in texts if re.search(pattern, text)] == []


# ------------------------------------------------------------------------------------------------- published files


def test_a_published_file_is_read(tmp_path: Path) -> None:
    data = {
        "son-wife": {"male-male-female": ["A ENT_0_male", "B ENT_0_male"], "female-male-female": []},
        "neice": {"male-female": ["C ENT_1_female"]},
        "niece": {"male-female": ["D ENT_1_female", "C ENT_1_female"]},
        "father-in-law-mother-in-law-son": {"male-male-female-male": ["E"]},
    }
    found = load_placeholders(published(tmp_path, data))
    assert found.name == "mine.json"
    assert not found.aligned
    assert found.templates == {
        SON_WIFE: ("A ENT_0_male", "B ENT_0_male"),
        (("niece",), ("male", "female")): ("C ENT_1_female", "D ENT_1_female"),
        (("father-in-law", "mother-in-law", "son"), ("male", "male", "female", "male")): ("E",),
    }


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ('{"son": {\n"male-male": [}', r"mine.json, line 2: not valid JSON"),
        ([], r"mine.json: expected lists by relations and genders, found list"),
        ({"son": ["A"]}, r"mine.json: 'son': expected lists by genders, found list"),
        ({"son": {"male-male": "A"}}, r"'son', 'male-male': expected a list of texts, found str"),
        ({"son": {"male-male": ["A", None]}}, r"'son', 'male-male', number 2: expected a text, found None"),
        (
            {"cousin": {"male-male": ["A"]}},
            r"'cousin', 'male-male': 'cousin' does not consist of the words son, daughter",
        ),
        ({"son wife": {"male-male-female": ["A"]}}, r"'son wife' does not consist of the words"),
        ({"": {"male": ["A"]}}, r"'' does not consist of the words"),
        ({"son-wife": {"male-male": ["A"]}}, r"'son-wife', 'male-male': expected 3 genders, each male or female"),
        ({"son": {"male-man": ["A"]}}, r"'son', 'male-man': expected 2 genders"),
        ({"son": {"male-female": ["A"]}}, r"'son', 'male-female': a son is male, but person 1 is female"),
        ({"son-wife": {"male-male-male": ["A"]}}, r"a wife is female, but person 2 is male"),
    ],
)
def test_an_unusable_file_is_refused(tmp_path: Path, data: object, message: str) -> None:
    with pytest.raises(DataError, match=message):
        load_placeholders(published(tmp_path, data))


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"cannot read the placeholders .*absent.json"):
        load_placeholders(tmp_path / "absent.json")


def test_a_file_that_is_no_text_is_named(tmp_path: Path) -> None:
    (tmp_path / "raw.json").write_bytes(b"\xff\xfe\xff")
    with pytest.raises(DataError, match=r"cannot read the placeholders .*raw.json"):
        load_placeholders(tmp_path / "raw.json")


# ------------------------------------------------------------------------------------------------------- coverage


def test_single_facts_that_cannot_be_told_are_listed() -> None:
    found = collection('  child: ["{0} and {1}."]\n  SO: ["{0} and {1}."]\n  un un: ["{0}"]')
    assert missing(found, ["child", "SO"]) == []
    assert missing(found, ["child", "SO", "un"]) == [
        ((word,), (first, second))
        for first, (second, word) in product(GENDERS, [("male", "nephew"), ("female", "niece")])
    ]
    assert {predicate_of(key[0][0]) for key in missing(found)} == set(BASIC) - {"child", "SO"}


def test_the_message_names_the_file_and_the_first_that_is_missing() -> None:
    found = Placeholders("mine.json", {SON: ("A",)})
    with pytest.raises(
        ConfigError, match=r"^mine.json has no placeholder for 'daughter' with genders male-female \(and"
    ):
        require_singles(found, ["child"])
    require_singles(found, [])


# ------------------------------------------------------------------------------------------------ shares and splits

TEXTS = st.lists(st.integers(0, 99).map("t{}".format), min_size=2, max_size=12, unique=True).map(tuple)
PUBLISHED_KEYS: list[Key] = [
    SON,
    (("son",), ("female", "male")),
    (("daughter",), ("male", "female")),
    (("wife",), ("male", "female")),
    SON_WIFE,
    (("son", "wife"), ("female", "male", "female")),
]
COLLECTIONS = st.dictionaries(st.sampled_from(PUBLISHED_KEYS), TEXTS).map(lambda found: Placeholders("x", found))


@given(COLLECTIONS, st.integers())
def test_a_split_is_a_partition_that_keeps_order(found: Placeholders, seed: int) -> None:
    train, test = found.split("story", seed)
    for key, texts in found.templates.items():
        assert not set(train.templates[key]) & set(test.templates[key])
        assert sorted(train.templates[key] + test.templates[key], key=texts.index) == list(texts)
        assert list(train.templates[key]) == sorted(train.templates[key], key=texts.index)
        assert len(test.templates[key]) == max(1, round(len(texts) / 5))
    assert found.split("story", seed) == (train, test)


@given(COLLECTIONS, st.floats(0.01, 1), st.integers())
def test_a_share_keeps_the_right_number_in_order(found: Placeholders, fraction: float, seed: int) -> None:
    kept = found.share(fraction, seed)
    for key, texts in found.templates.items():
        assert math.ceil(fraction * len(texts) - 1e-6) <= len(kept.templates[key]) <= math.ceil(fraction * len(texts))
        assert list(kept.templates[key]) == [text for text in texts if text in kept.templates[key]]
    assert found.share(fraction, seed) == kept
    assert found.share(1, seed) == found


@given(COLLECTIONS, st.floats(0.01, 1), st.floats(0.01, 1))
def test_a_smaller_share_is_part_of_a_larger(found: Placeholders, one: float, other: float) -> None:
    small, large = found.share(min(one, other), "s"), found.share(max(one, other), "s")
    assert all(set(texts) <= set(large.templates[key]) for key, texts in small.templates.items())


def test_shares_count_as_people_do() -> None:
    found = Placeholders("x", {SON: tuple("abcdefghij")})
    assert [len(found.share(tenth / 10).templates[SON]) for tenth in range(1, 11)] == list(range(1, 11))
    assert len(found.share(0.01).templates[SON]) == 1


@pytest.mark.parametrize("fraction", [0, -0.5, 1.1, math.nan])
def test_a_share_must_be_a_part(fraction: float) -> None:
    with pytest.raises(ConfigError, match="above 0 and at most 1"):
        Placeholders("x", {SON: ("A",)}).share(fraction)


def test_other_purposes_choose_differently() -> None:
    found = Placeholders("x", {SON: tuple(f"t{number}" for number in range(40))})
    assert len({found.share(0.5, seed).templates[SON] for seed in range(5)}) == 5
    assert len({found.split(seed)[1].templates[SON] for seed in range(5)}) == 5


def neutral(text: str) -> str:
    return re.sub(r"ENT_(\d)_\w+", r"ENT_\1", text).replace("her", "his").replace("daughter", "son")


def test_texts_for_other_genders_stand_on_the_same_side() -> None:
    texts = ", ".join(f'"{{0}} told {{0.his}} {{1.son}} {{1}} about {number}."' for number in range(10))
    found = collection(f"  child: [{texts}]")
    for chosen in (*found.split(3), found.share(0.4, 3), found.split(3)[0].share(0.5, 1)):
        assert len({tuple(map(neutral, texts)) for texts in chosen.templates.values()}) == 1
    assert len(found.split(3)[1].templates[SON]) == 2


def test_our_collection_is_split_by_text_whatever_the_genders() -> None:
    numbers: dict[tuple[str, ...], set[tuple[int, ...]]] = {}
    test = ours().split(7)[1]
    for key, texts in test.templates.items():
        chosen = tuple(ours().templates[key].index(text) for text in texts)
        numbers.setdefault(tuple(map(predicate_of, key[0])), set()).add(chosen)
    assert all(len(chosen) == 1 for chosen in numbers.values())


def test_lists_of_different_length_are_drawn_one_by_one() -> None:
    keys: list[Key] = [SON, (("son",), ("female", "male"))]
    found = Placeholders("x", {keys[0]: tuple("abcdefghij"), keys[1]: tuple("abcdefghijk")})
    chosen = [found.share(0.5, seed).templates for seed in range(5)]
    assert any(set(each[keys[0]]) - set(each[keys[1]]) for each in chosen)


def test_a_single_text_for_a_single_fact_cannot_be_split() -> None:
    found = Placeholders("mine.json", {SON: ("A",), SON_WIFE: ("B", "C")})
    with pytest.raises(ConfigError, match=r"mine.json has only one placeholder for 'son' with genders male-male"):
        found.split()


def test_a_single_text_for_two_facts_goes_to_train() -> None:
    train, test = Placeholders("x", {SON: ("A", "B"), SON_WIFE: ("C",)}).split()
    assert train.templates[SON_WIFE] == ("C",)
    assert SON_WIFE not in test.templates
    assert len(train.templates[SON]) == len(test.templates[SON]) == 1


def test_texts_are_left_out_by_key_and_number() -> None:
    found = Placeholders("x", {SON: ("A", "B", "C"), SON_WIFE: ("D",)})
    assert found.without([(SON, 1), (SON_WIFE, 0)]).templates == {SON: ("A", "C")}
    assert found.without([]) == found


def test_texts_are_left_out_for_all_genders_where_they_are_the_same() -> None:
    found = collection('  child: ["{0} sang.", "{1} sang."]\n  sibling: ["{0} sang."]')
    assert [len(texts) for texts in found.without([(SON, 0)]).templates.values()] == [1, 1, 1, 1, 1, 1, 1, 1]
