"""The judge of theory-of-mind rows: their labels against what follows from their text.

Rows are divided by kind of story, and each kind has a judge of its own. All add to one tally.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import Any

import pyarrow as pa

from storyproof.errors import DataError, UnknownNameError
from storyproof.families.belief.audit.tally import AuditTally
from storyproof.families.belief.story_choice import READING_DESCRIPTIONS, story_kinds, work_by_kind
from storyproof.families.belief.story_kind import StoryKind
from storyproof.families.judge import FileJudge, Subject
from storyproof.findings import Finding


class BeliefJudge(FileJudge):
    """Judges theory-of-mind rows of a file."""

    def __init__(self, subject: Subject) -> None:
        super().__init__(subject)
        for name in subject.settings.get("readings", ()):
            if name not in READING_DESCRIPTIONS:
                raise UnknownNameError("reading", name, READING_DESCRIPTIONS)
        self._tally = AuditTally(self.unchecked, self.gone)
        self._judges = {kind: kind.judge(subject, self._tally) for kind in story_kinds()}

    def judge(self, table: pa.Table) -> Iterable[Finding]:
        """Yield what is wrong in the next rows."""

        def judge(kind: StoryKind, rows: pa.Table, is_certain: bool) -> Iterable[Finding]:
            return self._judges[kind].judge(rows, is_certain=is_certain)

        return chain.from_iterable(found for _, found in work_by_kind(table, judge))

    def conclude(self) -> Iterable[Finding]:
        """Refuse an audit of a file without questions."""
        if self.subject.is_audit and not self._tally.questions:
            raise DataError(f"{self.subject.path}, line 1: found no question; expected at least one.")
        return ()

    def totals(self) -> dict[str, Any]:
        """Return what was counted; see `tally`."""
        return self._tally.totals()
