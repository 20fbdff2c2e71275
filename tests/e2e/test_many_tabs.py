"""More tabs than a browser has connections for: HTTP/1.1 allows six to a server."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Browser, BrowserContext, expect

from tests.e2e.browsing import Watch
from tests.e2e.chat_page import ChatPage
from tests.e2e.mock_llm import MockLLM
from tests.e2e.requests import slowly
from tests.e2e.server import Server

TABS = 7


@pytest.fixture
async def context(browser: Browser, server: Server, watch: Watch) -> AsyncIterator[BrowserContext]:
    context = await browser.new_context(base_url=server.url)
    await watch.over(context)
    yield context
    await context.close()


async def opened(context: BrowserContext) -> ChatPage:
    page = await context.new_page()
    await page.goto("/")
    chat = ChatPage(page)
    await chat.started()
    return chat


async def test_seven_tabs_are_answered_at_once_and_an_eighth_can_be_used(
    context: BrowserContext, mock: MockLLM, watch: Watch
) -> None:
    tabs = await asyncio.gather(*(opened(context) for _ in range(TABS)))
    for _ in tabs:
        mock.script(*slowly(400))
    await asyncio.gather(*(tab.ask("Hello there!") for tab in tabs))
    await asyncio.gather(*(expect(tab.answers).to_contain_text("word2") for tab in tabs))
    eighth = await opened(context)
    await expect(eighth.page.locator("#conversations li.running")).to_have_count(TABS)
    await asyncio.gather(*(tab.stop.click() for tab in tabs))
    await asyncio.gather(*(tab.ended() for tab in tabs))
    await eighth.answer("Hello there!")
    assert watch.asked("POST", "/api/chat") == TABS + 1
