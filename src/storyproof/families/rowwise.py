"""Bases for families that look at one row at a time, and for benchmarks that make one story at a time.

It is the short way to a new family: say how an oracle derives a row's labels from its text, and how a checker answers
the same question; completing, verifying, auditing and fixing follow. A benchmark then says how a story is worded, and
what is asked about it. Families that make millions of rows, such as belief, work on arrays instead and implement
`Family` and `Benchmark` themselves.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from storyproof.benchmark import Benchmark, Config
from storyproof.errors import DataError, ParseError, ProofError
from storyproof.example import SPLITS, Example, plain_schema
from storyproof.families.family import NO_MINDS, Family, number_names, own_example
from storyproof.families.file_judge import FileJudge, Subject
from storyproof.findings import COLUMN, UNREAD, Finding, written
from storyproof.formats.format import PLACE, Place
from storyproof.generation.seeds import Draws, Permutation, digest
from storyproof.shortcuts.results import ShortcutReport
from storyproof.shortcuts.word_probes import find_plain_shortcuts

ANSWER, PROVERS = "answer", "provers"
ONLY_READING = "strict"  # of families whose text can be read in one way only
_COUNTED = {COLUMN: "wrong_columns", PROVERS: "provers_differ"}


class RowwiseFamily(Family):
    """A family whose labels follow from the story and the question of one row.

    Subclasses have `name`, `title`, `reads`, `derive` and `check`; everything else has a default.
    """

    kinds: ClassVar[Mapping[str, str]] = {
        ANSWER: "The labelled answer does not follow from the story.",
        COLUMN: "A value of another column does not follow from the text.",
        PROVERS: "Oracle and checker derive different answers.",
    }

    @abstractmethod
    def derive(self, story: str, question: str) -> Mapping[str, Any]:
        """Derive labels by the oracle, by column: `answer`, `candidates` and `proof`, and others if there are any.

        Raises:
            ParseError: If story or question is in no known form.
        """

    @abstractmethod
    def check(self, story: str, question: str) -> str:
        """Answer the question by the checker, which shares no code with the oracle."""

    def labels(self, story: str, question: str) -> dict[str, Any]:
        """Return what `derive` returns, with the labels that follow for families without minds, types or readings.

        Raises:
            ParseError: If story or question is in no known form.
        """
        types = {"question_type": self.name, "story_type": self.name, "readings": [ONLY_READING]}
        return {**NO_MINDS, **types, **self.derive(story, question)}

    def checked_answer(self, example: Example) -> str:
        """Answer by the checker, from the text."""
        return self.check(example.story, example.question)

    def complete(self, table: pa.Table, *, proved: bool = False) -> pa.Table:
        """Fill in the columns that a table lacks, or with `proved` replace all labels, from the text."""
        rows = table.to_pylist()
        for row in rows:
            try:
                labels = self.labels(row["story"], row["question"])
            except ParseError as error:
                raise DataError(f"row {row.get('id')}: {error}") from error
            story_id = f"story-{digest(row['story']).hex()[:16]}"
            for name, value in {"benchmark": "", "split": "", "story_id": story_id, **labels}.items():
                if row.get(name) is None or (proved and name in labels):
                    row[name] = value
        return pa.Table.from_pylist(rows, schema=plain_schema(self.schema))

    def judge(self, subject: Subject) -> FileJudge:
        """Return what compares every label with what oracle and checker derive."""
        return RowwiseJudge(subject, self)

    def candidates(self, example: Example) -> Sequence[str]:
        """Return the given candidates, else those that the oracle derives; none if the text cannot be parsed."""
        try:
            return example.candidates or self.derive(example.story, example.question)["candidates"]
        except ParseError:
            return ()

    def positions(self, example: Example) -> Sequence[str]:
        """Return the candidates in their order."""
        return self.candidates(example)

    def fingerprint(self, story: str, facts: Mapping[str, Any]) -> str:
        """Return a story without the names of its people."""
        try:
            return number_names(story, set(self.people(own_example({"story": story, "question": ""}, self.name))))
        except ParseError:
            return number_names(story, ())

    def shortcuts(
        self, train: Sequence[Example] | None, test: Sequence[Example], *, seed: int, learned: bool
    ) -> ShortcutReport:
        """Answer by counting words and guessing."""
        return find_plain_shortcuts(train, test, seed=seed, learned=learned)


class RowwiseBenchmark(Benchmark):
    """A benchmark that makes one story at a time; its family proves the rows by oracle and checker.

    Subclasses have `name`, `prover`, `questions`, `worlds` and `tell`; everything else has a default.

    Attributes:
        prover: The family.
        questions: How many questions each story has.
    """

    version = 1
    usual_counts: ClassVar[Mapping[str, int]] = dict.fromkeys(SPLITS, 999)
    round = 1
    block_stories = 768  # plain Python: small data should not wait for a large block
    config_type: ClassVar[type[Config]] = Config
    readings = (ONLY_READING,)
    prover: ClassVar[RowwiseFamily]
    questions: ClassVar[int]

    def __init_subclass__(cls, **others: Any) -> None:
        """Take name and columns of the family from `prover`."""
        super().__init_subclass__(**others)
        if "prover" in vars(cls):
            cls.family, cls.schema = cls.prover.name, cls.prover.schema

    @abstractmethod
    def worlds(self) -> int:
        """Return how many stories can be told that differ in what they say, in all splits together."""

    @abstractmethod
    def tell(self, world: int, draws: Draws) -> tuple[Sequence[str], Sequence[str]]:
        """Return the sentences of a story, and the questions about it.

        Args:
            world: Which story, from 0 on and below `worlds`; no two stories of a dataset have the same number.
            draws: For whatever is drawn besides; the same number with the same draws must give the same story.
        """

    def rows_per_story(self, split: str) -> int:
        """Every story has the same number of questions."""
        return self.questions

    def capacity(self, split: str) -> int:
        """Each split has its share of the stories."""
        return self.worlds() // len(SPLITS)

    def block(self, split: str, index: int) -> pa.Table:
        """Generate one block."""
        return self.beginning(split, index, self.block_stories)

    def beginning(self, split: str, index: int, stories: int) -> pa.Table:
        """Generate the first stories of a block."""
        start = index * self.block_stories
        rows = [row for place in range(start, start + stories) for row in self._story(split, place)]
        return pa.Table.from_pylist(rows, schema=self.schema)

    @cached_property
    def _order(self) -> Permutation:
        """A random order of all stories."""
        return Permutation(self.worlds(), *self.identity, "worlds")

    def _story(self, split: str, place: int) -> Iterator[dict[str, Any]]:
        """Generate the questions of one story, from its place in the split alone."""
        number = SPLITS.index(split) * self.capacity(split) + place
        sentences, questions = self.tell(
            int(self._order(np.array([number]))[0]), Draws(*self.identity, "story", split, place)
        )
        story, story_id = "\n".join(sentences), f"{split}-{place:09}"
        for at, question in enumerate(questions):
            columns = {"id": f"{story_id}-{at}", "story_id": story_id, "benchmark": self.name, "split": split}
            yield {**columns, "story": story, "question": question, **self._proved(story, question)}

    def _proved(self, story: str, question: str) -> dict[str, Any]:
        labels = self.prover.labels(story, question)
        second = self.prover.check(story, question)
        if labels[ANSWER] != second:
            raise ProofError(f"oracle and checker differ on {question!r} of {story!r}: {labels[ANSWER]} and {second}")
        return labels


class RowwiseJudge(FileJudge):
    """Compares the labels of rows with what oracle and checker derive from their text.

    Values that are not text are written as JSON. Rows whose text cannot be parsed cannot be fixed, and are kept.
    """

    def __init__(self, subject: Subject, family: RowwiseFamily) -> None:
        super().__init__(subject)
        self._family = family
        self._counts: Counter[str] = Counter()
        self._wrong: Counter[str] = Counter()  # answers, by kind of question

    def judge(self, table: pa.Table) -> Iterator[Finding]:
        """Yield the labels of rows that do not follow from their text."""
        for row in table.to_pylist():
            for finding in self._judge_row(row, Place.from_value(row.pop(PLACE))):
                self._counts[finding.kind] += 1
                self._wrong[finding.asked] += finding.kind == ANSWER
                yield finding

    def _judge_row(self, row: dict[str, Any], place: Place) -> Iterator[Finding]:
        subject = self.subject
        common: dict[str, Any] = {"row": place.row, "id": row["id"] or ""}
        try:
            labels = self._family.labels(row["story"], row["question"])
        except ParseError as error:
            about = "story" if self._family.reads(row["question"]) else "question"
            common |= {"line": place.line, "field": about, "found": str(error), "expected": ""}
            yield Finding(file=subject.name, kind=UNREAD, **common)
            return
        common["asked"] = str(labels.get("question_type") or row.get("question_type") or "")
        second = self._family.check(row["story"], row["question"])
        if second != labels[ANSWER]:
            reason = "the oracle derives one answer and the checker another; please report this"
            differ = {**common, "found": written(labels[ANSWER]), "expected": written(second), "reason": reason}
            yield Finding(file=subject.name, kind=PROVERS, field=PROVERS, line=place.line, **differ)
        sentences = tuple(each for each in labels.get("proof") or () if isinstance(each, int))
        for name, right in labels.items():
            if row.get(name) is None:
                self.unchecked[name] += 1
            elif row[name] != right:
                spot = subject.format.locate(subject.path, name, place)
                yield Finding(
                    file=subject.called(spot.file),
                    line=spot.line,
                    kind=ANSWER if name == ANSWER else COLUMN,
                    field=spot.field,
                    found=written(row[name]),
                    expected=written(right),
                    reason=f"the text gives {written(right)}",
                    sentences=sentences,
                    fix=spot.field,
                    **common,
                )

    def absorb(self, other: FileJudge) -> Iterable[Finding]:
        """Take what another judge counted."""
        if isinstance(other, RowwiseJudge):
            self._counts.update(other._counts)
            self._wrong.update(other._wrong)
        return super().absorb(other)

    def totals(self) -> dict[str, Any]:
        """Return how many answers and other values are wrong."""
        wrong = {name: count for name, count in self._wrong.items() if count}
        counts = {name: self._counts[kind] for kind, name in _COUNTED.items()}
        return {"wrong_answers": wrong, "rule_dependent": {}, **counts}
