"""States, readings and worlds: the checker agrees with the oracle after every sentence."""

import pytest

import storyproof
from storyproof.errors import DataError
from storyproof.example import Example
from storyproof.families.belief.readings import DEFAULT_READING
from storyproof.families.belief.states import answers_by_reading, models_of, steps_of
from storyproof.families.belief.tomi_text import parse
from storyproof.families.family import load_family
from tests.families.belief.possible_worlds import MindWorlds


@pytest.fixture(scope="module")
def examples() -> list[Example]:
    found: list[Example] = []
    for name in ("tomi", "tomi-matched", "tom-babi"):
        rows = storyproof.generate(name, test=12, seed=11).to_pylist()
        found += [Example.from_row(row, "belief") for row in rows]
    return found


def test_the_last_state_has_the_answer_and_no_step_differs_from_the_checker(examples: list[Example]) -> None:
    for example in examples[::5]:
        steps = steps_of(example, 2)
        lines = example.story.split("\n")
        assert [each.sentence for each in steps] == lines
        thing = example.question.rstrip("?").removesuffix(" really").removesuffix(" at the beginning").split(" ")[-1]
        events = parse(example.story)  # rooms are those of the whole story
        for number, step in enumerate(steps, start=1):
            worlds = MindWorlds(events[:number], DEFAULT_READING)
            for entry in step.entries:
                if entry.name == "really":
                    assert entry.value == (worlds.reality(thing) or "")
                elif entry.name.endswith(" thinks"):
                    chain = entry.name.replace(" thinks", "").split(" ")
                    believed = worlds.belief(chain, thing)
                    about = worlds.belief(chain[1:], thing)
                    assert entry.value == (believed or "")
                    assert entry.is_wrong == (believed is not None and believed != about)


def test_answers_by_reading_are_those_of_the_row(examples: list[Example]) -> None:
    for example in examples:
        found = answers_by_reading(example)
        assert sorted(name for name, answer in found.items() if answer == example.answer) == sorted(example.readings)


def test_one_world_if_there_is_an_answer(examples: list[Example]) -> None:
    for example in examples:
        if example.order:
            assert [each.answer for each in models_of(example)] == [example.answer]
        else:
            assert models_of(example) == []


def test_to_who_saw_nothing_the_object_may_be_anywhere() -> None:
    family = load_family("belief")
    story = "Ada entered the attic.\nThe key is in the box.\nAda moved the key to the jar.\nBo entered the hall."
    example = family.prove_text(story, "Where does Ada think that Bo searches for the key?")
    assert example.answer == ""
    [world] = family.models(example)
    assert (world.answer, world.caption) == (
        "",
        "Ada thinks that Bo considers this world possible: the key may be anywhere.",
    )
    assert family.answers_by_reading(example) == {"open": "", "closed": "", "infer-mover": ""}


def test_orders_are_bounded() -> None:
    family = load_family("belief")
    example = family.prove_text("Ada entered the attic.\nThe key is in the box.", "Where is the key really?")
    assert len(family.steps(example, 8)[0].entries) == 3  # Ada alone has no thoughts about other minds
    with pytest.raises(DataError, match="expected 1 to 8"):
        family.steps(example, 0)
