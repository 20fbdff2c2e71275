"""The migrations lead to the schema that app/models.py describes."""

import threading
from collections.abc import Iterator

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import URL, create_engine, make_url, text

from app.db.migrate import MigrationError, migrate
from app.models import Base


@pytest.fixture
def fresh_database(database_url: str) -> Iterator[URL]:
    """A database without a schema, dropped again after the test."""
    server = create_engine(database_url, isolation_level="AUTOCOMMIT")
    name = "fresh"
    with server.connect() as connection:
        connection.execute(text(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)"))
        connection.execute(text(f"CREATE DATABASE {name}"))
    yield make_url(database_url).set(database=name)
    with server.connect() as connection:
        connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))
    server.dispose()


def test_migrations_and_models_agree(fresh_database: URL) -> None:
    # Not the database of the other tests: embedding models have made indexes of their own there.
    migrate(fresh_database.render_as_string(hide_password=False))
    engine = create_engine(fresh_database)
    with engine.connect() as connection:
        context = MigrationContext.configure(
            connection, opts={"compare_type": True, "compare_server_default": True}
        )
        assert compare_metadata(context, Base.metadata) == []
    engine.dispose()


def test_many_processes_may_migrate_at_once(fresh_database: URL) -> None:
    url = fresh_database.render_as_string(hide_password=False)
    failures: list[Exception] = []

    def start() -> None:
        try:
            migrate(url)
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=start) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    engine = create_engine(url)
    with engine.connect() as connection:
        versions = connection.execute(text("SELECT version_num FROM alembic_version")).all()
    engine.dispose()
    assert len(versions) == 1


def test_a_role_without_rights_is_told_what_it_lacks(fresh_database: URL) -> None:
    engine = create_engine(fresh_database, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text("DROP ROLE IF EXISTS weak"))
        connection.execute(text("CREATE ROLE weak LOGIN"))
    weak = fresh_database.set(username="weak")
    try:
        with pytest.raises(MigrationError, match="pg_trgm"):
            migrate(weak.render_as_string(hide_password=False))
    finally:
        with engine.connect() as connection:
            connection.execute(text("DROP ROLE weak"))
        engine.dispose()


def test_a_database_of_a_newer_version_is_left_alone(fresh_database: URL) -> None:
    url = fresh_database.render_as_string(hide_password=False)
    migrate(url)
    engine = create_engine(fresh_database)
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = 'later'"))
    engine.dispose()
    with pytest.raises(MigrationError, match=r"another version.*later"):
        migrate(url)


@pytest.mark.parametrize("url", ["nonsense", "mysql://me:secret@host/brain", "sqlite://"])
def test_a_url_of_something_else_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(MigrationError, match="BOR_DATABASE_URL") as refused:
        migrate(url)
    assert "secret" not in str(refused.value)
