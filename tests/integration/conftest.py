"""The mock of a model's server, a client to ask it with, and a database for a real server."""

from collections.abc import AsyncIterator, Iterator

import httpx
import pytest

from app.db.migrate import migrate
from tests.e2e.databases import fresh_database
from tests.e2e.mock_llm import MockLLM


@pytest.fixture
def mock() -> Iterator[MockLLM]:
    with MockLLM() as mock:
        yield mock


@pytest.fixture
async def http() -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(verify=False) as http:
        yield http


@pytest.fixture(scope="module")
def database(database_url: str) -> Iterator[str]:
    with fresh_database(database_url) as url:
        migrate(url)
        yield url
