"""Stories about nested beliefs: with secrets, messages and lies, and questions through any number of minds."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from storyproof.errors import ParseError
from storyproof.example import Example
from storyproof.families.belief.nested import (
    baselines,
    derivation,
    mistakes,
    own_text,
    running_text,
    statements,
    states,
    timeline,
)
from storyproof.families.belief.nested.reading import read_question, read_story
from storyproof.families.belief.nested.readings import SIGHT_CONVENTIONS, TRUST_CONVENTIONS
from storyproof.families.belief.nested.rows import kind_of, reading_of
from storyproof.families.belief.nested.world import EventKind
from storyproof.families.belief.story_kind import StoryKind
from storyproof.families.belief.timeline import Timeline
from storyproof.families.family import ReadingProblem, Step, StoryModel, number_names
from storyproof.statements import Statement, StatementVerdict

if TYPE_CHECKING:
    from storyproof.families.belief.audit.tally import AuditTally
    from storyproof.families.belief.nested.judge import NestedJudge
    from storyproof.families.judge import Subject
    from storyproof.shortcuts.results import ShortcutReport


class NestedStories(StoryKind):
    """Stories in which people watch in secret, are distracted, speak and lie."""

    def complete(self, table: pa.Table, *, proved: bool) -> pa.Table:
        """Fill in the columns that rows lack."""
        return derivation.complete(table, proved=proved)

    def judge(self, subject: Subject, tally: AuditTally) -> NestedJudge:
        """Return what compares every label with the text."""
        from storyproof.families.belief.nested.judge import NestedJudge

        return NestedJudge(subject, tally)

    def shortcuts(
        self, train: Sequence[Example] | None, test: Sequence[Example], *, seed: int, learned: bool
    ) -> ShortcutReport:
        """Answer without following the whole chain of minds."""
        from storyproof.families.belief.nested.shortcuts import find_nested_shortcuts

        return find_nested_shortcuts(train, test, seed=seed, learned=learned)

    def lines(self, story: str) -> str:
        """Return a running text with one sentence per line."""
        return running_text.divide_story(story)

    def question_in(self, text: str) -> str:
        """Return the last question of a text."""
        return running_text.last_question(text)

    def split_prompt(self, messages: Sequence[str]) -> tuple[str, str]:
        """Divide all messages together."""
        return running_text.split_messages(messages)

    def questions(self, story: str, order: int) -> list[str]:
        """Return questions of all forms, about beliefs up to an order."""
        return own_text.list_questions(story, order)

    def find_problems(self, story: str, question: str) -> list[ReadingProblem]:
        """Return the first sentence that cannot be read, or those that cannot happen."""
        return own_text.find_problems(story, question)

    def containers(self, story: str) -> list[str]:
        """Return the containers that a story names, sorted; none if it cannot be read."""
        try:
            return sorted({event.container for event in read_story(story).events if event.container})
        except ParseError:
            return []

    def answers_in(self, story: str) -> list[str]:
        """Return the containers that a story names."""
        return self.containers(story)

    def fingerprint(self, story: str) -> str:
        """Return a story without the names of its cast."""
        return number_names(story, read_story(story).cast)

    def answers_by_reading(self, example: Example) -> dict[str, str]:
        """Return the answer under each reading of trust, by the checker."""
        return states.answers_by_reading(example)

    def models(self, example: Example) -> list[StoryModel]:
        """Return the world that the last of the chain holds possible."""
        return states.models_of(example)

    def steps(self, example: Example, order: int) -> list[Step]:
        """Return who is where and who believes what after each sentence."""
        return states.steps_of(example, order)

    def lay_out(self, examples: Sequence[Example]) -> Timeline:
        """Follow the object of the last question through the story."""
        return timeline.lay_out(examples)

    def candidates(self, example: Example) -> list[str]:
        """Return the possible answers: places, yes and no, or people."""
        return baselines.candidates(example)

    def answer_parts(self, example: Example) -> Mapping[str, Sequence[str]]:
        """Return the people of each candidate if the question asks who believes something."""
        return baselines.answer_parts(example)

    def positions(self, example: Example) -> list[str]:
        """Return the candidates, places in the order of the story."""
        return baselines.positions(example)

    def is_answered_by_place(self, example: Example) -> bool:
        """Return whether all candidates of an example are containers of its story."""
        return set(self.candidates(example)) <= set(self.containers(example.story))

    def mistaken_answers(self, example: Example) -> Mapping[str, Collection[str]]:
        """Return the answers to which mistakes lead, by the checker."""
        return mistakes.mistaken_answers(example)

    def structure(self, example: Example) -> str:
        """Return the kind of question."""
        return kind_of(read_question(example.question))

    def oracle_answer(self, example: Example) -> str:
        """Answer by the checker, in the words of the story."""
        # Of a text of one's own it may be asked what nobody knows, though that is no candidate.
        return baselines.checked_answer(example) or read_story(example.story).wording.answer(None)

    def rules_answer(self, example: Example) -> str:
        """Answer by the ToMi paper's Algorithm 1, as far as it knows the events."""
        return baselines.rules_answer(example)

    def people(self, example: Example) -> list[str]:
        """Return the cast in order of appearance; nobody if the story cannot be read."""
        try:
            return list(read_story(example.story).cast)
        except ParseError:
            return []

    def conventions(self, example: Example) -> list[str]:
        """Return what everybody notices, and whom hearers believe."""
        return [*SIGHT_CONVENTIONS, TRUST_CONVENTIONS[reading_of(example.readings).trust]]

    def words(self, story: str) -> Iterator[tuple[str, str]]:
        """Yield words of a story with their roles; noise may be about anything."""
        for event in read_story(story).events:
            if event.kind == EventKind.NOISE:
                continue
            for role, word in (
                ("agent", event.agent),
                ("agent", event.hearer),
                ("thing", event.thing),
                ("container", event.container),
                ("room", event.room),
            ):
                if word:
                    yield word.lower(), role

    def statements(self, text: str, example: Example) -> list[Statement]:
        """Return what a text says about minds and places."""
        return statements.find_statements(text, example)

    def check_statement(self, statement: Statement, example: Example) -> StatementVerdict:
        """Compare a statement with the oracle and the checker."""
        return statements.check_statement(statement, example)
