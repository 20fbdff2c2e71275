"""The model lists and reads documents; the page shows what it does and keeps it."""

import httpx
import pytest
from playwright.async_api import expect

from tests.e2e.browsing import statuses
from tests.e2e.chat_page import ChatPage
from tests.e2e.mock_llm import MockLLM
from tests.e2e.requests import calling, exchanges, offered, said, saying
from tests.factories import put

QUESTION = "Please use your tools: which port is PORT_8081?"
SETUP = "# Setup\nPORT_8081 is the port of the service.\nlast line\n"
CHECKED = "The quoted words stand in these lines."
LINES = ["🔎 Listing documents", "📄 Reading acme/guide/setup.md"]


@pytest.fixture(autouse=True)
async def documents(api: httpx.AsyncClient) -> None:
    await put(api, "acme", "guide/setup.md", SETUP)
    await put(api, "acme", "notes/a.txt", "alpha\nbeta\n")


async def test_the_status_line_tells_what_the_model_does_and_clears(chat: ChatPage) -> None:
    await chat.answer(QUESTION)
    shown = await statuses(chat.page)
    assert shown[0] == "Brain is thinking …"
    assert "Brain is listing documents" in shown
    assert "Brain is reading acme/guide/setup.md" in shown
    assert shown.index("Brain is listing documents") < shown.index(
        "Brain is reading acme/guide/setup.md"
    )


async def test_each_call_leaves_a_line_before_the_answer(chat: ChatPage) -> None:
    answer = await chat.answer(QUESTION)
    await expect(chat.tool_lines).to_have_text(LINES)
    await expect(chat.tool_lines.last.locator("code")).to_have_text("acme/guide/setup.md")
    text = await answer.inner_text()
    assert text.index("Listing") < text.index("Reading") < text.index("The documents say")


async def test_a_citation_of_quoted_words_is_marked_as_checked(chat: ChatPage) -> None:
    answer = await chat.answer(QUESTION)
    citation = answer.get_by_role("link", name="[setup.md:1]")
    await expect(citation).to_have_class("citation quoted")
    await expect(citation).to_have_attribute("title", "acme/guide/setup.md:1\n" + CHECKED)


async def test_a_citation_of_lines_that_the_model_never_saw_is_no_link(
    chat: ChatPage, api: httpx.AsyncClient, mock: MockLLM
) -> None:
    mock.script(*saying("It is “alpha” [acme/notes/a.txt:1], also [acme/none.md:3]."))
    answer = await chat.answer("What is PORT_8081?")
    await expect(answer.locator(".citation.unverified")).to_have_count(2)
    await expect(answer.get_by_role("link", name="a.txt")).to_have_count(0)


async def test_text_tool_lines_and_citations_stand_in_the_same_places_after_a_reload(
    chat: ChatPage, mock: MockLLM
) -> None:
    mock.script(*saying("Let me look. ")[:1], *calling(("list_documents", {})))
    mock.script(*saying("The words are “last line” [acme/guide/setup.md:3], says [no/where.md:7]."))
    await chat.answer(QUESTION)
    await chat.answer(QUESTION)
    before = await chat.shown()
    await chat.reload()
    await expect(chat.tool_lines).to_have_text([LINES[0], *LINES])
    assert await chat.shown() == before


async def test_the_model_gets_tools_in_order_passages_in_the_question_and_paired_results(
    chat: ChatPage, mock: MockLLM
) -> None:
    await chat.answer(QUESTION)
    first, *_, last = mock.requests
    tools = offered(first)
    assert tools[:3] == ["list_documents", "read_document", "search_documents"]
    assert all(offered(body) == tools for body in mock.requests)
    assert 'path="guide/setup.md"' in said(first, "user")[0]
    assert "PORT_8081 is the port" not in said(first, "system")[0]
    listing, reading = exchanges(last)
    assert listing.result.splitlines() == [
        "source: acme path: guide/setup.md (3 lines)",
        "source: acme path: notes/a.txt (2 lines)",
    ]
    assert reading.arguments == {"source": "acme", "path": "guide/setup.md"}


async def test_the_next_question_repeats_the_turn_before_it_unchanged(
    chat: ChatPage, mock: MockLLM
) -> None:
    await chat.answer(QUESTION)
    before = mock.requests[-1]["messages"]
    await chat.answer("And what else is said of PORT_8081?")
    assert mock.requests[-1]["messages"][: len(before)] == before


async def test_an_unknown_tool_is_answered_and_the_turn_goes_on(
    chat: ChatPage, mock: MockLLM
) -> None:
    answer = await chat.answer("unknown tool: PORT_8081")
    [exchange] = exchanges(mock.requests[-1])
    assert "list_documents, read_document, search_documents" in exchange.result
    await expect(answer).to_contain_text("The tool said: There is no such tool.")
    await expect(chat.errors).to_have_count(0)
