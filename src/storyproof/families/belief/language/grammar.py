"""What a language has to say about its nouns and names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

MALE, FEMALE = "m", "f"
NAME = "name"  # the form of a slot that says nothing else

Forms = Mapping[str, str]


class GrammarError(ValueError):
    """A noun whose marks do not say what its forms are; the message is a clause that says what to write."""


class Grammar(Protocol):
    """The forms of nouns and names in one language.

    Attributes:
        naming: The forms that name somebody or something, such as "the key"; all others agree with it, such as "is".
        pronouns: The pronoun of the subject, by gender.
        is_silent: Whether a subject that is clear can be left out.
        spaced: Whether spaces separate words.
        takes_any_word: Whether words that no list has are regular, so that a text can use them.
    """

    naming: frozenset[str]
    pronouns: Mapping[str, str]
    is_silent: bool
    spaced: bool
    takes_any_word: bool

    def noun_forms(self, word: str, marks: frozenset[str]) -> Forms:
        """Return all forms of a noun; raise GrammarError if its marks are unknown or incomplete."""

    def agent_forms(self, name: str, gender: str) -> Forms:
        """Return all forms of somebody's name, or of a pronoun in its place."""


def check_marks(marks: frozenset[str], known: frozenset[str]) -> None:
    """Check the marks of a noun.

    Raises:
        GrammarError: If one is unknown.
    """
    unknown = sorted(marks - known)
    if unknown:
        raise GrammarError(f"unknown mark '{unknown[0]}'; use {', '.join(sorted(known)) or 'none'}")


def one_of(marks: frozenset[str], choices: frozenset[str]) -> str:
    """Return the one mark that is among the choices.

    Raises:
        GrammarError: If there is none, or several.
    """
    chosen = sorted(marks & choices)
    if len(chosen) != 1:
        raise GrammarError(f"expected one of the marks {', '.join(sorted(choices))}, found {len(chosen)}")
    return chosen[0]
