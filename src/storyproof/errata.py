"""What an audit of published files finds: errata by row, and totals by file.

Every format has a module that audits a file (`audit_file`) and writes it anew without what was wrong (`fixed_files`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

# The three classes of flaws in ToMi, and what else can be wrong with a row of theory of mind.
STRUCTURAL, SEMANTIC, PRAGMATIC = "structural", "semantic", "pragmatic"
QUESTION_TYPE, IMPOSSIBLE_STORY = "question_type", "impossible_story"
COLUMN = "column"  # what data of our form say besides, and which does not follow


@dataclass(frozen=True, slots=True, kw_only=True)
class Erratum:
    """One thing that is wrong in a row, or in a file.

    Attributes:
        file: The file's name, with folders before it if another audited file has the same.
        row: The question's number in the file, from 0; -1 if it is about the whole file.
        line: The line of the file that holds it, or where its row begins, from 1; 0 if there is no such line.
        id: The row's id.
        kind: The class of error: structural, semantic, pragmatic, question_type, impossible_story, column; for kinship
            ambiguous, contradicted, impossible, proof, …
        field: Which field is wrong.
        found: What the file says.
        expected: What is right; empty if nothing is.
        reason: Why, in a sentence: the mechanism where it can be told.
        reading: A reading under which what was found is right (rule-dependent); empty if there is none.
        sentences: The deciding sentences of the story, from 1.
        asked: What kind of question the row asks: memory, reality, first_order, second_order; for kinship task_T.k.
    """

    file: str
    row: int
    line: int = 0
    id: str = ""
    kind: str
    field: str
    found: str
    expected: str
    reason: str = ""
    reading: str = ""
    sentences: tuple[int, ...] = ()
    asked: str = ""


@dataclass(slots=True)
class FileReport:
    """What was found in one file.

    Attributes:
        file: Its name, with folders before it if another audited file has the same.
        format: tomi, tom-babi, clutrr, inspect, jsonl, json or parquet.
        totals: Counts, in the form that the audit's JSON has; nested counts are dictionaries.
        errata: All that is wrong, by row.
    """

    file: str
    format: str
    totals: dict[str, Any] = field(default_factory=dict)
    errata: list[Erratum] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """Give plain values, for JSON."""
        return asdict(self)


@dataclass(slots=True)
class AuditReport:
    """What was found in all files."""

    files: list[FileReport]

    @property
    def clean(self) -> bool:
        """Whether nothing is wrong."""
        return not any(each.errata for each in self.files)

    @property
    def totals(self) -> dict[str, Any]:
        """Add the counts of all files up."""
        return add_up(each.totals for each in self.files)

    def as_dict(self) -> dict[str, Any]:
        """Give plain values, for JSON."""
        return {"files": [each.as_dict() for each in self.files], "totals": self.totals}


def add_up(counts: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Add up counts, also nested ones."""
    found: dict[str, Any] = {}
    for each in counts:
        for name, value in each.items():
            if isinstance(value, Mapping):
                found[name] = add_up([found.get(name, {}), value])
            else:
                found[name] = found.get(name, 0) + value
    return found


def tally(errata: Iterable[Erratum]) -> Counter[str]:
    """Count errata by kind."""
    return Counter(each.kind for each in errata)
