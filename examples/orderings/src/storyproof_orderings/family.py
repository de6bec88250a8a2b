"""What storyproof requires of a family."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import pyarrow as pa

from storyproof.errors import ParseError
from storyproof.example import SCHEMA, Example
from storyproof.families.family import Picture
from storyproof.families.rowwise import RowwiseFamily
from storyproof_orderings import checker, drawing, oracle
from storyproof_orderings.orders import COMPARE, NO, UNKNOWN, YES, parse, parse_question, parse_story, people_of


class OrderingsFamily(RowwiseFamily):
    """Who is taller than whom.

    Its own column: `determined`, whether the story settles the question.
    """

    name = "orderings"
    title = "orderings"
    schema = pa.schema([*SCHEMA, ("determined", pa.bool_())])
    marks = frozenset({"determined"})
    unproved = frozenset({UNKNOWN})

    def reads(self, question: str) -> bool:
        """Return whether a question is about heights."""
        try:
            parse_question(question)
        except ParseError:
            return False
        return True

    def derive(self, story: str, question: str) -> dict[str, Any]:
        """Derive all labels by the oracle."""
        facts, asked = parse(story, question)
        found = oracle.answer(facts, asked)
        return {
            "answer": found.value,
            "candidates": sorted({YES, NO, UNKNOWN} if asked.kind == COMPARE else {*people_of(facts), UNKNOWN}),
            "question_type": asked.kind,
            "story_type": f"{len(people_of(facts))} people",
            "proof": found.proof,
            "determined": found.value != UNKNOWN,
        }

    def check(self, story: str, question: str) -> str:
        """Answer by the checker."""
        return checker.answer(*parse(story, question))

    def rules_answer(self, example: Example) -> str:
        """Answer from single sentences, without chaining them."""
        facts, asked = parse(example.story, example.question)
        if (asked.taller, asked.shorter) in facts:
            return YES
        if (asked.shorter, asked.taller) in facts:
            return NO
        return UNKNOWN

    def people(self, example: Example) -> Sequence[str]:
        """Return everybody in a story."""
        return people_of(parse_story(example.story))

    def lay_out(self, examples: Sequence[Example]) -> drawing.Ranking:
        """Lay out who is known to be taller than whom."""
        return drawing.Ranking(list(examples))

    def pictures(
        self, examples: Sequence[Example], marked: Collection[int] = (), answers: tuple[str, str] | None = None
    ) -> list[Picture]:
        """Draw the facts, tallest on top."""
        return [Picture("Who is taller than whom, tallest on top", drawing.picture(examples[-1], marked))]


FAMILY = OrderingsFamily()
