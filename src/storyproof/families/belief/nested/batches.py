"""Temporary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from storyproof.families.belief.arrays import Flags, LocalNames
from storyproof.families.belief.nested.answers import Answers, Codes, Columns, encode_questions
from storyproof.families.belief.nested.arrays import PlotArrays
from storyproof.families.belief.nested.questions import NestedQuestion, QuestionArrays
from storyproof.families.belief.nested.readings import NestedReading


@dataclass(frozen=True, slots=True)
class QuestionBatch:
    stories: PlotArrays
    asked: QuestionArrays

    @classmethod
    def of(
        cls, stories: PlotArrays, names: Sequence[LocalNames], story: Sequence[int], questions: Sequence[NestedQuestion]
    ) -> QuestionBatch:
        return cls(stories, encode_questions(names, story, questions))

    @property
    def story(self) -> Columns:
        return self.asked.story

    @property
    def count(self) -> int:
        return self.asked.count

    def pick(self, questions: Columns) -> QuestionBatch:
        return QuestionBatch(self.stories, self.asked.pick(questions))

    def answer(self, reading: NestedReading) -> Codes:
        return Answers(self.stories, self.asked, reading.sight).codes(reading.trust)[0]

    def prove(self, reading: NestedReading) -> Flags:
        return Answers(self.stories, self.asked, reading.sight).prove(reading.trust)
