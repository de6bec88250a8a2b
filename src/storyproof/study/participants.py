"""Participants: how they enter, how their links find them again, and how one is deleted."""

from __future__ import annotations

import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from secrets import token_urlsafe
from typing import Any

from sqlalchemy import Column, Connection, Row, bindparam, delete, func, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from storyproof.errors import DataError, quoted
from storyproof.generation.seeds import digest
from storyproof.study import schema
from storyproof.study.design import LINK, PARAPHRASE
from storyproof.study.folder import REVIEWING, SOLVING, WRITING, Study

WORKING, DONE = "working", "done"
CONSENT = "consent"
_MOST_LINKS = 50  # besides the first
ARRIVAL_S = 600.0  # for how long a place is kept for somebody who has not begun with what counts
_CODE_LETTERS = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"  # without those that look alike

# Statements of every request are built once: building them takes longer than SQLite takes to answer them.
_FURTHER = select(schema.link.c.participant_id).where(schema.link.c.token_sha256 == bindparam("hashed"))
_BY_LINK = select(schema.participant).where(
    or_(schema.participant.c.token_sha256 == bindparam("hashed"), schema.participant.c.id == _FURTHER.scalar_subquery())
)
_POOL = select(schema.study.c.id).with_for_update()


class StudyFullError(Exception):
    """There is nothing left to do for another participant.

    Attributes:
        again_s: After how many seconds places may be free again, which others have now; None if all is done.
    """

    def __init__(self, again_s: float | None = None) -> None:
        super().__init__("there is no place left")
        self.again_s = again_s


@dataclass(frozen=True, slots=True)
class Arrival:
    """Somebody who wants to take part.

    Attributes:
        nonce: A random text of the page that was opened; for those who come from a site, it follows from their id.
        source: `link`, `prolific` or `mturk`.
        external_id: The id at the site; empty for a link.
        visit: The site's other ids of this visit.
    """

    nonce: str
    source: str = LINK
    external_id: str = ""
    visit: Mapping[str, str] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """What is the same however often the same person arrives by the same page or from the same site."""
        about = f"{self.source}\0{self.external_id or self.nonce}"
        return sha256(about.encode("utf-8", "replace")).hexdigest()


@dataclass(frozen=True, slots=True)
class Participant:
    """A participant.

    Attributes:
        id: The number in the database.
        code: The pseudonym.
        source: Where they come from.
        external_id: The id there; empty for a link.
        visit: The site's other ids of the last visit.
        condition: The condition.
        status: `working` or `done`.
    """

    id: int
    code: str
    source: str
    external_id: str
    visit: Mapping[str, str]
    condition: str
    status: str

    @classmethod
    def from_row(cls, row: Row[Any]) -> Participant:
        """Read a row of the table."""
        visit = json.loads(row.external_visit)
        return cls(row.id, row.code, row.source, row.external_id or "", visit, row.condition, row.status)


def enter(study: Study, arrival: Arrival, body_sha256: str) -> str:
    """Take in a participant who has consented; return the token of a link: 256 random bits, of which a hash is kept.

    The same arrival leads to the same participant, however often it is sent and even if the server was killed
    in between. Its links are others each time, and all of them stay valid but for the oldest of very many.

    Raises:
        StudyFullError: If there is nothing left to do.
    """
    token = token_urlsafe(32)
    try:
        with study.database.writing() as connection:
            _enter(study, connection, arrival, token, body_sha256)
    except IntegrityError:  # the same arrival was committed between our look and our insert
        with study.database.writing() as connection:
            _enter(study, connection, arrival, token, body_sha256)
    return token


