"""The judge of rows in any other wording, or about nested beliefs: every label against what follows from the text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from storyproof.families.belief.audit.causes import IMPOSSIBLE_STORY, PROVERS, QUESTION_TYPE, SEMANTIC, STRUCTURAL
from storyproof.families.belief.audit.counts import AuditTally, KindJudge
from storyproof.families.belief.columns import LABELS
from storyproof.families.belief.read_text import is_nested, read_question, read_story
from storyproof.families.belief.readings import (
    ALL_READINGS,
    AUDIT_READINGS,
    READING_DESCRIPTIONS,
    BeliefReading,
    parse_reading,
)
from storyproof.families.belief.rows import POSSIBLE, AskedRow, RowProofs, kind_of, prove_rows
from storyproof.families.belief.tomi_rows import RowProblem
from storyproof.families.belief.worded_rows import confirm_rows
from storyproof.families.belief.world import cast_of
from storyproof.families.file_judge import OWN_RULES, Subject
from storyproof.findings import COLUMN, UNREAD, Finding, written
from storyproof.formats.columns import folded
from storyproof.formats.format import PLACE, Place

_KINDS = {"answer": STRUCTURAL, "question_type": QUESTION_TYPE, "story_type": SEMANTIC}
_COUNTED = {QUESTION_TYPE: "wrong_question_types", SEMANTIC: "wrong_story_types", COLUMN: "wrong_columns"}


class RowJudge(KindJudge):
    """Judges rows one by one."""

    def __init__(self, subject: Subject, tally: AuditTally) -> None:
        super().__init__(subject, tally)
        self._readings = AUDIT_READINGS if subject.is_foreign else ALL_READINGS
        named = {*map(str, map(_whole, subject.settings.get("readings", ())))}
        self._fitting = frozenset(str(each) for each in self._readings if not named or str(each) in named)
        self._own = [parse_reading(name) for name in subject.settings.get(OWN_RULES, ())]

    def set_apart(self, table: pa.Table) -> pa.Table:
        """Return the rows that are to be judged, without those that arrays confirm; these are counted."""
        if self._own:
            return table  # which rules make a label right is counted row by row
        sample = table.select(["story", "question"]).take([0, table.num_rows // 2, table.num_rows - 1])
        if not any(is_nested(**row) for row in sample.to_pylist()):
            return table
        confirmed = confirm_rows(table)
        if not confirmed.rows.any():
            return table
        right = table if confirmed.rows.all() else table.filter(pa.array(confirmed.rows))
        self.tally.add_columns(right)
        self.tally.judged += right.num_rows
        self.tally.asked |= confirmed.asked
        for name in LABELS:
            if name in right.column_names and (missing := right.column(name).null_count):
                self.tally.unchecked[name] += missing
        return table.slice(0, 0) if confirmed.rows.all() else table.filter(pa.array(~confirmed.rows))

    def judge(self, table: pa.Table, *, is_certain: bool) -> list[Finding]:
        """Return what is wrong in rows, by row, and count it."""
        rows: list[dict[str, Any]] = table.to_pylist()
        asked_rows = [AskedRow.of(row) for row in rows]
        if self._own:
            asked_rows = [replace(each, reading=self._own[0]) for each in asked_rows]
        proofs = prove_rows(asked_rows, readings=self._readings)
        self.tally.add_columns(table)
        found = self._problems(rows, proofs)
        impossible = {rows[each.row]["story"] for each in proofs.problems if each.expected == POSSIBLE}
        mistyped = set[str]()
        for row, labels, by_reading in zip(rows, proofs.labels, proofs.by_reading, strict=True):
            if labels is None:
                continue
            self.tally.judged += 1
            place = Place.from_value(row[PLACE])
            if row["story"] in impossible:
                self.tally.gone.add(place.row)
                continue
            asked = kind_of(read_question(row["question"]))
            self.tally.asked.add(asked)
            self.tally.of_kind[asked] += 1
            for name, right in labels.items():
                if name in row and row[name] is None:
                    self.tally.unchecked[name] += 1
                elif name in row and not _agrees(self.subject, name, row[name], right):
                    fitting = self._fitting_readings(row["answer"], by_reading) if name == "answer" else []
                    if not {*fitting}.isdisjoint(map(str, self._own)):
                        continue  # the prompt leaves open which of its readings holds
                    if name == "answer" and self.subject.is_foreign and (stranger := _stranger(row)):
                        what = f"the story does not name '{stranger}'; expected one of its people"
                        found.append(self._problem(row, UNREAD, "question", what, ""))
                        self.tally.judged -= 1
                        self.tally.of_kind[asked] -= 1
                        break
                    reading = next((each for each in fitting if each in self._fitting), "")
                    finding = _finding(self.subject, row, place, name, labels, reading, asked)
                    self._count(finding, mistyped)
                    found.append(finding)
        return sorted(found, key=lambda each: each.row)

    def _fitting_readings(self, answer: str, by_reading: Mapping[str, str]) -> list[str]:
        """Return the readings under which an answer is right."""
        return [name for name, right in by_reading.items() if _agrees(self.subject, "answer", answer, right)]

    def _problems(self, rows: Sequence[dict[str, Any]], proofs: RowProofs) -> list[Finding]:
        """Return rows that cannot be read, stories that cannot happen, and where oracle and checker differ."""
        found = []
        by_row: dict[int, RowProblem] = {}
        by_story: dict[str, RowProblem] = {}
        for problem in proofs.problems:
            if problem.what in ("story", "question") and problem.expected != POSSIBLE:
                by_row.setdefault(problem.row, problem)
                if problem.what == "story":
                    by_story.setdefault(rows[problem.row]["story"], problem)
                continue
            kind = IMPOSSIBLE_STORY if problem.expected == POSSIBLE else PROVERS
            self.tally.counts["impossible_stories"] += kind == IMPOSSIBLE_STORY
            self.tally.causes[kind] += 1
            found.append(self._problem(rows[problem.row], kind, problem.what, problem.found, problem.expected))
        for number, labels in enumerate(proofs.labels):
            if labels is None:
                unread = by_row.get(number) or by_story[rows[number]["story"]]
                what = f"{unread.found}; expected {unread.expected}"
                found.append(self._problem(rows[number], UNREAD, unread.what, what, ""))
        return found

    def _problem(self, row: dict[str, Any], kind: str, what: str, found: str, expected: str) -> Finding:
        place = Place.from_value(row[PLACE])
        at: dict[str, Any] = {"row": place.row, "line": place.line, "id": row.get("id") or ""}
        reason = {IMPOSSIBLE_STORY: found, PROVERS: "please report this; the labels of the row may be right"}.get(
            kind, ""
        )
        shown: dict[str, Any] = {"found": found, "expected": expected, "reason": reason}
        return Finding(file=self.subject.name, kind=kind, field=what, **shown, **at)

    def _count(self, finding: Finding, mistyped: set[str]) -> None:
        """Count a wrong label; wrong story types are counted by story."""
        if finding.kind == STRUCTURAL:
            self.tally.add_answer(finding.asked, finding.reading)
            self.tally.causes["other_reading" if finding.reading else "not_entailed"] += 1
            return
        story = finding.id.rpartition("-")[0] or finding.id
        if finding.kind != SEMANTIC or story not in mistyped:
            self.tally.counts[_COUNTED[finding.kind]] += 1
        if finding.kind == SEMANTIC:
            mistyped.add(story)


def _stranger(row: Mapping[str, Any]) -> str:
    """Return who a question asks about that the story does not name, such as Lilei where it names Li Lei."""
    cast = cast_of(read_story(row["story"]).events)
    chain = read_question(row["question"]).chain
    plain = Counter(name.replace("_", "").casefold() for name in {*cast, *chain})
    return next((name for name in chain if name not in cast or plain[name.replace("_", "").casefold()] > 1), "")


def _whole(name: str) -> BeliefReading | str:
    """Return the reading of a name, with its trust; those for audits have whole names."""
    return name if name in READING_DESCRIPTIONS else parse_reading(name)


def _agrees(subject: Subject, name: str, found: Any, right: Any) -> bool:
    if name == "answer" and subject.has_free_answers:
        return any(folded(each) == folded(right) for each in found.split("\n"))
    return bool(found == right)


def _finding(
    subject: Subject,
    row: dict[str, Any],
    place: Place,
    name: str,
    labels: dict[str, Any],
    reading: str,
    asked: str,
) -> Finding:
    spot = subject.format.locate(subject.path, name, place)
    right = labels[name]
    reason = f"under {labels['readings'][0]} the text gives {written(right)}"
    if reading:
        reason += f"; it would be right under {reading}"
    return Finding(
        file=subject.called(spot.file),
        line=spot.line,
        row=place.row,
        id=row.get("id") or "",
        kind=_KINDS.get(name, COLUMN),
        field=spot.field,
        found=written(row[name]).replace("\n", ", "),
        expected=written(right),
        reason=reason,
        reading=reading,
        sentences=tuple(labels["proof"]),
        asked=asked,
        fix=spot.field,
    )
