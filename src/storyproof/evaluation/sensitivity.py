"""How much a score depends on the prompt and on the seed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from statistics import fmean, stdev
from typing import Any

from storyproof.evaluation.runs import Evaluation


def sensitivity(evaluations: Sequence[Evaluation]) -> dict[str, Any]:
    """Return for each model how its accuracy spreads over prompts and over seeds.

    Returns:
        By model: lowest, highest and mean accuracy over all of its runs; `prompts` (the mean of each) and `seeds` (the
        same), where there are several.
    """
    models: dict[str, list[Evaluation]] = defaultdict(list)
    for each in evaluations:
        models[each.model].append(each)
    return {model: _spread(runs) for model, runs in models.items() if len(runs) > 1}


def _spread(runs: Sequence[Evaluation]) -> dict[str, Any]:
    scores = [run.scores.accuracy for run in runs]
    found: dict[str, Any] = {
        "runs": len(runs),
        "lowest": min(scores),
        "highest": max(scores),
        "mean": fmean(scores),
        "deviation": stdev(scores),
    }
    by: dict[str, dict[str, list[float]]] = {"prompts": defaultdict(list), "seeds": defaultdict(list)}
    for run in runs:
        by["prompts"][prompt_of(run)].append(run.scores.accuracy)
        by["seeds"][str(run.seed)].append(run.scores.accuracy)
    for name, groups in by.items():
        if len(groups) > 1:
            found[name] = {group: fmean(values) for group, values in groups.items()}
    return found


def prompt_of(run: Evaluation) -> str:
    """Return the name of the prompt that a run was asked with; empty for solvers that have none."""
    prompt = run.details.get("prompt") or {}
    return str(prompt.get("name", "")) + (" without conventions" if prompt.get("conventions") is False else "")
