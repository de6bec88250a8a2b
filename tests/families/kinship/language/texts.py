"""Collected texts that the reader should refuse or understand, and what it makes of them."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from storyproof.families.kinship.language.reader import NotUnderstood, Reading, read
from storyproof.families.kinship.language.tokens import Tokens, cut, guess_names
from storyproof.io.bounded_input import parse_shipped

# Written without sight of the reader (the first and the third), or aimed at what it could miss.
BAD = ("bad_texts", "more_bad_texts", "fresh_bad_texts", "aimed_bad_texts")
GOOD = ("good_texts", "fresh_good_texts")
LIMITS = "known_limits"


class Result(NamedTuple):
    """What the reader makes of a collection: all texts, those that it accepts, and those that it reads wrongly."""

    texts: list[str]
    accepted: list[str]
    wrong: list[str]

    @property
    def refused(self) -> list[str]:
        return [text for text in self.texts if text not in self.accepted]


@cache
def collection(name: str) -> list[dict[str, Any]]:
    """Return the entries of a collection."""
    path = Path(__file__).parent / f"{name}.yaml"
    found: list[dict[str, Any]] = parse_shipped(path.read_text(encoding="utf-8"))
    return found


def try_to_read(text: str, names: Collection[str] | None = None) -> Reading | NotUnderstood:
    """Return what `read` returns or raises."""
    try:
        return read(text, names)
    except NotUnderstood as reason:
        return reason


def possible_names(text: str) -> set[str]:
    """Return the words of a text that can be names."""
    tokens = [Tokens()[each] for each in cut(text)]
    kinds = "".join(token.kinds for token in tokens)
    return set(guess_names(kinds, [token.capital for token in tokens if token.capital])[0])


def read_bad(name: str) -> Result:
    """Read a collection of bad texts, each without and with the names of its people."""
    entries = collection(name)
    accepted = []
    for entry in entries:
        text = entry["text"]
        claimed = {word for claim in entry["claims"] for word in claim.split() if word[0].isupper()}
        readings = try_to_read(text), try_to_read(text, claimed | possible_names(text))
        if any(isinstance(reading, Reading) for reading in readings):
            accepted.append(text)
    return Result([entry["text"] for entry in entries], accepted, [])


def read_good(name: str) -> Result:
    """Read a collection of good texts, and compare what they state."""
    entries = collection(name)
    accepted, wrong = [], []
    for entry in entries:
        reading = try_to_read(entry["text"])
        if isinstance(reading, Reading):
            accepted.append(entry["text"])
            if sorted(f"{fact.first} {fact.word} {fact.second}" for fact in reading.facts) != sorted(entry["facts"]):
                wrong.append(entry["text"])
    return Result([entry["text"] for entry in entries], accepted, wrong)
