"""The mock of a model's server, and a client to ask it with."""

from collections.abc import AsyncIterator, Iterator

import httpx
import pytest

from tests.e2e.mock_llm import MockLLM


@pytest.fixture
def mock() -> Iterator[MockLLM]:
    with MockLLM() as mock:
        yield mock


@pytest.fixture
async def http() -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(verify=False) as http:
        yield http
