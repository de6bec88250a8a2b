"""Candidates with letters, and which of them a reply chooses."""

from __future__ import annotations

import re
from collections.abc import Sequence

from storyproof.example import Example
from storyproof.seeds import Draws

_SINGLE = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_LETTERS = [*_SINGLE, *(first + second for first in _SINGLE for second in _SINGLE)]
_ONLY = re.compile(r"\W*(?:option\W+)?([A-Z])(?:\W.*)?", re.DOTALL)
_SAID = re.compile(r"\b(?:answer|option|choice)\b\W+(?:is\W+)?(?:option\W+)?([A-Z])(?![\w'])", re.IGNORECASE)


def shuffled(example: Example, candidates: Sequence[str], seed: int) -> list[str]:
    """Put candidates into an order drawn for this example."""
    known = sorted(candidates)
    return [known[place] for place in Draws("options", seed, example.id).order(len(known)).tolist()]


def letters(options: Sequence[str]) -> list[str]:
    """Give the options' letters; after Z come AA, AB, …."""
    return _LETTERS[: len(options)]


def chosen(reply: str, options: Sequence[str]) -> str:
    """Give the option whose letter a reply names; the reply itself where it answers in words, right or wrong.

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
