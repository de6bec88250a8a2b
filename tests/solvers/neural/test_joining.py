from dataclasses import replace

import numpy as np
import pytest

from storyproof.example import Example
from storyproof.solvers.neural.encoding import UNKNOWN, Encoded, encode, learn_vocabulary
from storyproof.solvers.neural.joining import join, numbers_in, union
from tests.solvers.neural.lessons import CLUTRR, TOMI, some

both = pytest.mark.parametrize("family", [TOMI, CLUTRR])


def lessons(family: str) -> list[list[Example]]:
    rows = some(family, 90)
    return [rows[:30], rows[30:48], rows[48:]]


@both
def test_union_has_all_and_says_where(family: str) -> None:
    parts = [learn_vocabulary(rows) for rows in lessons(family)]
    whole = union(parts)
    assert set(whole.words) == {word for part in parts for word in part.words}
    assert set(whole.answers) == {answer for part in parts for answer in part.answers}
    for part in parts:
        numbers = numbers_in(whole, part)
        assert len(numbers) == part.size
        assert len(set(numbers.tolist())) == part.size
        for word, number in part.numbers.items():
            assert whole.numbers[word] == numbers[number]
        assert numbers[part.first_entity :].tolist() == list(range(whole.first_entity, whole.size))
    assert union(parts[:1]) == parts[0]


def untold(encoded: Encoded, name: str) -> np.ndarray:
    """An array without its padding."""
    array: np.ndarray = getattr(encoded, name)
    for axis in range(1, array.ndim):
        there = array.any(axis=tuple(each for each in range(array.ndim) if each != axis))
        array = array.take(range(int(np.flatnonzero(there).max(initial=-1)) + 1), axis)
    return array


@both
def test_joined_examples_are_those_encoded_alone(family: str) -> None:
    parts = lessons(family)
    vocabularies = [learn_vocabulary(rows) for rows in parts]
    whole = union(vocabularies)
    encoded = [encode(rows, own) for rows, own in zip(parts, vocabularies, strict=True)]
    joined = join(encoded, vocabularies, whole)
    assert joined.first_entity == whole.first_entity
    start = stories = 0
    for rows, own, alone in zip(parts, vocabularies, encoded, strict=True):
        numbers = numbers_in(whole, own)
        these, their = slice(start, start + len(rows)), slice(stories, stories + len(alone.stories))
        found = replace(
            joined,
            **{name: getattr(joined, name)[their] for name in ("stories", "flat", "nodes", "graphs")},
            **{name: getattr(joined, name)[these] for name in ("questions", "story_of", "query", "answers")},
        )
        for name in ("stories", "flat", "questions", "nodes"):
            assert np.array_equal(untold(found, name), numbers[untold(alone, name)])
        for name in ("graphs", "query"):
            assert np.array_equal(untold(found, name), untold(alone, name))
        assert np.array_equal(found.story_of - stories, alone.story_of)
        assert [whole.answers[each] for each in found.answers] == [each.answer for each in rows]
        start, stories = these.stop, their.stop
    assert len(joined) == start


def test_word_that_only_another_set_knows_stays_unknown() -> None:
    first, second = lessons(TOMI)[:2]
    vocabularies = [learn_vocabulary(first), learn_vocabulary(second)]
    whole = union(vocabularies)
    joined = join([encode(first, vocabularies[0]), encode(first, vocabularies[1])], vocabularies, whole)
    assert (joined.flat == UNKNOWN).sum() > 0
    assert len(set(vocabularies[0].words) - set(vocabularies[1].words)) > 5


def test_unknown_answers_stay_unknown() -> None:
    first, second = lessons(TOMI)[:2]
    own = learn_vocabulary(first)
    encoded = encode([*first, replace(second[0], answer="nowhere")], own)
    assert join([encoded], [own], own).answers[-1] == -1
