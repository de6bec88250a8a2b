"""Free-text replies: mentions of answers, names of people, and how each family speaks of its answers.

This stands below the families, so that a family can say how replies to its questions are read (`Talk`), and the
matchers above can use that without knowing the family.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

NO_NAMES = frozenset(  # words that often begin a sentence
    (
        *("a", "an", "and", "answer", "as", "because", "both", "but", "final", "he", "her", "his", "however", "if"),
        *("in", "it", "no", "not", "of", "question", "she", "since", "so", "story", "that", "the", "their", "then"),
        *("there", "therefore", "they", "this", "thus", "to", "we", "what", "who", "yes", "you"),
        *("anybody", "anyone", "everybody", "everyone", "nobody", "people", "somebody", "someone", "which"),
    )
)
_NAME = re.compile(r"\b[A-Z][\w-]*\w")
_PARTS = re.compile(r"[\s_-]+")


class Mention(NamedTuple):
    """A place in a text that names something which could be the answer."""

    start: int
    end: int
    name: str


class Talk:
    """How replies to the questions of one family are read.

    The defaults suit answers that are plain names or words, so a new family needs none of its own. Mentions are found
    in the reply in lower case; methods get the reply as it was written as well, because names of people begin with a
    capital letter.

    Attributes:
        further: Names to look for besides the candidates: answers that a reply may give although no question has them.
        lookalikes: A regular expression of phrases that contain a name but mean something else, such as "great-aunt".
        reads_always: Whether a reply must be read even if it names one candidate only and denies nothing.
    """

    further: Sequence[str] = ()
    lookalikes: str = ""
    reads_always: bool = False

    def claims(self, candidates: Collection[str]) -> bool:
        """Return whether candidates are answers of this family, for replies whose question is not known."""
        return False

    def forms(self, name: str) -> list[str]:
        """Return other forms of a name, in lower case with hyphens: plural or singular, compounds in one word."""
        return other_forms(name)

    def set_aside_first(self, said: str, found: Sequence[Mention], question: str) -> Collection[Mention]:
        """Return mentions that are about somebody else than the question, whatever the reply goes on to conclude.

        Args:
            said: The reply as it was written.
            found: All mentions in it.
            question: What was asked.
        """
        return ()

    def decisive(self, said: str, found: Sequence[Mention], question: str) -> Sequence[Mention]:
        """Return mentions in clauses that state just what was asked; if they agree, nothing else counts."""
        return ()

    def set_aside_last(self, said: str, text: str, found: Sequence[Mention], question: str) -> Collection[Mention]:
        """Return mentions that are about somebody else, among those that are left when the reply has been read.

        Args:
            said: The reply as it was written.
            text: The part of it that counts, in lower case.
            found: The mentions that are left.
            question: What was asked.
        """
        return ()


PLAIN_TALK = Talk()


def people_in(said: str) -> set[str]:
    """Return what looks like names of people in a text, in lower case."""
    return {name.lower() for name in _NAME.findall(said)} - NO_NAMES


def parts_of(name: str) -> list[str]:
    """Return the words of a name in lower case; spaces, underscores and hyphens divide it."""
    return [part for part in _PARTS.split(name.lower()) if part]


def other_forms(name: str) -> list[str]:
    """Return other forms of a name: its plural or singular, and a compound in one word."""
    parts = parts_of(name)
    if not parts:
        return []
    found = ["-".join([*parts[:-1], other]) for other in _other_numbers(parts[-1])]
    if len(parts) > 1:
        found.append("".join(parts))  # treasurechest
    return found


def _other_numbers(word: str) -> list[str]:
    """Return the plural of a word, and its singular if it looks like a plural."""
    found = [f"{word}s"]
    if re.search(r"(?:s|x|z|ch|sh|o)$", word):
        found.append(f"{word}es")
    if re.search(r"[^aeiou]y$", word):
        found.append(f"{word[:-1]}ies")
    if re.search(r"fe?$", word):
        found.append(re.sub(r"fe?$", "ves", word))
    if len(word) > 3 and word.endswith("s") and not word.endswith("ss"):
        found.append(word[:-1])
        if word.endswith("ies"):
            found.append(f"{word[:-3]}y")
        if re.search(r"(?:s|x|z|ch|sh)es$", word):
            found.append(word[:-2])
    return found
