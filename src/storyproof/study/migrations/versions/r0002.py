"""Results say for how long their page was hidden.

Revision: 0002, after 0001
"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column `hidden_ms` to all results; it is empty for those that are there."""
    for table in ("answer", "text", "review"):
        op.add_column(table, sa.Column("hidden_ms", sa.Integer(), nullable=True))
