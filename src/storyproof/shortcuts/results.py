"""Results of a shortcut audit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from storyproof.stats import Share

HEURISTIC, ABLATION = "heuristic", "ablation"


@dataclass(frozen=True, slots=True)
class Forced:
    """The best score of constant answers per structural cell.

    Attributes:
        accuracy: Right answers, with the best choice for each cell.
        joint_accuracy: Stories all of whose questions are right, with the best choices for the cells together.
        by_kind: Right answers by kind of question, with the best choice for each cell.
        choices: The best choice for each cell.
        joint_choices: The best choices together.
        about: What the answerer sees.
    """

    accuracy: float
    joint_accuracy: float
    by_kind: dict[str, float]
    choices: dict[str, str]
    joint_choices: dict[str, str]
    about: str


@dataclass(frozen=True, slots=True)
class ShortcutScore:
    """How well the data are answered with something removed.

    Attributes:
        name: Of the heuristic, or of the ablation that a probe was trained on.
        group: heuristic or ablation.
        reader: The same in words that go on from "a reader who".
        shortcut: Whether something is missing that the data claim to test.
        accuracy: Right answers.
        joint_accuracy: Stories all of whose questions were answered rightly.
        by_kind: Right answers by kind of question.
        by_false_belief: The same within questions about a false belief, and others; empty where no belief is asked.
        above_structure: Accuracy less the structural baseline; negative if below.
        joint_above_structure: The same for joint accuracy.
        beats_structure: Whether the lower end of accuracy's interval lies above the structural baseline.
        jointly_beats_structure: The same for joint accuracy.
    """

    name: str
    group: str
    reader: str
    shortcut: bool
    accuracy: Share
    joint_accuracy: Share
    by_kind: dict[str, Share]
    by_false_belief: dict[str, dict[str, Share]]
    above_structure: float
    joint_above_structure: float
    beats_structure: bool
    jointly_beats_structure: bool


@dataclass(frozen=True, slots=True)
class ShortcutReport:
    """How well data can be answered without what they claim to test.

    Attributes:
        about: What kind of data it is, such as theory_of_mind or kinship.
        questions: How many were answered.
        stories: Of how many stories.
        trained_on: What priors and probes learned from: `train`, or `folds` (the other stories of the same data).
        training_questions: From how many questions.
        chance: Right answers of one who guesses among the candidates.
        joint_chance: The same for whole stories.
        forced: The structural baseline.
        rows: One for each heuristic and ablation.
        overlap: With a training set, the share of test names and queries that occur in it; where the family says.
        overlap_by_kind: The same for the queries, by kind of question.
        verdict: The upshot in a line.
    """

    about: str
    questions: int
    stories: int
    trained_on: str
    training_questions: int
    chance: float
    joint_chance: float
    forced: Forced
    rows: tuple[ShortcutScore, ...]
    verdict: str
    overlap: dict[str, Share] = field(default_factory=dict)
    overlap_by_kind: dict[str, dict[str, Share]] = field(default_factory=dict)

    def row(self, name: str) -> ShortcutScore:
        """Return the score of that name; raise KeyError if there is none."""
        for row in self.rows:
            if row.name == name:
                return row
        raise KeyError(name)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return {**asdict(self), "rows": [asdict(row) for row in self.rows]}


SOLVED = 0.99  # a solver with this score has solved the data


def best_score(rows: Sequence[ShortcutScore]) -> ShortcutScore:
    """Return the highest score; those that beat the structure come first."""
    return max(rows, key=lambda row: (row.beats_structure or row.jointly_beats_structure, row.accuracy.value))


def both_scores(row: ShortcutScore) -> str:
    """Return average and joint accuracy as text."""
    return f"{percent(row.accuracy.value)} (joint {percent(row.joint_accuracy.value)})"


def percent(share: float) -> str:
    """Return a percentage; nothing is called 0% or 100% that is not."""
    text = f"{100 * share:.1f}"
    if text == "100.0":
        return "100%" if share == 1 else "over 99.9%"
    return "0%" if share == 0 else f"{text}%"


def describe_best(rows: Sequence[ShortcutScore], forced: Forced, tested: str) -> str:
    """Return a sentence about the best reader: whether it beats the structural baseline.

    Args:
        rows: All readers.
        forced: The structural baseline.
        tested: What data that such a reader solves does not test, such as "reasoning".
    """
    best = best_score(rows)
    gets = f"A reader who {best.reader} gets {both_scores(best)}"
    if best.accuracy.value >= SOLVED:
        return f"{gets}: this data does not test {tested}."
    limit = f"{percent(forced.accuracy)} (joint {percent(forced.joint_accuracy)})"
    if not (best.beats_structure or best.jointly_beats_structure):
        return f"{gets}, no more than the structural baseline: {limit}."
    return f"{gets}, {points_above(best)} the structural baseline of {limit}."


def points_above(row: ShortcutScore) -> str:
    """Return by how much a score is above the structural baseline; a reader may beat it in whole stories only."""
    joint = f"joint {100 * row.joint_above_structure:.1f}"
    if row.above_structure < 0:
        return f"{joint} points above"
    return f"{100 * row.above_structure:.1f} ({joint}) points above"
