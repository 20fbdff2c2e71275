"""Searching by hand: the page over the same engine that the model's tools use."""

import httpx
import pytest
from playwright.async_api import Route, expect

from tests.e2e.browsing import Watch
from tests.e2e.chat_page import ChatPage
from tests.factories import put


@pytest.fixture(autouse=True)
async def documents(api: httpx.AsyncClient) -> None:
    await put(api, "acme", "ops/limits.md", "# Limits\nretry_budget = 3 per minute\nend\n")
    await put(api, "acme", "ops/<b>odd.md", "Retry_Budget <img src=x>\n")
    await put(api, "other", "a.txt", "nothing\n")


async def test_a_search_is_its_address_and_marks_what_matched(chat: ChatPage) -> None:
    page = chat.page
    await page.get_by_role("link", name="Search", exact=True).click()
    await page.get_by_role("searchbox", name="Search for").fill("retry_budget")
    await page.get_by_role("button", name="Search").click()
    await expect(page.locator("#search-summary")).to_have_text(
        "2 lines in 2 documents, 3 documents searched"
    )
    await expect(page.locator("#search mark")).to_have_text(["Retry_Budget", "retry_budget"])
    assert page.url.endswith("#/search?q=retry_budget")
    await page.get_by_label("Match case").check()
    await expect(page.locator("#search mark")).to_have_text(["retry_budget"])
    await page.reload()
    await expect(page.locator("#search mark")).to_have_text(["retry_budget"])
    await expect(page.get_by_label("Match case")).to_be_checked()


async def test_a_match_opens_its_document_at_the_line(chat: ChatPage) -> None:
    page = chat.page
    await page.goto("#/search?q=per+minute")
    await page.locator(".found-line a").click()
    await expect(page.locator("#reader .cited")).to_have_text("retry_budget = 3 per minute")
    await expect(page.locator("#search mark")).to_have_text(["per minute"])


async def test_an_expression_that_is_none_is_answered_with_the_reason(
    chat: ChatPage, watch: Watch
) -> None:
    watch.expect("400 .*api/search")
    await chat.page.goto("#/search?q=(a&mode=regex")
    await expect(chat.page.locator("#search .error")).to_contain_text("missing )")


async def test_the_last_page_tells_how_many_there_are(
    api: httpx.AsyncClient, chat: ChatPage
) -> None:
    await put(api, "acme", "many.txt", "many a line\n" * 230)

    async def vague(route: Route) -> None:
        """As in a large collection, where not all was counted."""
        answer = await (response := await route.fetch()).json()
        await route.fulfill(
            response=response, json=answer | {"total": 101, "total_is_exact": False}
        )

    await chat.page.route("**/api/search?*", vague)
    await chat.page.goto("#/search?q=many+a+line")
    summary, more = (
        chat.page.locator("#search-summary"),
        chat.page.get_by_role("button", name="more"),
    )
    await expect(summary).to_contain_text("At least 101 lines in 1 document")
    await more.click()
    await expect(summary).to_contain_text("At least 200 lines in 1 document")
    await more.click()
    await expect(summary).to_have_text("230 lines in 1 document, 4 documents searched")


async def test_names_are_found_by_glob(chat: ChatPage) -> None:
    await chat.page.goto("#/search?q=*.md&mode=path")
    names = chat.page.locator("#search h2")
    await expect(names).to_have_text(["acme/ops/<b>odd.md", "acme/ops/limits.md"])
    await expect(chat.page.locator("#search-summary")).to_have_text("2 documents of 3 documents")
    await chat.page.goto("#/search?q=limits&mode=path")
    await expect(chat.page.locator("#search-summary")).to_contain_text("try *limits*.")


async def test_lines_around_matches_stand_in_order_each_once(chat: ChatPage) -> None:
    lines = ["hit", "2", "hit", "hit", "5", "6", "7", "8", "hit"]
    await chat.page.request.put("api/documents/acme/near.txt", data="\n".join(lines))
    await chat.page.goto("#/search?q=hit&source=acme&path=near.txt&context=1")
    found = chat.page.locator("#search .found-line")
    await expect(found).to_have_text(["hit", "2", "hit", "hit", "5", "8", "hit"])
    await expect(chat.page.locator("#search .found-line.apart")).to_have_text(["8"])


async def test_a_search_by_names_offers_no_lines_around(chat: ChatPage) -> None:
    await chat.page.goto("#/search?q=*.md&mode=path&path=acme")
    around = chat.page.get_by_label("Lines around")
    await expect(chat.page.get_by_label("Match case")).to_be_visible()
    await expect(around).to_be_hidden()
    await chat.page.get_by_label("Text", exact=True).check()
    await expect(around).to_be_visible()


async def test_a_search_line_of_a_turn_leads_to_the_same_search(chat: ChatPage) -> None:
    await chat.answer('Please search for "retry_budget".')
    await chat.tool_lines.first.click()
    box = chat.page.get_by_role("searchbox", name="Search for")
    await expect(box).to_have_value("retry_budget")
    await expect(chat.page.locator("#search mark")).to_have_count(2)
