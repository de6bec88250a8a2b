"""Questions as arrays get the answers and proofs that single questions get, from both provers."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace

import numpy as np
import pytest

from storyproof.families.belief.answers import PlotAnswers, oracle_answer, oracle_proof, reply
from storyproof.families.belief.arrays import encode_plots, encode_questions
from storyproof.families.belief.block_checker import MindBlock
from storyproof.families.belief.provers import CheckedStory, answer, derive, differences
from storyproof.families.belief.questions import ASKS, Ask, BeliefQuestion
from storyproof.families.belief.readings import ALL_READINGS, INFER_MOVER, TRUSTS, BeliefReading
from storyproof.families.belief.world import EventKind, PlotEvent, cast_of
from tests.families.belief.plots import plots, returning_plot
from tests.families.belief.test_answers import any_questions


@pytest.mark.parametrize("own", [BeliefReading(), BeliefReading("closed", "never-liars")], ids=str)
def test_answers_and_proofs_are_those_of_single_questions(own: BeliefReading) -> None:
    stories, story, asked = any_questions(5, 24)
    arrays, names = encode_plots(stories)  # type: ignore[arg-type]
    numbered = encode_questions(names, story, asked)
    derived = derive(arrays, numbered, own, ALL_READINGS)
    assert set(derived.codes) == {own, *ALL_READINGS}
    for place, (number, question) in enumerate(zip(story, asked, strict=True)):
        events = stories[number]
        for reading, codes in derived.codes.items():
            assert reply(int(codes[place]), names[number], question) == oracle_answer(events, question, reading)  # type: ignore[arg-type]
        if place % 4 == 0:
            found = tuple((np.flatnonzero(derived.proofs[:, place]) + 1).tolist())
            assert found == oracle_proof(events, question, own)  # type: ignore[arg-type]
    for some in (np.arange(0, len(asked), 3), np.flatnonzero(numbered.ask == ASKS.index(Ask.COMMON))):
        short = replace(numbered.pick(some), chain=_trimmed(numbered.pick(some).chain))
        assert answer(arrays, short, own).tolist() == derived.codes[own][some].tolist()


@pytest.mark.parametrize("seed", range(3))
def test_only_who_may_be_surprised_is_asked_again(seed: int) -> None:
    rng = random.Random(seed)
    stories = [returning_plot(rng) for _ in range(160)] + plots(seed, 160)
    story, asked = [], list[BeliefQuestion]()
    for number, events in enumerate(stories):
        for pair in itertools.permutations(cast_of(events), 2):
            for thing in ("key", "coin"):
                third = rng.choice(pair)
                asked += (BeliefQuestion(ask, thing, pair) for ask in (Ask.BELIEF, Ask.KNOWS_WRONG, Ask.COMMON))
                asked += (
                    BeliefQuestion(Ask.BELIEVERS, thing, (third,), "jar"),
                    BeliefQuestion(Ask.SAYS, thing, pair[:1]),
                )
                asked.append(BeliefQuestion(Ask.BELIEF, thing, (third, *pair)))
        story += [number] * (len(asked) - len(story))
    arrays, names = encode_plots(stories)
    numbered = encode_questions(names, story, asked)
    answers, unsurprised = PlotAnswers(arrays, numbered, INFER_MOVER), PlotAnswers(arrays, numbered).codes(*TRUSTS)
    found, again = answers.codes(*TRUSTS), answers.codes(*TRUSTS, unsurprised=unsurprised)
    for trust, codes, same, other in zip(TRUSTS, found, again, unsurprised, strict=True):
        assert codes.tolist() == same.tolist(), trust
        assert codes.tolist() != other.tolist(), "nobody is surprised"


def _trimmed(chain: np.ndarray) -> np.ndarray:
    """Return chains without the places that none of them has."""
    return chain[(chain != -1).any(axis=1)]


def test_the_checker_finds_what_is_wrong_and_nothing_else() -> None:
    stories, story, asked = any_questions(6, 16)
    arrays, names = encode_plots(stories)  # type: ignore[arg-type]
    numbered, own = encode_questions(names, story, asked), BeliefReading(trust="fresher")
    derived = derive(arrays, numbered, own, ALL_READINGS)
    assert list(differences(arrays, numbered, derived)) == []
    codes = derived.codes[own].copy()
    wrong = np.arange(3, len(asked), 7)
    codes[wrong] += 1
    (found,) = differences(arrays, numbered, replace(derived, codes={**derived.codes, own: codes}))
    assert found.reading == own
    assert found.questions.tolist() == wrong.tolist()
    assert (found.codes == derived.codes[own][wrong]).all()


@pytest.mark.parametrize("people", [17, 62, 64])
def test_many_people_may_catch_liars(people: int) -> None:
    reading, cast = BeliefReading(trust="never-liars"), [f"p{number}" for number in range(people)]
    for seed in range(6):
        rng = random.Random(seed)
        leaving = rng.sample(cast, 12)
        events = [PlotEvent(EventKind.ENTER, agent=each, room="hall") for each in cast]
        events.append(PlotEvent(EventKind.PLACE, thing="key", container="jar", room="hall"))
        events += [PlotEvent(EventKind.EXIT, agent=each, room="hall") for each in leaving]
        events += [PlotEvent(EventKind.ENTER, agent=each, room="den") for each in leaving]
        events += [
            PlotEvent(EventKind.TELL, agent=each, thing="key", container=rng.choice(["box", "pot", "jar"]))
            for each in rng.sample(leaving, 3)
        ]
        checked = CheckedStory(events)
        for length in (1, 1, 2, 2, 3, 3):
            question = BeliefQuestion(Ask.BELIEF, "key", tuple(rng.sample([*leaving, *cast[-4:]], length)))
            assert oracle_answer(events, question, reading) == checked.answer(question, reading), question


def test_what_was_asked_before_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    stories, story, asked = any_questions(9, 12)
    calls = []
    answers = MindBlock.answers
    monkeypatch.setattr(MindBlock, "answers", lambda *given: calls.append(given) or answers(*given))
    for number, events in enumerate(stories):
        questions = [each for place, each in zip(story, asked, strict=True) if place == number]
        if not questions:
            continue
        checked, calls[:] = CheckedStory(events), []
        one_by_one = {
            reading: [CheckedStory(events).answer(each, reading) for each in questions] for reading in ALL_READINGS
        }
        calls.clear()
        first = checked.answers(questions[:1], ALL_READINGS[:1])
        assert first == {ALL_READINGS[0]: one_by_one[ALL_READINGS[0]][:1]}
        assert checked.answers(questions, ALL_READINGS) == one_by_one
        assert checked.answers(questions[::-1], ALL_READINGS) == {
            reading: replies[::-1] for reading, replies in one_by_one.items()
        }
        assert len(calls) <= 1 + len({each.sight for each in ALL_READINGS})
