"""The tables of a study's database.

What makes a submission count exactly once stands here, in constraints, so that no path through the program can break
it: a form has one key, an item has a fixed number of slots, a slot has one holder and one result, and a participant
gets an item once.

Times are seconds since 1970 (UTC).
"""

from __future__ import annotations

from sqlalchemy import (
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)

METADATA = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def _own(name: str = "participant_id") -> Column[int]:
    """Return the column that says whose row it is; a participant's rows go with the participant."""
    return Column(name, ForeignKey("participant.id", ondelete="CASCADE"), nullable=False, index=True)


study = Table(
    "study",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("design_sha256", String(64), nullable=False),
    Column("items_sha256", String(64), nullable=False),
    Column("secret", String(64), nullable=False),  # signs forms
    Column("password_hash", String(200)),  # of the dashboard
    Column("created_at", Float(53), nullable=False),
)

participant = Table(
    "participant",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("code", String(16), nullable=False, unique=True),  # the pseudonym in exports
    Column("token_sha256", String(64), nullable=False, unique=True),  # of the link; the link itself is not stored
    Column("entry_key", String(64), nullable=False, unique=True),  # of the form or the visit that created it
    Column("source", String(16), nullable=False),
    Column("external_id", String(200)),  # of Prolific or Mechanical Turk
    Column("external_visit", Text, nullable=False, default="{}"),  # their ids of this visit, as JSON
    Column("language", String(8), nullable=False),
    Column("condition", String(64), nullable=False, default=""),
    Column("status", String(16), nullable=False, index=True),
    Column("created_at", Float(53), nullable=False),
    Column("consented_at", Float(53)),
    Column("finished_at", Float(53)),
    UniqueConstraint("source", "external_id"),
)

# Further links of participants who arrived again: that of the first time is not stored, so it cannot be shown again.
link = Table(
    "link",
    METADATA,
    Column("id", Integer, primary_key=True),
    _own(),
    Column("token_sha256", String(64), nullable=False, unique=True),
    Column("created_at", Float(53), nullable=False),
)

# A place for one result: an item (or a story to review) has one for each result that is wanted of it.
slot = Table(
    "slot",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("kind", String(16), nullable=False),
    Column("target", Integer, nullable=False),  # the number of the item, or the id of the story to review
    Column("condition", String(64), nullable=False),
    Column("number", Integer, nullable=False),
    Column("stratum", String(64), nullable=False),
    Column("rank", Integer, nullable=False),  # random; the order in which slots are taken
    Column("holder", ForeignKey("participant.id", ondelete="SET NULL"), index=True),
    Column("lease_until", Float(53)),
    Column("shown_at", Float(53)),  # to the holder, for the first time
    Column("is_done", Boolean, nullable=False, default=False),
    UniqueConstraint("kind", "target", "condition", "number"),
    Index("ix_slot_free", "kind", "condition", "is_done", "stratum", "number", "rank"),
)

# Who ever held which slot: nobody is shown the same item twice.
lease = Table(
    "lease",
    METADATA,
    Column("id", Integer, primary_key=True),
    _own(),
    Column("slot_id", ForeignKey("slot.id", ondelete="CASCADE"), nullable=False),
    Column("kind", String(16), nullable=False),
    Column("target", Integer, nullable=False),
    Column("begun_at", Float(53), nullable=False),
    UniqueConstraint("participant_id", "kind", "target"),
)

# One row for each form that was accepted. The key of a form is the same however often it is sent.
submission = Table(
    "submission",
    METADATA,
    Column("key", String(80), primary_key=True),
    _own(),
    Column("kind", String(16), nullable=False),
    Column("received_at", Float(53), nullable=False),
    Column("body_sha256", String(64), nullable=False),
)


def _result() -> list[Column[object]]:
    """Return the columns that all results have."""
    return [
        Column("id", Integer, primary_key=True),
        Column("slot_id", ForeignKey("slot.id", ondelete="CASCADE"), nullable=False, unique=True),
        Column("submission_key", ForeignKey("submission.key", ondelete="CASCADE"), nullable=False, unique=True),
        Column("role", String(16), nullable=False),  # main, practice or attention
        Column("shown_at", Float(53), nullable=False),
        Column("received_at", Float(53), nullable=False),
        Column("browser_ms", Integer),
        Column("hidden_ms", Integer),  # for how long the page was not in front
        Column("server_ms", Integer, nullable=False),
        Column("timing", String(32), nullable=False),
    ]


answer = Table(
    "answer",
    METADATA,
    *_result(),
    _own(),
    Column("item", Integer, nullable=False),
    Column("condition", String(64), nullable=False),
    Column("answer", Text, nullable=False),
    Column("is_right", Boolean, nullable=False),
    Column("is_timed_out", Boolean, nullable=False),
    Column("difficulty", Integer),
    Column("rating_key", ForeignKey("submission.key"), unique=True),
    UniqueConstraint("participant_id", "role", "item"),
)

text = Table(
    "text",
    METADATA,
    *_result(),
    _own(),
    Column("item", Integer, nullable=False),
    Column("text", Text, nullable=False),
    Column("fingerprint", String(64), nullable=False, index=True),  # without names; finds copies
    Column("remarks", Text, nullable=False),  # of the checks when it was sent, as JSON
    UniqueConstraint("participant_id", "item"),
)

review = Table(
    "review",
    METADATA,
    *_result(),
    _own(),
    Column("target", Integer, nullable=False),  # the id of the story; for an attention check the number of the item
    Column("is_good", Boolean, nullable=False),
    Column("is_right", Boolean),  # of attention checks
    Column("reasons", Text, nullable=False),  # as JSON
    UniqueConstraint("participant_id", "role", "target"),
)

event = Table(
    "event",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("at", Float(53), nullable=False),
    Column("participant_id", ForeignKey("participant.id", ondelete="CASCADE"), index=True),
    Column("kind", String(32), nullable=False),
    Column("detail", Text, nullable=False),
)

admin_session = Table(
    "admin_session",
    METADATA,
    Column("token_sha256", String(64), primary_key=True),
    Column("form_key", String(64), nullable=False),
    Column("expires_at", Float(53), nullable=False),
)

login_attempt = Table(
    "login_attempt",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("at", Float(53), nullable=False, index=True),
    Column("address", String(64), nullable=False),
)

# In the order in which rows can be inserted; what is left out is of no use in a backup.
KEPT = (study, participant, link, slot, lease, submission, answer, text, review, event)
