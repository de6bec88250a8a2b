"""Where participants come from, and where they go when they have finished.

A link of the lab's own needs nothing. Prolific opens the study with PROLIFIC_PID, STUDY_ID and SESSION_ID in the
address, and wants participants back with a code. Mechanical Turk shows the study in a frame as an external question,
with assignmentId, hitId, workerId and turkSubmitTo, and wants a form sent back.

Items of participants who were excluded go to others (`replace_excluded`); their data stay as they are.
"""

from __future__ import annotations

import re
import secrets
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from secrets import token_hex
from typing import Any
from urllib.parse import urlencode

from sqlalchemy import Row, delete, insert, select

from storyproof.errors import ConfigError
from storyproof.study import schema
from storyproof.study.design import LINK, MTURK, PROLIFIC, StudyDesign
from storyproof.study.folder import REPLACEMENT, REVIEWING, SOLVING, WRITING, Study
from storyproof.study.participants import DONE, Arrival, Participant, is_free, lock_pool, log
from storyproof.study.results import FAILED_CHECKS, find_exclusions, read_rows

_PROLIFIC = "https://app.prolific.com/submissions/complete"
MTURK_HOSTS = ("https://www.mturk.com", "https://workersandbox.mturk.com")
_PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"
_ID = re.compile(r"[A-Za-z0-9_-]{1,100}")


@dataclass(frozen=True, slots=True)
class Exit:
    """Where a participant goes at the end.

    Attributes:
        kind: `link`, `prolific` or `mturk`.
        address: Where to; empty for nowhere.
        fields: What a form sends there (Mechanical Turk).
    """

    kind: str
    address: str = ""
    fields: Mapping[str, str] | None = None


def read_arrival(design: StudyDesign, query: Mapping[str, str]) -> Arrival | None:
    """Return who arrives with an address; None for a preview on Mechanical Turk.

    Raises:
        ConfigError: If the address lacks an id, or has one that cannot be.
    """
    if design.recruitment == LINK:
        return Arrival(token_hex(16))
    names = {PROLIFIC: ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID"), MTURK: ("workerId", "assignmentId", "hitId")}
    if design.recruitment == MTURK and query.get("assignmentId") == _PREVIEW:
        return None
    person, *others = names[design.recruitment]
    values = {name: query.get(name, "") for name in (person, *others)}
    for name, value in values.items():
        if not _ID.fullmatch(value):
            raise ConfigError(f"the address has no valid {name}; open the study from its page on the site.")
    if design.recruitment == MTURK:
        values["turkSubmitTo"] = query.get("turkSubmitTo", "").rstrip("/")
        if values["turkSubmitTo"] not in MTURK_HOSTS:
            raise ConfigError("the address has no valid turkSubmitTo; open the study from its page on the site.")
    return Arrival("", design.recruitment, values.pop(person), values)


def exit_of(design: StudyDesign, me: Participant | None) -> Exit:
    """Return where a participant goes: to the completion code when finished, to the other if they cannot take part."""
    if design.recruitment == PROLIFIC:
        code = design.completion_code if me is not None else design.screen_out_code
        return Exit(PROLIFIC, f"{_PROLIFIC}?{urlencode({'cc': code})}" if code else "")
    if design.recruitment == MTURK and me is not None:
        fields = {"assignmentId": me.visit["assignmentId"], "code": me.code}
        return Exit(MTURK, f"{me.visit['turkSubmitTo']}/mturk/externalSubmit", fields)
    return Exit(design.recruitment)


def replace_excluded(study: Study) -> dict[str, int]:
    """Open a new slot for each result of an excluded participant; return how many, by kind of slot.

    Only exclusions that cannot change any more are replaced: failed attention checks, and other reasons of those who
    have finished. A slot is replaced once, however often this is called. Reviews of stories by excluded writers that
    nobody has begun are not asked for any more.
    """
    rows = read_rows(study)
    final = [
        number
        for number, reasons in find_exclusions(study.design, rows).items()
        if FAILED_CHECKS in reasons or rows.participants[number].status == DONE
    ]
    slot, text = schema.slot, schema.text
    opened: Counter[str] = Counter()
    with study.database.writing() as connection:
        lock_pool(connection)
        held = connection.execute(
            select(slot).where(slot.c.holder.in_(final), slot.c.is_done, slot.c.kind.in_((SOLVING, WRITING, REVIEWING)))
        ).all()
        known = set(connection.execute(select(slot.c.kind, slot.c.target, slot.c.condition, slot.c.number)).all())
        by_excluded = set(connection.execute(select(text.c.id).where(text.c.participant_id.in_(final))).scalars().all())
        for row in held:
            place = (row.kind, row.target, row.condition, row.number + REPLACEMENT)
            if place in known or (row.kind == REVIEWING and row.target in by_excluded):
                continue
            connection.execute(insert(slot).values(**_replacing(row)))
            opened[row.kind] += 1
        connection.execute(
            delete(slot).where(slot.c.kind == REVIEWING, slot.c.target.in_(by_excluded), is_free(study.now()))
        )
        log(study, connection, "replaced", None, ", ".join(f"{kind} {count}" for kind, count in opened.items()))
    return dict(opened)


def _replacing(row: Row[Any]) -> dict[str, Any]:
    return {
        "kind": row.kind,
        "target": row.target,
        "condition": row.condition,
        "number": row.number + REPLACEMENT,
        "stratum": row.stratum,
        "rank": secrets.randbelow(2**31 - 1),
        "is_done": False,
    }
