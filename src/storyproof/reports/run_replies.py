"""What came of asking language models, and what runs took."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from storyproof.evaluation.matching.kinds import KINDS
from storyproof.reports.run_data import SolverRun
from storyproof.reports.run_scores import as_count, as_mapping


@dataclass(frozen=True, slots=True)
class Replies:
    """What came of asking a language model.

    Attributes:
        solver: Its title.
        matching: How its replies were judged.
        matches: The share of each kind of match, by `matching`.
        cut_off: Replies that were cut off before an answer.
        failed: Questions whose requests failed.
        not_asked: Questions that were not asked, as the run ended before.
        of: All questions.
        causes: How many requests failed for which reason.
    """

    solver: str
    matching: str
    matches: Mapping[str, float]
    cut_off: int
    failed: int
    not_asked: int
    of: int
    causes: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Effort:
    """What a run took, as far as it is known.

    Attributes:
        solver: Its title.
        seconds: From beginning to end.
        answers: How many answers there are.
        requests: Requests sent.
        known_before: Replies that were kept from an earlier run.
        retries: Requests that were sent again.
        latency: Median seconds of an answer.
        slow_latency: Seconds within which 95% of the answers came.
        prompt_tokens: Tokens read.
        output_tokens: Tokens written.
        cost: What they cost, in the currency of the prices.
    """

    solver: str
    seconds: float | None
    answers: int
    requests: int | None
    known_before: int | None
    retries: int | None
    latency: float | None
    slow_latency: float | None
    prompt_tokens: int | None
    output_tokens: int | None
    cost: float | None


def replies_of(solver: SolverRun) -> Replies:
    """Return the outcome of the requests to a language model."""
    about = solver.about
    shares, failures = as_mapping(about.get("match_types")), as_mapping(about.get("failures"))
    known = [*KINDS, *sorted(set(shares) - set(KINDS))]
    return Replies(
        solver=solver.title,
        matching=str(about.get("matching") or ""),
        matches={
            kind: float(shares[kind]) for kind in known if isinstance(shares.get(kind), int | float) and shares[kind]
        },
        cut_off=as_count(about.get("cut_off")),
        failed=as_count(failures.get("failed")),
        not_asked=as_count(failures.get("not_asked")),
        of=as_count(failures.get("of", len(solver.predictions))),
        causes={str(cause): as_count(count) for cause, count in as_mapping(failures.get("errors")).items()},
    )


def effort_of(solver: SolverRun) -> Effort:
    """Return what a run took, as far as it is known."""
    about = solver.about
    efforts = [each.effort for each in solver.predictions if isinstance(each.effort, Mapping)]
    seconds = [float(each["seconds"]) for each in efforts if isinstance(each.get("seconds"), int | float)]
    retries = [int(each["retries"]) for each in efforts if isinstance(each.get("retries"), int | float)]
    traffic, tokens = as_mapping(about.get("traffic")), as_mapping(about.get("tokens"))
    whole, cost = as_mapping(about.get("run")).get("seconds"), about.get("cost")
    return Effort(
        solver=solver.title,
        seconds=float(whole) if isinstance(whole, int | float) else None,
        answers=len(solver.predictions),
        requests=traffic.get("asked"),
        known_before=traffic.get("found"),
        retries=sum(retries) if retries else None,
        latency=float(np.quantile(seconds, 0.5)) if seconds else None,
        slow_latency=float(np.quantile(seconds, 0.95)) if seconds else None,
        prompt_tokens=tokens.get("prompt"),
        output_tokens=tokens.get("output"),
        cost=float(cost) if isinstance(cost, int | float) else None,
    )
