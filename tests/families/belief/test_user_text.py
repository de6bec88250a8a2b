"""Texts of users: the exact place of a problem, and what can be asked."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storyproof.errors import DataError, ParseError
from storyproof.families.belief.tomi_text import parse_sentence
from storyproof.families.belief.user_text import chains_of, find_problems, list_questions
from storyproof.families.family import load_family

GOOD = "Ada entered the attic.\nThe key is in the box."
ASKED = "Where will Ada look for the key?"


@pytest.mark.parametrize(
    ("sentence", "place"),
    [
        ("Ada went into the attic.", (5, 4)),
        ("Ada entered a attic.", (13, 1)),
        ("Ada entered the attic", (17, 5)),
        ("Ada entered the attic!", (17, 6)),
        ("The key is on the box.", (12, 2)),
        ("Ada moved the key into the jar.", (19, 4)),
        ("Ada moved the key to the", (25, 0)),
        ("Ada adores the jar.", (5, 6)),
        ("Ada", (4, 0)),
        ("Phone rings.", (7, 6)),
    ],
)
def test_the_first_word_that_does_not_fit(sentence: str, place: tuple[int, int]) -> None:
    [problem] = find_problems(f"{GOOD}\n{sentence}", ASKED)
    assert (problem.line, problem.column, problem.length) == (3, *place)
    assert problem.is_fatal


def test_all_bad_sentences_are_found() -> None:
    found = find_problems(f"Ada sat.\n{GOOD}\n\nBo stood.", ASKED)
    assert [each.line for each in found] == [1, 5]  # the empty line does not matter beside these
    assert [each.line for each in find_problems(f"{GOOD}\n", ASKED)] == [3]


@given(st.text(alphabet="Ada entrdhkym.ovisl\t|Tx ", max_size=40))
def test_a_sentence_is_a_problem_if_it_cannot_be_parsed(sentence: str) -> None:
    try:
        parse_sentence(sentence)
        readable = True
    except ParseError:
        readable = False
    found = [each for each in find_problems(f"{GOOD}\n{sentence}", ASKED) if each.is_fatal]
    assert bool(found) != readable
    for each in found:
        assert each.line == 3
        assert 0 <= each.column <= len(sentence) + 1
        assert each.column + each.length <= len(sentence) + 1


def test_questions_that_the_story_does_not_allow() -> None:
    assert [each.part for each in find_problems(GOOD, "Where is Ada?")] == ["question"]
    [stranger] = find_problems(GOOD, "Where will Bo look for the key?")
    assert not stranger.is_fatal
    [deep] = find_problems(GOOD, f"Where does Ada think that {'Ada thinks that ' * 8}Ada searches for the key?")
    assert "at most 8" in deep.message


def test_more_than_can_be_handled() -> None:
    many = "\n".join(f"Person{number} entered the attic." for number in range(300))
    assert any("at most" in each.message for each in find_problems(f"{many}\nThe key is in the box.", ASKED))


def test_listed_questions_can_be_read() -> None:
    story = f"{GOOD}\nBo entered the attic.\nCy entered the hall."
    found = list_questions(story, 3)
    assert len(found) == len(set(found)) == 2 + (3 * 3 + 1) + (6 * 2 + 3) + 3 * 2 * 2
    assert all(load_family("belief").reads(each) for each in found)
    assert not any(problem.is_fatal for each in found for problem in find_problems(story, each))
    with pytest.raises(DataError, match="expected 1 to 8"):
        list_questions(story, 9)


def test_nobody_thinks_of_their_own_thoughts() -> None:
    assert list(chains_of("ab", 3)) == [("a", "b", "a"), ("b", "a", "b")]
