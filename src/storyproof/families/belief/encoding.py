"""What neural models need to know of theory-of-mind stories: who acts, and which words play which role."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

from storyproof.errors import ParseError
from storyproof.example import Example
from storyproof.families.belief.events import FEELINGS, Kind
from storyproof.families.belief.text import parse

_ROLES = ("agent", "thing", "container", "room")
_ACTOR = re.compile(rf"(?:^|(?<=[.!?\n]))\s*(?!The )([\w-]+) (?:entered|exited|moved|is|{'|'.join(FEELINGS)}) \S")


def agents_of(story: str) -> list[str]:
    """Return everybody who acts in a story, in order of appearance."""
    return list(dict.fromkeys(_ACTOR.findall(story)))


def roles(examples: Iterable[Example]) -> dict[str, str]:
    """Return the role of each word, in lower case, that plays one role only; none if a story cannot be parsed."""
    played: dict[str, set[str]] = defaultdict(set)
    for story in dict.fromkeys(example.story for example in examples):
        try:
            for word, role in _words_of(story):
                played[word].add(role)
        except ParseError:
            return {}
    return {word: next(iter(found)) for word, found in played.items() if len(found) == 1}


def _words_of(story: str) -> Iterable[tuple[str, str]]:
    """Return the words of a story with their roles.

    Raises:
        ParseError: If it cannot be parsed.
    """
    try:
        events = parse(story)
    except ParseError:
        from storyproof.families.belief.nested.examples import roles_of

        return list(roles_of(story))
    words = [
        (getattr(event, role, None), role)
        for event in events
        if event.kind is not Kind.FEEL  # anything may be liked
        for role in _ROLES
    ]
    return [(word.lower(), role) for word, role in words if word]
