"""What audits count of theory-of-mind rows, whatever kind their stories are.

How a file's totals are counted, all under the default readings unless a reading is named:

- `wrong_answers` are questions by what is asked (memory, reality, first_order, …), `rule_dependent` are questions by
  reading. Each question whose answer is wrong by default is in one of the two: in `rule_dependent` if it is right under
  another reading.
- `wrong_agent_numbers` are questions in whose type the agent number is wrong, whatever else is wrong in it.
  `wrong_question_types` are questions in whose type anything else is wrong, whatever the number is, and whether or not
  it would be right under another reading. A question can be in both, and then has a finding of either kind.
- `wrong_story_types` are stories with a row of the wrong type; each such row has a finding. A type that ToM-bAbI says
  in a file's name counts too. Story types are defined by the default readings, so no other makes one right.
- `impossible_stories` are stories in which something happens that cannot. Nothing else of theirs is judged.
- `wrong_traces` are lines of a trace whose actions are not those of the text; `wrong_observers` are sentences.
- `wrong_columns` are values of other columns of ours that do not follow: candidates, readings, proof, and so on.
- `own_rules` are the judged questions of a set whose own prompt states rules (`formats.published`), by what is asked:
  how many answers are `right` under these rules, right only under another reading (by its name), or under `none`.
- Of what a file cannot have, such as traces, there is no count.
- `by_mechanism` counts findings by cause (`mechanisms.MECHANISMS`), but wrong story types by story.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from storyproof.families.belief.audit.rows import asked_of
from storyproof.families.belief.babi_format import OBSERVERS, TRACE
from storyproof.families.belief.tomi_labels import QUESTION_TYPES
from storyproof.families.file_judge import Subject
from storyproof.findings import Finding, most_common

OTHER_COLUMNS = ("candidates", "order", "chain", "false_belief", "readings", "proof")  # of ours besides the labels
ASKED = ("memory", "reality", "first_order", "second_order")
_COUNTED = {  # columns that a file has if there is something to count
    "wrong_question_types": ("question_type",),
    "wrong_story_types": ("story_type",),
    "wrong_agent_numbers": ("question_type",),
    "impossible_stories": ("story",),
    "wrong_traces": (TRACE,),
    "wrong_observers": (OBSERVERS,),
    "wrong_columns": OTHER_COLUMNS,
}
OWN, NO_READING = "right", "none"  # under the set's own rules; under no reading
_ORDERS = tuple(dict.fromkeys(map(asked_of, QUESTION_TYPES)))


@dataclass(slots=True)
class AuditTally:
    """What is counted of a file.

    Attributes:
        unchecked: How many rows had no value to compare with the proof, by column.
        gone: Rows that a corrected copy must leave out.
        judged: How many rows were judged.
        wrong: Answers that are wrong under every reading, by what is asked.
        dependent: Answers that are right under another reading, by reading.
        counts: Other things that are wrong.
        causes: Causes of what is wrong.
        asked: What is asked.
        columns: The columns that have values.
        has_rules: Whether the file states rules of its own.
        of_kind: How many questions whose story can happen were judged, by what is asked.
        not_own: Answers that are not right under the file's own rules, by what is asked and a reading that fits.
    """

    unchecked: Counter[str]
    gone: set[int]
    judged: int = 0
    wrong: Counter[str] = field(default_factory=Counter)
    dependent: Counter[str] = field(default_factory=Counter)
    counts: Counter[str] = field(default_factory=Counter)
    causes: Counter[str] = field(default_factory=Counter)
    asked: set[str] = field(default_factory=set)
    columns: set[str] = field(default_factory=set)
    has_rules: bool = False
    of_kind: Counter[str] = field(default_factory=Counter)
    not_own: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add_columns(self, table: pa.Table) -> None:
        """Note which columns have values."""
        self.columns |= {name for name in table.column_names if table.column(name).null_count < table.num_rows}

    def add_answer(self, asked: str, reading: str) -> None:
        """Count a wrong answer; `reading` is one under which it is right, if there is one."""
        self.not_own[asked, reading] += 1
        if reading:
            self.dependent[reading] += 1
        else:
            self.wrong[asked] += 1

    def absorb(self, other: AuditTally) -> None:
        """Take what was counted in other rows; what the judges hold, too, is left to them."""
        self.judged += other.judged
        for name in ("wrong", "dependent", "counts", "causes", "of_kind", "not_own"):
            getattr(self, name).update(getattr(other, name))
        self.asked |= other.asked
        self.columns |= other.columns

    def totals(self) -> dict[str, Any]:
        """Return what was counted; see the module."""
        orders = [name for name in _ORDERS if name in self.asked or name in ASKED]
        orders += sorted(self.asked - set(orders))
        found: dict[str, Any] = {"wrong_answers": {asked: self.wrong[asked] for asked in orders}}
        found["rule_dependent"] = most_common(self.dependent)
        if self.has_rules:
            found["own_rules"] = {asked: self._by_rules(asked) for asked in orders if self.of_kind[asked]}
        found |= {name: self.counts[name] for name, columns in _COUNTED.items() if not self.columns.isdisjoint(columns)}
        return {**found, "by_mechanism": most_common(self.causes)}

    def _by_rules(self, asked: str) -> dict[str, int]:
        """Return under which rules the answers to one kind of question are right."""
        others = most_common({reading or NO_READING: n for (kind, reading), n in self.not_own.items() if kind == asked})
        return {OWN: self.of_kind[asked] - sum(others.values()), **others}


class KindJudge(ABC):
    """Judges rows whose stories are of one kind."""

    def __init__(self, subject: Subject, tally: AuditTally) -> None:
        self.subject = subject
        self.tally = tally

    @abstractmethod
    def judge(self, table: pa.Table, *, is_certain: bool) -> list[Finding]:
        """Return what is wrong in rows, by row, and count it.

        Args:
            table: The rows, with their places.
            is_certain: Whether they are known to be of this kind, as far as they can be read at all.

        Raises:
            DataError: If the kind is not certain, and a row cannot be read.
        """
