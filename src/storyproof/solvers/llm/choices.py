"""Choices: candidates with letters, which of them a reply chooses, and choices by likelihood."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from math import exp, log

from storyproof.example import Example
from storyproof.seeds import Draws
from storyproof.solvers.llm.requests import Reply

_SINGLE = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_LETTERS = [*_SINGLE, *(first + second for first in _SINGLE for second in _SINGLE)]
_ONLY = re.compile(r"\W*(?:option\W+)?([A-Z])(?:\W.*)?", re.DOTALL)
_SAID = re.compile(r"\b(?:answer|option|choice)\b\W+(?:is\W+)?(?:option\W+)?([A-Z])(?![\w'])", re.IGNORECASE)
_LEAST = -100.0  # for a choice so unlikely that it was not listed


def shuffled(example: Example, candidates: Sequence[str], seed: int) -> list[str]:
    """Put candidates into an order drawn for this example."""
    known = sorted(candidates)
    return [known[place] for place in Draws("options", seed, example.id).order(len(known)).tolist()]


def letters(options: Sequence[str]) -> list[str]:
    """Return the options' letters; after Z come AA, AB, …."""
    return _LETTERS[: len(options)]


def chosen(reply: str, options: Sequence[str]) -> str:
    """Return the option whose letter a reply names; the reply itself where it answers in words, right or wrong.

    Words go before letters: who says "A) drawer" where A is the cupboard means the drawer.
    """
    by_letter = dict(zip(letters(options), options, strict=True))
    text = reply.strip()
    folded = re.sub(r"[\s_-]+", " ", text.lower())
    named = [
        option
        for option in options
        if re.search(rf"(?<!\w){re.escape(option.lower().replace('_', ' ').replace('-', ' '))}(?!\w)", folded)
    ]
    match = _ONLY.fullmatch(text) or next(iter(reversed(list(_SAID.finditer(text)))), None)
    option = by_letter.get(match[1].upper()) if match is not None else None
    if option is None or (named and named != [option]):
        return reply
    if not named and match is not None and match.re is _ONLY and re.match(r"\W*A\s+[a-z]", text):
        return reply  # an article, not a letter
    return option


def are_letters(choices: Sequence[str]) -> bool:
    """Return whether all choices are single letters, which are a token each, so that the first token decides."""
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
