"""The model searches all documents for an exact string, and the page shows that it does."""

import httpx
import pytest
from playwright.async_api import expect

from tests.e2e.browsing import statuses
from tests.e2e.chat_page import ChatPage
from tests.e2e.mock_llm import MockLLM
from tests.e2e.requests import calling, exchanges, offered, saying
from tests.factories import put

QUESTION = 'Please search for "retry_budget".'
MATCH = "acme/ops/limits.md:2: retry_budget = 3 per minute"


@pytest.fixture
async def limits(api: httpx.AsyncClient) -> None:
    await put(api, "acme", "ops/limits.md", "# Limits\nretry_budget = 3 per minute\n")
    await put(api, "acme", "ops/other.md", "# Other\nnothing of interest\n")


@pytest.mark.usefixtures("limits")
async def test_the_status_line_names_the_pattern_while_a_search_runs(chat: ChatPage) -> None:
    await chat.answer(QUESTION)
    assert "Brain is searching for 'retry_budget'" in await statuses(chat.page)


@pytest.mark.usefixtures("limits")
async def test_a_search_leaves_a_line_that_names_the_pattern(
    chat: ChatPage,
) -> None:
    await chat.answer(QUESTION)
    await expect(chat.tool_lines).to_have_text("🔎 Searching for 'retry_budget'")


@pytest.mark.usefixtures("limits")
async def test_the_model_gets_the_match_with_its_place_and_the_answer_holds_it(
    chat: ChatPage, mock: MockLLM
) -> None:
    answer = await chat.answer(QUESTION)
    asked, told = mock.requests
    assert offered(asked)[:3] == ["list_documents", "read_document", "search_documents"]
    [exchange] = exchanges(told)
    assert (exchange.name, exchange.arguments) == ("search_documents", {"pattern": "retry_budget"})
    assert exchange.result == MATCH
    await expect(answer).to_contain_text("retry_budget = 3 per minute")
    await expect(answer.get_by_role("link", name="[limits.md:2]")).to_be_visible()


@pytest.mark.usefixtures("limits")
async def test_a_search_is_restored_in_its_place_after_a_reload(chat: ChatPage) -> None:
    await chat.answer(QUESTION)
    before = await chat.shown()
    await chat.reload()
    await expect(chat.tool_lines).to_have_text("🔎 Searching for 'retry_budget'")
    assert await chat.shown() == before


async def test_a_search_does_not_put_the_document_into_the_answer_context(
    chat: ChatPage, mock: MockLLM, api: httpx.AsyncClient
) -> None:
    await put(api, "acme", "asked.md", "The codename is ZX_4821.\n")
    await put(api, "acme", "found.md", "needle in another document\n")
    found = {"source": "acme", "path": "found.md"}
    mock.script(*calling(("search_documents", {"pattern": "needle"})))
    mock.script(*calling(("read_document", found)))
    mock.script(*calling(("read_document", found | {"start_line": 1})))
    mock.script(*saying("Done."))
    await chat.answer("What is ZX_4821?")
    search, first, second = exchanges(mock.requests[-1])
    assert search.result == "acme/found.md:1: needle in another document"
    assert "needle in another document" in first.result
    assert second.result.startswith("You already have all of these lines")


async def test_a_search_without_a_match_is_told_to_the_model_and_on_the_page(
    chat: ChatPage, mock: MockLLM, api: httpx.AsyncClient
) -> None:
    await put(api, "acme", "asked.md", "The codename is ZX_4821.\n")
    answer = await chat.answer("About ZX_4821: search for 'no such thing'")
    [exchange] = exchanges(mock.requests[-1])
    assert exchange.result == "No line holds “no such thing”: 1 document searched."
    await expect(answer).to_contain_text("No match for no such thing.")
    await expect(answer).to_contain_text("no matches")


async def test_markup_in_patterns_and_names_stays_text(
    chat: ChatPage, mock: MockLLM, api: httpx.AsyncClient
) -> None:
    name = "<b onclick=alert(1)>bold<!b>.md"
    pattern = "<img src=x onerror=window.ran=1>"
    await put(api, "acme", name, f"ZX_4821 {pattern}\n")
    mock.script(*calling(("search_documents", {"pattern": pattern})))
    mock.script(*saying(f"It stands in [acme/{name}:1]."))
    answer = await chat.answer("What is ZX_4821?")
    await expect(chat.tool_lines).to_have_text(f"🔎 Searching for '{pattern}'")
    await expect(answer.get_by_role("link", name=f"[{name}:1]")).to_be_visible()
    await chat.reload()
    await expect(chat.tool_lines).to_have_text(f"🔎 Searching for '{pattern}'")
    assert await chat.page.evaluate("window.ran") is None
    await expect(chat.transcript.locator("img, b[onclick]")).to_have_count(0)
