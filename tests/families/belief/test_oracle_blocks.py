"""The oracle on blocks of random stories of every kind, against the checker: answers, beliefs over time, and proofs."""

from __future__ import annotations

import random
from functools import cache

import numpy as np
import pytest

from storyproof.families.belief.answers import PlotAnswers, oracle_answer
from storyproof.families.belief.arrays import NOBODY, PlotArrays, encode_plots
from storyproof.families.belief.block_checker import answer_under
from storyproof.families.belief.oracle import beliefs, contract, reality
from storyproof.families.belief.proof_check import check_proofs
from storyproof.families.belief.provers import answer, answer_all
from storyproof.families.belief.questions import ASKS, Ask, BeliefQuestion, QuestionArrays
from storyproof.families.belief.read_text import read_story
from storyproof.families.belief.readings import (
    ALL_READINGS,
    ALWAYS,
    AUDIT_READINGS,
    CLOSED,
    DEFAULT_READING,
    FRESHER,
    INFER_MOVER,
    NEVER_LIARS,
    BeliefReading,
)
from storyproof.families.belief.trajectories import Course
from tests.families.belief.plots import PEOPLE, Plot, chains, gossiping_plot, returning_plot
from tests.families.belief.possible_worlds import MindWorlds
from tests.families.belief.test_block_checker import SIX, any_question, block_of, questions_of, some_stories

QUESTIONS = 6  # of each story
MANY = tuple(f"P{number}" for number in range(40))


def ask(stories: list[Plot], rng: random.Random, questions: int = QUESTIONS) -> tuple[PlotArrays, QuestionArrays]:
    """Return stories as arrays, and questions of every kind about them."""
    arrays, names = encode_plots(stories)
    asked = [
        (number, any_question(rng, tuple(names[number].agents) or SIX))
        for number in range(len(stories))
        for _ in range(questions)
    ]
    return arrays, questions_of(asked, names)


@cache
def block(seed: int, count: int) -> tuple[PlotArrays, QuestionArrays]:
    rng = random.Random(seed)
    return ask(some_stories(rng, count), rng)


@pytest.mark.parametrize("seed", range(2))
def test_answers_are_those_of_the_checker(seed: int) -> None:
    stories, asked = block(seed, 700)
    expected = answer_under(block_of(stories), asked, AUDIT_READINGS)
    for reading, codes, checked in zip(
        AUDIT_READINGS, answer_all(stories, asked, AUDIT_READINGS), expected, strict=True
    ):
        assert (codes == checked).all(), reading


def test_one_reading_is_answered_as_with_others() -> None:
    stories, asked = block(2, 150)
    together = answer_all(stories, asked, ALL_READINGS)
    for reading, codes in zip(ALL_READINGS, together, strict=True):
        assert (answer(stories, asked, reading) == codes).all(), reading


def ask_all_chains(stories: list[Plot], longest: int) -> tuple[PlotArrays, QuestionArrays]:
    """Return stories as arrays, and what each chain of three people believes about the key."""
    arrays, names = encode_plots(stories)
    every = [BeliefQuestion(Ask.BELIEF, "key", chain) for chain in chains(PEOPLE[:3], longest)]
    return arrays, questions_of([(number, each) for number in range(len(stories)) for each in every], names)


def test_all_chains_of_people_who_return_believe_what_the_checker_says() -> None:
    rng = random.Random(7)
    stories, asked = ask_all_chains([returning_plot(rng) for _ in range(1500)], 2)
    expected = answer_under(block_of(stories), asked, ALL_READINGS)
    for reading, codes, checked in zip(ALL_READINGS, answer_all(stories, asked, ALL_READINGS), expected, strict=True):
        assert (codes == checked).all(), reading


def test_all_chains_of_people_who_gossip_believe_what_the_checker_says() -> None:
    rng = random.Random(8)
    stories, asked = ask_all_chains([gossiping_plot(rng, PEOPLE[:3]) for _ in range(500)], 3)
    expected = answer_under(block_of(stories), asked, ALL_READINGS)
    for reading, codes, checked in zip(ALL_READINGS, answer_all(stories, asked, ALL_READINGS), expected, strict=True):
        assert (codes == checked).all(), reading


@pytest.mark.parametrize("people", [9, 16, 17, 40])
def test_answers_about_many_people_are_those_of_the_checker(people: int) -> None:
    rng = random.Random(people)
    stories, asked = ask([gossiping_plot(rng, MANY[:people]) for _ in range(6)], rng, 20)
    expected = answer_under(block_of(stories), asked, ALL_READINGS)
    for reading, codes, checked in zip(ALL_READINGS, answer_all(stories, asked, ALL_READINGS), expected, strict=True):
        assert (codes == checked).all(), reading


