from __future__ import annotations

import re
from itertools import product

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from storyproof.errors import ParseError
from storyproof.families.kinship.language.names import our_names
from storyproof.families.kinship.placeholders.collection import Key
from storyproof.families.kinship.placeholders.files import ours
from storyproof.families.kinship.relations import GENDERS, PREDICATES, WORDS, gender_of, word
from storyproof.families.kinship.templates import (
    NAME,
    StatedFact,
    ask,
    is_shipped,
    parse_line,
    parse_question,
    placeholder_id,
    placeholder_of,
    synthetic,
    synthetic_line,
)

LETTERS = "abcxyzABCXYZéüñØłжあ"
names = st.builds(
    lambda first, rest, last: first + rest + last,
    st.sampled_from(LETTERS),
    st.text(LETTERS + "-_019", max_size=6),
    st.sampled_from(LETTERS + "019"),
) | st.integers(0, 999).map(lambda number: f"@entity-{number}")
SON: Key = (("son",), ("male", "male"))
SON_WIFE: Key = (("son", "wife"), ("male", "male", "female"))
KEYS = sorted(ours().templates)


def fill(template: str, people: list[str]) -> str:
    return re.sub(r"ENT_(\d)_(?:male|female)", lambda slot: people[int(slot[1])], template)


# ------------------------------------------------------------------------------------------------------- questions


@given(names, names)
def test_questions_read_back(first: str, second: str) -> None:
    assert parse_question(ask(first, second)) == (first, second)


def test_a_question_asks_what_the_second_is_to_the_first() -> None:
    assert ask("Ann", "Bob") == "What is Bob to Ann?"


@pytest.mark.parametrize(
    "question",
    [
        "",
        "What is Bob to Ann",
        "What is Bob to Ann? ",
        " What is Bob to Ann?",
        "what is Bob to Ann?",
        "What is Bob of Ann?",
        "What is to Ann?",
        "What is Bob to ?",
        "What is 7 to Ann?",
        "What is Bob Smith to Ann?",
        "Where is Bob?",
        "What is Bob to Ann?\n",
    ],
)
def test_what_is_no_question_is_refused(question: str) -> None:
    with pytest.raises(ParseError, match=r"is not a kinship question; expected 'What is B to A\?'"):
        parse_question(question)


def test_all_names_of_ours_are_names() -> None:
    for tradition in our_names().values():
        for names in tradition.values():
            assert all(re.fullmatch(NAME, name) for name in names)


# --------------------------------------------------------------------------------------------------- synthetic text


@given(st.sampled_from(PREDICATES), st.sampled_from(GENDERS), st.sampled_from(GENDERS), names, names)
def test_synthetic_lines_read_back(predicate: object, first: str, second: str, one: str, other: str) -> None:
    told = word(predicate.name, second)  # type: ignore[attr-defined]
    line = fill(synthetic_line(((told,), (first, second))), [one, other])
    assert line == f"{other} is the {told} of {one}."
    assert parse_line(line) == [StatedFact(one, told, other, None)]


def test_synthetic_text_tells_each_relation_in_one_way() -> None:
    found = synthetic(PREDICATES)
    assert set(found.templates) == {
        ((word(predicate.name, second),), (first, second))
        for predicate, first, second in product(PREDICATES, GENDERS, GENDERS)
    }
    assert found.count == len(found.templates) == 44


@pytest.mark.parametrize(
    "line",
    [
        "",
        "Bob is the son of Ann",
        "Bob is a son of Ann.",
        "Bob is the Son of Ann.",
        "Bob is the of Ann.",
        "is the son of Ann.",
        "Bob is the son of Ann. ",
        "Bob is the son of Ann.\n",
        "Bob  is the son of Ann.",
        "Bob is the son of Ann. Cy is the son of Ann.",
        "Bob Smith is the son of Ann.",
    ],
)
def test_what_is_no_synthetic_line_is_refused(line: str) -> None:
    with pytest.raises(ParseError, match=r"is not a synthetic sentence; expected the form 'B is the son of A\.'"):
        parse_line(line)


# ------------------------------------------------------------------------------------------------------ natural text


@given(st.sampled_from(KEYS), st.data(), st.lists(names, min_size=4, max_size=4, unique=True))
def test_lines_of_our_placeholders_read_back(key: Key, data: st.DataObject, people: list[str]) -> None:
    template = data.draw(st.sampled_from(ours().templates[key]))
    words, genders = key
    told = parse_line(fill(template, people), placeholder_id(key, template))
    assert told == [
        StatedFact(people[place], found, people[place + 1], genders[place]) for place, found in enumerate(words)
    ]


