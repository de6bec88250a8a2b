"""The tables of a study. The first release writes them out here; what changes after it is a revision of its own.

Revision: 0001
"""

from alembic import op

from storyproof.study.schema import METADATA

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create all tables."""
    METADATA.create_all(op.get_bind())
