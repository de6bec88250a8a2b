"""What reading a text gives: the facts that it states, or the reason why it is not understood."""

from __future__ import annotations

from typing import NamedTuple

from storyproof.errors import ParseError
from storyproof.families.kinship.relations import predicate_of


class NotUnderstood(ParseError):  # noqa: N818  # named after what the reader says
    """A text that states no kinship, or not clearly enough.

    Attributes:
        reason: Why.
        line: The line in which reading stopped, from 1.
        sentence: The sentence in which it stopped, from 1 in the whole text.
        column: The column of the line, from 1.
        words: What stands there.
    """

    def __init__(self, reason: str, line: int, sentence: int, column: int, words: str) -> None:
        super().__init__(f"line {line}, sentence {sentence}, column {column}, '{words}': not understood: {reason}.")
        self.reason, self.line, self.sentence, self.column, self.words = reason, line, sentence, column, words


class ReadFact(NamedTuple):
    """A fact as a text states it: the second person is the first's `word`.

    Attributes:
        first: A name.
        word: The kin word.
        second: A name.
        line: The line that states it, from 1.
        sentence: The sentence that states it, from 1.
    """

    first: str
    word: str
    second: str
    line: int
    sentence: int

    @property
    def predicate(self) -> str:
        """The relation without gender."""
        return predicate_of(self.word)


class Reading(NamedTuple):
    """What a text says.

    Attributes:
        facts: All facts that it states, in order; "brothers" states one in each direction.
        genders: The gender of everybody whose gender it shows.
        people: Everybody whom it names.
    """

    facts: tuple[ReadFact, ...]
    genders: dict[str, str]
    people: frozenset[str]
