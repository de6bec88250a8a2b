"""What a participant does next, and the giving out of items.

Items are given out one at a time, when they are shown. A slot has one holder, until it has a result or the lease is
over and somebody else takes it; an item has no more slots than results are wanted, so it is never given out too often.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

from sqlalchemy import BigInteger, ColumnElement, Connection, Table, bindparam, func, insert, select, update

from storyproof.generation.seeds import Draws, digest
from storyproof.study import schema
from storyproof.study.design import PARAPHRASE
from storyproof.study.folder import REVIEWING, SOLVING, WRITING, Study
from storyproof.study.items import ATTENTION, MAIN, PRACTICE
from storyproof.study.participants import DONE, Participant, find_by_link, is_free, lock_pool, log

ANSWER, RATE, WRITE, REVIEW, START, FINISHED = "answer", "rate", "write", "review", "start", "finished"
GRACE_S = 5.0  # for the way of an answer to the server
PAUSE_S = 600.0  # after which somebody who comes back to questions with a time limit starts again with a button
_CIRCLE = 2**31

# Statements of every request are built once: building them takes longer than SQLite takes to answer them.
_STATUS = select(schema.participant.c.status).where(schema.participant.c.id == bindparam("me"))
_LOCK = _STATUS.with_for_update()
_ANSWERS = (
    select(
        schema.answer.c.role,
        schema.answer.c.slot_id,
        schema.answer.c.item,
        schema.answer.c.rating_key,
        schema.answer.c.received_at,
    )
    .where(schema.answer.c.participant_id == bindparam("me"))
    .order_by(schema.answer.c.id)
)
_OWN_SLOT = select(schema.slot.c.id, schema.slot.c.shown_at).where(
    schema.slot.c.kind == bindparam("role"),
    schema.slot.c.target == bindparam("item"),
    schema.slot.c.number == bindparam("me"),
)
_HELD_SLOT = select(schema.slot.c.id, schema.slot.c.target, schema.slot.c.shown_at).where(
    schema.slot.c.holder == bindparam("me"), schema.slot.c.kind == bindparam("kind"), ~schema.slot.c.is_done
)
_HAD = (
    select(schema.slot.c.stratum, func.count())
    .join(schema.lease, schema.lease.c.slot_id == schema.slot.c.id)
    .where(schema.lease.c.participant_id == bindparam("me"), schema.lease.c.kind == bindparam("kind"))
    .group_by(schema.slot.c.stratum)
)


@dataclass(frozen=True, slots=True)
class StudyStep:
    """What a participant does next.

    Attributes:
        kind: `answer`, `rate`, `write`, `review`, `start` (a question with a time limit comes next) or `finished`.
        slot: The slot; for `rate` that of the answer.
        role: `main`, `practice` or `attention`.
        item: The number of the item; of a story to review, that of its facts.
        text: The id of the story to review; 0 for an attention check.
        shown_at: When it was shown first.
        deadline: Until when it must be answered; None for as long as one likes.
        done: How many steps are done.
        total: Of how many.
    """

    kind: str
    slot: int = 0
    role: str = MAIN
    item: int = 0
    text: int = 0
    shown_at: float = 0.0
    deadline: float | None = None
    done: int = 0
    total: int = 0

    @property
    def key(self) -> str:
        """The key of the form, which is the same in all tabs and after each reload."""
        return f"{self.kind}-{self.slot}"


class _NeedsWritingError(Exception):
    """The next step can only be found by giving something out."""


def find_step(study: Study, me: Participant) -> StudyStep:
    """Return what a participant does next; if need be, give out an item or note that all is done."""
    try:
        with study.database.reading() as connection:
            status = connection.execute(_STATUS, {"me": me.id}).scalar_one_or_none()
            return _Path(study, connection, me, may_write=False).step(status)
    except _NeedsWritingError:
        return _give_out(study, me)


def find_step_by_link(study: Study, token: str) -> tuple[Participant, StudyStep] | None:
    """Return the participant of a link and what is next, in one transaction if possible.

    Before the first question with a time limit, and after a pause, that is `start`: opening a link starts no clock.
    `find_step` starts it.
    """
    try:
        with study.database.reading() as connection:
            me = find_by_link(connection, token)
            if me is None:
                return None
            return me, _Path(study, connection, me, may_write=False, may_start=False).step(me.status)
    except _NeedsWritingError:
        assert me is not None
        return me, _give_out(study, me, may_start=False)


def _give_out(study: Study, me: Participant, *, may_start: bool = True) -> StudyStep:
    with study.database.writing() as connection:
        path = _Path(study, connection, me, may_write=True, may_start=may_start)
        return path.step(lock_participant(connection, me))


def lock_participant(connection: Connection, me: Participant) -> str | None:
    """Wait until no other transaction is about the same participant; return the status, None if deleted."""
    locked: str | None = connection.execute(_LOCK, {"me": me.id}).scalar_one_or_none()
    return locked


def steps_in_all(study: Study) -> int:
    """Return how many steps a participant has at most."""
    design = study.design
    if design.kind == PARAPHRASE:
        return design.tasks_per_participant + design.reviews_per_participant + design.attention_checks
    return design.practice + design.tasks_per_participant + design.attention_checks


class _Path:
    """The way of one participant through the study, in one transaction."""

    def __init__(
        self, study: Study, connection: Connection, me: Participant, *, may_write: bool, may_start: bool = True
    ) -> None:
        self.study, self.connection, self.me = study, connection, me
        self.may_write, self.may_start = may_write, may_start
        self.design = study.design
        self.now = study.now()

    def step(self, status: str | None) -> StudyStep:
        table = schema.participant
        if status is None or status == DONE:
            return StudyStep(FINISHED, done=steps_in_all(self.study), total=steps_in_all(self.study))
        next_step = self._write_and_review() if self.design.kind == PARAPHRASE else self._solve()
        if next_step is not None:
            return next_step
        self._must_write()
        self.connection.execute(update(table).where(table.c.id == self.me.id).values(status=DONE, finished_at=self.now))
        log(self.study, self.connection, "finished", self.me.id)
        return StudyStep(FINISHED, done=steps_in_all(self.study), total=steps_in_all(self.study))

    # Solve studies.

    def _solve(self) -> StudyStep | None:
        rows = self.connection.execute(_ANSWERS, {"me": self.me.id}).all()
        counts = Counter(row.role for row in rows)
        done = len(rows)
        unrated = next((row for row in rows if row.role == MAIN and row.rating_key is None), None)
        if unrated is not None:
            return self._place(StudyStep(RATE, unrated.slot_id, MAIN, unrated.item), done)
        practice = self.study.items.of(PRACTICE)
        if counts[PRACTICE] < len(practice):
            return self._own(ANSWER, PRACTICE, practice[counts[PRACTICE]].number, done)
        if counts[ATTENTION] < self._checks_due(counts[MAIN]):
            return self._own(ANSWER, ATTENTION, self.study.items.of(ATTENTION)[counts[ATTENTION]].number, done)
        if counts[MAIN] < self.design.tasks_per_participant:
            last = max((row.received_at for row in rows if row.role == MAIN), default=0.0)
            return self._given(ANSWER, SOLVING, done, must_start=self.now - last > PAUSE_S)
        return None

    def _checks_due(self, main: int) -> int:
        """Return how many attention checks come before a participant's next item; their places are random."""
        checks, tasks = self.design.attention_checks, self.design.tasks_per_participant
        if not tasks:
            return checks
        drawn = Draws("study-attention", self.design.seed, self.me.code).below(tasks, checks).tolist()
        return sum(place < main for place in drawn)

    # Paraphrase studies.

    def _write_and_review(self) -> StudyStep | None:
        text, review = schema.text, schema.review
        written = self._count(text, text.c.participant_id == self.me.id)
        checked = self._count(review, review.c.participant_id == self.me.id, review.c.role == ATTENTION)
        reviewed = self._count(review, review.c.participant_id == self.me.id, review.c.role == MAIN)
        done = written + checked + reviewed
        if written < self.design.tasks_per_participant:
            next_step = self._given(WRITE, WRITING, done)
            if next_step is not None:
                return next_step
        if checked < self.design.attention_checks and reviewed >= min(checked, self.design.reviews_per_participant):
            number = self.study.items.of(ATTENTION)[checked].number
            return self._own(REVIEW, ATTENTION, number, done)
        if reviewed < self.design.reviews_per_participant:
            next_step = self._given(REVIEW, REVIEWING, done)
            if next_step is not None:
                return next_step
        if checked < self.design.attention_checks:
            return self._own(REVIEW, ATTENTION, self.study.items.of(ATTENTION)[checked].number, done)
        return None

    # Slots.

    def _count(self, table: Table, *where: ColumnElement[bool]) -> int:
        return self.connection.execute(select(func.count()).select_from(table).where(*where)).scalar_one()

    def _must_write(self) -> None:
        if not self.may_write:
            raise _NeedsWritingError

    def _own(self, step: str, role: str, number: int, done: int) -> StudyStep:
        """Return a step that every participant has for themselves: practice and attention checks."""
        row = self.connection.execute(_OWN_SLOT, {"role": role, "item": number, "me": self.me.id}).first()
        if row is not None:
            return self._place(StudyStep(step, row.id, role, number, shown_at=row.shown_at), done)
        self._must_write()
        mine = {"kind": role, "target": number, "condition": self.me.condition, "number": self.me.id, "stratum": ""}
        held = {"rank": 0, "holder": self.me.id, "shown_at": self.now, "is_done": False}
        key = self.connection.execute(insert(schema.slot), mine | held).inserted_primary_key
        assert key is not None
        return self._place(StudyStep(step, key[0], role, number, shown_at=self.now), done)

    def _given(self, step: str, kind: str, done: int, *, must_start: bool = False) -> StudyStep | None:
        """Return the step of the slot that the participant holds, or give out another; None if there is none left."""
        row = self.connection.execute(_HELD_SLOT, {"me": self.me.id, "kind": kind}).first()
        limit = self.design.condition(self.me.condition).time_limit_s if kind == SOLVING else None
        if row is None and must_start and limit is not None and not self.may_start:
            return self._place(StudyStep(START), done)
        if row is None:
            self._must_write()
            lock_pool(self.connection)
            taken = self._take(kind)
            if taken is None:
                return None
            row_id, target, shown_at = taken
        else:
            row_id, target, shown_at = row
        item, text = target, 0
        if kind == REVIEWING:
            text = target
            item = self.connection.execute(select(schema.text.c.item).where(schema.text.c.id == text)).scalar_one()
        deadline = None if limit is None else shown_at + limit
        return self._place(StudyStep(step, row_id, MAIN, item, text, shown_at, deadline), done)

    def _take(self, kind: str) -> tuple[int, int, float] | None:
        """Give out a free slot: of the stratum that the participant has had least, of the item answered least."""
        slot, lease = schema.slot, schema.lease
        seen = select(lease.c.target).where(lease.c.participant_id == self.me.id, lease.c.kind == kind)
        wanted = [slot.c.kind == kind, is_free(self.now), slot.c.target.not_in(seen)]
        if kind == REVIEWING:
            text = schema.text
            wanted.append(slot.c.target.not_in(select(text.c.id).where(text.c.participant_id == self.me.id)))
        else:
            wanted.append(slot.c.condition == self.me.condition)
        stratum = self._choose_stratum(kind, wanted)
        if stratum is None:
            return None
        shift = int.from_bytes(digest("study-shift", self.design.seed, self.me.code, stratum)[:4], "big") % _CIRCLE
        circle = (slot.c.rank.cast(BigInteger) + shift) % _CIRCLE
        row = self.connection.execute(
            select(slot.c.id, slot.c.target)
            .where(*wanted, slot.c.stratum == stratum)
            .order_by(slot.c.number, circle)
            .limit(1)
        ).first()
        if row is None:
            return None
        taken = self.connection.execute(
            update(slot)
            .where(slot.c.id == row.id, is_free(self.now))
            .values(holder=self.me.id, lease_until=self.now + self.design.lease_s, shown_at=self.now)
        )
        if taken.rowcount != 1:  # its late holder was quicker
            return self._take(kind)
        given = {"slot_id": row.id, "kind": kind, "target": row.target, "begun_at": self.now}
        self.connection.execute(insert(lease), given | {"participant_id": self.me.id})
        return row.id, row.target, self.now

    def _choose_stratum(self, kind: str, wanted: list[ColumnElement[bool]]) -> str | None:
        slot = schema.slot
        free = self.connection.execute(select(slot.c.stratum).where(*wanted).distinct()).scalars().all()
        if not free:
            return None
        rows = self.connection.execute(_HAD, {"me": self.me.id, "kind": kind})
        had: dict[str, int] = {name: number for name, number in rows}  # noqa: C416  # a result is no mapping
        stratum: str = min(
            free,
            key=lambda name: (
                had.get(name, 0),
                digest("study-stratum", self.design.seed, self.me.code, had.get(name, 0), name),
            ),
        )
        return stratum

    def _place(self, step: StudyStep, done: int) -> StudyStep:
        """Return a step with how far the participant is."""
        return replace(step, done=done, total=steps_in_all(self.study))
