from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import storyproof
from storyproof.errors import ParseError
from storyproof.families.kinship.language.reading import Reading
from storyproof.families.kinship.oracle import ProofStep
from storyproof.families.kinship.relations import Fact
from storyproof.families.kinship.row import KinshipRow, read_row
from storyproof.families.kinship.stated_facts import Piece, Text, read_texts, split_sentences, split_story, stated_facts
from storyproof.families.kinship.tasks import TASKS, TASKS_BY_NUMBER, noise_types, story_type
from tests.groups import only_first

pytestmark = pytest.mark.usefixtures("small_blocks")

Row = dict[str, Any]
# Ann's son is Bob, whose daughter is Cleo; and Ann has a brother, Dan.
ROW: Row = {
    "id": "1",
    "story": "Bob is the son of Ann.\nDan is the brother of Ann.\nCleo is the daughter of Bob.",
    "question": "What is Cleo to Ann?",
    "answer": "granddaughter",
    "k": 2,
    "query": ["Ann", "Cleo"],
    "genders": ["Ann:female", "Bob:male", "Cleo:female", "Dan:male"],
    "edges": [[0, 1], [1, 2], [0, 3]],
    "edge_types": ["son", "daughter", "brother"],
    "noise_types": ["irrelevant"],
    "placeholders": [],
    "proof_steps": [[0, 1, 2]],
    "proof_relations": ["granddaughter"],
}


@cache
def made(task: str, text: str = "natural") -> tuple[Row, ...]:
    return tuple(storyproof.generate("clutrr", train=300, seed=3, task=task, train_k=(2,), text=text).to_pylist())


# ------------------------------------------------------------------------------------------------------- reading rows


def test_a_row_is_read() -> None:
    case = read_row(ROW)
    assert case.names == ("Ann", "Bob", "Cleo", "Dan")
    assert case.genders == ("female", "male", "female", "male")
    assert case.facts == (Fact(0, "child", 1), Fact(1, "child", 2), Fact(0, "sibling", 3))
    assert case.edges == ((0, 1), (1, 2), (0, 3))
    assert case.k == 2
    assert case.chain == case.facts[:2]
    assert case.asked == (0, 2)
    assert case.query == Fact(0, "grand", 2)
    assert case.steps == (ProofStep(Fact(0, "grand", 2), 1),)
    assert case.untyped == 0


def test_noise_without_a_relation_is_read_as_published() -> None:
    case = read_row({**ROW, "edge_types": ["son", "daughter"]})
    assert case.untyped == 1
    assert case.facts == (Fact(0, "child", 1), Fact(1, "child", 2))
    assert case.edges == ((0, 1), (1, 2), (0, 3))


