"""Sentences as known words with blanks: who and what is named stands in the blanks, whatever its name."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

BLANK = "_"
_WORD = re.compile(r"[^\s.,?!:;\"“”()]+")
_NUMBER = re.compile(r"^\s*\d+[.:]?\s+")  # of a numbered sentence


class BlankedSentence(NamedTuple):
    """A sentence.

    Attributes:
        words: Its words in lower case, BLANK for those that are not known.
        names: What stands in the blanks, in lower case.
    """

    words: tuple[str, ...]
    names: tuple[str, ...]


class Blanker:
    """Divides sentences into known words and names: all other words.

    Args:
        known: The known words, in lower case.
    """

    def __init__(self, known: Collection[str]) -> None:
        self._known = frozenset(known)
        self.question = lru_cache(1 << 16)(self._divide)
        self._sentence = lru_cache(1 << 16)(self._divide_sentence)

    def story(self, sentences: Iterable[str]) -> list[BlankedSentence]:
        """Return the sentences of a story; of several people who do something together, one sentence for each."""
        return [each for text in sentences for each in self._sentence(text)]

    def _divide(self, text: str) -> BlankedSentence:
        """Return a text as one sentence."""
        words = [word.lower() for word in _WORD.findall(_NUMBER.sub("", text))]
        return BlankedSentence(
            tuple(word if word in self._known else BLANK for word in words),
            tuple(word for word in words if word not in self._known),
        )

    def _divide_sentence(self, text: str) -> Sequence[BlankedSentence]:
        words, names = self._divide(text)
        people = words.index("and") + 1 if "and" in words else 0
        if people < 2 or {*words[: people - 1], words[people] if people < len(words) else ""} != {BLANK}:
            return [BlankedSentence(words, names)] if words else []
        return [BlankedSentence(words[people:], (name, *names[people:])) for name in names[:people]]
