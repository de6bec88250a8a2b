"""How well `diagnose` finds a procedure that is known: planted ones, mixtures of two, and one that is not listed.

    python -m benchmarks.procedures [--trials 200] [--questions 60] [--lapse 0,0.05,0.1] [--family belief] [--json FILE]

The questions are chosen from fresh stories, so that they tell procedures apart (`choose_questions`). Procedures that
answer all of these alike count as one. In every trial a procedure, or two with a share of 0.35 to 0.65 each, answers
the questions; with the chance `lapse` an answer is a guess. *None* is right where the planted procedure is taken out of
the list. The last figure is the share of trials whose 95% interval contains the share that was planted (0.5 to 0.95).
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

import storyproof
from storyproof.evaluation.diagnose import (
    NONE,
    AnswerTable,
    ask_procedures,
    follow_shares,
    tabulate,
    weigh,
)
from storyproof.families.family import family_of

SEED = 11
POOLS: dict[str, list[tuple[str, int, dict[str, Any]]]] = {
    "belief": [
        ("tom-k", 150, {"preset": "hard"}),
        ("tom-k", 150, {"preset": "medium"}),
        ("tom-k", 40, {"preset": "extreme"}),
        ("tom-k", 300, {"preset": "plain"}),
    ],
    "kinship": [("clutrr", 2000, {"split": "test"})],
}


def choose_questions(table: AnswerTable, count: int) -> list[int]:
    """Return the places of questions that tell procedures apart, chosen one by one.

    Each time the question is taken on which most pairs of procedures differ, where pairs that differ on many questions
    already count less.

    Args:
        table: Questions with what procedures would answer.
        count: How many to choose.
    """
    first, second = np.triu_indices(len(table.names), 1)
    differs = table.predicted[first] != table.predicted[second]
    seen, chosen = np.zeros(len(differs)), []
    left = np.ones(differs.shape[1], np.bool_)
    for _ in range(min(count, len(left))):
        gain = np.where(left, np.exp(-seen / 3) @ differs, -1.0)
        place = int(gain.argmax())
        chosen.append(place)
        left[place] = False
        seen += differs[:, place]
    return chosen


def pool(family: str) -> AnswerTable:
    """Return many questions with what procedures answer."""
    rows = [
        row
        for benchmark, stories, settings in POOLS[family]
        for story in islice(storyproof.stream(benchmark, seed=SEED, **settings), stories)
        for row in story.rows
    ]
    kind = family_of(rows[0])
    return tabulate(kind, rows, [row.answer for row in rows], ask_procedures(rows))


def distinct(table: AnswerTable) -> AnswerTable:
    """Keep one of the procedures that answer all questions alike."""
    _, first = np.unique(table.predicted, axis=0, return_index=True)
    kept = sorted(first.tolist())
    return replace(table, names=tuple(table.names[place] for place in kept), predicted=table.predicted[kept])


def without(table: AnswerTable, number: int) -> AnswerTable:
    """Leave out one procedure."""
    names = tuple(name for place, name in enumerate(table.names) if place != number)
    return replace(table, names=names, predicted=np.delete(table.predicted, number, axis=0))


class Trials:
    """Planted procedures on some questions."""

    def __init__(self, table: AnswerTable, seed: int) -> None:
        self.table, self.random = table, np.random.default_rng(seed)
        self.missed: Counter[str] = Counter()

    def answers(self, planned: Any, lapse: float) -> AnswerTable:
        """Return the table with the answers of a solver that lapses now and then."""
        is_guess = (self.random.random(len(planned)) < lapse) | (planned < 0)
        guesses = (self.random.random(len(planned)) * self.table.sizes).astype(np.intp)
        return replace(self.table, answers=np.where(is_guess, guesses, planned))

    def single(self, lapse: float) -> tuple[bool, bool]:
        """Plant one procedure; return whether it is found, and whether nothing is if it is not listed."""
        number = int(self.random.integers(len(self.table.names)))
        answered = self.answers(self.table.predicted[number], lapse)
        name = self.table.names[number]
        is_found = weigh(answered).ranked()[0].procedures == (name,)
        is_none = weigh(without(answered, number)).ranked()[0].procedures == (NONE,)
        self.missed[f"{name} found"] += not is_found
        self.missed[f"{name} not listed"] += not is_none
        return is_found, is_none

    def mixture(self, lapse: float) -> bool:
        """Plant two procedures; return whether both are found."""
        one, other = self.random.choice(len(self.table.names), 2, replace=False).tolist()
        is_first = self.random.random(len(self.table.ids)) < self.random.uniform(0.35, 0.65)
        planned = np.where(is_first, self.table.predicted[one], self.table.predicted[other])
        best = weigh(self.answers(planned, lapse)).ranked()[0].procedures
        return set(best) == {self.table.names[one], self.table.names[other]}

    def covered(self) -> bool:
        """Plant one procedure and guesses; return whether the interval contains its share."""
        number = int(self.random.integers(len(self.table.names)))
        share = self.random.uniform(0.5, 0.95)
        answered = self.answers(self.table.predicted[number], 1 - share)
        found = follow_shares(answered, [self.table.names[number]])[self.table.names[number]]
        return found.low <= share <= found.high


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--questions", type=int, default=60)
    parser.add_argument("--lapse", default="0,0.02,0.05,0.1")
    parser.add_argument("--family", default="belief,kinship")
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args()
    found: dict[str, Any] = {}
    for family in chosen.family.split(","):
        table = distinct(pool(family))
        table = distinct(table.pick(choose_questions(table, chosen.questions)))
        differ = (table.predicted[:, None] != table.predicted[None]).sum(axis=-1)
        differ[np.diag_indices(len(differ))] = chosen.questions
        print(
            f"{family}: {len(table.names)} procedures; any two differ on {differ.min()} of {chosen.questions} or more"
        )
        for lapse in map(float, chosen.lapse.split(",")):
            trials = Trials(table, SEED)
            singles = np.array([trials.single(lapse) for _ in range(chosen.trials)])
            row = {
                "one": float(singles[:, 0].mean()),
                "none": float(singles[:, 1].mean()),
                "two": float(np.mean([trials.mixture(lapse) for _ in range(chosen.trials)])),
                "covered": float(np.mean([trials.covered() for _ in range(chosen.trials)])),
            }
            found[f"{family}/{lapse}"] = row
            print(f"  lapse {lapse:.2f}: " + ", ".join(f"{name} {share:.3f}" for name, share in row.items()))
            print("   ", trials.missed.most_common(5))
    if chosen.json:
        chosen.json.write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()
