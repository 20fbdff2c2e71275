"""Runs the migrations on a connection given by the caller, or on BOR_DATABASE_URL."""

from alembic import context
from sqlalchemy import Connection, create_engine

from app.models import Base
from app.settings import Settings


def _run(connection: Connection) -> None:
    context.configure(
        connection=connection, target_metadata=Base.metadata, transaction_per_migration=True
    )
    with context.begin_transaction():
        context.run_migrations()


given: Connection | None = context.config.attributes.get("connection")
if given is not None:
    _run(given)
else:
    with create_engine(Settings().database_url).connect() as own:
        _run(own)
