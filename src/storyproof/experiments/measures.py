"""Measures of an experiment's answers: how many are right, and of how many.

Names: `average`; `joint` (stories all of whose questions are right); and what the families name (`Family.measures`):
`memory`, `reality`, `first_order` … and these where the asked belief is false or not (`first_order/false_belief`,
`first_order/no_false_belief`) as the question type says, which in published ToMi goes with the label, right or wrong;
`k=3`, `task=clean` and `task=clean/k=3` for kinship.
"""

from __future__ import annotations

from collections.abc import Sequence

from storyproof.evaluation.scores import Tally
from storyproof.example import Example

Counts = dict[str, list[int]]  # for every measure how many are right, and of how many


def count(examples: Sequence[Example], answers: Sequence[str]) -> Counts:
    """Count right answers under every measure."""
    tally = Tally()
    for example, answer in zip(examples, answers, strict=True):
        tally.add_exact(example, answer)
    return tally.counts()
