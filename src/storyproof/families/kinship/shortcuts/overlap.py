"""Names and queries of kinship that occur in training and in test."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from storyproof.example import Example
from storyproof.families.family import family_of
from storyproof.families.kinship.people import person_names
from storyproof.intervals import Flags, Share, share


class Overlap(NamedTuple):
    """What occurs in training.

    Attributes:
        shares: Of the test's distinct names, of its queries (first and second name), and of those with their answer.
        by_kind: The last two by kind of question.
    """

    shares: dict[str, Share]
    by_kind: dict[str, dict[str, Share]]


def find_overlap(train: Sequence[Example], test: Sequence[Example]) -> Overlap:
    """Find which names and queries of a test set occur in a training set.

    Who has met the very question with its answer need not reason.
    """
    known = {name for each in train for name in _names(each)}
    names = sorted({name for each in test for name in _names(each)})
    queries = {tuple(each.get("query") or ()) for each in train}
    answered = {(*(each.get("query") or ()), each.answer) for each in train}
    met = {
        "queries": np.array([tuple(each.get("query") or ()) in queries for each in test], np.bool_),
        "queries_with_answer": np.array(
            [(*(each.get("query") or ()), each.answer) in answered for each in test], np.bool_
        ),
    }
    kinds = [family_of(each).kind(each) for each in test]
    which = np.array(kinds)
    return Overlap(
        {
            "names": _share(np.array([name in known for name in names], np.bool_)),
            **{name: _share(flags) for name, flags in met.items()},
        },
        {
            kind: {name: _share(flags[which == kind]) for name, flags in met.items()}
            for kind in sorted(set(kinds), key=lambda kind: (len(kind), kind))
        },
    )


def _share(flags: Flags) -> Share:
    return share(flags, np.arange(len(flags)))


def _names(example: Example) -> list[str]:
    return person_names(example.get("genders"))
