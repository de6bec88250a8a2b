"""Scores of answers that are right only if they equal the label."""

from collections.abc import Sequence

from storyproof.evaluation.scores import Scores, Tally
from storyproof.example import Example


def score(examples: Sequence[Example], answers: Sequence[str]) -> Scores:
    tally = Tally()
    for example, answer in zip(examples, answers, strict=True):
        tally.add_exact(example, answer)
    return tally.scores()
