"""Free-text replies: mentions of answers, names of people, and how each family speaks of its answers.

This stands below the families, so that a family can say how replies to its questions are read (`Talk`), and the
matchers above can use that without knowing the family.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import lru_cache
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
_BETWEEN = re.compile(r"\s*[,、，]\s*")  # the people of a set
_HAN = re.compile(r"[\u4e00-\u9fff]")
_SPANISH = re.compile(r"[¿¡]|\bsí\b|\bnadie\b")
_GERMAN = re.compile(r"^\W*(?:Wo|Wer|Weiß|Wissen|Was (?:würde|glaub|denk|mein|vermut)\w*)\b|\b(?:nein|niemand)\b")


class Mention(NamedTuple):
    """A place in a text that names something which could be the answer."""

    start: int
    end: int
    name: str


class PeopleSets(NamedTuple):
    """Candidates that are sets of people.

    Attributes:
        names: The candidate of each set, the empty one for nobody.
        people: All people, in order.
    """

    names: dict[frozenset[str], str]
    people: tuple[str, ...]

    def describe(self, language: str = "en") -> str:
        """Return what may be answered, in a language: one or more of the people, or nobody."""
        nobody, (somebody, none, between) = self.names.get(frozenset()), _WHO_MAY_BE_NAMED[language]
        return somebody.format(between.join(self.people)) + (none.format(nobody) if nobody is not None else "")


# For each language: some of the people, nobody, and what stands between two of them.
_WHO_MAY_BE_NAMED = {
    "en": ("one or more of the names {}, separated by commas", "; or {}", ", "),
    "de": ("einer oder mehrere der Namen {}, durch Kommas getrennt", "; oder {}", ", "),
    "es": ("uno o varios de los nombres {}, separados por comas", "; o {}", ", "),
    "zh": ("以下名字中的一个或几个：{}，用顿号隔开", "；或者{}", "、"),
}


@lru_cache(maxsize=1024)
def people_sets(candidates: tuple[str, ...]) -> PeopleSets | None:
    """Return the sets of people that candidates are; None if they are something else."""
    members = {candidate: _BETWEEN.split(candidate.strip()) for candidate in candidates}
    people = {each for parts in members.values() if len(parts) > 1 for each in parts}
    alone = [candidate for candidate, parts in members.items() if len(parts) == 1 and candidate not in people]
    if not people <= set(candidates) or not people or len(alone) > 1:
        return None
    names = {frozenset(parts) - set(alone): candidate for candidate, parts in members.items()}
    return PeopleSets(names, tuple(sorted(people)))


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

    def set_aside_first(self, said: str, mentions: Sequence[Mention], question: str) -> Collection[Mention]:
        """Return mentions that are about somebody else than the question, whatever the reply goes on to conclude.

        Args:
            said: The reply as it was written.
            mentions: All mentions in it.
            question: What was asked.
        """
        return ()

    def decisive(self, said: str, mentions: Sequence[Mention], question: str) -> Sequence[Mention]:
        """Return mentions in clauses that state just what was asked; if they agree, nothing else counts."""
        return ()

    def set_aside_last(self, said: str, text: str, mentions: Sequence[Mention], question: str) -> Collection[Mention]:
        """Return mentions that are about somebody else, among those that are left when the reply has been read.

        Args:
            said: The reply as it was written.
            text: The part of it that counts, in lower case.
            mentions: The mentions that are left.
            question: What was asked.
        """
        return ()


PLAIN_TALK = Talk()


@lru_cache(maxsize=4096)
def language_of(question: str, candidates: tuple[str, ...] = ()) -> str:
    """Return the language of a row, `en`, `de`, `es` or `zh`: that of its question, or else of its candidates."""
    text = question or "; ".join(candidates)
    if _HAN.search(text):
        return "zh"
    return "es" if _SPANISH.search(text) else "de" if _GERMAN.search(text) else "en"


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
    forms = ["-".join([*parts[:-1], other]) for other in _other_numbers(parts[-1])]
    if len(parts) > 1:
        forms.append("".join(parts))  # treasurechest
    return forms


def _other_numbers(word: str) -> list[str]:
    """Return the plural of a word, and its singular if it looks like a plural."""
    forms = [f"{word}s"]
    if re.search(r"(?:s|x|z|ch|sh|o)$", word):
        forms.append(f"{word}es")
    if re.search(r"[^aeiou]y$", word):
        forms.append(f"{word[:-1]}ies")
    if re.search(r"fe?$", word):
        forms.append(re.sub(r"fe?$", "ves", word))
    if len(word) > 3 and word.endswith("s") and not word.endswith("ss"):
        forms.append(word[:-1])
        if word.endswith("ies"):
            forms.append(f"{word[:-3]}y")
        if re.search(r"(?:s|x|z|ch|sh)es$", word):
            forms.append(word[:-2])
    return forms
