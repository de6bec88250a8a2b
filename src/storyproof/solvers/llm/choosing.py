"""Choices by their likelihood."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import exp, log

from storyproof.solvers.llm.requests import Reply

_LEAST = -100.0  # for a choice so unlikely that it was not listed


def are_letters(choices: Sequence[str]) -> bool:
    """Say whether all choices are single letters, which are a token each, so that the first token decides."""
    return bool(choices) and all(len(choice) == 1 for choice in choices)


def first_token_scores(choices: Sequence[str], listed: Iterable[tuple[str, float]]) -> tuple[float, ...] | None:
    """Score choices by the likelihood that a reply begins with them; only for choices of one letter, which are a token.

    Args:
        choices: What to choose from.
        listed: The likeliest first tokens of the reply with their log-likelihoods.

    Returns:
        A log-likelihood each, spellings with and without space added up; None if choices are longer than a letter, or
        none of them is listed.
    """
    if not are_letters(choices):
        return None
    found = dict.fromkeys(choices, 0.0)
    for token, score in listed:
        if token.strip() in found:
            found[token.strip()] += exp(score)
    if not any(found.values()):
        return None
    return tuple(log(share) if share > 0 else _LEAST for share in found.values())


def choose(choices: Sequence[str], scores: Sequence[float], *, read: int | None = None, seconds: float = 0.0) -> Reply:
    """Make the likeliest choice the reply; of several, the first."""
    best = max(range(len(choices)), key=lambda place: scores[place])
    return Reply(choices[best], read, 0, None, seconds, tuple(scores))
