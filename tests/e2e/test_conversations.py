"""Conversations in the browser: listed, renamed, removed, narrowed, and asked anew."""

import asyncio
from contextlib import suppress

import httpx
import pytest
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Locator, Page, Route, expect

from tests.e2e.browsing import Watch
from tests.e2e.chat_page import ChatPage
from tests.e2e.conftest import OpenChat
from tests.e2e.databases import execute
from tests.e2e.mock_llm import MockLLM
from tests.e2e.requests import said
from tests.factories import put

QUESTION = "Tell me of PORT_8081"


@pytest.fixture(autouse=True)
async def documents(api: httpx.AsyncClient) -> None:
    await put(api, "acme", "setup.md", "PORT_8081 is the port.\n")
    await put(api, "zoo", "animals.md", "PORT_8081 is where the otters are.\n")


def entries(page: Page) -> Locator:
    return page.get_by_role("navigation", name="Conversations").get_by_role("listitem")


async def test_a_conversation_is_listed_by_its_first_question_and_opens_again(
    chat: ChatPage,
) -> None:
    await chat.answer(QUESTION)
    before = await chat.shown()
    await chat.page.get_by_role("link", name="New chat").click()
    await expect(chat.questions).to_have_count(0)
    await chat.answer("Hello!")
    await expect(entries(chat.page).get_by_role("link")).to_have_text(["Hello!", QUESTION])
    await entries(chat.page).get_by_role("link", name=QUESTION).click()
    await expect(chat.questions).to_have_text([QUESTION])
    assert await chat.shown() == before


async def test_a_reload_before_the_first_event_finds_the_answer(
    chat: ChatPage, api: httpx.AsyncClient, mock: MockLLM
) -> None:
    async def unheard(route: Route) -> None:
        with suppress(PlaywrightError):
            await route.fetch()

    await chat.page.route("**/api/chat", unheard)
    await chat.ask(QUESTION)
    await asyncio.to_thread(mock.arrived.wait, 10)
    await chat.page.unroute("**/api/chat")
    await chat.page.reload()
    await expect(chat.questions).to_have_text([QUESTION])
    await chat.ended()
    await expect(chat.answers).to_contain_text("The documents say")
    assert chat.address.startswith("#/c/")
    await chat.page.get_by_role("link", name="New chat").click()
    await chat.page.reload()
    await chat.started()
    await expect(chat.questions).to_have_count(0)
    assert len((await api.get("/api/conversations")).json()["conversations"]) == 1


async def test_a_conversation_is_renamed_and_removed(chat: ChatPage) -> None:
    await chat.answer(QUESTION)
    entry = entries(chat.page)
    await entry.hover()
    await entry.get_by_role("button", name="Rename").click()
    dialog = chat.page.get_by_role("dialog")
    await dialog.get_by_label("Title").fill("About the <b>port</b>")
    await dialog.get_by_role("button", name="Rename").click()
    await expect(entry.get_by_role("link")).to_have_text("About the <b>port</b>")
    await entry.hover()
    await entry.get_by_role("button", name="Delete").click()
    await dialog.get_by_role("button", name="Delete").click()
    await expect(entry).to_have_count(0)
    await expect(chat.questions).to_have_count(0)


async def test_conversations_stand_under_their_age_and_many_can_be_filtered(
    database: str, open_chat: OpenChat
) -> None:
    execute(
        database,
        "INSERT INTO conversations (id, owner, title, updated_at) SELECT gen_random_uuid(), '',"
        " 'Question ' || n, now() - n * interval '40 days' FROM generate_series(0, 10) n",
    )
    page = (await open_chat()).page
    await expect(entries(page)).to_have_count(11)
    listed = page.get_by_role("navigation", name="Conversations")
    await expect(listed.get_by_role("heading", level=3).first).to_have_text("Today")
    await expect(listed.get_by_role("list")).to_have_count(11)
    await page.get_by_label("Filter conversations").fill("question 1")
    await expect(entries(page)).to_have_text(["Question 1", "Question 10"])
    await page.get_by_label("Filter conversations").fill("answer")
    await expect(listed.get_by_text("No conversation has that title.")).to_be_visible()


async def test_an_edited_question_takes_the_place_of_the_old_one(
    chat: ChatPage, mock: MockLLM
) -> None:
    await chat.answer(QUESTION)
    await chat.questions.last.hover()
    await chat.transcript.get_by_role("button", name="Edit question").click()
    await expect(chat.message).to_have_value(QUESTION)
    await chat.message.fill(f"{QUESTION} again")
    await chat.message.press("Enter")
    await expect(chat.questions).to_have_text([f"{QUESTION} again"])
    await chat.ended()
    assert len(said(mock.requests[-1], "user")) == 1
    await chat.reload()
    await expect(chat.questions).to_have_text([f"{QUESTION} again"])


async def test_a_question_is_narrowed_to_the_chosen_sources(chat: ChatPage, mock: MockLLM) -> None:
    await chat.page.get_by_role("button", name="Look through").click()
    menu = chat.page.get_by_role("group", name="Sources to look through")
    await menu.get_by_role("checkbox", name="zoo").check()
    await chat.page.keyboard.press("Escape")
    await chat.answer(f"Please use your tools: {QUESTION}")
    [prompt] = said(mock.requests[-1], "user")
    assert 'source="zoo"' in prompt
    assert 'source="acme"' not in prompt
    await expect(chat.tool_lines.last).to_have_text("📄 Reading zoo/animals.md")


async def test_a_conversation_that_is_gone_says_so(open_chat: OpenChat, watch: Watch) -> None:
    watch.expect("status of 404")
    chat = await open_chat("#/c/00000000-0000-4000-8000-000000000000")
    await expect(chat.errors).to_contain_text("There is no such conversation.")


async def test_a_question_can_be_asked_and_a_citation_opened_by_keyboard_alone(
    chat: ChatPage,
) -> None:
    await expect(chat.message).to_be_focused()
    await chat.page.keyboard.type(QUESTION)
    await chat.page.keyboard.press("Enter")
    await chat.ended()
    await expect(chat.message).to_be_focused()
    await chat.answers.get_by_role("link").first.focus()
    await chat.page.keyboard.press("Enter")
    await expect(chat.page.get_by_role("region", name="Lines").locator(".cited")).to_be_visible()
    await chat.page.keyboard.press("Escape")
    await expect(chat.page.get_by_role("region", name="Lines")).to_be_hidden()


async def test_an_answer_is_announced_in_a_handful_of_words(chat: ChatPage, mock: MockLLM) -> None:
    await chat.page.evaluate(
        """() => {
            window.spoken = [];
            const live = "[aria-live=polite], [aria-live=assertive], [role=alert], [role=status]";
            for (const node of document.querySelectorAll(live))
                new MutationObserver(() => window.spoken.push(node.textContent)).observe(
                    node, { childList: true, characterData: true, subtree: true });
        }"""
    )
    await chat.answer(f"many tools 9, {QUESTION}")
    spoken = await chat.page.evaluate("window.spoken")
    assert spoken[-1] == "Answer complete"
    assert 2 <= len(spoken) <= 6