@pytest.mark.parametrize(
    "reading",
    # What is a surprise rests on what is known later, where people infer movers and do not trust all messages.
    [each for each in ALL_READINGS if each.sight != INFER_MOVER or each.trust == ALWAYS],
    ids=str,
)
def test_answers_after_each_sentence_are_those_of_shorter_stories(reading: BeliefReading) -> None:
    stories, asked = block(3, 80)
    found = PlotAnswers(stories, asked, reading.sight).over_time(reading.trust)
    assert len(found) == len(stories.kind)
    for time in (0, 3, 6, 9, 13, len(found) - 1):
        shorter = stories.until(np.full(stories.count, time + 1))
        [expected] = answer_under(block_of(shorter), asked, [reading])
        assert (found[time] == expected).all(), time


@pytest.mark.parametrize("reading", ALL_READINGS, ids=str)
def test_proofs_hold_by_deletion(reading: BeliefReading) -> None:
    stories, asked = block(4, 50)
    proofs = PlotAnswers(stories, asked, reading.sight).prove(reading.trust)
    faults = check_proofs(stories, asked, proofs, reading)
    assert not faults.is_wrong.any(), faults.describe(int(np.flatnonzero(faults.is_wrong)[0]))


def test_beliefs_of_single_chains_are_those_of_the_checker() -> None:
    stories, every = block(5, 120)
    asked = every.pick(np.flatnonzero(np.isin(every.ask, [ASKS.index(Ask.BELIEF), ASKS.index(Ask.REALITY)])))
    expected = answer_under(block_of(stories), asked, AUDIT_READINGS)
    course, some = Course.of(stories), np.flatnonzero(asked.story % 3 == 1)
    for reading, checked in zip(AUDIT_READINGS, expected, strict=True):
        assert (beliefs(course, asked.story, asked.thing, asked.chain, reading) == checked).all(), reading
        few = beliefs(course, asked.story[some], asked.thing[some], asked.chain[:, some], reading)
        assert (few == checked[some]).all(), reading
    real = beliefs(course, asked.story, asked.thing, asked.chain[:0], DEFAULT_READING)
    assert (real == reality(stories.pick(asked.story), asked.thing)).all()


@pytest.mark.parametrize("sight", [CLOSED, INFER_MOVER])
def test_what_was_looked_up_under_one_sight_serves_another(sight: str) -> None:
    stories, asked = block(6, 120)
    opened = PlotAnswers(stories, asked)
    for trust in (ALWAYS, FRESHER, NEVER_LIARS):
        [_] = opened.codes(trust)
        [found] = opened.under(sight).codes(trust)
        [expected] = answer_under(block_of(stories), asked, [BeliefReading(sight, trust)])
        assert (found == expected).all(), trust


@pytest.mark.parametrize("sight", [CLOSED, INFER_MOVER])
@pytest.mark.parametrize("trust", [ALWAYS, FRESHER, NEVER_LIARS])
def test_what_was_proved_under_one_sight_serves_another(sight: str, trust: str) -> None:
    stories, asked = block(6, 120)
    opened = PlotAnswers(stories, asked)
    opened.prove(trust)
    found, anew = opened.under(sight), PlotAnswers(stories, asked, sight)
    assert (found.prove(trust) == anew.prove(trust)).all()
    assert (found.codes(trust)[0] == anew.codes(trust)[0]).all()


def test_a_number_that_is_no_agents_stands_for_a_stranger() -> None:
    found = contract(np.array([[0, 2, 0], [1, 1, 2]], np.int8), 2)
    assert found.first.tolist() == [0, NOBODY, NOBODY]
    assert not hasattr(found, "second")


INFERRED_LIE = """Ada entered the kitchen.
Ben entered the kitchen.
The key is in the box in the kitchen.
Cy entered the study.
The coin is in the bag in the study.
Ada exited the kitchen.
Ben moved the key to the jar.
Ben exited the kitchen.
Ada entered the kitchen.
Ada exited the kitchen.
Ada entered the hall.
Ben entered the hall.
Ben told Ada in private that the key is in the box.
Ben told Ada in private that the coin is in the drawer."""


@pytest.mark.parametrize(
    ("reading", "place"),
    [("open+never-liars", "drawer"), ("infer-mover+always", "drawer"), ("infer-mover+never-liars", None)],
)
def test_who_infers_the_mover_catches_their_lie(reading: str, place: str | None) -> None:
    events = read_story(INFERRED_LIE).events
    [weighed] = [each for each in ALL_READINGS if str(each) == reading]
    question = BeliefQuestion(Ask.BELIEF, "coin", ("Ada",))
    assert oracle_answer(events, question, weighed) == place
    assert MindWorlds(events, weighed).answer(question) == place
