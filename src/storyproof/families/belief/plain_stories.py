"""Plain stories, as in ToMi and ToM-bAbI: people come, go and move things in plain sight."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from storyproof.errors import ParseError
from storyproof.example import Example
from storyproof.families.belief import (
    baselines,
    derivation,
    encoding,
    mistakes,
    own_text,
    running_text,
    statements,
    states,
    timeline,
)
from storyproof.families.belief.events import FEELINGS
from storyproof.families.belief.readings import CONVENTIONS, OPEN
from storyproof.families.belief.story_kind import StoryKind
from storyproof.families.belief.text import parse, parse_question
from storyproof.families.family import ReadingProblem, Step, StoryModel, number_names
from storyproof.statements import Statement, StatementVerdict

if TYPE_CHECKING:
    from storyproof.families.belief.audit.plain_judge import PlainJudge
    from storyproof.families.belief.audit.tally import AuditTally
    from storyproof.families.judge import Subject
    from storyproof.shortcuts.results import ShortcutReport

_ACTS = re.compile(rf"(?:^|[.\n])\s*([^\s.?]+)\s+(?:entered|exited|moved|is\s+in|{'|'.join(FEELINGS)})\s+the\s")


class PlainStories(StoryKind):
    """Stories in which nothing is secret and nobody says anything."""

    def complete(self, table: pa.Table, *, proved: bool) -> pa.Table:
        """Fill in the columns that rows lack, on arrays."""
        return derivation.complete(table, proved=proved)

    def judge(self, subject: Subject, tally: AuditTally) -> PlainJudge:
        """Return what compares every label with the text, on arrays."""
        from storyproof.families.belief.audit.plain_judge import PlainJudge

        return PlainJudge(subject, tally)

    def shortcuts(
        self, train: Sequence[Example] | None, test: Sequence[Example], *, seed: int, learned: bool
    ) -> ShortcutReport:
        """Answer by heuristics, and by probes that read part of the story."""
        from storyproof.families.belief.shortcuts.report import find_belief_shortcuts

        return find_belief_shortcuts(train, test, seed=seed, learned=learned)

    def lines(self, story: str) -> str:
        """Return a running text with one sentence per line."""
        return running_text.divide_story(story)

    def question_in(self, text: str) -> str:
        """Return the last question of a text."""
        return running_text.last_question(text)[0]

    def split_prompt(self, messages: Sequence[str]) -> tuple[str, str]:
        """Divide the last message, or if it has no story all of them."""
        return running_text.split_messages(messages)

    def questions(self, story: str, order: int) -> list[str]:
        """Return questions about memory, reality and beliefs up to an order."""
        return own_text.list_questions(story, order)

    def find_problems(self, story: str, question: str) -> list[ReadingProblem]:
        """Return the words that do not fit, and sentences that cannot happen."""
        return own_text.find_problems(story, question)

    def containers(self, story: str) -> list[str]:
        """Return the containers that a story names, sorted; none if it cannot be parsed."""
        try:
            return sorted({event.container for event in parse(story) if event.container})
        except ParseError:
            return []

    def answers_in(self, story: str) -> list[str]:
        """Return the containers and rooms in which something is said to be, or to be put."""
        return running_text.places_in(story)

    def fingerprint(self, story: str) -> str:
        """Return a story without the names of those who act in it."""
        text = story.casefold()
        return number_names(text, set(_ACTS.findall(text)))

    def answers_by_reading(self, example: Example) -> dict[str, str]:
        """Return the answer under each reading, by possible worlds."""
        return states.answers_by_reading(example)

    def models(self, example: Example) -> list[StoryModel]:
        """Return a world for each place that the last of the chain may hold possible."""
        return states.models_of(example)

    def steps(self, example: Example, order: int) -> list[Step]:
        """Return who is where and who believes what after each sentence."""
        return states.steps_of(example, order)

    def lay_out(self, examples: Sequence[Example]) -> timeline.Timeline:
        """Follow the object of the last question through the story."""
        return timeline.lay_out(list(examples))

    def candidates(self, example: Example) -> list[str]:
        """Return the containers in which the asked object was, sorted; without a readable question, all."""
        try:
            return sorted(baselines.places_of(example))
        except ParseError:
            return self.containers(example.story)

    def positions(self, example: Example) -> list[str]:
        """Return the containers in which the asked object was, in the order of the story."""
        return baselines.places_of(example)

    def is_answered_by_place(self, example: Example) -> bool:
        """Return True: all questions ask where something is."""
        return True

    def mistaken_answers(self, example: Example) -> Mapping[str, Collection[str]]:
        """Return what other questions about the same story have as answers, by possible worlds."""
        return mistakes.mistaken_answers(example)

    def structure(self, example: Example) -> str:
        """Return memory, or the order of belief."""
        question = parse_question(example.question)
        return "memory" if question.memory else f"order {question.order}"

    def oracle_answer(self, example: Example) -> str:
        """Answer by the possible-worlds checker; empty where there is no belief."""
        return baselines.oracle_answer(example)

    def rules_answer(self, example: Example) -> str:
        """Answer by the ToMi paper's Algorithm 1."""
        return baselines.rules_answer(example)

    def people(self, example: Example) -> list[str]:
        """Return everybody who acts in a story, in order of appearance."""
        return encoding.agents_of(example.story)

    def conventions(self, example: Example) -> Sequence[str]:
        """Return what the default reading takes for granted; nothing for an answer that holds under others only."""
        return CONVENTIONS if not example.readings or OPEN in example.readings else ()

    def words(self, story: str) -> list[tuple[str, str]]:
        """Return words of a story with their roles."""
        return encoding.words_of(story)

    def statements(self, text: str, example: Example) -> Sequence[Statement]:
        """Return what a text says about minds and places."""
        return statements.find_statements(text, example)

    def check_statement(self, statement: Statement, example: Example) -> StatementVerdict:
        """Compare a statement with the oracle and the checker."""
        return statements.check_statement(statement, example)
