"""Laws of the family: oracle and checker agree, proofs prove, names do not matter."""

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from storyproof_orderings import checker, oracle
from storyproof_orderings.benchmark import NAMES, Orderings, OrderingsConfig
from storyproof_orderings.family import FAMILY
from storyproof_orderings.orders import (
    COMPARE,
    NO,
    SHORTEST,
    TALLEST,
    UNKNOWN,
    YES,
    Fact,
    Question,
    parse_question,
    parse_story,
    people_of,
)

from storyproof.audits.row_pass import examine_table
from storyproof.errors import ConfigError, ParseError
from storyproof.generation.seeds import combination

PEOPLE = "ABCDE"
FACTS = st.lists(
    st.tuples(st.sampled_from(PEOPLE), st.sampled_from(PEOPLE)).filter(lambda pair: pair[0] != pair[1]),
    min_size=1,
    max_size=7,
).map(lambda pairs: [Fact(*pair) for pair in pairs])


def questions(facts: list[Fact]) -> list[Question]:
    pairs = permutations(people_of(facts), 2)
    return [Question(TALLEST), Question(SHORTEST), *(Question(COMPARE, *pair) for pair in pairs)]


def told(facts: list[Fact]) -> str:
    return "\n".join(f"{fact.taller} is taller than {fact.shorter}." for fact in facts)


@given(FACTS)
def test_oracle_and_checker_agree(facts: list[Fact]) -> None:
    for question in questions(facts):
        second = checker.answer(facts, question)
        try:
            assert oracle.answer(facts, question).value == second
        except ParseError:
            assert second == ""


@given(FACTS)
def test_the_named_sentences_are_enough(facts: list[Fact]) -> None:
    for question in questions(facts):
        try:
            found = oracle.answer(facts, question)
        except ParseError:
            return
        kept = [facts[number - 1] for number in found.proof]
        assert bool(kept) == (found.value != UNKNOWN)
        if kept:
            assert checker.answer(kept, question) == found.value


@given(FACTS)
def test_text_is_read_back(facts: list[Fact]) -> None:
    assert parse_story(told(facts)) == facts


@given(FACTS, st.permutations("VWXYZ"))
def test_names_do_not_matter(facts: list[Fact], others: list[str]) -> None:
    renamed = dict(zip(PEOPLE, others, strict=True))
    changed = [Fact(renamed[fact.taller], renamed[fact.shorter]) for fact in facts]
    for question in questions(facts):
        first = checker.answer(facts, question)
        asked = Question(question.kind, renamed.get(question.taller, ""), renamed.get(question.shorter, ""))
        assert checker.answer(changed, asked) == renamed.get(first, first)


def test_both_directions() -> None:
    facts = parse_story("Ann is taller than Bob.\nCal is shorter than Bob.")
    assert facts == [Fact("Ann", "Bob"), Fact("Bob", "Cal")]
    assert oracle.answer(facts, parse_question("Is Cal shorter than Ann?")) == (YES, [1, 2])
    assert oracle.answer(facts, parse_question("Is Cal taller than Ann?")) == (NO, [1, 2])
    assert oracle.answer(facts, parse_question("Who is the tallest?")) == ("Ann", [1, 2])


@pytest.mark.parametrize("text", ["Ann waved.", "Ann is taller than Ann.", ""])
def test_other_sentences_are_refused(text: str) -> None:
    with pytest.raises(ParseError, match="sentence 1"):
        parse_story(text)


def test_a_story_that_cannot_happen() -> None:
    with pytest.raises(ParseError, match="expected a story that can happen"):
        FAMILY.derive("Ann is taller than Bob.\nBob is taller than Ann.", "Who is the tallest?")


@pytest.mark.parametrize("people", [3, 8, "5"])
def test_settings_are_checked(people: object) -> None:
    with pytest.raises(ConfigError, match="--people"):
        OrderingsConfig(people=people)  # type: ignore[arg-type]


def test_answers_are_balanced_and_no_story_occurs_twice() -> None:
    table = Orderings(OrderingsConfig(people=4), 1).block("train", 0)
    rows = table.to_pylist()
    first = [row["answer"] for row in rows[::3]]
    assert {answer: first.count(answer) for answer in first} == dict.fromkeys((YES, NO, UNKNOWN), len(first) // 3)
    assert len({row["story"] for row in rows}) == len(rows) // 3
    assert not examine_table(table).findings


def test_combinations_are_counted_once() -> None:
    assert [combination(rank, 5, 2) for rank in range(10)] == [[a, b] for a in range(5) for b in range(a + 1, 5)]
    assert len(set(NAMES)) == len(NAMES)
