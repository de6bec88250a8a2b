"""The shortcut audit of theory-of-mind data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from storyproof.example import Example
from storyproof.families.belief.shortcuts.ablations import ABLATIONS
from storyproof.families.belief.shortcuts.heuristics import answer
from storyproof.families.belief.shortcuts.stories import POSITIONS, Told, positions, slots, tell
from storyproof.shortcuts import probes
from storyproof.shortcuts.bounds import force
from storyproof.shortcuts.results import ABLATION, BELIEF, HEURISTIC, Forced, Row, ShortcutReport
from storyproof.shortcuts.trial import Trial, chances, set_up
from storyproof.shortcuts.verdicts import judge_belief


def find_belief_shortcuts(
    train: Sequence[Example] | None, test: Sequence[Example], *, seed: int, learned: bool
) -> ShortcutReport:
    """Answer theory-of-mind data without reasoning about belief; see `find_shortcuts`."""
    trial = set_up(train, test, seed, belief=True)
    told = tell(trial.examples)
    places, seen = positions(told), slots(told, trial.examples)
    right = (places == told.answer)[:, trial.asked]
    forced = force(right, seen[trial.first :], trial.cluster, trial.kinds, POSITIONS)
    rows = [
        trial.score(name, HEURISTIC, reader, True, hits, forced)
        for name, reader, hits in answer(trial, told, places, seen)
    ]
    if learned:
        rows += _probe(trial, told, forced, seed)
    chance, joint_chance = chances(trial)
    return ShortcutReport(
        about=BELIEF,
        questions=len(test),
        stories=int(trial.cluster.max()) + 1,
        trained_on=trial.trained_on,
        training_questions=trial.training_questions,
        chance=chance,
        joint_chance=joint_chance,
        forced=forced,
        rows=tuple(rows),
        verdict=judge_belief(rows, forced),
    )


def _probe(trial: Trial, told: Told, forced: Forced, seed: int) -> Iterator[Row]:
    """Train a probe on each ablation and have it answer."""
    label = told.answer[trial.asked]
    for ablation in ABLATIONS:
        left = ablation.apply(told, seed)
        chosen = trial.by_fold(lambda fold: probes.choose(left, fold, seed))  # noqa: B023
        yield trial.score(ablation.name, ABLATION, ablation.reader, ablation.shortcut, chosen == label, forced)