def _enter(study: Study, connection: Connection, arrival: Arrival, token: str, body_sha256: str) -> None:
    table, hashed, now = schema.participant, sha256(token.encode()).hexdigest(), study.now()
    visit = json.dumps(dict(arrival.visit), sort_keys=True)
    known = connection.execute(select(table).where(table.c.entry_key == arrival.key)).first()
    if known is not None:
        if known.status == WORKING and known.external_visit != visit:
            connection.execute(update(table).where(table.c.id == known.id).values(external_visit=visit))
        _add_link(connection, known.id, hashed, now)
        return
    lock_pool(connection)
    condition = _choose_condition(study, connection)
    count = connection.execute(select(func.count()).select_from(table)).scalar_one()
    inserted = connection.execute(
        insert(table).values(
            code=_code(study, arrival.key),
            token_sha256=hashed,
            entry_key=arrival.key,
            source=arrival.source,
            external_id=arrival.external_id or None,
            external_visit=visit,
            language=study.design.language,
            condition=condition,
            status=WORKING,
            created_at=now,
            consented_at=now,
        )
    ).inserted_primary_key
    assert inserted is not None
    connection.execute(
        insert(schema.submission).values(
            key=f"{CONSENT}-{inserted[0]}",
            participant_id=inserted[0],
            kind=CONSENT,
            received_at=now,
            body_sha256=body_sha256,
        )
    )
    log(study, connection, "entered", inserted[0], f"participant {count + 1}")


def _add_link(connection: Connection, participant_id: int, hashed: str, now: float) -> None:
    """Add a link of a participant, and forget the oldest ones if there are too many."""
    link = schema.link
    own = select(link.c.id).where(link.c.participant_id == participant_id)
    old = connection.execute(own.order_by(link.c.id.desc()).offset(_MOST_LINKS - 1)).scalars().all()
    connection.execute(delete(link).where(link.c.id.in_(old)))
    connection.execute(insert(link).values(participant_id=participant_id, token_sha256=hashed, created_at=now))


def _code(study: Study, key: str) -> str:
    """Return a pseudonym of eight letters and digits; it says nothing about the person."""
    number = int.from_bytes(hmac.digest(study.secret.encode(), f"code\0{key}".encode(), "sha256")[:8], "big")
    letters = ""
    for _ in range(8):
        number, place = divmod(number, len(_CODE_LETTERS))
        letters += _CODE_LETTERS[place]
    return letters


def lock_pool(connection: Connection) -> None:
    """Wait until no other transaction gives out items; SQLite has one writer anyway."""
    connection.execute(_POOL)


def is_free(now: float) -> Any:
    """Return the condition that a slot can be given out."""
    slot = schema.slot
    return ~slot.c.is_done & or_(slot.c.holder.is_(None), slot.c.lease_until < now)


def count_by(connection: Connection, column: Column[str], *where: Any) -> dict[str, int]:
    """Return how many rows there are, by a column."""
    rows = connection.execute(select(column, func.count()).where(*where).group_by(column))
    return {name: number for name, number in rows}  # noqa: C416  # a result is no mapping, but looks like one to dict


def _choose_condition(study: Study, connection: Connection) -> str:
    """Return the condition with the fewest participants that has work for one more.

    Raises:
        StudyFullError: If none has.
    """
    slot, table, now = schema.slot, schema.participant, study.now()
    kind = WRITING if study.design.kind == PARAPHRASE else SOLVING
    free = count_by(connection, slot.c.condition, slot.c.kind == kind, is_free(now))
    promised = _promised(study, connection, kind)
    counts = count_by(connection, table.c.condition)
    open_ones = [each.name for each in study.design.conditions if free.get(each.name, 0) > promised.get(each.name, 0)]
    if not open_ones and study.design.kind == PARAPHRASE and study.design.reviews_per_participant:
        waiting = select(func.count()).where(slot.c.kind == REVIEWING, is_free(now))
        if connection.execute(waiting).scalar_one():
            return study.design.conditions[0].name
    if not open_ones:
        raise StudyFullError(_free_again(study, connection))
    total = sum(counts.values())
    return min(
        open_ones, key=lambda name: (counts.get(name, 0), digest("study-condition", study.design.seed, total, name))
    )


def _promised(study: Study, connection: Connection, kind: str) -> dict[str, int]:
    """Return how many more items those who are at work will take, by condition; those who left are not counted."""
    items: dict[str, int] = {}
    for condition, count, until in _at_work(study, connection, kind):
        if until > study.now():
            left = max(0, study.design.tasks_per_participant - count)
            items[condition] = items.get(condition, 0) + left
    return items


def reserved(study: Study, connection: Connection) -> int:
    """Return how many places are kept for people at work, besides what they have in hand."""
    return sum(_promised(study, connection, WRITING if study.design.kind == PARAPHRASE else SOLVING).values())


