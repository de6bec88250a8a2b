"""The judge of theory-of-mind rows: their labels against what follows from their text.

Rows in ToMi's wording are judged as arrays, the others row by row. Both add to one tally.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import Any

import pyarrow as pa

from storyproof.errors import UnknownNameError
from storyproof.families.belief.audit.counts import AuditTally
from storyproof.families.belief.audit.row_judge import RowJudge
from storyproof.families.belief.audit.tomi_judge import TomiJudge
from storyproof.families.belief.fill_columns import divide_rows
from storyproof.families.belief.readings import DESCRIPTIONS, READING_DESCRIPTIONS
from storyproof.families.file_judge import OWN_RULES, FileJudge, Subject
from storyproof.findings import Finding


class BeliefJudge(FileJudge):
    """Judges theory-of-mind rows of a file."""

    def __init__(self, subject: Subject) -> None:
        super().__init__(subject)
        for name in subject.settings.get("readings", ()):
            if name not in (known := {**DESCRIPTIONS, **READING_DESCRIPTIONS}):
                raise UnknownNameError("reading", name, known)
        self._tally = AuditTally(self.unchecked, self.gone, has_rules=bool(subject.settings.get(OWN_RULES)))
        self._tomi, self._others = TomiJudge(subject, self._tally), RowJudge(subject, self._tally)

    def judge(self, table: pa.Table) -> Iterable[Finding]:
        """Yield what is wrong in the next rows."""

        def judge(rows: pa.Table, is_tomi: bool, is_certain: bool) -> Iterable[Finding]:
            return (self._tomi if is_tomi else self._others).judge(rows, is_certain=is_certain)

        rest = self._others.set_apart(table)
        found = divide_rows(rest, judge) if rest.num_rows else []
        self.proofs_derived = self.unchecked["proof"]
        self.proofs_checked = self._tally.judged  # the provers are fast enough to check every proof by deletion
        return chain.from_iterable(findings for _, findings in found)

    def absorb(self, other: FileJudge) -> Iterable[Finding]:
        """Take what another judge counted."""
        if isinstance(other, BeliefJudge):
            self._tally.absorb(other._tally)
        return super().absorb(other)

    def totals(self) -> dict[str, Any]:
        """Return what was counted; see `counts`."""
        return self._tally.totals()
