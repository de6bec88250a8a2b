"""The first tables of a study.

Revision: 0001
"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create all tables."""
    op.create_table(
        "admin_session",
        sa.Column("token_sha256", sa.String(length=64), nullable=False),
        sa.Column("form_key", sa.String(length=64), nullable=False),
        sa.Column("expires_at", sa.Float(precision=53), nullable=False),
        sa.PrimaryKeyConstraint("token_sha256", name=op.f("pk_admin_session")),
    )
    op.create_table(
        "login_attempt",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("at", sa.Float(precision=53), nullable=False),
        sa.Column("address", sa.String(length=64), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_login_attempt")),
    )
    op.create_index(op.f("ix_login_attempt_at"), "login_attempt", ["at"], unique=False)
    op.create_table(
        "participant",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("code", sa.String(length=16), nullable=False),
        sa.Column("token_sha256", sa.String(length=64), nullable=False),
        sa.Column("entry_key", sa.String(length=64), nullable=False),
        sa.Column("source", sa.String(length=16), nullable=False),
        sa.Column("external_id", sa.String(length=200), nullable=True),
        sa.Column("external_visit", sa.Text(), nullable=False),
        sa.Column("language", sa.String(length=8), nullable=False),
        sa.Column("condition", sa.String(length=64), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("created_at", sa.Float(precision=53), nullable=False),
        sa.Column("consented_at", sa.Float(precision=53), nullable=True),
        sa.Column("finished_at", sa.Float(precision=53), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_participant")),
        sa.UniqueConstraint("code", name=op.f("uq_participant_code")),
        sa.UniqueConstraint("entry_key", name=op.f("uq_participant_entry_key")),
        sa.UniqueConstraint("source", "external_id", name=op.f("uq_participant_source_external_id")),
        sa.UniqueConstraint("token_sha256", name=op.f("uq_participant_token_sha256")),
    )
    op.create_index(op.f("ix_participant_status"), "participant", ["status"], unique=False)
    op.create_table(
        "study",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("design_sha256", sa.String(length=64), nullable=False),
        sa.Column("items_sha256", sa.String(length=64), nullable=False),
        sa.Column("secret", sa.String(length=64), nullable=False),
        sa.Column("password_hash", sa.String(length=200), nullable=True),
        sa.Column("created_at", sa.Float(precision=53), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_study")),
    )
    op.create_table(
        "event",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("at", sa.Float(precision=53), nullable=False),
        sa.Column("participant_id", sa.Integer(), nullable=True),
        sa.Column("kind", sa.String(length=32), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["participant_id"], ["participant.id"], name=op.f("fk_event_participant_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_event")),
    )
    op.create_index(op.f("ix_event_participant_id"), "event", ["participant_id"], unique=False)
    op.create_table(
        "slot",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("target", sa.Integer(), nullable=False),
        sa.Column("condition", sa.String(length=64), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("stratum", sa.String(length=64), nullable=False),
        sa.Column("rank", sa.Integer(), nullable=False),
        sa.Column("holder", sa.Integer(), nullable=True),
        sa.Column("lease_until", sa.Float(precision=53), nullable=True),
        sa.Column("shown_at", sa.Float(precision=53), nullable=True),
        sa.Column("is_done", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["holder"], ["participant.id"], name=op.f("fk_slot_holder"), ondelete="SET NULL"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_slot")),
        sa.UniqueConstraint("kind", "target", "condition", "number", name=op.f("uq_slot_kind_target_condition_number")),
    )
    op.create_index("ix_slot_free", "slot", ["kind", "condition", "is_done", "stratum", "number", "rank"], unique=False)
    op.create_index(op.f("ix_slot_holder"), "slot", ["holder"], unique=False)
    op.create_table(
        "submission",
        sa.Column("key", sa.String(length=80), nullable=False),
        sa.Column("participant_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("received_at", sa.Float(precision=53), nullable=False),
        sa.Column("body_sha256", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(
            ["participant_id"], ["participant.id"], name=op.f("fk_submission_participant_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_submission")),
    )
    op.create_index(op.f("ix_submission_participant_id"), "submission", ["participant_id"], unique=False)
    op.create_table(
        "answer",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("slot_id", sa.Integer(), nullable=False),
        sa.Column("submission_key", sa.String(length=80), nullable=False),
        sa.Column("role", sa.String(length=16), nullable=False),
        sa.Column("shown_at", sa.Float(precision=53), nullable=False),
        sa.Column("received_at", sa.Float(precision=53), nullable=False),
        sa.Column("browser_ms", sa.Integer(), nullable=True),
        sa.Column("server_ms", sa.Integer(), nullable=False),
        sa.Column("timing", sa.String(length=32), nullable=False),
        sa.Column("participant_id", sa.Integer(), nullable=False),
        sa.Column("item", sa.Integer(), nullable=False),
        sa.Column("condition", sa.String(length=64), nullable=False),
        sa.Column("answer", sa.Text(), nullable=False),
        sa.Column("is_right", sa.Boolean(), nullable=False),
        sa.Column("is_timed_out", sa.Boolean(), nullable=False),
        sa.Column("difficulty", sa.Integer(), nullable=True),
        sa.Column("rating_key", sa.String(length=80), nullable=True),
        sa.ForeignKeyConstraint(
            ["participant_id"], ["participant.id"], name=op.f("fk_answer_participant_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["rating_key"], ["submission.key"], name=op.f("fk_answer_rating_key")),
        sa.ForeignKeyConstraint(["slot_id"], ["slot.id"], name=op.f("fk_answer_slot_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["submission_key"], ["submission.key"], name=op.f("fk_answer_submission_key"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_answer")),
        sa.UniqueConstraint("participant_id", "role", "item", name=op.f("uq_answer_participant_id_role_item")),
        sa.UniqueConstraint("rating_key", name=op.f("uq_answer_rating_key")),
        sa.UniqueConstraint("slot_id", name=op.f("uq_answer_slot_id")),
        sa.UniqueConstraint("submission_key", name=op.f("uq_answer_submission_key")),
    )
    op.create_index(op.f("ix_answer_participant_id"), "answer", ["participant_id"], unique=False)
    op.create_table(
        "lease",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("participant_id", sa.Integer(), nullable=False),
        sa.Column("slot_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("target", sa.Integer(), nullable=False),
        sa.Column("begun_at", sa.Float(precision=53), nullable=False),
        sa.ForeignKeyConstraint(
            ["participant_id"], ["participant.id"], name=op.f("fk_lease_participant_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["slot_id"], ["slot.id"], name=op.f("fk_lease_slot_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_lease")),
        sa.UniqueConstraint("participant_id", "kind", "target", name=op.f("uq_lease_participant_id_kind_target")),
    )
    op.create_index(op.f("ix_lease_participant_id"), "lease", ["participant_id"], unique=False)
    op.create_table(
        "review",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("slot_id", sa.Integer(), nullable=False),
        sa.Column("submission_key", sa.String(length=80), nullable=False),
        sa.Column("role", sa.String(length=16), nullable=False),
        sa.Column("shown_at", sa.Float(precision=53), nullable=False),
        sa.Column("received_at", sa.Float(precision=53), nullable=False),
        sa.Column("browser_ms", sa.Integer(), nullable=True),
        sa.Column("server_ms", sa.Integer(), nullable=False),
        sa.Column("timing", sa.String(length=32), nullable=False),
        sa.Column("participant_id", sa.Integer(), nullable=False),
        sa.Column("target", sa.Integer(), nullable=False),
        sa.Column("is_good", sa.Boolean(), nullable=False),
        sa.Column("is_right", sa.Boolean(), nullable=True),
        sa.Column("reasons", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["participant_id"], ["participant.id"], name=op.f("fk_review_participant_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["slot_id"], ["slot.id"], name=op.f("fk_review_slot_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["submission_key"], ["submission.key"], name=op.f("fk_review_submission_key"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_review")),
        sa.UniqueConstraint("participant_id", "role", "target", name=op.f("uq_review_participant_id_role_target")),
        sa.UniqueConstraint("slot_id", name=op.f("uq_review_slot_id")),
        sa.UniqueConstraint("submission_key", name=op.f("uq_review_submission_key")),
    )
    op.create_index(op.f("ix_review_participant_id"), "review", ["participant_id"], unique=False)
    op.create_table(
        "text",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("slot_id", sa.Integer(), nullable=False),
        sa.Column("submission_key", sa.String(length=80), nullable=False),
        sa.Column("role", sa.String(length=16), nullable=False),
        sa.Column("shown_at", sa.Float(precision=53), nullable=False),
        sa.Column("received_at", sa.Float(precision=53), nullable=False),
        sa.Column("browser_ms", sa.Integer(), nullable=True),
        sa.Column("server_ms", sa.Integer(), nullable=False),
        sa.Column("timing", sa.String(length=32), nullable=False),
        sa.Column("participant_id", sa.Integer(), nullable=False),
        sa.Column("item", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("fingerprint", sa.String(length=64), nullable=False),
        sa.Column("remarks", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["participant_id"], ["participant.id"], name=op.f("fk_text_participant_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["slot_id"], ["slot.id"], name=op.f("fk_text_slot_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["submission_key"], ["submission.key"], name=op.f("fk_text_submission_key"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_text")),
        sa.UniqueConstraint("participant_id", "item", name=op.f("uq_text_participant_id_item")),
        sa.UniqueConstraint("slot_id", name=op.f("uq_text_slot_id")),
        sa.UniqueConstraint("submission_key", name=op.f("uq_text_submission_key")),
    )
    op.create_index(op.f("ix_text_fingerprint"), "text", ["fingerprint"], unique=False)
    op.create_index(op.f("ix_text_participant_id"), "text", ["participant_id"], unique=False)
