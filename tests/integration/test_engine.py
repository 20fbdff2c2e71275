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
