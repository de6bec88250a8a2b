"""Judges rows about nested beliefs for `verify` and `audit`: every label against what follows from the text."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import pyarrow as pa

from storyproof.errors import DataError
from storyproof.families.belief.audit.kinds import IMPOSSIBLE_STORY, QUESTION_TYPE, SEMANTIC, STRUCTURAL
from storyproof.families.belief.audit.tally import KindJudge
from storyproof.families.belief.read_text import read_question
from storyproof.families.belief.rows import POSSIBLE, AskedRow, kind_of, prove_rows
from storyproof.families.judge import Subject
from storyproof.findings import COLUMN, TEXT, Finding
from storyproof.formats.chunks import story_starts
from storyproof.formats.format import PLACE, Place
from storyproof.formats.inspect_jsonl import folded

_KINDS = {"answer": STRUCTURAL, "question_type": QUESTION_TYPE, "story_type": SEMANTIC}


class RowJudge(KindJudge):
    """Judges rows whose stories are about nested beliefs."""

    def judge(self, table: pa.Table, *, is_certain: bool) -> list[Finding]:
        """Return what is wrong in rows, and count it."""
        judged, tally = judge_rows(table, self.subject), self.tally
        tally.unchecked.update(judged.unchecked)
        tally.questions += table.num_rows
        tally.stories += len(story_starts(table))
        tally.asked.update(judged.asked)
        mistyped = set[str]()
        for finding, counted in judged.found:
            if counted == "answers":
                tally.answers[bool(finding.reading), finding.asked] += 1
                tally.causes["other_reading" if finding.reading else "not_entailed"] += 1
            elif counted == "wrong_story_types":
                story = finding.id.rpartition("-")[0] or finding.id
                tally.counts[counted] += story not in mistyped
                mistyped.add(story)
            elif counted:
                tally.counts[counted] += 1
        if self.subject.is_audit:
            tally.gone.update(impossible_rows(table, judged))
        return [finding for finding, _ in judged.found]


class RowFinding(NamedTuple):
    """A finding, with what an audit counts it as: `answers`, `wrong_columns` and so on; empty for nothing."""

    finding: Finding
    counted: str


class RowJudgement(NamedTuple):
    """What is wrong with some rows.

    Attributes:
        found: The findings, with what they count as.
        unchecked: For each label how many rows have no value.
        asked: The kinds of question that occur.
    """

    found: list[RowFinding]
    unchecked: dict[str, int]
    asked: list[str]


def judge_rows(table: pa.Table, subject: Subject) -> RowJudgement:
    """Compare what rows say with what follows from their text.

    Raises:
        DataError: In an audit, if a row cannot be read.
    """
    rows: list[dict[str, Any]] = table.to_pylist()
    proofs = prove_rows([AskedRow.of(row) for row in rows])
    places = [Place.from_value(row[PLACE]) for row in rows]
    found: list[RowFinding] = []
    unchecked: dict[str, int] = {}
    impossible = set()
    for problem in proofs.problems:
        row, place = rows[problem.row], places[problem.row]
        if subject.is_audit and problem.what in ("story", "question") and problem.expected != POSSIBLE:
            where = f"{subject.path}, line {place.line}" if place.line else f"{subject.path}, row {place.row}"
            raise DataError(f"{where}: {problem.what}: {problem.found}; expected {problem.expected}.")
        kind = IMPOSSIBLE_STORY if problem.expected == POSSIBLE else TEXT
        if kind == IMPOSSIBLE_STORY:
            impossible.add(row["story"])
        at: dict[str, Any] = {"row": place.row, "line": place.line, "id": row.get("id") or ""}
        finding = Finding(
            file=subject.name,
            kind=kind,
            field=problem.what,
            found=problem.found,
            expected=problem.expected,
            reason=problem.found,
            is_claim=kind != IMPOSSIBLE_STORY or not subject.is_audit,
            **at,
        )
        found.append(RowFinding(finding, "impossible_stories" if kind == IMPOSSIBLE_STORY else ""))
    asked = []
    for row, place, labels, by_reading in zip(rows, places, proofs.labels, proofs.by_reading, strict=True):
        if labels is None or (subject.is_audit and row["story"] in impossible):
            continue
        asked.append(kind_of(read_question(row["question"])))
        for name, right in labels.items():
            if name not in row:
                continue
            if row[name] is None:
                unchecked[name] = unchecked.get(name, 0) + 1
            elif not _agrees(subject, name, row[name], right):
                found.append(_finding(subject, row, place, name, labels, by_reading))
    return RowJudgement(sorted(found, key=lambda each: each.finding.row), unchecked, asked)


def impossible_rows(table: pa.Table, judged: RowJudgement) -> Iterator[int]:
    """Yield the numbers of the rows of stories that cannot happen."""
    numbers = {each.finding.row for each in judged.found if each.finding.kind == IMPOSSIBLE_STORY}
    rows: Sequence[dict[str, Any]] = table.select(["story", PLACE]).to_pylist()
    stories = {row["story"] for row in rows if row[PLACE]["row"] in numbers}
    yield from (row[PLACE]["row"] for row in rows if row["story"] in stories)


def _agrees(subject: Subject, name: str, found: Any, right: Any) -> bool:
    if name == "answer" and subject.format.has_free_answers:
        return any(folded(each) == folded(right) for each in found.split("\n"))
    return bool(found == right)


def _finding(
    subject: Subject, row: dict[str, Any], place: Place, name: str, labels: dict[str, Any], by_reading: dict[str, str]
) -> RowFinding:
    spot = subject.format.locate(subject.path, name, place)
    right, kind = labels[name], _KINDS.get(name, COLUMN)
    reading = ""
    counted = {STRUCTURAL: "answers", QUESTION_TYPE: "wrong_question_types", SEMANTIC: "wrong_story_types"}.get(
        kind, "wrong_columns"
    )
    if name == "answer":
        fitting = (each for each, answer in by_reading.items() if _agrees(subject, name, row[name], answer))
        reading = next(fitting, "")
    reason = f"under {labels['readings'][0]} the text gives {_written(right)}"
    if reading:
        reason += f"; it would be right under {reading}"
    finding = Finding(
        file=subject.called(spot.file),
        line=spot.line,
        row=place.row,
        id=row.get("id") or "",
        kind=kind,
        field=spot.field,
        found=_written(row[name]).replace("\n", ", "),
        expected=_written(right),
        reason=reason,
        reading=reading,
        sentences=tuple(labels["proof"]),
        asked=kind_of(read_question(row["question"])),
        fix=spot.field,
    )
    return RowFinding(finding, counted)


def _written(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