@pytest.mark.parametrize("lacking", ["k", "noise_types", "proof_steps", "proof_relations", "placeholders", "story"])
def test_what_can_be_worked_out_may_be_lacking(lacking: str) -> None:
    rest = {name: value for name, value in ROW.items() if name not in {lacking, "proof_relations", "proof_steps"}}
    case = read_row(rest)
    assert case.k == 2
    assert case.steps is None
    assert read_row({**rest, lacking: None}) == case


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"genders": ["Ann"]}, r"genders has 'Ann'; expected 'Name:male' or 'Name:female'"),
        ({"genders": ["Ann:woman"]}, r"genders has 'Ann:woman'; expected"),
        ({"genders": [":female"]}, r"genders has ':female'; expected"),
        ({"genders": ["Ann:female", "Ann:female"]}, r"genders has a name twice: Ann, Ann"),
        ({"edge_types": ["son"] * 4}, r"edge_types has 4 relations, but edges only 3 pairs"),
        ({"edges": [[0, 1], [1, 2], [0]]}, r"edge 2 is \[0\]; expected two of 4 people, counted from 0"),
        ({"edges": [[0, 1], [1, 2], [0, 4]]}, r"edge 2 is \[0, 4\]; expected two of 4 people, counted from 0"),
        ({"edges": [[0, 1], [1, -2], [0, 3]]}, r"edge 1 is \[1, -2\]; expected two of 4 people"),
        (
            {"edge_types": ["son", "cousin", "brother"]},
            r"edge 1: 'cousin' is not a known relation; expected one of son, daug",
        ),
        ({"edge_types": ["son", "son", "brother"]}, r"edge 1: 'son' does not fit a person who is female"),
        ({"query": ["Ann"]}, r"query is \['Ann'\]; expected two of Ann, Bob, Cleo, Dan"),
        ({"query": ["Ann", "Zoe"]}, r"query is \['Ann', 'Zoe'\]; expected two of"),
        ({"query": None}, r"query is None; expected two of"),
        ({"answer": "grandson"}, r"answer: 'grandson' does not fit a person who is female"),
        ({"answer": "child"}, r"answer: 'child' is not a known relation"),
        ({"k": 4}, r"k is 4, but 3 facts have a relation"),
        ({"k": -1}, r"k is -1"),
        ({"k": 0}, r"k is 0"),
        ({"k": 3, "edge_types": ["son", "daughter"]}, r"k is 3, but 2 facts have a relation"),
        ({"proof_steps": []}, r"the proof has 0 steps, but 1 relations"),
        ({"proof_relations": None}, r"the proof has 1 steps, but 0 relations"),
        ({"proof_steps": [[0, 2]]}, r"step 0 of the proof is \[0, 2\]; expected three people"),
        ({"proof_steps": [[0, 9, 2]]}, r"step 0 of the proof is \[0, 9, 2\]; expected three people"),
        ({"proof_relations": ["grandson"]}, r"step 0 of the proof: 'grandson' does not fit a person who is female"),
        ({"proof_relations": ["xyz"]}, r"step 0 of the proof: 'xyz' is not a known relation"),
    ],
)
def test_columns_that_do_not_fit_together_are_refused(changes: Row, message: str) -> None:
    with pytest.raises(ParseError, match=message):
        read_row({**ROW, **changes})


@pytest.mark.parametrize("name", ["genders", "edges", "edge_types", "query"])
def test_a_row_without_what_it_is_about_is_refused(name: str) -> None:
    with pytest.raises(ParseError, match=name):
        read_row({**ROW, name: None})
    with pytest.raises(ParseError, match=name):
        read_row({other: value for other, value in ROW.items() if other != name})


# ------------------------------------------------------------------------------------------------------ what is told


def test_facts_are_read_line_by_line() -> None:
    case = read_row(ROW)
    assert stated_facts(case, Text(ROW["story"], [], case.names)) == [[case.facts[0]], [case.facts[2]], [case.facts[1]]]


@pytest.mark.parametrize(
    ("line", "placeholder", "message"),
    [
        ("Bob is the son of Eve.", None, "line 1 mentions 'Eve', who is not in genders"),
        ("Eve is the daughter of Bob.", None, "line 1 mentions 'Eve', who is not in genders"),
        ("Bob is the sister of Ann.", None, "line 1: 'sister' does not fit a person who is male"),
        ("Bob is the cousin of Ann.", None, "line 1: 'cousin' is not a known relation"),
        ("Bob, Ann.", "son/male,male/ENT_1_male, ENT_0_male.", "line 1 describes Ann as male"),
        ("Bob, Ann.", "brother/female,male/ENT_0_female, ENT_1_male.", "line 1 describes Bob as female"),
        ("Bob met Ann.", "son/female,male/ENT_1_male, ENT_0_female.", "'Bob met Ann.' does not match its placehol"),
    ],
)
def test_a_line_that_does_not_fit_is_refused(line: str, placeholder: str | None, message: str) -> None:
    row = read_row(ROW)
    with pytest.raises(ParseError, match=message):
        stated_facts(row, Text(line, [placeholder] if placeholder else [], row.names))


def test_as_many_lines_as_placeholders() -> None:
    row = read_row(ROW)
    with pytest.raises(ParseError, match="the story has 3 lines, but 1 placeholders are recorded"):
        stated_facts(row, Text(ROW["story"], ["son/female,male/0"], row.names))


