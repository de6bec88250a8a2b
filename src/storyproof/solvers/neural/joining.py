"""Several training sets as one table, so that runs on all of them train together.

Each set keeps its own vocabulary: a word that only another set knows is unknown to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from storyproof.seeds import Indices
from storyproof.solvers.neural.encoding import FIRST_WORD, Encoded, Numbers, Vocabulary


def union(vocabularies: Sequence[Vocabulary]) -> Vocabulary:
    """Give a vocabulary that has all that these have."""
    words = sorted({word for each in vocabularies for word in each.words})
    answers = sorted({answer for each in vocabularies for answer in each.answers})
    first = vocabularies[0]
    return Vocabulary(tuple(words), tuple(answers), first.entities, first.pool)


def numbers_in(whole: Vocabulary, part: Vocabulary) -> Indices:
    """Give the number in the whole vocabulary of every number of a part's."""
    words = [whole.numbers[word] for word in part.words]
    people = range(whole.first_entity, whole.size)
    return np.asarray([*range(FIRST_WORD), *words, *people], np.int64)


def join(parts: Sequence[Encoded], vocabularies: Sequence[Vocabulary], whole: Vocabulary) -> Encoded:
    """Lay encoded examples one below the other, in the numbers of the whole vocabulary."""
    moved = [_moved(part, own, whole) for part, own in zip(parts, vocabularies, strict=True)]
    starts = np.cumsum([0, *(len(part.stories) for part in moved[:-1])])  # a part has no more groups than stories
    return Encoded(
        _below([part.stories for part in moved]),
        _below([part.flat for part in moved]),
        _below([part.questions for part in moved]),
        np.concatenate([part.story_of + start for part, start in zip(moved, starts, strict=True)]).astype(np.int32),
        np.concatenate([part.group_of + start for part, start in zip(moved, starts, strict=True)]).astype(np.int32),
        _below([part.nodes for part in moved]),
        _below([part.graphs for part in moved]),
        _below([part.query for part in moved]),
        _below([part.answers for part in moved]),
        whole.first_entity,
        moved[0].edge_types,
    )


def _moved(part: Encoded, own: Vocabulary, whole: Vocabulary) -> Encoded:
    numbers = numbers_in(whole, own).astype(np.int32)
    places = {answer: place for place, answer in enumerate(whole.answers)}
    answers = np.asarray([*(places[answer] for answer in own.answers), -1], np.int32)
    told = {name: numbers[getattr(part, name)] for name in ("stories", "flat", "questions", "nodes")}
    return replace(part, **told, answers=answers[part.answers])


def _below(arrays: Sequence[Numbers]) -> Numbers:
    """Concatenate, padding every dimension but the first with zeros."""
    most = [max(sizes) for sizes in zip(*(array.shape[1:] for array in arrays), strict=True)]
    padded = [
        np.pad(array, [(0, 0), *((0, size - have) for size, have in zip(most, array.shape[1:], strict=True))])
        for array in arrays
    ]
    return np.concatenate(padded)
