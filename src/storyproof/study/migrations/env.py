"""Alembic calls this to bring the tables of a study to another revision, on the connection that it is given."""

from alembic import context

from storyproof.study.schema import METADATA

connection = context.config.attributes["connection"]
context.configure(
    connection=connection,
    target_metadata=METADATA,
    render_as_batch=connection.dialect.name == "sqlite",
    transaction_per_migration=False,
)
context.run_migrations()
