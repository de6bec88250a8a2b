from hypothesis import given
from hypothesis import strategies as st

from storyproof.families.belief.encoding import agents_of
from storyproof.families.family import load_family
from storyproof.solvers.neural.text import question_words, sentences_of, words_of
from tests.samples import BELIEF, STORY, example, examples


def test_words() -> None:
    assert words_of("Ada's mother-in-law, @entity-3, left.") == [
        "Ada", "'s", "mother-in-law", ",", "@entity-3", ",", "left",
    ]  # fmt: skip
    assert words_of(" . ") == []


def test_sentences_are_lines() -> None:
    assert sentences_of("A b. C d.\n\nE f.") == [["A", "b", "C", "d"], ["E", "f"]]


def test_sentences_of_a_running_text() -> None:
    assert sentences_of("Ada left. Did Ben? Yes!  Fine.") == [
        ["Ada", "left"], ["Did", "Ben", "?"], ["Yes", "!"], ["Fine"],
    ]  # fmt: skip


@given(st.lists(st.lists(st.sampled_from(["Ada", "entered", "mother-in-law", "'s", "@entity-1", ","]), min_size=1)))
def test_words_come_back(sentences: list[list[str]]) -> None:
    text = "\n".join(" ".join(words) + "." for words in sentences)
    assert sentences_of(text) == sentences


def test_questions() -> None:
    assert question_words(example(question=BELIEF))[:4] == ["Where", "does", "Ada", "think"]
    assert "?" not in question_words(example(question=BELIEF))
    assert question_words(example(edges=[], query=["Ada", "Ben"])) == ["Ada", "Ben"]


def test_people() -> None:
    kinship = load_family("kinship")
    assert kinship.people(example(genders=["Ada:female", "Ben:male"])) == ["Ada", "Ben"]
    assert kinship.people(example()) == []
    assert agents_of(f"Cleo hates the key.\n{STORY}\nPhone rang.") == ["Cleo", "Ada", "Ben"]


def test_agents_are_all_who_are_asked_about() -> None:
    for each in examples("tomi", "train"):
        assert set(each.chain) <= set(agents_of(each.story))
