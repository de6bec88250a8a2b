"""Evaluation: how good a solver's answers are.

The verbs are modules here (`evaluate`, `ask`, `compare`, `rescore`), beside what looks at several runs (`sensitivity`,
`fresh_twin`). All of them share one scorer (`scores`), one form of a run and its file (`runs`), and the matchers that
judge free-text replies (`matching`).
"""

from storyproof.evaluation.options import AskOptions, Prices, Progress, Selection
from storyproof.evaluation.runs import Evaluation, Prediction, RecordedRun, read_runs
from storyproof.evaluation.scores import Scores, Tally

__all__ = [
    "AskOptions",
    "Evaluation",
    "Prediction",
    "Prices",
    "Progress",
    "RecordedRun",
    "Scores",
    "Selection",
    "Tally",
    "read_runs",
]
