"""The number of participants that a plan names gives intervals of the planned width."""

import numpy as np
import pytest

from storyproof.errors import ConfigError
from storyproof.stats import mean_interval
from storyproof.study.planning import plan_participants


def simulate(accuracy: float, correlation: float, people: int, tasks: int, seed: int) -> tuple[list[float], list[int]]:
    """Return answers of people who differ: their own accuracies are beta distributed, with this correlation."""
    draws = np.random.default_rng(seed)
    if correlation:
        total = (1 - correlation) / correlation
        own = draws.beta(accuracy * total, (1 - accuracy) * total, people)
    else:
        own = np.full(people, accuracy)
    answers = (draws.random((people, tasks)) < own[:, None]).astype(float)
    return answers.ravel().tolist(), np.repeat(np.arange(people), tasks).tolist()


@pytest.mark.parametrize(
    ("accuracy", "half_width", "tasks", "correlation"), [(0.8, 0.05, 10, 0.1), (0.5, 0.08, 5, 0.3), (0.7, 0.06, 1, 0.0)]
)
def test_simulated_studies_have_the_planned_width(
    accuracy: float, half_width: float, tasks: int, correlation: float
) -> None:
    plan = plan_participants(accuracy=accuracy, half_width=half_width, tasks=tasks, correlation=correlation)
    widths, held = [], 0
    for seed in range(60):
        values, groups = simulate(accuracy, correlation, plan.participants, tasks, seed)
        interval = mean_interval(values, groups, resamples=400)
        widths.append((interval.high - interval.low) / 2)
        held += interval.low <= accuracy <= interval.high
    assert np.mean(widths) == pytest.approx(half_width, rel=0.1)
    assert held >= 51  # of 60, for intervals of 95%: fewer happen once in 10,000 series


def test_figures_by_hand() -> None:
    """1.96² · 0.25 / 0.05² = 384.1 answers; ten per person at ρ = 0.1 are worth 1.9 times less."""
    plan = plan_participants(accuracy=0.5, half_width=0.05, tasks=10, correlation=0.1, conditions=2, excluded=0.1)
    assert (plan.independent, plan.design_effect, plan.participants) == (385, pytest.approx(1.9), 73)
    assert plan.recruited == 164  # 73 / 0.9 = 81.1, in two conditions
    alone = plan_participants(accuracy=0.5, half_width=0.05, tasks=1, correlation=1.0)
    assert alone.participants == 385


@pytest.mark.parametrize(
    "wrong",
    [
        {"accuracy": 0.0},
        {"accuracy": 1.0},
        {"half_width": 0.0},
        {"half_width": 0.5},
        {"tasks": 0},
        {"correlation": -0.1},
        {"correlation": 1.1},
        {"excluded": 1.0},
        {"conditions": 0},
        {"level": 1.0},
    ],
)
def test_values_out_of_range(wrong: dict[str, float]) -> None:
    settings = {"accuracy": 0.5, "half_width": 0.05, "tasks": 10, **wrong}
    with pytest.raises(ConfigError, match="use"):
        plan_participants(**settings)  # type: ignore[arg-type]
