"""Which words of a reply are names of people."""

from __future__ import annotations

import re

NAME = re.compile(r"\b[A-Z][\w-]*\w")
NO_NAMES = frozenset(  # words that often begin a sentence
    (
        *("a", "an", "and", "answer", "as", "because", "both", "but", "final", "he", "her", "his", "however", "if"),
        *("in", "it", "no", "not", "of", "question", "she", "since", "so", "story", "that", "the", "their", "then"),
        *("there", "therefore", "they", "this", "thus", "to", "we", "what", "who", "yes", "you"),
        *("anybody", "anyone", "everybody", "everyone", "nobody", "people", "somebody", "someone", "which"),
    )
)


def people_in(said: str) -> set[str]:
    """Give what look like names in a text, in lower case."""
    return {name.lower() for name in NAME.findall(said)} - NO_NAMES
