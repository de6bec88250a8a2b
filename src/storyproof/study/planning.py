"""How many participants a study needs, and its preregistration: all that is decided before the first participant."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from storyproof import __version__
from storyproof.errors import ConfigError
from storyproof.io.atomic_files import json_bytes, whole_file, writing_to
from storyproof.runtime.optional_packages import need
from storyproof.stats import LEVEL
from storyproof.study.folder import Study
from storyproof.study.items import MAIN


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyPlan:
    """How many participants one condition needs.

    Attributes:
        accuracy: The accuracy that is expected.
        half_width: Half of the width of its interval.
        level: How often such an interval holds the true accuracy.
        tasks: Questions per participant.
        correlation: How alike the answers of one participant are: the intraclass correlation.
        independent: Answers that would be needed of as many participants.
        design_effect: By how much more are needed because each participant gives several.
        answers: Answers in each condition.
        participants: Participants in each condition.
        conditions: Conditions.
        excluded: The share of participants who are expected to be excluded.
        recruited: Participants to recruit, for all conditions together.
    """

    accuracy: float
    half_width: float
    level: float
    tasks: int
    correlation: float
    independent: int
    design_effect: float
    answers: int
    participants: int
    conditions: int
    excluded: float
    recruited: int


def plan_participants(
    *,
    accuracy: float,
    half_width: float,
    tasks: int,
    correlation: float = 0.1,
    conditions: int = 1,
    excluded: float = 0.0,
    level: float = LEVEL,
) -> StudyPlan:
    """Return how many participants give an interval of at most this width, if the accuracy is as expected.

    Independent answers are needed n = z² p (1 − p) / h², by the normal approximation (statsmodels,
    `samplesize_confint_proportion`). The answers of one participant are alike, which multiplies the variance by the
    design effect 1 + (m − 1) ρ (Kish 1965) for m tasks and an intraclass correlation ρ. Participants are
    n (1 + (m − 1) ρ) / m, rounded up.

    Args:
        accuracy: The expected accuracy; 0.5 is the worst case.
        half_width: Half of the width of the interval: 0.05 for ± 5 points.
        tasks: Questions per participant.
        correlation: The intraclass correlation within participants.
        conditions: The number of conditions, between participants.
        excluded: The share of participants who are expected to be excluded.
        level: How often such an interval holds the true accuracy.

    Raises:
        ConfigError: If a value is out of range.
    """
    for name, value, low, high in (
        ("accuracy", accuracy, 0.0, 1.0),
        ("half-width", half_width, 0.0, 0.5),
        ("level", level, 0.0, 1.0),
    ):
        if not low < value < high:
            raise ConfigError(f"--{name} is {value}; use a number between {low:g} and {high:g}.")
    if not 0 <= correlation <= 1:
        raise ConfigError(f"--correlation is {correlation}; use 0 to 1.")
    if not 0 <= excluded < 1:
        raise ConfigError(f"--excluded is {excluded}; use 0 up to, not including, 1.")
    for name, count in (("tasks", tasks), ("conditions", conditions)):
        if count < 1:
            raise ConfigError(f"--{name} is {count}; use 1 or more.")
    need("statsmodels", "study", "Planning a study")
    from statsmodels.stats.proportion import samplesize_confint_proportion

    independent = float(samplesize_confint_proportion(accuracy, half_width, alpha=1 - level))
    effect = 1 + (tasks - 1) * correlation
    participants = math.ceil(independent * effect / tasks - 1e-9)
    participants = max(participants, 2)  # of one participant no interval can be computed
    return StudyPlan(
        accuracy=accuracy,
        half_width=half_width,
        level=level,
        tasks=tasks,
        correlation=correlation,
        independent=math.ceil(independent - 1e-9),
        design_effect=effect,
        answers=participants * tasks,
        participants=participants,
        conditions=conditions,
        excluded=excluded,
        recruited=math.ceil(participants / (1 - excluded) - 1e-9) * conditions,
    )


_ASSIGNMENT = (
    "Participants are assigned to the condition with the fewest participants that has items left; ties are broken by a "
    "hash of the seed. An item is given to as many participants of each condition as answers_per_item says. Each "
    "participant gets the kind of item that they have had least; within it items with the fewest answers, in a random "
    "order that depends on seed and participant."
)
_ANALYSIS = (
    "Accuracy by condition and kind of item with 95% intervals over participants. An answer after the time limit "
    "counts as wrong. A story is accepted if all reviewers find it good; agreement is Fleiss' kappa."
)


def preregistration(study: Study) -> dict[str, Any]:
    """Return all that was decided before the first participant, with hashes, as plain values for JSON."""
    return {
        "storyproof": __version__,
        "design": study.design.as_dict(),
        "design_sha256": study.design.sha256,
        "items": {
            "count": len(study.items),
            "sha256": study.items.sha256,
            "by_kind": dict(Counter(item.stratum for item in study.items.of(MAIN))),
        },
        "item_keys": [item.key for item in study.items.of(MAIN)],
        "assignment": _ASSIGNMENT,
        "exclusion_rules": asdict(study.design.exclusions),
        "analysis": _ANALYSIS,
    }


def write_preregistration(study: Study, out: Path) -> None:
    """Write the preregistration as JSON.

    Raises:
        DataError: If it cannot be written.
    """
    with writing_to(out), whole_file(out) as file:
        file.write(json_bytes(preregistration(study)))