def _at_work(study: Study, connection: Connection, kind: str) -> list[tuple[str, int, float]]:
    """Return for those at work their condition, how many items they have had, and until when places are kept for them.

    Who has not begun with what counts (reading, practice) keeps places for some minutes after the last form, others for
    as long as an item that they hold.
    """
    table, lease, sent = schema.participant, schema.lease, schema.submission
    taken = (
        select(lease.c.participant_id, func.count().label("count"), func.max(lease.c.begun_at).label("last"))
        .where(lease.c.kind == kind)
        .group_by(lease.c.participant_id)
        .subquery()
    )
    forms = (
        select(sent.c.participant_id, func.max(sent.c.received_at).label("last"))
        .group_by(sent.c.participant_id)
        .subquery()
    )
    rows = connection.execute(
        select(table.c.condition, table.c.created_at, taken.c.count, taken.c.last, forms.c.last)
        .outerjoin(taken, taken.c.participant_id == table.c.id)
        .outerjoin(forms, forms.c.participant_id == table.c.id)
        .where(table.c.status == WORKING)
    )
    whole = study.design.lease_s
    return [
        (condition, count or 0, last + whole if last is not None else max(created, form or 0.0) + min(ARRIVAL_S, whole))
        for condition, created, count, last, form in rows
    ]


def _free_again(study: Study, connection: Connection) -> float | None:
    """Return after how many seconds places may be free again; None if everything has its results."""
    slot, now = schema.slot, study.now()
    kind = WRITING if study.design.kind == PARAPHRASE else SOLVING
    waiting = select(func.min(slot.c.lease_until), func.count()).where(slot.c.kind == kind, ~slot.c.is_done)
    lease, left = connection.execute(waiting).one()
    if not left:
        return None
    times = [until for *_, until in _at_work(study, connection, kind)] + ([] if lease is None else [lease])
    return min((time - now for time in times if time > now), default=60.0)


def find(study: Study, token: str) -> Participant | None:
    """Return the participant of a link; None if there is none."""
    with study.database.reading() as connection:
        return find_by_link(connection, token)


def find_by_link(connection: Connection, token: str) -> Participant | None:
    """Return the participant of a link, in a transaction; None if there is none."""
    row = connection.execute(_BY_LINK, {"hashed": sha256(token.encode("utf-8", "replace")).hexdigest()}).first()
    return None if row is None else Participant.from_row(row)


def log(study: Study, connection: Connection, kind: str, participant_id: int | None, detail: str = "") -> None:
    """Note that something happened."""
    row = {"at": study.now(), "participant_id": participant_id, "kind": kind, "detail": detail}
    connection.execute(insert(schema.event), row)


def delete_participant(study: Study, code: str) -> dict[str, int]:
    """Delete all that is known of a participant; return how many rows of each table.

    Items that they answered become free again. Reviews of their stories by others go with the stories.

    Raises:
        DataError: If there is no such participant.
    """
    slot, person, text = schema.slot, schema.participant, schema.text
    with study.database.writing() as connection:
        row = connection.execute(select(person.c.id).where(person.c.code == code).with_for_update()).first()
        if row is None:
            raise DataError(f"there is no participant {quoted(code)}; the dashboard and exports list the codes.")
        lock_pool(connection)
        owned = row.id
        counts = {
            table.name: connection.execute(
                select(func.count()).select_from(table).where(table.c.participant_id == owned)
            ).scalar_one()
            for table in (schema.submission, schema.answer, text, schema.review, schema.lease, schema.event)
        }
        written = select(text.c.id).where(text.c.participant_id == owned)
        connection.execute(delete(slot).where(slot.c.kind == REVIEWING, slot.c.target.in_(written)))
        given_out = (SOLVING, WRITING, REVIEWING)
        connection.execute(delete(slot).where(slot.c.holder == owned, slot.c.kind.not_in(given_out)))
        connection.execute(
            update(slot)
            .where(slot.c.holder == owned)
            .values(holder=None, lease_until=None, shown_at=None, is_done=False)
        )
        for table in (schema.answer, text, schema.review):
            connection.execute(delete(table).where(table.c.participant_id == owned))
        connection.execute(delete(person).where(person.c.id == owned))
        log(study, connection, "deleted", None)
    return counts
