"""Forms that participants send: each is stored exactly once, in one transaction with all that follows from it.

A form has a key that is the same in all tabs and after each reload, so that a second form with the same key is known,
from wherever it is sent and however often the server was killed in between. The first one counts.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from sqlalchemy import Connection, Row, Table, bindparam, insert, select, update
from sqlalchemy.exc import IntegrityError

from storyproof.families.paraphrasing import TextRemark
from storyproof.study import schema
from storyproof.study.folder import REVIEWING, SOLVING, WRITING, Study
from storyproof.study.items import ATTENTION, MAIN, PRACTICE
from storyproof.study.participant_flow import ANSWER, GRACE_S, RATE, REVIEW, WRITE, StudyStep, lock_participant
from storyproof.study.participants import Participant, log

STORED, REPEATED, LATE = "stored", "repeated", "late"
TIMINGS = ("ok", "no-browser-time", "browser-exceeds-server", "gap")
_TOLERANCE_MS = 2_000  # clocks of browsers are coarse, and pages take a moment to arrive
_GAP_MS = 60_000  # more than this between both times: the page was reloaded or left
_LONGEST_MS = 2**31 - 1
_SLOT = select(schema.slot).where(schema.slot.c.id == bindparam("slot")).with_for_update()
_DONE = update(schema.slot).where(schema.slot.c.id == bindparam("slot")).values(is_done=True, lease_until=None)
_ROLES = {SOLVING: MAIN, WRITING: MAIN, REVIEWING: MAIN, PRACTICE: PRACTICE, ATTENTION: ATTENTION}


@dataclass(frozen=True, slots=True)
class FormOutcome:
    """What became of a form.

    Attributes:
        status: `stored`, `repeated` (an earlier one counts) or `late` (the item went to somebody else).
        role: The role of the item.
        item: The number of the item.
        slot: The slot.
    """

    status: str
    role: str = MAIN
    item: int = -1
    slot: int = 0


class ImpossibleAnswerError(ValueError):
    """An answer that cannot be chosen."""


@dataclass(frozen=True, slots=True)
class _SentForm:
    """A form with the result of a slot.

    Attributes:
        kind: The kind of step.
        slot_id: The slot.
        body: What was sent; its hash is noted.
        table: The table of the result.
        times: How long the page was open, and for how long of that it was hidden, in milliseconds by the browser.
        values: Returns the columns of the result that only its table has.
        follow: What is done besides, with the number of the result.
    """

    kind: str
    slot_id: int
    body: dict[str, Any]
    table: Table
    times: tuple[int | None, int | None]
    values: Callable[[Row[Any], float], dict[str, Any]]
    follow: Callable[[Connection, int], None] | None = None


def submit_answer(
    study: Study, me: Participant, slot_id: int, answer: str, browser_ms: int | None, hidden_ms: int | None = None
) -> FormOutcome:
    """Store an answer; one that comes after the deadline counts as timed out and wrong.

    Raises:
        ImpossibleAnswerError: If it is not one of the choices; nothing is stored.
    """

    def values(slot: Row[Any], now: float) -> dict[str, Any]:
        item = study.items[slot.target]
        if answer and answer not in item.choices:
            raise ImpossibleAnswerError
        limit = study.design.condition(me.condition).time_limit_s if slot.kind == SOLVING else None
        late = limit is not None and (not answer or now > slot.shown_at + limit + GRACE_S)
        return {
            "item": item.number,
            "condition": me.condition,
            "answer": answer,
            "is_right": answer == item.answer and not late,
            "is_timed_out": late,
        }

    body = {"answer": answer, "browser_ms": browser_ms}
    return _submit(study, me, _SentForm(ANSWER, slot_id, body, schema.answer, (browser_ms, hidden_ms), values))


def time_out(study: Study, me: Participant, step: StudyStep) -> bool:
    """Store that nothing came until the deadline, if it is over; return whether it is."""
    if step.kind != ANSWER or step.deadline is None or study.now() <= step.deadline + GRACE_S:
        return False
    submit_answer(study, me, step.slot, "", None)
    return True


def submit_rating(study: Study, me: Participant, slot_id: int, difficulty: int) -> FormOutcome:
    """Store how difficult a question was, from 1 to 5."""
    try:
        return _try_rating(study, me, slot_id, difficulty)
    except IntegrityError:  # as in _submit
        return _try_rating(study, me, slot_id, difficulty)


def _try_rating(study: Study, me: Participant, slot_id: int, difficulty: int) -> FormOutcome:
    key, answer = f"{RATE}-{slot_id}", schema.answer
    with study.database.writing() as connection:
        lock_participant(connection, me)
        mine = (answer.c.slot_id == slot_id, answer.c.participant_id == me.id, answer.c.role == MAIN)
        row = connection.execute(select(answer.c.id, answer.c.item, answer.c.rating_key).where(*mine)).first()
        if row is None:
            return FormOutcome(LATE, slot=slot_id)
        if row.rating_key is not None:
            return FormOutcome(REPEATED, MAIN, row.item, slot_id)
        _note(study, connection, me, key, RATE, {"difficulty": difficulty})
        connection.execute(update(answer).where(answer.c.id == row.id).values(difficulty=difficulty, rating_key=key))
        return FormOutcome(STORED, MAIN, row.item, slot_id)


def submit_text(
    study: Study,
    me: Participant,
    slot_id: int,
    text: str,
    fingerprint: str,
    remarks: Sequence[TextRemark],
    browser_ms: int | None,
    hidden_ms: int | None = None,
) -> FormOutcome:
    """Store a story, and open the slots of its reviews."""

    def values(slot: Row[Any], now: float) -> dict[str, Any]:
        return {
            "item": slot.target,
            "text": text,
            "fingerprint": sha256(fingerprint.encode()).hexdigest(),
            "remarks": json.dumps([each._asdict() for each in remarks]),
        }

    def open_reviews(connection: Connection, text_id: int) -> None:
        shared = {"kind": REVIEWING, "target": text_id, "condition": "", "stratum": "", "is_done": False}
        reviews = [
            {**shared, "number": number, "rank": secrets.randbelow(2**31 - 1)}
            for number in range(study.design.reviewers)
        ]
        connection.execute(insert(schema.slot), reviews)

    times = (browser_ms, hidden_ms)
    return _submit(study, me, _SentForm(WRITE, slot_id, {"text": text}, schema.text, times, values, open_reviews))


def submit_review(
    study: Study,
    me: Participant,
    slot_id: int,
    is_good: bool,
    reasons: Sequence[str],
    browser_ms: int | None,
    hidden_ms: int | None = None,
) -> FormOutcome:
    """Store a review."""

    def values(slot: Row[Any], now: float) -> dict[str, Any]:
        known = study.items[slot.target].is_good if slot.kind == ATTENTION else None
        return {
            "target": slot.target,
            "is_good": is_good,
            "is_right": None if known is None else known == is_good,
            "reasons": json.dumps(list(reasons)),
        }

    body = {"is_good": is_good, "reasons": list(reasons)}
    return _submit(study, me, _SentForm(REVIEW, slot_id, body, schema.review, (browser_ms, hidden_ms), values))


def is_copy(study: Study, fingerprint: str) -> bool:
    """Return whether a text without its names was sent before."""
    table = schema.text
    wanted = sha256(fingerprint.encode()).hexdigest()
    with study.database.reading() as connection:
        return connection.execute(select(table.c.id).where(table.c.fingerprint == wanted)).first() is not None


def _submit(study: Study, me: Participant, form: _SentForm) -> FormOutcome:
    """Store the result of a slot, unless its form was stored before or somebody else holds the slot."""
    try:
        return _try_submit(study, me, form)
    except IntegrityError:  # the same form was committed between our look and our insert; now the look finds it
        return _try_submit(study, me, form)


def _try_submit(study: Study, me: Participant, form: _SentForm) -> FormOutcome:
    slot_id, key = form.slot_id, f"{form.kind}-{form.slot_id}"
    with study.database.writing() as connection:
        if lock_participant(connection, me) is None:  # deleted a moment ago
            return FormOutcome(LATE, slot=slot_id)
        row = connection.execute(_SLOT, {"slot": slot_id}).first()
        if row is None or row.kind not in _SLOTS[form.kind]:
            return FormOutcome(LATE, slot=slot_id)
        role = _ROLES[row.kind]
        item = row.target if row.kind != REVIEWING else -1
        if row.holder != me.id:
            log(study, connection, LATE, me.id, key)
            return FormOutcome(LATE, role, item, slot_id)
        if row.is_done:
            return FormOutcome(REPEATED, role, item, slot_id)
        now = _note(study, connection, me, key, form.kind if role == MAIN else role, form.body)
        shared = _common(row, key, me, now, *form.times)
        stored = connection.execute(insert(form.table), shared | form.values(row, now)).inserted_primary_key
        assert stored is not None
        if form.follow is not None:
            form.follow(connection, stored[0])
        connection.execute(_DONE, {"slot": slot_id})
        return FormOutcome(STORED, role, item, slot_id)


_SLOTS = {ANSWER: (SOLVING, PRACTICE, ATTENTION), WRITE: (WRITING,), REVIEW: (REVIEWING, ATTENTION)}


def _note(study: Study, connection: Connection, me: Participant, key: str, kind: str, body: dict[str, Any]) -> float:
    """Note that a form was accepted; return when."""
    now = study.now()
    digest = sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
    row = {"key": key, "participant_id": me.id, "kind": kind, "received_at": now, "body_sha256": digest}
    connection.execute(insert(schema.submission), row)
    return now


def _common(
    slot: Row[Any], key: str, me: Participant, now: float, browser_ms: int | None, hidden_ms: int | None
) -> dict[str, Any]:
    """Return the columns that all results have; the browser's time is compared with the server's."""
    server_ms = min(max(0, round(1000 * (now - slot.shown_at))), _LONGEST_MS)
    return {
        "slot_id": slot.id,
        "submission_key": key,
        "participant_id": me.id,
        "role": _ROLES[slot.kind],
        "shown_at": slot.shown_at,
        "received_at": now,
        "browser_ms": browser_ms,
        "hidden_ms": hidden_ms if browser_ms is None or hidden_ms is None else min(hidden_ms, browser_ms),
        "server_ms": server_ms,
        "timing": judge_timing(browser_ms, server_ms),
    }


def judge_timing(browser_ms: int | None, server_ms: int) -> str:
    """Return whether a browser's time can be true; one of TIMINGS."""
    if browser_ms is None:
        return "no-browser-time"
    if browser_ms > server_ms + _TOLERANCE_MS:
        return "browser-exceeds-server"
    return "gap" if server_ms - browser_ms > _GAP_MS else "ok"
