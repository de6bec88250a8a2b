"""A base for families that look at one row at a time, in plain Python.

It is the short way to a new family: say how an oracle derives a row's labels from its text, and how a checker answers
the same question; completing, verifying and auditing follow. Families that make millions of rows, such as belief,
work on arrays instead and implement `Family` themselves.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from storyproof.errors import DataError, ParseError
from storyproof.example import Example, plain_schema
from storyproof.families.family import Family
from storyproof.findings import Finding, TableReport
from storyproof.seeds import digest
from storyproof.shortcuts.plain import find_plain_shortcuts
from storyproof.shortcuts.results import ShortcutReport


class RowwiseFamily(Family):
    """A family whose labels follow from the story and the question of one row."""

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
            defaults = {"order": 0, "chain": [], "false_belief": False, "benchmark": "", "split": ""}
            story_id = f"story-{digest(row['story']).hex()[:16]}"
            for name, value in {**defaults, "story_id": story_id, **labels}.items():
                if row.get(name) is None or (proved and name in labels):
                    row[name] = value
        return pa.Table.from_pylist(rows, schema=plain_schema(self.schema))

    def verify(self, table: pa.Table, where: str, settings: Mapping[str, Any]) -> TableReport:
        """Check every label of a table by oracle and checker."""
        del settings  # nothing about how the data were made changes what follows from their text
        report = TableReport()
        for row in table.to_pylist():
            try:
                labels = self.derive(row["story"], row["question"])
            except ParseError as error:
                report.findings.append(Finding(where, row["id"], "text", str(error), "a text that can be parsed"))
                continue
            second = self.check(row["story"], row["question"])
            if second != labels["answer"]:
                report.findings.append(Finding(where, row["id"], "provers", str(labels["answer"]), second))
            for name, right in labels.items():
                if row.get(name) is None:
                    report.unchecked[name] += 1
                elif row[name] != right:
                    report.findings.append(Finding(where, row["id"], name, str(row[name]), str(right)))
        return report

    def shortcuts(
        self, train: Sequence[Example] | None, test: Sequence[Example], *, seed: int, learned: bool
    ) -> ShortcutReport:
        """Answer by counting words and guessing."""
        return find_plain_shortcuts(train, test, seed=seed, learned=learned)
