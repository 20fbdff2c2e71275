"""The database engine."""

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from app.db.engine import create_engine


async def test_an_error_does_not_repeat_the_values_of_its_statement(database_url: str) -> None:
    engine = create_engine(database_url, pool_size=2)
    async with engine.connect() as connection:
        with pytest.raises(DBAPIError) as failed:
            await connection.execute(text("SELECT 1 / 0, :question"), {"question": "who is ill?"})
    await engine.dispose()
    assert "division by zero" in str(failed.value)
    assert "who is ill?" not in str(failed.value)


async def test_connections_that_the_database_closed_are_replaced_at_once(database_url: str) -> None:
    engine, other = create_engine(database_url, pool_size=1), create_engine(database_url, 1)
    async with engine.connect() as connection:
        first = await connection.scalar(text("SELECT pg_backend_pid()"))
    async with other.connect() as connection:
        await connection.execute(text("SELECT pg_terminate_backend(:pid, 5000)"), {"pid": first})
    async with engine.connect() as connection:
        second = await connection.scalar(text("SELECT pg_backend_pid()"))
    await engine.dispose()
    await other.dispose()
    assert second not in (None, first)
