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

    A word that follows "the" is a name unless these two together are known, for a thing may have the name of something
    that people do ("the watch"). So is a word with a capital letter within a sentence.

    Args:
        known: The known words, in lower case; "the room" for a known word after "the".
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
        texts = _WORD.findall(_NUMBER.sub("", text))
        words = [each.lower() for each in texts]
        known = [
            word in self._known
            and not (place and texts[place][0].isupper())
            and not (place and words[place - 1] == "the" and f"the {word}" not in self._known)
            for place, word in enumerate(words)
        ]
        return BlankedSentence(
            tuple(word if one else BLANK for word, one in zip(words, known, strict=True)),
            tuple(word for word, one in zip(words, known, strict=True) if not one),
        )

    def _divide_sentence(self, text: str) -> Sequence[BlankedSentence]:
        words, names = self._divide(text)
        people = words.index("and") + 1 if "and" in words else 0
        if people < 2 or {*words[: people - 1], words[people] if people < len(words) else ""} != {BLANK}:
            return [BlankedSentence(words, names)] if words else []
        return [BlankedSentence(words[people:], (name, *names[people:])) for name in names[:people]]
