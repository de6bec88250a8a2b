"""What audits count of theory-of-mind rows, whatever kind their stories are.

How a file's totals are counted, all under the default readings unless a reading is named:

- `questions` are rows; `stories` are runs of rows that tell one story or go on with it.
- `wrong_answers` and `rule_dependent` are questions by what is asked (memory, reality, first_order, …). Each question
  whose answer is wrong by default is in one of the two: in `rule_dependent` if it is right under another reading.
- `wrong_agent_numbers` are questions in whose type the agent number is wrong, whatever else is wrong in it.
  `wrong_question_types` are questions in whose type anything else is wrong, whatever the number is, and whether or not
  it would be right under another reading. A question can be in both, and then has a finding of either kind.
- `wrong_story_types` are stories with a row of the wrong type; each such row has a finding. A type that ToM-bAbI says
  in a file's name counts too. Story types are defined by the default readings, so no other makes one right.
- `impossible_stories` are stories in which something happens that cannot. Nothing else of theirs is judged.
- `wrong_traces` are lines of a trace whose actions are not those of the text; `wrong_observers` are sentences.
- `wrong_columns` are values of other columns of ours that do not follow: candidates, readings, proof, and so on.
- `by_mechanism` counts findings by cause (`mechanisms.MECHANISMS`), but wrong story types by story.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from storyproof.families.belief.audit.rows import asked_of
from storyproof.families.belief.tomi_labels import QUESTION_TYPES
from storyproof.families.judge import Subject
from storyproof.findings import Finding

ASKED = ("memory", "reality", "first_order", "second_order")
_COUNTED = (
    "wrong_question_types",
    "wrong_story_types",
    "wrong_agent_numbers",
    "impossible_stories",
    "wrong_traces",
    "wrong_observers",
    "wrong_columns",
)
_ORDERS = tuple(dict.fromkeys(map(asked_of, QUESTION_TYPES)))


@dataclass(slots=True)
class AuditTally:
    """What is counted of a file.

    Attributes:
        unchecked: How many rows had no value to compare with the proof, by column.
        gone: Rows that a corrected copy must leave out.
        questions: How many rows there are.
        stories: How many stories.
        answers: Wrong answers, by whether they are right under another reading and what is asked.
        counts: Other things that are wrong.
        causes: Causes of what is wrong.
        asked: What is asked.
    """

    unchecked: Counter[str]
    gone: set[int]
    questions: int = 0
    stories: int = 0
    answers: Counter[tuple[bool, str]] = field(default_factory=Counter)
    counts: Counter[str] = field(default_factory=Counter)
    causes: Counter[str] = field(default_factory=Counter)
    asked: set[str] = field(default_factory=set)

    def totals(self) -> dict[str, Any]:
        """Return what was counted; see the module."""
        orders = [name for name in _ORDERS if name in self.asked or name in ASKED]
        orders += sorted(self.asked - set(orders))
        found: dict[str, Any] = {"questions": self.questions, "stories": self.stories}
        for name, dependent in (("wrong_answers", False), ("rule_dependent", True)):
            found[name] = {asked: self.answers[dependent, asked] for asked in orders}
        found |= {name: self.counts[name] for name in _COUNTED}
        return {**found, "by_mechanism": dict(self.causes.most_common())}


class KindJudge(ABC):
    """Judges rows whose stories are of one kind."""

    def __init__(self, subject: Subject, tally: AuditTally) -> None:
        self.subject = subject
        self.tally = tally

    @abstractmethod
    def judge(self, table: pa.Table, *, is_certain: bool) -> Iterable[Finding]:
        """Return what is wrong in rows, and count it.

        Args:
            table: The rows, with their places.
            is_certain: Whether they are known to be of this kind, as far as they can be read at all.

        Raises:
            DataError: In an audit, if a row cannot be read; otherwise only if the kind is not certain.
        """
