from dataclasses import replace

import numpy as np

from storyproof.families.belief.shortcuts.probe import Lexicon, features
from storyproof.families.belief.shortcuts.report import (
    ABLATIONS,
    remove_comings_and_goings,
    remove_names,
    remove_names_but_mover,
    remove_story,
    shuffle_sentences,
)
from storyproof.families.belief.shortcuts.stories import NONE, Told, tell
from storyproof.families.belief.world import EventKind
from tests.samples import example
from tests.shortcuts.stories import made


def swapped(told: Told, one: int, other: int) -> Told:
    """The same with two people's names exchanged in the story, but not in the questions."""
    agent = np.where(told.agent == one, other, np.where(told.agent == other, one, told.agent))
    return replace(told, agent=agent)


def matrix(told: Told) -> np.ndarray:
    picked = told.pick(np.arange(len(told.story)))
    return features(picked, Lexicon.of(picked))


def test_without_names_it_does_not_matter_who_does_what() -> None:
    told = tell(made("tomi", "test", 30))
    other = swapped(told, *np.unique(told.agent[told.agent != NONE])[:2])
    assert (matrix(told) != matrix(other)).any()
    assert np.array_equal(matrix(remove_names(told)), matrix(remove_names(other)))


def test_the_mover_may_be_known_without_names() -> None:
    told = tell([example(), example(question="Where will Ada look for the key?")])
    assert np.array_equal(*matrix(remove_names(told)).reshape(2, 2, -1))
    left = remove_names_but_mover(told)
    assert not np.array_equal(*matrix(left).reshape(2, 2, -1))
    coming = np.isin(left.kind, (EventKind.ENTER, EventKind.EXIT))
    assert len(np.unique(left.agent[coming])) == 1


def test_nobody_comes_or_goes_and_no_gap_shows_that_they_did() -> None:
    left = remove_comings_and_goings(tell(made("tomi", "test", 30)))
    assert set(np.unique(left.kind)) <= {NONE, EventKind.PLACE, EventKind.MOVE, EventKind.FEEL}
    assert (left.room == NONE).all()
    told = left.kind != NONE
    assert (told[:, :-1] >= told[:, 1:]).all()


def test_shuffled_sentences_are_the_same_in_another_order() -> None:
    told = tell(made("tomi", "test", 30))
    left = shuffle_sentences(told, 3)
    assert not np.array_equal(left.kind, told.kind)
    assert np.array_equal(np.sort(left.kind, axis=1), np.sort(told.kind, axis=1))
    assert np.array_equal(left.kind == NONE, told.kind == NONE)
    assert np.array_equal(shuffle_sentences(told, 3).kind, left.kind)
    assert not np.array_equal(shuffle_sentences(told, 4).kind, left.kind)


def test_the_question_alone_says_nothing_of_the_story() -> None:
    told = tell(made("tomi", "test", 30))
    one, other = matrix(remove_story(told)), matrix(remove_story(remove_comings_and_goings(shuffle_sentences(told))))
    assert np.array_equal(one, other)


def test_features_are_numbers_whatever_is_left() -> None:
    told = tell([*made("tom-babi", "test", 24), example(candidates=["box"]), example(candidates=["box", "jar", "tin"])])
    for ablation in ABLATIONS:
        found = matrix(ablation.apply(told, 0))
        assert np.isfinite(found).all()
        assert len(found) == told.candidates.size
