"""Questions as arrays get the answers and proofs that single questions get, from both provers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from storyproof.families.belief.answers import oracle_answer, oracle_proof, reply
from storyproof.families.belief.arrays import encode_plots, encode_questions
from storyproof.families.belief.provers import answer, derive, differences
from storyproof.families.belief.questions import ASKS, Ask
from storyproof.families.belief.readings import ALL_READINGS, BeliefReading
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
