import pytest

from storyproof.families.kinship.relations import (
    BASIC,
    FEMALE,
    GENDERS,
    MALE,
    NAMES,
    PREDICATES,
    WORDS,
    Fact,
    gender_of,
    inverse,
    predicate_of,
    word,
)

PAIRS = {  # the 22 words of the paper's appendix 1.2, a man's and a woman's
    "child": ("son", "daughter"),
    "inv-child": ("father", "mother"),
    "SO": ("husband", "wife"),
    "sibling": ("brother", "sister"),
    "grand": ("grandson", "granddaughter"),
    "inv-grand": ("grandfather", "grandmother"),
    "un": ("nephew", "niece"),
    "inv-un": ("uncle", "aunt"),
    "in-law": ("son-in-law", "daughter-in-law"),
    "inv-in-law": ("father-in-law", "mother-in-law"),
    "sibling-in-law": ("brother-in-law", "sister-in-law"),
}


def test_the_words_are_those_of_the_paper() -> None:
    assert {each.name: (each.male, each.female) for each in PREDICATES} == PAIRS
    assert tuple(PAIRS) == NAMES
    assert len(WORDS) == len(set(WORDS)) == 22


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("gender", GENDERS)
def test_a_word_tells_relation_and_gender(name: str, gender: str) -> None:
    found = word(name, gender)
    assert found in WORDS
    assert (predicate_of(found), gender_of(found)) == (name, gender)


@pytest.mark.parametrize("found", WORDS)
def test_relation_and_gender_tell_the_word(found: str) -> None:
    assert word(predicate_of(found), gender_of(found)) == found


@pytest.mark.parametrize("name", NAMES)
def test_the_inverse_of_the_inverse_is_the_relation(name: str) -> None:
    assert inverse(inverse(name)) == name
    assert (inverse(name) == name) == (name in ("SO", "sibling", "sibling-in-law"))
    if inverse(name) != name:
        assert inverse(name).removeprefix("inv-") == name.removeprefix("inv-")


def test_stories_are_told_in_eight_relations_and_their_inverses() -> None:
    assert set(NAMES) - set(BASIC) == {"in-law", "inv-in-law", "sibling-in-law"}
    assert len(BASIC) == 8
    assert {inverse(name) for name in BASIC} == set(BASIC)


def test_a_fact_says_what_the_second_is_to_the_first() -> None:
    fact = Fact(0, "child", 1)
    assert (fact.first, fact.predicate, fact.second) == (0, "child", 1)
    assert word(fact.predicate, MALE) == "son"
    assert word(fact.predicate, FEMALE) == "daughter"


@pytest.mark.parametrize("unknown", ["cousin", "child", "", "Father"])
def test_what_is_no_word_of_kinship_is_refused(unknown: str) -> None:
    with pytest.raises(KeyError):
        predicate_of(unknown)
    with pytest.raises(KeyError):
        gender_of(unknown)
