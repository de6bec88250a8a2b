"""The judge of rows in ToMi's wording: every label against what follows from the text, and why it differs."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from storyproof.errors import DataError
from storyproof.families.belief.audit.causes import (
    IMPOSSIBLE_STORY,
    PRAGMATIC,
    PROVERS,
    QUESTION_TYPE,
    SEMANTIC,
    STRUCTURAL,
    Cause,
    explain_answer,
    explain_question_type,
    explain_story_type,
    explain_trace,
)
from storyproof.families.belief.audit.counts import OTHER_COLUMNS, AuditTally, KindJudge
from storyproof.families.belief.audit.rows import (
    ProvedRows,
    WrongLabel,
    answers_under,
    asked_of,
    events_of,
    right_marks,
    stage_of,
)
from storyproof.families.belief.babi_format import OBSERVERS, TRACE
from storyproof.families.belief.readings import DEFAULT, READINGS
from storyproof.families.belief.tomi_text import parse_question
from storyproof.families.belief.world import plot_problems
from storyproof.families.file_judge import Subject
from storyproof.findings import COLUMN, TEXT, UNREAD, Finding
from storyproof.formats.columns import folded


@lru_cache(maxsize=20_000)
def _share(value: Any) -> Any:
    """Return an equal value that is in use already, so that a million findings do not each have their own."""
    return value


class TomiJudge(KindJudge):
    """Judges rows in ToMi's wording."""

    def __init__(self, subject: Subject, tally: AuditTally) -> None:
        super().__init__(subject, tally)
        chosen: Sequence[str] = subject.settings.get("readings", ())
        self._readings = tuple(name for name in READINGS if name != DEFAULT and (not chosen or name in chosen))
        self._stories = 0  # that were judged
        self._last_mistyped = -1  # the last story with a wrong type
        self._found: list[Finding] = []

    def judge(self, table: pa.Table, *, is_certain: bool) -> list[Finding]:
        """Return what is wrong in rows, by row, and count it.

        Questions that have no right answer are set apart first: without them their stories may be about other people.
        """
        part = ProvedRows(table)
        if part.unread and not is_certain:
            raise DataError("some rows are not in this wording.")
        self._found = []
        self.tally.add_columns(table)
        part.number_stories(self._stories)
        self._stories = int(part.run[-1]) + 1
        if part.unread:
            self._add_unread(part)
            if not len(part.proved.rows):
                return self._found
            part = part.keep(np.isin(np.arange(table.num_rows), part.proved.rows))
        self.tally.judged += part.table.num_rows
        part.count_unchecked(self.tally.unchecked)
        self._add_doubts(part)
        answered = part.possible & np.asarray(part.proved.columns["answer"].is_valid())
        if not answered.all():
            self._add_impossible(part)
            self._add_wrong(part, ~answered)
        if answered.any():
            part = part if answered.all() else part.keep(answered)
            self._add_wrong(part)
            self._add_observers(part)
            self._add_off_recipe(part)
        found, self._found = self._found, []
        return sorted(found, key=lambda finding: finding.row)

    def _add_unread(self, part: ProvedRows) -> None:
        """Add the rows that cannot be read."""
        values = part.values(list(part.unread))
        for row, problem in part.unread.items():
            place = part.place(row)
            at: dict[str, Any] = {"row": place.row, "line": place.line, "id": values[row]["id"] or ""}
            text: dict[str, Any] = {"field": problem.what, "expected": ""}
            text["found"] = f"{problem.found}; expected {problem.expected}"
            self._found.append(Finding(file=self.subject.name, kind=UNREAD, **text, **at))

    def _add_doubts(self, part: ProvedRows) -> None:
        """Add where oracle and checker differ, or a proof does not hold."""
        for doubt in part.doubts:
            place = part.place(doubt.row)
            at: dict[str, Any] = {"line": place.line, "id": part.values([doubt.row])[doubt.row]["id"] or ""}
            cause = Cause(PROVERS, "please report this; the labels of the row may be right")
            text = {"field": doubt.what, "found": doubt.found, "expected": doubt.expected}
            self._add(part, doubt.row, cause, "", PROVERS, **text, **at)

    def _add_off_recipe(self, part: ProvedRows) -> None:
        """Add stories that their benchmark would not tell."""
        for row, benchmark, what in part.off_recipe():
            place = part.place(row)
            at: dict[str, Any] = {"line": place.line, "id": part.values([row])[row]["id"] or ""}
            cause = Cause(TEXT, f"`{benchmark}` tells no such stories")
            self._add(part, row, cause, "", TEXT, field="story", found=what, expected=f"a story of {benchmark}", **at)

    def _add(self, part: ProvedRows, row: int, cause: Cause, counted: str, kind: str, **known: Any) -> None:
        """Add a finding; count it if there is a count."""
        shared = {name: _share(value) for name, value in known.items() if name not in ("id", "line")}
        given = {"file": self.subject.name, "row": part.place(row).row, **known, **shared}
        self._found.append(Finding(kind=kind, reason=_share(cause.reason), **given))
        if counted:
            self.tally.counts[counted] += 1
            self.tally.causes[cause.name] += 1

    def _add_impossible(self, part: ProvedRows) -> None:
        """Add stories that cannot happen, each at the first row by which it has happened."""
        rows = np.flatnonzero(~part.possible)
        self.tally.gone.update(part.place(row).row for row in rows.tolist())
        _, first = np.unique(part.run[rows], return_index=True)
        for row, values in part.values(rows[first].tolist()).items():
            lines = values["story"].split("\n")
            faults = plot_problems(events_of(values["story"]), tells_rooms=False)
            cause = Cause(IMPOSSIBLE_STORY, "; ".join(what for _, what in faults))
            line, found = part.place(row).line_of(faults[0][0]), lines[faults[0][0] - 1]
            at = {"line": line, "id": values["id"], "sentences": tuple(dict.fromkeys(number for number, _ in faults))}
            at |= {"field": "story", "found": found, "expected": ""}
            self._add(part, row, cause, "impossible_stories", IMPOSSIBLE_STORY, **at)

    def _add_wrong(self, part: ProvedRows, only: npt.NDArray[np.bool_] | None = None) -> None:
        """Add labels that do not follow from the text; of rows that have no answer, `only` the answers."""
        types = part.proved.columns["question_type"]
        self.tally.asked.update(map(asked_of, types.dictionary.take(types.indices.unique()).to_pylist()))
        if self.tally.has_rules:
            kinds = types.to_pylist()
            self.tally.of_kind.update(asked_of(each) for row, each in enumerate(kinds) if only is None or only[row])
        names = self._ADD if only is None else ("answer",)
        wrong = {name: [each for each in part.wrong(name) if only is None or only[each[0]]] for name in names}
        values = part.values(sorted({row for found in wrong.values() for row, _ in found}))
        asked = {row: parse_question(each["question"]) for row, each in values.items()}
        judged = {row for name in ("answer", "question_type") for row, _ in wrong.get(name, ()) if asked[row].chain}
        cases = {row: (events_of(values[row]["story"]), asked[row]) for row in judged}
        believed = dict(zip(cases, answers_under(list(cases.values()), self._readings), strict=True))
        for name, found in wrong.items():
            for row, right in found:
                story = values[row]["story"]
                stage, pair = stage_of(story, asked[row].thing), part.pair(row, story)
                case = WrongLabel(part, row, name, right, values[row], asked[row], stage, pair, believed.get(row, {}))
                self._ADD[name](self, case)

    def _add_case(self, case: WrongLabel, cause: Cause, counted: str, kind: str, **known: Any) -> None:
        """Add a finding about a wrong label, with the name and the place that it has in the file."""
        name, values = case.name, case.values
        spot = self.subject.format.locate(self.subject.path, name, case.place)
        at: dict[str, Any] = {"found": values[name], "expected": case.right, "sentences": case.proof}
        at |= {"file": self.subject.called(spot.file), "line": spot.line, "field": spot.field, **known}
        at["fix"] = spot.field if at["expected"] else ""
        self._add(case.part, case.row, cause, counted, kind, id=values["id"], asked=case.asked, **at)

    def _agree(self, found: str, right: str | None) -> bool:
        """Return whether an answer is the right one; evaluation frameworks are not strict about its form."""
        if not self.subject.has_free_answers or right is None:
            return found == right
        return any(folded(each) == folded(right) for each in found.split("\n"))

    def _add_answer(self, case: WrongLabel) -> None:
        found, stage = case.values["answer"], case.stage
        if self._agree(found, case.right):
            return
        reading = next((name for name, place in case.believed.items() if self._agree(found, place)), "")
        place = next((place for place in stage.places if self._agree(found, place)), found)
        cause = explain_answer(stage, case.question.chain, place, case.right, reading)
        self.tally.add_answer(case.asked, reading)
        if case.right is None:
            self.tally.gone.add(case.place.row)
        shown = {"found": found.replace("\n", ", "), "expected": case.right or "", "reading": reading}
        self._add_case(case, cause, "answers", STRUCTURAL, **shown)

    def _add_question_type(self, case: WrongLabel) -> None:
        found, stage, chain = case.values["question_type"], case.stage, case.question.chain
        asked = chain[0] if chain else ""
        pair = asked, next((agent for agent in case.pair if agent != asked), None)
        causes = explain_question_type(stage, pair, found, case.right, case.values["answer"])
        if PRAGMATIC in causes:
            sentences = (stage.move,) if stage.move else case.proof
            self._add_case(case, causes[PRAGMATIC], "wrong_agent_numbers", PRAGMATIC, sentences=sentences)
        if QUESTION_TYPE in causes:
            cause, is_tom = causes[QUESTION_TYPE], not found.endswith("_no_tom")
            places = case.believed if cause.name != "other_question" else {}
            fitting = (name for name, place in places.items() if place and (place != stage.places[-1]) == is_tom)
            self._add_case(case, cause, "wrong_question_types", QUESTION_TYPE, reading=next(fitting, ""))

    def _add_story_type(self, case: WrongLabel) -> None:
        stage, run = case.stage, int(case.part.run[case.row])
        cause = explain_story_type(stage, case.pair[1] or "", case.values["story_type"])
        counted = "wrong_story_types" if run != self._last_mistyped else ""
        self._last_mistyped = run
        stays = [number for agent in case.pair for stay in stage.stays.get(agent or "", ()) for number in stay]
        self._add_case(case, cause, counted, SEMANTIC, sentences=tuple(sorted({stage.move, *stays} - {0})))

    def _add_trace(self, case: WrongLabel) -> None:
        cause = explain_trace(case.values[TRACE], case.right)
        others = tuple(number for number, agent, _ in case.stage.actions if agent not in case.pair)
        self._add_case(case, cause, "wrong_traces", TRACE, sentences=others)

    def _add_column(self, case: WrongLabel) -> None:
        found, right = (json.dumps(each, ensure_ascii=False) for each in (case.values[case.name], case.right))
        cause = Cause(COLUMN, f"the text gives {right}")
        self._add_case(case, cause, "wrong_columns", COLUMN, found=found, expected=right)

    def _add_observers(self, part: ProvedRows) -> None:
        """Add sentences that are followed by other numbers than those of the agents who saw them."""
        if OBSERVERS not in part.table.column_names or part.table.column(OBSERVERS).null_count == part.table.num_rows:
            return
        ends = np.flatnonzero(np.diff(part.run, append=part.run[-1] + 1)).tolist()
        for start, (end, values) in zip([0, *(end + 1 for end in ends)], part.values(ends).items(), strict=False):
            if values[OBSERVERS] is None:
                continue
            marks = values[OBSERVERS].split("\n")
            right = right_marks(events_of(values["story"]), marks)
            for sentence in (number for number, mark in enumerate(marks, start=1) if mark != right[number - 1]):
                rows = part.values(range(start, end + 1))
                heard = {row: each["story"].count("\n") + 1 for row, each in rows.items()}
                row = next(row for row in rows if heard[row] >= sentence)
                cause = Cause(OBSERVERS, f"other numbers follow sentence {sentence} than those of who saw it")
                at = {
                    "line": part.place(row).line_of(sentence),
                    "id": rows[row]["id"],
                    "sentences": (sentence,),
                    "fix": f"{OBSERVERS}.{sentence}",
                }
                text = {"field": OBSERVERS, "found": marks[sentence - 1], "expected": right[sentence - 1]}
                self._add(part, row, cause, "wrong_observers", OBSERVERS, **text, **at)

    _ADD: ClassVar[dict[str, Callable[[TomiJudge, WrongLabel], None]]] = {
        "answer": _add_answer,
        "question_type": _add_question_type,
        "story_type": _add_story_type,
        TRACE: _add_trace,
        **dict.fromkeys(OTHER_COLUMNS, _add_column),
    }