@given(st.sampled_from(KEYS), st.data())
def test_a_changed_word_is_no_line_of_its_placeholder(key: Key, data: st.DataObject) -> None:
    template = data.draw(st.sampled_from(ours().templates[key]))
    line = fill(template, ["Ann", "Bob", "Cy", "Di"]).split(" ")
    place = data.draw(st.integers(0, len(line) - 1))
    assume(not re.fullmatch(rf"{NAME}", fill(template, ["0"] * 4).split(" ")[place]) or line[place][0].islower())
    assume(not re.search(r"Ann|Bob|Cy|Di", line[place]))
    line[place] = "thereafter" if line[place] != "thereafter" else "anyway"
    with pytest.raises(ParseError, match="does not match its placeholder"):
        parse_line(" ".join(line), placeholder_id(key, template))


def test_a_line_says_the_same_person_wherever_the_slot_is() -> None:
    recorded = "son/male,male/ENT_0_male saw ENT_1_male, and ENT_0_male's son ENT_1_male waved."
    assert parse_line("Al saw Bo, and Al's son Bo waved.", recorded) == [StatedFact("Al", "son", "Bo", "male")]
    for line in (
        "Al saw Bo, and Cy's son Bo waved.",
        "Al saw Bo, and Al's son Cy waved.",
        "Al saw Al, and Al's son Al",
    ):
        with pytest.raises(ParseError, match="does not match its placeholder"):
            parse_line(line, recorded)


def test_nobody_is_two_people_of_a_line() -> None:
    with pytest.raises(ParseError, match="has one person in two slots of its placeholder"):
        parse_line("Al has a son, Al.", "son/male,male/ENT_0_male has a son, ENT_1_male.")


def test_what_is_not_a_letter_is_taken_as_it_stands() -> None:
    recorded = "son/male,male/ENT_0_male (50) said: [ENT_1_male]? My son. *Yes*!"
    assert parse_line("Al (50) said: [Bo]? My son. *Yes*!", recorded) == [StatedFact("Al", "son", "Bo", "male")]
    with pytest.raises(ParseError):
        parse_line("Al (50) said: [Bo]  My son. *Yes*!", recorded)


# ------------------------------------------------------------------------------------------------------ placeholder ids


def test_placeholders_of_ours_are_called_by_number() -> None:
    seen = set()
    for key, templates in ours().templates.items():
        for number, template in enumerate(templates):
            recorded = placeholder_id(key, template)
            assert recorded == f"{','.join(key[0])}/{','.join(key[1])}/{number}"
            assert is_shipped(recorded)
            assert placeholder_of(recorded) == (key, template)
            seen.add(recorded)
    assert len(seen) == ours().count


@given(
    st.sampled_from([SON, SON_WIFE]), st.text("abc ENT_0/,12.'-", min_size=1).filter(lambda text: not text.isdecimal())
)
def test_others_are_called_by_their_text(key: Key, template: str) -> None:
    assert placeholder_of(placeholder_id(key, template)) == (key, template)


def test_a_text_of_ours_is_known_only_for_its_own_relations() -> None:
    template = ours().templates[SON][0]
    assert placeholder_id(SON, template) == "son/male,male/0"
    other: Key = (("brother",), ("male", "male"))
    assert placeholder_of(placeholder_id(other, template)) == (other, template)
    assert not is_shipped(placeholder_id(other, template))


@pytest.mark.parametrize(
    ("recorded", "message"),
    [
        ("", "is not a placeholder id; expected relations/genders/number or"),
        ("son", "is not a placeholder id"),
        ("son/male,male", "is not a placeholder id"),
        ("son/male,male/", "is not a placeholder id"),
        ("son/male/3", "is not a placeholder id"),
        ("son/male,male,male/3", "is not a placeholder id"),
        ("son,wife/male,male/3", "is not a placeholder id"),
        ("son/male,man/3", "is not a placeholder id"),
        ("son/male,male/99", "is not in the shipped collection, which has 24 placeholders"),
        ("cousin/male,male/0", "is not in the shipped collection, which has 0 placeholders"),
        ("son/male,male/ENT_0_male waved.", "does not have a slot for everybody"),
        ("son/male,male/He has a son.", "does not have a slot for everybody"),
        ("son/male,male/ENT_0_male, ENT_1_male and ENT_2_male.", "has the slot ENT_2_male, which does not match"),
        ("son/male,male/ENT_0_male and ENT_1_female.", "has the slot ENT_1_female, which does not match"),
        ("son/male,male/ENT_0_female and ENT_1_male.", "has the slot ENT_0_female, which does not match"),
    ],
)
def test_what_is_no_placeholder_is_refused(recorded: str, message: str) -> None:
    with pytest.raises(ParseError, match=message):
        parse_line("Al and Bo.", recorded)


def test_every_word_is_of_one_gender() -> None:
    assert {gender_of(each) for each in WORDS[::2]} == {"male"}
    assert {gender_of(each) for each in WORDS[1::2]} == {"female"}
