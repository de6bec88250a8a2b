"""The shortcut audit of theory of mind: answers without reasoning about belief, stories without what it needs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from storyproof.example import Example
from storyproof.families.belief.baselines import rules_answer
from storyproof.families.belief.shortcuts.probe import choose
from storyproof.families.belief.shortcuts.stories import (
    FIRST,
    LAST,
    NONE,
    POSITIONS,
    Told,
    by_batch,
    positions,
    slots,
    tell,
)
from storyproof.families.belief.world import EventKind
from storyproof.generation.seeds import Draws
from storyproof.shortcuts.bounds import force
from storyproof.shortcuts.results import (
    ABLATION,
    HEURISTIC,
    SOLVED,
    Forced,
    ShortcutReport,
    ShortcutScore,
    best_score,
    both_scores,
    percent,
    points_above,
)
from storyproof.shortcuts.split_setup import Fold, Trial, set_up
from storyproof.stats import Flags, Ints

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


def answer(trial: Trial, encoded: Told, places: Ints, slots: Sequence[str]) -> Iterator[tuple[str, str, Flags]]:
    """Yield for each heuristic its name, its description, and which rows it answers correctly.

    Args:
        trial: Who learns from what.
        encoded: The same examples as arrays.
        places: [position, row], first, last and last but one place of the object.
        slots: Kind of question and role by row.
    """
    label = encoded.answer[trial.asked]
    everything = [""] * len(slots)
    kinds = [slot.removesuffix("_0").removesuffix("_1") for slot in slots]
    answers: dict[str, Callable[[], Ints]] = {
        "majority": lambda: trial.by_fold(lambda fold: say_positions(fold, everything, places, encoded)),
        "first_mentioned": lambda: places[POSITIONS.index(FIRST), trial.asked],
        "last_mentioned": lambda: places[POSITIONS.index(LAST), trial.asked],
        "question_prior": lambda: trial.by_fold(lambda fold: say_usual_answers(fold, kinds, encoded)),
        "question_type_only": lambda: trial.by_fold(lambda fold: say_positions(fold, kinds, places, encoded)),
        "question_type_and_mover": lambda: trial.by_fold(lambda fold: say_positions(fold, slots, places, encoded)),
    }
    for name, give in answers.items():
        yield name, _READERS[name], give() == label
    examples = [trial.examples[row] for row in trial.asked]
    ruled = [rules_answer(each) == each.answer for each in examples]
    yield ALGORITHM_1, _READERS[ALGORITHM_1], np.array(ruled, np.bool_)


def say_positions(fold: Fold, cells: Sequence[str], places: Ints, encoded: Told) -> Ints:
    """Name for each cell the position that is most often right where it is learned from."""
    names, cell = np.unique(np.array(cells), return_inverse=True)
    right = (places == encoded.answer)[:, fold.fit]
    learned = np.stack([np.bincount(cell[fold.fit], weights=each, minlength=len(names)) for each in right])
    answers: Ints = places[learned.argmax(axis=0)[cell[fold.ask]], fold.ask]
    return answers


def say_usual_answers(fold: Fold, kinds: Sequence[str], encoded: Told) -> Ints:
    """Name the candidate that is right most often, when offered, for this kind of question about this object.

    Where little is known of a candidate for this kind and object, how often it is right at all weighs in. Among equals
    the first of the candidates is named.
    """
    things, answers, offers = encoded.asked.tolist(), encoded.answer.tolist(), encoded.candidates.tolist()
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


_PRESENCE = (EventKind.ENTER, EventKind.EXIT, EventKind.IS_IN)


@dataclass(frozen=True, slots=True)
class Ablation:
    """One way to remove information.

    Attributes:
        name: What it is called.
        reader: Who is left with it, in words that go on from "a reader who".
        shortcut: Whether anything is missing.
        apply: Takes it away; draws are seeded.
    """

    name: str
    reader: str
    shortcut: bool
    apply: Callable[[Told, int], Told]


def remove_names(encoded: Told, seed: int = 0) -> Told:
    """Replace all names by one, in the story and in the question."""
    del seed
    somebody = _new_word(encoded)

    def hide(agents: Ints) -> Ints:
        return np.where(agents == NONE, NONE, somebody)

    return replace(encoded, agent=hide(encoded.agent), believer=hide(encoded.believer), searcher=hide(encoded.searcher))


def remove_names_but_mover(encoded: Told, seed: int = 0) -> Told:
    """Replace all names by one, but keep which of the asked agents is the mover."""
    nameless = remove_names(encoded, seed)
    mover, other = (_new_word(nameless) + place for place in range(2))
    moves = by_batch(encoded, np.arange(len(encoded.story)), lambda part: part.mover)

    def call(asked: Ints) -> Ints:
        return np.where(asked == NONE, NONE, np.where(asked == moves, mover, other))

    moving = np.where(encoded.kind == EventKind.MOVE, mover, nameless.agent)
    return replace(nameless, agent=moving, believer=call(encoded.believer), searcher=call(encoded.searcher))


def _new_word(encoded: Told) -> int:
    """Return the number of a word that does not occur yet."""
    return 1 + max(int(column.max(initial=0)) for column in encoded.all_words)


def remove_comings_and_goings(encoded: Told, seed: int = 0) -> Told:
    """Remove sentences that say who entered, exited or is in a room, without leaving gaps."""
    del seed
    gone = np.isin(encoded.kind, _PRESENCE)
    order = np.argsort(gone, axis=1, kind="stable")
    return encoded.sentences(lambda column: np.take_along_axis(np.where(gone, NONE, column), order, axis=1))


def shuffle_sentences(encoded: Told, seed: int = 0) -> Told:
    """Shuffle the sentences of each story."""
    drawn = Draws("shortcuts", "shuffled sentences", seed).below(2**31, encoded.kind.size).reshape(encoded.kind.shape)
    order = np.argsort(np.where(encoded.kind == NONE, 2**31, drawn), axis=1, kind="stable")
    return encoded.sentences(lambda column: np.take_along_axis(column, order, axis=1))


def remove_story(encoded: Told, seed: int = 0) -> Told:
    """Keep only the question with its candidates."""
    del seed
    return encoded.sentences(lambda column: np.full((len(column), 1), NONE))


def remove_nothing(encoded: Told, seed: int = 0) -> Told:
    """Remove nothing."""
    del seed
    return encoded


ABLATIONS = (
    Ablation("question_only", "sees the question alone", True, remove_story),
    Ablation("names_removed", "cannot tell the people apart", True, remove_names),
    Ablation(
        "names_removed_but_mover",
        "cannot tell the people apart but knows whether the mover is asked about",
        True,
        remove_names_but_mover,
    ),
    Ablation("without_enter_exit", "sees nobody come or go", True, remove_comings_and_goings),
    Ablation("shuffled_sentences", "sees the sentences in random order", True, shuffle_sentences),
    Ablation("full_text", "sees everything", False, remove_nothing),
)


SLOTS = "question type and whether the mover is asked; always the same place for each (first, last or last but one)"


def find_belief_shortcuts(
    train: Sequence[Example] | None, test: Sequence[Example], *, seed: int, learned: bool
) -> ShortcutReport:
    """Answer theory-of-mind data without reasoning about belief; see `find_shortcuts`."""
    groups = ["false_belief" if each.false_belief else "no_false_belief" for each in test]
    trial = set_up(train, test, seed, groups)
    encoded = tell(trial.examples)
    places, seen = positions(encoded), slots(encoded, trial.examples)
    right = (places == encoded.answer)[:, trial.asked]
    forced = force(right, seen[trial.first :], trial.cluster, trial.kinds, POSITIONS, SLOTS)
    rows = [
        trial.score(name, HEURISTIC, reader, True, hits, forced)
        for name, reader, hits in answer(trial, encoded, places, seen)
    ]
    if learned:
        rows += _probe(trial, encoded, forced, seed)
    return trial.report("theory_of_mind", forced, rows, verdict_on(rows, forced))


def _probe(trial: Trial, encoded: Told, forced: Forced, seed: int) -> Iterator[ShortcutScore]:
    """Train a probe on each ablation and have it answer."""
    label = encoded.answer[trial.asked]
    for ablation in ABLATIONS:
        left = ablation.apply(encoded, seed)
        chosen = trial.by_fold(lambda fold: choose(left, fold, seed))  # noqa: B023
        yield trial.score(ablation.name, ABLATION, ablation.reader, ablation.shortcut, chosen == label, forced)


def verdict_on(rows: Sequence[ShortcutScore], forced: Forced) -> str:
    """Return in a line what the data test, and what they can be answered without."""
    rules = next(row for row in rows if row.name == ALGORITHM_1)
    if rules.accuracy.value >= SOLVED:
        return f"A reader who {rules.reader} gets {percent(rules.accuracy.value)}: this data does not test belief."
    best = best_score([row for row in rows if row.shortcut])
    if best.accuracy.value >= SOLVED:
        return f"A reader who {best.reader} gets {both_scores(best)}: this data does not test belief."
    limit = f"{percent(forced.accuracy)} (joint {percent(forced.joint_accuracy)})"
    if not (best.beats_structure or best.jointly_beats_structure):
        return f"A reader who {best.reader} gets {both_scores(best)}, no more than the structural baseline: {limit}."
    return (
        f"A reader who {best.reader} gets {both_scores(best)}, {points_above(best)} the "
        f"structural baseline of {limit}: part of this data can be answered without reasoning about belief."
    )
