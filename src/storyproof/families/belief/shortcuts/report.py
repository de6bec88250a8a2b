"""The shortcut audit of theory-of-mind data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from storyproof.example import Example
from storyproof.families.belief.shortcuts.ablations import ABLATIONS
from storyproof.families.belief.shortcuts.heuristics import ALGORITHM_1, answer
from storyproof.families.belief.shortcuts.probe import choose
from storyproof.families.belief.shortcuts.stories import POSITIONS, Told, positions, slots, tell
from storyproof.shortcuts.bounds import force
from storyproof.shortcuts.results import ABLATION, HEURISTIC, Forced, ShortcutReport, ShortcutScore
from storyproof.shortcuts.split_setup import Trial, set_up
from storyproof.shortcuts.verdict_text import SOLVED, best_score, both_scores, percent, points_above

SLOTS = "question type and whether the mover is asked; always the same place for each (first, last or last but one)"


def find_belief_shortcuts(
    train: Sequence[Example] | None, test: Sequence[Example], *, seed: int, learned: bool
) -> ShortcutReport:
    """Answer theory-of-mind data without reasoning about belief; see `find_shortcuts`."""
    groups = ["false_belief" if each.false_belief else "no_false_belief" for each in test]
    trial = set_up(train, test, seed, groups)
    told = tell(trial.examples)
    places, seen = positions(told), slots(told, trial.examples)
    right = (places == told.answer)[:, trial.asked]
    forced = force(right, seen[trial.first :], trial.cluster, trial.kinds, POSITIONS, SLOTS)
    rows = [
        trial.score(name, HEURISTIC, reader, True, hits, forced)
        for name, reader, hits in answer(trial, told, places, seen)
    ]
    if learned:
        rows += _probe(trial, told, forced, seed)
    return trial.report("theory_of_mind", forced, rows, verdict_on(rows, forced))


def _probe(trial: Trial, told: Told, forced: Forced, seed: int) -> Iterator[ShortcutScore]:
    """Train a probe on each ablation and have it answer."""
    label = told.answer[trial.asked]
    for ablation in ABLATIONS:
        left = ablation.apply(told, seed)
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
