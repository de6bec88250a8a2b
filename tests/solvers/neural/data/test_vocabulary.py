import pytest
from hypothesis import given
from hypothesis import strategies as st

from storyproof.families.belief.family import people_of
from storyproof.families.family import load_family
from storyproof.solvers.neural.data.vocabulary import (
    learn_vocabulary,
    merge_vocabularies,
    question_words,
    split_sentences,
    split_words,
    translate_numbers,
)
from tests.samples import BELIEF, STORY, example, examples
from tests.solvers.neural.fixtures import CLUTRR, TOMI, parts_of


def test_words() -> None:
    assert split_words("Ada's mother-in-law, @entity-3, left.") == [
        "Ada", "'s", "mother-in-law", ",", "@entity-3", ",", "left",
    ]  # fmt: skip
    assert split_words(" . ") == []


def test_sentences_are_lines() -> None:
    assert split_sentences("A b. C d.\n\nE f.") == [["A", "b", "C", "d"], ["E", "f"]]


def test_sentences_of_a_running_text() -> None:
    assert split_sentences("Ada left. Did Ben? Yes!  Fine.") == [
        ["Ada", "left"], ["Did", "Ben", "?"], ["Yes", "!"], ["Fine"],
    ]  # fmt: skip


@given(st.lists(st.lists(st.sampled_from(["Ada", "entered", "mother-in-law", "'s", "@entity-1", ","]), min_size=1)))
def test_words_come_back(sentences: list[list[str]]) -> None:
    text = "\n".join(" ".join(words) + "." for words in sentences)
    assert split_sentences(text) == sentences


def test_questions() -> None:
    assert question_words(example(question=BELIEF))[:4] == ["Where", "does", "Ada", "think"]
    assert "?" not in question_words(example(question=BELIEF))
    assert question_words(example(edges=[], query=["Ada", "Ben"])) == ["Ada", "Ben"]


def test_people() -> None:
    kinship = load_family("kinship")
    assert kinship.people(example(genders=["Ada:female", "Ben:male"])) == ["Ada", "Ben"]
    assert kinship.people(example()) == []
    assert people_of(f"Cleo hates the key.\n{STORY}\nPhone rang.") == ["Cleo", "Ada", "Ben"]


def test_agents_are_all_who_are_asked_about() -> None:
    for each in examples("tomi", "train"):
        assert set(each.chain) <= set(people_of(each.story))


@pytest.mark.parametrize("family", [TOMI, CLUTRR])
def test_union_has_all_and_says_where(family: str) -> None:
    parts = [learn_vocabulary(rows) for rows in parts_of(family)]
    whole = merge_vocabularies(parts)
    assert set(whole.words) == {word for part in parts for word in part.words}
    assert set(whole.answers) == {answer for part in parts for answer in part.answers}
    for part in parts:
        numbers = translate_numbers(part, whole)
        assert len(numbers) == part.size
        assert len(set(numbers.tolist())) == part.size
        for word, number in part.numbers.items():
            assert whole.numbers[word] == numbers[number]
        assert numbers[part.first_entity :].tolist() == list(range(whole.first_entity, whole.size))
    assert merge_vocabularies(parts[:1]) == parts[0]
