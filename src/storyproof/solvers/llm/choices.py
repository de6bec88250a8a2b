"""Multiple choice: letters for candidates, the candidate that a reply names, and choices by likelihood."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from math import exp, log

from storyproof.example import Example
from storyproof.generation.seeds import Draws
from storyproof.solvers.llm.messages import Reply

_SINGLE = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_LETTERS = [*_SINGLE, *(first + second for first in _SINGLE for second in _SINGLE)]
_ONLY = re.compile(r"\W*(?:option\W+)?([A-Z])(?:\W.*)?", re.DOTALL)
_SAID = re.compile(
    r"(?:\b(?:answer|option|choice|antwort|respuesta)\b\W+(?:(?:is|ist|es)\W+)?(?:option\W+)?|答案\W*是?\W*)([A-Z])(?![\w'])",
    re.IGNORECASE,
)
_LEAST = -100.0  # the log-likelihood of a choice that is not among the likeliest tokens


def shuffled(example: Example, candidates: Sequence[str], seed: int) -> list[str]:
    """Return candidates in a random order that depends on the seed and the example only."""
    known = sorted(candidates)
    return [known[place] for place in Draws("options", seed, example.id).order(len(known)).tolist()]


def letters(options: Sequence[str]) -> list[str]:
    """Return the options' letters; after Z come AA, AB, …."""
    return _LETTERS[: len(options)]


def chosen(reply: str, options: Sequence[str]) -> str:
    """Return the option whose letter a reply names; the reply itself if it names an option by its words.

    Words count more than letters: "A) drawer" means the drawer even if A is the cupboard.
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
    """Return whether all choices are single letters; each is one token, so the first token decides."""
    return bool(choices) and all(len(choice) == 1 for choice in choices)


def first_token_scores(choices: Sequence[str], listed: Iterable[tuple[str, float]]) -> tuple[float, ...] | None:
    """Score choices of one letter by the likelihood that a reply begins with them.

    Args:
        choices: The choices.
        listed: The likeliest first tokens of the reply with their log-likelihoods.

    Returns:
        A log-likelihood for each choice, summed over tokens with and without spaces; None if a choice is longer than a
        letter, or no choice is listed.
    """
    if not are_letters(choices):
        return None
    scores = dict.fromkeys(choices, 0.0)
    for token, score in listed:
        if token.strip() in scores:
            scores[token.strip()] += exp(score)
    if not any(scores.values()):
        return None
    return tuple(log(share) if share > 0 else _LEAST for share in scores.values())


def choose(choices: Sequence[str], scores: Sequence[float], *, read: int | None = None, seconds: float = 0.0) -> Reply:
    """Return the likeliest choice as the reply; if several are, the first."""
    best = max(range(len(choices)), key=lambda place: scores[place])
    return Reply(choices[best], read, 0, None, seconds, tuple(scores))
