"""Relations that a chain of thought states: read conservatively, and compared with the families that fit."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storyproof.datasets.reading import as_example
from storyproof.datasets.stream import stream
from storyproof.families.kinship.family import FAMILY
from storyproof.families.kinship.relations import WORDS
from storyproof.language.chain_of_thought import RIGHT, UNCLEAR, WRONG
from tests.groups import try_examples

STORY = "Ada is the mother of Ben.\nCleo is the sister of Ben.\nDan is the brother of Ada.\nEve is the wife of Dan."
ROW = as_example({"story": STORY, "question": "What is Cleo to Ada?"})


def read(text: str) -> list[str]:
    return [each.stated for each in FAMILY.statements(text, ROW)]


def verdicts(text: str) -> list[str]:
    return [FAMILY.check_statement(each, ROW).kind for each in FAMILY.statements(text, ROW)]


@pytest.mark.parametrize(
    "text",
    [
        "Dan is Ben's uncle.",
        "Dan is Ben’s uncle",
        "So Dan is the uncle of Ben.",
        "Dan is an uncle to Ben.",
        "Therefore, Dan must be Ben's uncle!",
        "Dan must therefore be Ben's uncle.",
        "Ben's uncle is Dan.",
        "The uncle of Ben is Dan.",
        "Ben has an uncle named Dan.",
        "Ben's maternal uncle is Dan.",
        "Then Dan would be Ben's uncle.",
        "It follows that Dan is Ben's uncle.",
        "This means Dan is Ben's uncle because Ada has a brother.",
        "1) **Dan** is **Ben's** uncle",
        "Nobody knows more, so Dan is Ben's uncle.",
    ],
)
def test_a_relation_is_read_in_many_phrasings(text: str) -> None:
    assert read(text) == ["Dan is Ben's uncle"]
    assert verdicts(text) == [RIGHT]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ben and Cleo are siblings.", [RIGHT]),
        ("Ben and Cleo are brothers.", [UNCLEAR, WRONG]),  # nothing shows what Ben is
        ("Ada and Dan are married.", [WRONG]),
        ("Eve is married to Dan.", [RIGHT]),
        ("Ada is Cleo's mom.", [RIGHT]),
        ("Ada is Cleo's parent.", [RIGHT]),
        ("Cleo is Dan's nephew.", [WRONG]),
        ("Cleo is Ada's child, and Dan is Cleo's father.", [RIGHT, WRONG]),
        ("Ada is the mother of Ben and Cleo.", [RIGHT, RIGHT]),
        ("Ada is the mother of Ben and Cleo is the sister of Dan.", [RIGHT, WRONG]),
        ("Since Ada is Ben's mother and Dan is Ada's brother, Dan is Ben's grandfather.", [RIGHT, RIGHT, WRONG]),
        ("Eve is Ada's sister-in-law.", [RIGHT]),
        ("Eve is Ada's sister in law.", [RIGHT]),
        ("Dan is not Ben's uncle.", [WRONG]),
        ("Dan isn't Ben's father.", [RIGHT]),
        ("Dan is not the uncle of Ben.", [WRONG]),
    ],
)
def test_relations_are_compared_with_all_families_that_fit(text: str, expected: list[str]) -> None:
    assert verdicts(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "uncle",
        "Is Dan Ben's uncle?",
        "Dan is Ben's uncle?",
        "If Dan is Ben's father, then Ada is Ben's aunt.",
        "Suppose Dan is Ben's father.",
        "Maybe Dan is Ben's father.",
        "Dan might be Ben's father.",
        "Dan is either Ben's father or Ben's uncle.",
        'The text says "Dan is Ben\'s father".',
        "It is not true that Dan is Ben's father.",
        "It is impossible that Dan is Ben's father.",
        "Dan is the brother of Ada.",  # a sentence of the story
        "Dan is Ben's great-uncle.",
        "Dan is Ben's step-father.",
        "Dan is Ben's mother's brother.",
        "Dan is the father of Ben's sister.",
        "Dan is Ben's teacher.",
        "Dan is related to Ben.",
        "Zoe is Ben's aunt.",
        "He is Ben's father.",
        "Dan is Dan's father.",
        "Dan is like Ben's father.",
        "Dan thinks of Ben. According to Eve, Dan is Ben's father.",
        "Someone is Ben's father.",
        "Dan is Ben's father, by marriage.",
        "Fact 3: Dan is the brother of Ada.",
    ],
)
def test_what_is_asked_supposed_reported_or_not_understood_states_nothing(text: str) -> None:
    assert read(text) == []


def test_what_is_possible_but_does_not_follow_is_unclear() -> None:
    row = as_example(
        {"story": "Ada is the sister of Ben.\nCleo is the wife of Ben.", "question": "What is Cleo to Ada?"}
    )
    longer = as_example(
        {"story": "Ben is the son of Ada.\nCleo is the aunt of Ben.", "question": "What is Cleo to Ada?"}
    )
    [said] = FAMILY.statements("Cleo is Ada's sister.", longer)
    assert FAMILY.check_statement(said, longer).kind == UNCLEAR
    [said] = FAMILY.statements("Cleo is Ada's sister-in-law.", row)
    assert FAMILY.check_statement(said, row).kind == RIGHT


@try_examples(30)
@given(st.integers(0, 200), st.sampled_from(WORDS))
def test_on_generated_stories_only_the_proved_relation_is_right(number: int, word: str) -> None:
    [row] = stream("clutrr", seed=5)[number].rows
    first, second = row.get("query")
    [said] = FAMILY.statements(f"{second} is {first}'s {word}.", row)
    assert said.question == row.question
    verdict = FAMILY.check_statement(said, row)
    assert (verdict.kind, verdict.holds) == (RIGHT if word == row.answer else WRONG, row.answer)


@given(st.text(max_size=300))
def test_any_text_can_be_read(text: str) -> None:
    for said in FAMILY.statements(text + " Dan is Ben's uncle. " + text, ROW):
        assert 0 <= said.start < said.end
