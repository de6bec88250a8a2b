"""What plain stories and stories about nested beliefs have in common: all that the family asks of either.

There are two kinds. *Plain* stories are those of ToMi and ToM-bAbI: people come, go and move things in plain sight.
*Nested* ones also have secrets, messages and lies, and other forms of question; their oracle, checker and text are in
the package `nested`. `story_choice` tells by the text which kind a story is. Nothing else asks.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from storyproof.example import Example
from storyproof.families.family import ReadingProblem, Step, StoryModel
from storyproof.statements import Statement, StatementVerdict

if TYPE_CHECKING:
    from storyproof.families.belief.audit.tally import AuditTally, KindJudge
    from storyproof.families.belief.timeline import Timeline
    from storyproof.families.judge import Subject
    from storyproof.shortcuts.results import ShortcutReport


class StoryKind(ABC):
    """A kind of story, with questions of its own; methods that `Family` has too mean the same here."""

    # Rows.

    @abstractmethod
    def complete(self, table: pa.Table, *, proved: bool) -> pa.Table:
        """Fill in the columns that rows of this kind lack; raise DataError if one cannot be read."""

    @abstractmethod
    def judge(self, subject: Subject, tally: AuditTally) -> KindJudge:
        """Return what judges rows of this kind, and adds what it counts to a tally."""

    @abstractmethod
    def shortcuts(
        self, train: Sequence[Example] | None, test: Sequence[Example], *, seed: int, learned: bool
    ) -> ShortcutReport:
        """Answer without reasoning about belief."""

    # Texts that may be of this kind; what cannot be read is a ParseError.

    @abstractmethod
    def lines(self, story: str) -> str:
        """Return a running text with one sentence per line."""

    @abstractmethod
    def question_in(self, text: str) -> str:
        """Return the last question of a text."""

    @abstractmethod
    def split_prompt(self, messages: Sequence[str]) -> tuple[str, str]:
        """Divide messages into story and question."""

    @abstractmethod
    def questions(self, story: str, order: int) -> list[str]:
        """Return questions that can be asked about a story."""

    @abstractmethod
    def find_problems(self, story: str, question: str) -> list[ReadingProblem]:
        """Return what does not fit, and sentences that cannot happen."""

    @abstractmethod
    def containers(self, story: str) -> list[str]:
        """Return the containers that a story names, sorted; none if it cannot be read."""

    @abstractmethod
    def answers_in(self, story: str) -> list[str]:
        """Return the possible answers that a story names, also if not all of it can be read."""

    @abstractmethod
    def fingerprint(self, story: str) -> str:
        """Return a story without the names of those who act in it."""

    # Examples.

    @abstractmethod
    def answers_by_reading(self, example: Example) -> dict[str, str]:
        """Return the answer under each reading of this kind, by the checker."""

    @abstractmethod
    def models(self, example: Example) -> list[StoryModel]:
        """Return the worlds that the last of the chain may hold possible."""

    @abstractmethod
    def steps(self, example: Example, order: int) -> list[Step]:
        """Return who is where and who believes what after each sentence."""

    @abstractmethod
    def lay_out(self, examples: Sequence[Example]) -> Timeline:
        """Follow the object of the last question through the story."""

    @abstractmethod
    def candidates(self, example: Example) -> list[str]:
        """Return the possible answers, as the text gives them."""

    @abstractmethod
    def positions(self, example: Example) -> list[str]:
        """Return the candidates in an order that means the same in all examples."""

    @abstractmethod
    def is_answered_by_place(self, example: Example) -> bool:
        """Return whether all candidates are containers of the story."""

    @abstractmethod
    def mistaken_answers(self, example: Example) -> Mapping[str, Collection[str]]:
        """Return the answers to which mistakes lead."""

    @abstractmethod
    def structure(self, example: Example) -> str:
        """Return what the question asks, without agents."""

    @abstractmethod
    def oracle_answer(self, example: Example) -> str:
        """Answer by the checker."""

    @abstractmethod
    def rules_answer(self, example: Example) -> str:
        """Answer by the ToMi paper's Algorithm 1."""

    @abstractmethod
    def people(self, example: Example) -> list[str]:
        """Return the agents of a story in order of appearance."""

    @abstractmethod
    def conventions(self, example: Example) -> Sequence[str]:
        """Return what the reading of an example takes for granted."""

    def answer_parts(self, example: Example) -> Mapping[str, Sequence[str]]:
        """Return the people of each candidate if the question asks who believes something; by default none does."""
        return {}

    @abstractmethod
    def words(self, story: str) -> Iterable[tuple[str, str]]:
        """Return words of a story, in lower case, each with its role: agent, thing, container or room.

        Raises:
            ParseError: If it cannot be read.
        """

    @abstractmethod
    def statements(self, text: str, example: Example) -> Sequence[Statement]:
        """Return what a text says about minds and places."""

    @abstractmethod
    def check_statement(self, statement: Statement, example: Example) -> StatementVerdict:
        """Compare a statement with the oracle and the checker."""
