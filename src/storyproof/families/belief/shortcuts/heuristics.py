"""Ways to answer questions of theory of mind without reasoning about belief."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence

import numpy as np

from storyproof.families.belief.baselines import rules_answer
from storyproof.families.belief.shortcuts.stories import FIRST, LAST, NONE, POSITIONS, Told
from storyproof.shortcuts.split_setup import Fold, Trial
from storyproof.stats.intervals import Flags, Ints

ALGORITHM_1 = "algorithm_1"
_WEIGHT = 3  # of how often a place is right at all, in questions

_READERS = {
    "majority": "always names the position that is most often right",
    "first_mentioned": "always names the first place",
    "last_mentioned": "always names the last place",
    "question_prior": "knows only which answers go with a kind of question and an object",
    "question_type_only": "knows only the kind of question",
    "question_type_and_mover": "knows only the kind of question and whether it is about the mover",
    ALGORITHM_1: "follows the ToMi paper's Algorithm 1, which never looks at the agents,",
}


def answer(trial: Trial, told: Told, places: Ints, slots: Sequence[str]) -> Iterator[tuple[str, str, Flags]]:
    """Yield for each heuristic its name, its description, and which rows it answers correctly.

    Args:
        trial: Who learns from what.
        told: The same examples as arrays.
        places: [position, row], first, last and last but one place of the object.
        slots: Kind of question and role by row.
    """
    label = told.answer[trial.asked]
    everything = [""] * len(slots)
    kinds = [slot.removesuffix("_0").removesuffix("_1") for slot in slots]
    answers: dict[str, Callable[[], Ints]] = {
        "majority": lambda: trial.by_fold(lambda fold: say_positions(fold, everything, places, told)),
        "first_mentioned": lambda: places[POSITIONS.index(FIRST), trial.asked],
        "last_mentioned": lambda: places[POSITIONS.index(LAST), trial.asked],
        "question_prior": lambda: trial.by_fold(lambda fold: say_usual_answers(fold, kinds, told)),
        "question_type_only": lambda: trial.by_fold(lambda fold: say_positions(fold, kinds, places, told)),
        "question_type_and_mover": lambda: trial.by_fold(lambda fold: say_positions(fold, slots, places, told)),
    }
    for name, give in answers.items():
        yield name, _READERS[name], give() == label
    asked = [trial.examples[row] for row in trial.asked]
    ruled = [rules_answer(each) == each.answer for each in asked]
    yield ALGORITHM_1, _READERS[ALGORITHM_1], np.array(ruled, np.bool_)


def say_positions(fold: Fold, cells: Sequence[str], places: Ints, told: Told) -> Ints:
    """Name for each cell the position that is most often right where it is learned from."""
    names, cell = np.unique(np.array(cells), return_inverse=True)
    right = (places == told.answer)[:, fold.fit]
    learned = np.stack([np.bincount(cell[fold.fit], weights=each, minlength=len(names)) for each in right])
    found: Ints = places[learned.argmax(axis=0)[cell[fold.ask]], fold.ask]
    return found


def say_usual_answers(fold: Fold, kinds: Sequence[str], told: Told) -> Ints:
    """Name the candidate that is right most often, when offered, for this kind of question about this object.

    Where little is known of a candidate for this kind and object, how often it is right at all weighs in. Among equals
    the first of the candidates is named.
    """
    things, answers, offers = told.asked.tolist(), told.answer.tolist(), told.candidates.tolist()
    offered: Counter[Hashable] = Counter()
    right: Counter[Hashable] = Counter()
    for row in fold.fit.tolist():
        for place in offers[row]:
            for key in (place, (kinds[row], things[row], place)):
                offered[key] += 1
                right[key] += place == answers[row]

    def likely(row: int, place: int) -> float:
        key = kinds[row], things[row], place
        anywhere = (right[place] + 1) / (offered[place] + 2)
        return (right[key] + _WEIGHT * anywhere) / (offered[key] + _WEIGHT)

    chosen = []
    for row in fold.ask.tolist():
        places = [place for place in offers[row] if place != NONE]
        chosen.append(max(places, key=lambda place: likely(row, place), default=NONE))
    return np.array(chosen, np.int64)
