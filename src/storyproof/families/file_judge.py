"""How a family judges the rows of a file: the protocol behind `audit`.

A file is read once, and its rows, with their places, are passed to one judge, which compares every label with what
follows from the row's text and yields findings.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from storyproof.findings import PROOF_SAMPLE, Finding

if TYPE_CHECKING:
    from storyproof.formats.format import Format


OWN_RULES = "own_rules"  # the setting that names the readings which the prompt of a published set allows


@dataclass(frozen=True, slots=True)
class Subject:
    """A file that is judged.

    Attributes:
        path: Where it is.
        format: Its format.
        name: What findings call it.
        settings: What users said about the data: `rules`, a file of rules that they were made by; `readings`, the only
            ones that make a wrong label rule-dependent; `proofs`, whether the proof of every row is checked by
            deletion, rather than those of a sample (see `ProofSample`); `columns`, where the file has what rows need,
            and `consistent`, columns that must agree. `own_rules` are the readings that the prompt of a published set
            allows; the first decides what is expected.
        is_foreign: Whether somebody else wrote the file, so that answers are in free words.
        is_beginning: Whether its first rows are judged; if not, rows before these are judged elsewhere.
    """

    path: Path
    format: Format
    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    is_foreign: bool = False
    is_beginning: bool = True

    @property
    def has_free_answers(self) -> bool:
        """Whether answers are in free words; of several that are accepted each is in a line of its own."""
        return self.is_foreign or self.format.has_free_answers

    def called(self, file: str) -> str:
        """Return what findings call the file, or one beside it."""
        return self.name.removesuffix(self.path.name) + file if self.name.endswith(self.path.name) else self.name


class ProofSample:
    """Chooses the rows of a file whose proofs are checked by deletion.

    These are all rows if users asked for that (`Subject.settings["proofs"]`), else the first PROOF_SAMPLE rows with
    different stories and questions; of a large file, which is judged in parts, those of the first part.
    """

    def __init__(self, subject: Subject) -> None:
        self._takes_all = bool(subject.settings.get("proofs"))
        self._takes_none = not self._takes_all and not subject.is_beginning
        self._chosen: set[tuple[str, str]] = set()

    def choose(self, table: pa.Table) -> npt.NDArray[np.bool_]:
        """Return which of the next rows are chosen."""
        chosen = np.full(table.num_rows, self._takes_all)
        for start in range(0, 0 if self._takes_all or self._takes_none else table.num_rows, PROOF_SAMPLE):
            if len(self._chosen) >= PROOF_SAMPLE:
                break
            part = table.slice(start, PROOF_SAMPLE)
            pairs = zip(part.column("story").to_pylist(), part.column("question").to_pylist(), strict=True)
            for row, pair in enumerate(pairs, start=start):
                if pair not in self._chosen and len(self._chosen) < PROOF_SAMPLE:
                    self._chosen.add(pair)
                    chosen[row] = True
        return chosen


class FileJudge(ABC):
    """Judges the rows of one file, part by part; each row is parsed once and judged once.

    Attributes:
        subject: The file.
        unchecked: How many rows had no value to compare with the proof, by column.
        proofs_checked: How many proofs were checked by deletion.
        proofs_derived: How many of these were derived here, because their rows have none.
        statuses: How many rows have which status; empty if an answer follows from every row of the family.
        gone: Rows that a corrected copy must leave out.
        unmarked: How many rows have which status, of those from which no answer follows, or another than they say, and
            which do not say so.
        unsettled: The status of each such row for which there is no right answer.
        declared: The status of rows that say themselves that no answer follows.
    """

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self.unchecked: Counter[str] = Counter()
        self.proofs_checked = self.proofs_derived = 0
        self.statuses: Counter[str] = Counter()
        self.gone: set[int] = set()
        self.unmarked: Counter[str] = Counter()
        self.unsettled: dict[int, str] = {}
        self.declared: dict[int, str] = {}

    @abstractmethod
    def judge(self, table: pa.Table) -> Iterable[Finding]:
        """Yield what is wrong in the next rows: whole stories, with the column `place`.

        For each row that is not understood there is one finding of the kind UNREAD, whose field says what is not, and
        nothing is counted. Such a row may come again, in words that the family reads.
        """

    def absorb(self, other: FileJudge) -> Iterable[Finding]:
        """Take what another judge of this class counted in rows that follow, and yield what only both together show.

        Large files are judged in parts, by judges that are pickled. One that counts more than is counted here takes
        that as well.
        """
        self.unchecked.update(other.unchecked)
        self.proofs_checked += other.proofs_checked
        self.statuses.update(other.statuses)
        self.gone |= other.gone
        self.unmarked.update(other.unmarked)
        self.unsettled |= other.unsettled
        self.declared |= other.declared
        return ()

    def conclude(self) -> Iterable[Finding]:
        """Yield what is wrong with the file as a whole, once all rows were judged."""
        return ()

    def totals(self) -> dict[str, Any]:
        """Return counts for the report; nested counts are dictionaries.

        Among them are `wrong_answers`, wrong under every reading, by kind of question, and `rule_dependent`, by the
        reading under which they are right.
        """
        return {}
