"""What neural models need to know of theory-of-mind stories: who acts, and which words play which role."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable

from storyproof.errors import ParseError
from storyproof.families.belief.events import FEELINGS, Kind
from storyproof.families.belief.text import parse

_ROLES = ("agent", "thing", "container", "room")
_ACTOR = re.compile(rf"(?:^|(?<=[.!?\n]))\s*(?!The )([\w-]+) (?:entered|exited|moved|is|{'|'.join(FEELINGS)}) \S")


def agents_of(story: str) -> list[str]:
    """Return everybody who acts in a story, in order of appearance."""
    return list(dict.fromkeys(_ACTOR.findall(story)))


def words_of(story: str) -> list[tuple[str, str]]:
    """Return the words of a plain story, in lower case, with their roles.

    Raises:
        ParseError: If it cannot be parsed.
    """
    words = [
        (getattr(event, role, None), role)
        for event in parse(story)
        if event.kind is not Kind.FEEL  # anything may be liked
        for role in _ROLES
    ]
    return [(word.lower(), role) for word, role in words if word]


def roles(words: Callable[[str], Iterable[tuple[str, str]]], stories: Iterable[str]) -> dict[str, str]:
    """Return the role of each word that plays one role only; none if a story cannot be parsed.

    Args:
        words: Returns the words of a story with their roles; raises ParseError if it cannot be parsed.
        stories: The stories.
    """
    played: dict[str, set[str]] = defaultdict(set)
    for story in stories:
        try:
            for word, role in words(story):
                played[word].add(role)
        except ParseError:
            return {}
    return {word: next(iter(found)) for word, found in played.items() if len(found) == 1}
