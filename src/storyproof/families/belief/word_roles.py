"""What neural models need to know of theory-of-mind stories: who acts, and which words play which role."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

from storyproof.errors import ParseError
from storyproof.families.belief.read_text import read_story
from storyproof.families.belief.tomi_text import FEELINGS
from storyproof.families.belief.world import EventKind

_ROLES = ("agent", "agent", "thing", "container", "room")  # of the words of an event
_ACTOR = re.compile(
    rf"(?:^|(?<=[.!?\n]))\s*(?!the\s)([\w-]+)\s+(?:entered|exited|moved|is|{'|'.join(FEELINGS)})\s+\S", re.IGNORECASE
)


def people_of(story: str) -> Sequence[str]:
    """Return the people of a story, also those who only like something; if it cannot be read, who seems to act."""
    try:
        events = read_story(story).events
    except ParseError:
        return list(dict.fromkeys(_ACTOR.findall(story)))
    named = (name for event in events for name in (event.agent, event.hearer))
    return list(dict.fromkeys(name for name in named if name is not None))


def roles(stories: Iterable[str]) -> dict[str, str]:
    """Return the role of each word that plays one role only, in lower case; none if a story cannot be read."""
    played: dict[str, set[str]] = defaultdict(set)
    for story in stories:
        try:
            events = read_story(story).events
        except ParseError:
            return {}
        for event in events:
            if event.kind in (EventKind.NOISE, EventKind.FEEL):  # anything may be liked
                continue
            words = (event.agent, event.hearer, event.thing, event.container, event.room)
            for word, role in zip(words, _ROLES, strict=True):
                if word:
                    played[word.lower()].add(role)
    return {word: next(iter(parts)) for word, parts in played.items() if len(parts) == 1}