# ----------------------------------------------------------------------------------------------------- running texts


@pytest.mark.parametrize(
    ("task", "text"),
    only_first(
        4,
        [
            ("mixed", "synthetic"),
            ("irrelevant", "plain"),
            *((task, text) for task in ("all", "clean", "memory") for text in ("natural", "placeholders")),
        ],
    ),
)
@pytest.mark.parametrize("step", [4, pytest.param(1, marks=pytest.mark.slow)])
def test_stories_of_ours_are_known_and_tell_their_facts(task: str, text: str, step: int) -> None:
    for row in made(task, text)[::step]:
        case = read_row(row)
        found = stated_facts(case, Text(row["story"], row["placeholders"], case.names))
        assert sorted(fact for line in found for fact in line) == sorted(case.facts)
        for story in (row["story"], row["story"].replace("\n", " ")):
            if text in ("natural", "plain"):
                pieces = _sentences(case, story)
                assert [number for number, line in enumerate(found) if line]
            else:
                pieces = split_story(case, story)
            assert pieces is not None
            assert " ".join(piece for piece, _ in pieces) == " ".join(story.split())
            assert sorted(fact for _, facts in pieces for fact in facts) == [*range(len(case.facts))]
        assert noise_types(case.edges, case.k) == row["noise_types"]
        assert story_type(row["noise_types"], case.asked, case.edges) == row["story_type"]


def _sentences(case: KinshipRow, story: str) -> list[Piece] | None:
    (reading,) = read_texts([Text(story, [], case.names)])
    assert isinstance(reading, Reading)
    return split_sentences(case, story, reading)


def test_sentences_of_a_text_that_states_something_else() -> None:
    case = read_row(ROW)
    told = "Ann's son Bob sang. Cleo, Bob's daughter, danced. Dan is Ann's brother."
    expected = ["Ann's son Bob sang.", "Cleo, Bob's daughter, danced.", "Dan is Ann's brother."]
    assert _sentences(case, told) == [(text, {number}) for number, text in enumerate(expected)]
    for wrong in (
        told.replace("son", "grandson"),
        told.replace(" Dan is Ann's brother.", ""),
        f"{told} Ann is Dan's sister.",
    ):
        assert _sentences(case, wrong) is None


@pytest.mark.parametrize(
    ("story", "message"),
    [
        ("It rained.", "line 1, sentence 1, column 1, 'It': not understood: no relation is stated"),
        ("Ann's son Bob sang.\nCleo thinks of Bob as her father.", "line 2, sentence 2, column .*: not understood"),
        ("Cleo, Eve's mother, met Ann.", "line 1, sentence 1, column 13, 'mother': not understood"),
        ("Ann is Cleo's grandfather.", "line 1: 'grandfather' does not fit a person who is female"),
        ("Ann sang. He is Bob's father.", "line 1: 'father' does not fit a person who is female"),
    ],
)
def test_a_natural_text_that_does_not_fit_is_refused(story: str, message: str) -> None:
    case = read_row(ROW)
    with pytest.raises(ParseError, match=message):
        stated_facts(case, Text(story, [], case.names))


def test_a_natural_text_may_state_a_fact_from_either_side() -> None:
    case = read_row(ROW)
    facts = [[case.facts[0]], [case.facts[1], case.facts[2]]]
    for story in (
        "Ann's son Bob sang.\nBob's daughter Cleo danced. Ann has a brother, Dan.",
        "Bob's mother Ann sang.\nBob, Cleo's father, danced. Ann and Dan are sister and brother.",
    ):
        assert stated_facts(case, Text(story, [], case.names)) == facts


@given(st.sampled_from(["clean", "memory"]), st.integers(0, 299), st.data())
def test_a_running_text_with_a_line_too_few_or_too_many_is_not_told(task: str, row: int, data: st.DataObject) -> None:
    each = made(task, "synthetic")[row]
    lines = each["story"].split("\n")
    place = data.draw(st.integers(0, len(lines) - 1))
    assert split_story(read_row(each), " ".join(lines[:place] + lines[place + 1 :])) is None
    assert split_story(read_row(each), " ".join([*lines, lines[place]])) is None
    assert split_story(read_row(each), " ".join([*lines, "It rained."])) is None


