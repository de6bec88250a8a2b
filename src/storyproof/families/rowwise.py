"""A base for families that look at one row at a time, in plain Python.

It is the short way to a new family: say how an oracle derives a row's labels from its text, and how a checker answers
the same question; completing, verifying, auditing and fixing follow. Families that make millions of rows, such as
belief, work on arrays instead and implement `Family` themselves.
"""

from __future__ import annotations

import json
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import pyarrow as pa

from storyproof.errors import DataError, ParseError
from storyproof.example import Example, plain_schema
from storyproof.families.family import Family
from storyproof.families.judge import FileJudge, Subject
from storyproof.findings import COLUMN, TEXT, Finding
from storyproof.formats.chunks import story_starts
from storyproof.formats.format import PLACE, Place
from storyproof.seeds import digest
from storyproof.shortcuts.plain import find_plain_shortcuts
from storyproof.shortcuts.results import ShortcutReport

ANSWER, PROVERS = "answer", "provers"
_PLAIN: dict[str, Any] = {"order": 0, "chain": [], "false_belief": False}  # labels of questions about no beliefs
_COUNTED = {ANSWER: "wrong_answers", COLUMN: "wrong_columns", TEXT: "wrong_texts", PROVERS: "provers_differ"}


class RowwiseFamily(Family):
    """A family whose labels follow from the story and the question of one row."""

    kinds: ClassVar[dict[str, str]] = {
        ANSWER: "The labelled answer does not follow from the story.",
        COLUMN: "A value of another column does not follow from the text.",
        TEXT: "Story or question cannot be parsed.",
        PROVERS: "Oracle and checker derive different answers.",
    }

    @abstractmethod
    def derive(self, story: str, question: str) -> dict[str, Any]:
        """Derive by the oracle all labels that follow from a story and a question, by column; `answer` among them.

        Raises:
            ParseError: If story or question is in no known form.
        """

    @abstractmethod
    def check(self, story: str, question: str) -> str:
        """Answer the question by the checker, which shares no code with the oracle."""

    def oracle_answer(self, example: Example) -> str:
        """Answer by the checker, from the text."""
        return self.check(example.story, example.question)

    def complete(self, table: pa.Table, *, proved: bool = False) -> pa.Table:
        """Fill in the columns that a table lacks, or with `proved` replace all labels, from the text."""
        rows = table.to_pylist()
        for row in rows:
            try:
                labels = self.derive(row["story"], row["question"])
            except ParseError as error:
                raise DataError(f"row {row.get('id')}: {error}") from error
            story_id = f"story-{digest(row['story']).hex()[:16]}"
            for name, value in {**_PLAIN, "benchmark": "", "split": "", "story_id": story_id, **labels}.items():
                if row.get(name) is None or (proved and name in labels):
                    row[name] = value
        return pa.Table.from_pylist(rows, schema=plain_schema(self.schema))

    def judge(self, subject: Subject) -> FileJudge:
        """Return what compares every label with what oracle and checker derive."""
        return RowwiseJudge(subject, self)

    def shortcuts(
        self, train: Sequence[Example] | None, test: Sequence[Example], *, seed: int, learned: bool
    ) -> ShortcutReport:
        """Answer by counting words and guessing."""
        return find_plain_shortcuts(train, test, seed=seed, learned=learned)


class RowwiseJudge(FileJudge):
    """Compares the labels of rows with what oracle and checker derive from their text; verify and audit find the same.

    Values that are not text are written as JSON. Rows whose text cannot be parsed cannot be fixed, and are kept.
    """

    def __init__(self, subject: Subject, family: RowwiseFamily) -> None:
        super().__init__(subject)
        self._family = family
        self._counts: Counter[str] = Counter()

    def judge(self, table: pa.Table) -> Iterator[Finding]:
        """Yield the labels of rows that do not follow from their text."""
        self._counts["questions"] += table.num_rows
        self._counts["stories"] += len(story_starts(table))
        for row in table.to_pylist():
            for finding in self._judge_row(row, Place.from_value(row.pop(PLACE))):
                self._counts[_COUNTED[finding.kind]] += 1
                yield finding

    def _judge_row(self, row: dict[str, Any], place: Place) -> Iterator[Finding]:
        subject = self.subject
        known: dict[str, Any] = {"row": place.row, "id": row["id"] or ""}
        try:
            labels = {**_PLAIN, **self._family.derive(row["story"], row["question"])}
        except ParseError as error:
            reason = "the text cannot be parsed"
            wanted = "a text that can be parsed"
            known |= {"line": place.line, "field": TEXT, "found": str(error), "expected": wanted}
            yield Finding(file=subject.name, kind=TEXT, reason=reason, **known)
            return
        known["asked"] = str(labels.get("question_type") or row.get("question_type") or "")
        second = self._family.check(row["story"], row["question"])
        if second != labels[ANSWER]:
            reason = "the oracle derives one answer and the checker another; please report this"
            differ = {**known, "found": _written(labels[ANSWER]), "expected": _written(second), "reason": reason}
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
                    found=_written(row[name]),
                    expected=_written(right),
                    reason=f"the text gives {_written(right)}",
                    sentences=sentences,
                    fix=spot.field,
                    **known,
                )

    def totals(self) -> dict[str, Any]:
        """Return how many rows and stories there are, and how many values of each kind are wrong."""
        return {name: self._counts[name] for name in ("questions", "stories", *_COUNTED.values())}


def _written(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