def test_a_running_text_in_other_words_does_not_tell_it() -> None:
    assert split_story(read_row(ROW), "Ann raised Bob, who raised Cleo. Dan is Ann's twin.") is None


@pytest.mark.parametrize(
    "story",
    [
        ROW["story"].replace("son", "uncle"),
        ROW["story"].replace("Dan", "Don"),
        ROW["story"].replace("\n", ". "),
        ROW["story"].replace("Bob is the son of Ann", "Ann is the mother of Bob"),
        ROW["story"] + "\nBob is the son of Ann.",
        ROW["story"][:-1],
    ],
)
def test_a_running_text_that_tells_something_else_is_not_told(story: str) -> None:
    assert split_story(read_row(ROW), story) is None


def test_names_that_begin_alike_are_kept_apart() -> None:
    row = {**ROW, "genders": ["@entity-1:female", "@entity-11:male", "@entity-111:female", "@entity-2:male"]}
    row["query"] = ["@entity-1", "@entity-111"]
    told = (
        "@entity-11 is the son of @entity-1. @entity-111 is the daughter of @entity-11. "
        "@entity-2 is the brother of @entity-1."
    )
    assert split_story(read_row(row), told) is not None
    assert split_story(read_row(row), told.replace("@entity-111 ", "@entity-11 ")) is None


# ------------------------------------------------------------------------------------------------- kinds of stories


@pytest.mark.parametrize(
    ("noise", "types"),
    [
        ([], []),
        ([(0, 3)], ["irrelevant"]),
        ([(3, 2)], ["irrelevant"]),
        ([(0, 2)], ["supporting"]),  # straight between two people of the chain
        ([(0, 3), (3, 1)], ["supporting", "supporting"]),
        ([(3, 0), (1, 3)], ["supporting", "supporting"]),
        ([(0, 3), (4, 1)], ["irrelevant", "irrelevant"]),  # nothing ties them together
        ([(0, 3), (3, 4), (4, 2)], ["supporting"] * 3),  # a longer second path
        ([(0, 3), (3, 4)], ["irrelevant", "irrelevant"]),
        ([(3, 4)], ["disconnected"]),
        ([(3, 4), (5, 4)], ["disconnected", "disconnected"]),
        ([(0, 3), (4, 5)], ["irrelevant", "disconnected"]),
        ([(0, 3), (3, 1), (2, 4), (5, 6)], ["supporting", "supporting", "irrelevant", "disconnected"]),
        ([(0, 3), (0, 4)], ["irrelevant", "irrelevant"]),  # they meet in the chain only
    ],
)
def test_noise_is_typed_by_how_it_hangs_together(noise: list[tuple[int, int]], types: list[str]) -> None:
    assert noise_types([(0, 1), (1, 2), *noise], 2) == types


@pytest.mark.parametrize(
    ("noise", "asked", "kind"),
    [
        ([], (0, 2), "clean"),
        (["supporting", "supporting"], (0, 2), "supporting"),
        (["irrelevant"], (0, 2), "irrelevant"),
        (["disconnected"], (0, 2), "disconnected"),
        (["supporting", "irrelevant"], (0, 2), "all"),
        (["irrelevant", "disconnected"], (0, 2), "all"),
        ([], (0, 1), "memory"),
        (["irrelevant"], (1, 2), "memory"),
        ([], (1, 0), "clean"),  # the other way round it is to be found out
    ],
)
def test_a_story_is_named_after_its_noise(noise: list[str], asked: tuple[int, int], kind: str) -> None:
    assert story_type(noise, asked, [(0, 1), (1, 2)]) == kind


def test_tasks_by_number() -> None:
    assert [TASKS_BY_NUMBER[number] for number in range(1, 8)] == list(TASKS)
