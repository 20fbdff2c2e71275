"""The chat page: one question at a time, shown the same whoever looks and whenever."""

import asyncio

import httpx
import pytest
from playwright.async_api import expect

from tests.e2e.asking import ask
from tests.e2e.browsing import Watch
from tests.e2e.chat_page import ChatPage
from tests.e2e.conftest import OpenChat
from tests.e2e.mock_llm import MockLLM
from tests.e2e.proxy import proxied
from tests.e2e.requests import calling, outline, said, saying, slowly
from tests.e2e.server import Server
from tests.factories import put

QUESTION = "Tell me of PORT_8081"


@pytest.fixture(autouse=True)
async def documents(api: httpx.AsyncClient) -> None:
    await put(api, "acme", "guide/setup.md", "# Setup\nPORT_8081 is the port.\nlast line\n")


@pytest.mark.parametrize("twice", ["Enter, Enter", "Enter, click", "click, click"])
async def test_a_question_sent_twice_is_asked_once(
    chat: ChatPage, mock: MockLLM, watch: Watch, twice: str
) -> None:
    await chat.message.fill(QUESTION)
    press = """(element) => element.dispatchEvent(new KeyboardEvent(
        "keydown", { key: "Enter", bubbles: true, cancelable: true }))"""
    send = await chat.send.element_handle()
    for way in twice.split(", "):
        if way == "Enter":
            await chat.message.evaluate(press)
        else:
            await send.evaluate("(button) => button.click()")
    await chat.ended()
    await expect(chat.questions).to_have_text([QUESTION])
    assert watch.asked("POST", "/api/chat") == 1
    assert [said(body, "user")[0].count(QUESTION) for body in mock.requests] == [1]


async def test_two_requests_with_one_key_are_one_turn(
    api: httpx.AsyncClient, mock: MockLLM
) -> None:
    one, other = await asyncio.gather(*(ask(api, QUESTION, key="the same") for _ in range(2)))
    assert one.events == other.events
    assert len(mock.requests) == 1


async def test_a_second_tab_is_refused_while_the_first_is_answered(
    open_chat: OpenChat, chat: ChatPage, mock: MockLLM, watch: Watch
) -> None:
    watch.expect("status of 409")
    await chat.answer(QUESTION)
    other = await open_chat(chat.address)
    await expect(other.answers).to_have_count(1)
    mock.script(*slowly(400))
    await chat.ask(QUESTION)
    await expect(chat.answers.last).to_contain_text("word1")
    await other.ask("And who uses PORT_8081?")
    await other.ended()
    await expect(other.errors).to_have_count(1)
    await expect(other.errors).to_contain_text("still being answered")
    await expect(other.message).to_have_value("And who uses PORT_8081?")
    await chat.stop.click()
    await chat.ended()
    await other.errors.get_by_role("button", name="Try again").click()
    await other.ended()
    await expect(other.errors).to_have_count(0)
    roles = [role for role, _ in outline(mock.requests[-1])]
    assert roles == ["system", *["user", "assistant"] * 2, "user"]
    assert len(mock.requests) == 3


async def test_a_reload_in_the_middle_of_an_answer_ends_in_the_same_transcript(
    open_chat: OpenChat, chat: ChatPage, mock: MockLLM
) -> None:
    mock.script(*calling(("search_documents", {"pattern": "PORT_8081"})))
    mock.script(*slowly(8))
    await chat.ask(QUESTION)
    await expect(chat.answers).to_contain_text("word1")
    undisturbed = await open_chat(chat.address)
    await chat.page.reload()
    for page in (chat, undisturbed):
        await expect(page.answers).to_contain_text("word7")
        await page.ended()
    assert await chat.shown() == await undisturbed.shown()
    await chat.reload()
    assert await chat.shown() == await undisturbed.shown()
    assert len(mock.requests) == 2


async def test_enter_that_confirms_a_composed_character_does_not_send(
    chat: ChatPage, watch: Watch
) -> None:
    await chat.message.fill(QUESTION)
    for init in ("isComposing: true", "keyCode: 229", "shiftKey: true"):
        await chat.message.evaluate(
            f"""(field) => field.dispatchEvent(new KeyboardEvent("keydown",
                {{ key: "Enter", bubbles: true, cancelable: true, {init} }}))"""
        )
    await expect(chat.message).to_have_value(QUESTION)
    assert watch.asked("POST", "/api/chat") == 0
    await chat.message.press("Enter")
    await chat.ended()
    assert watch.asked("POST", "/api/chat") == 1


async def test_blanks_alone_are_not_sent(chat: ChatPage, watch: Watch) -> None:
    await chat.message.fill("  \n ")
    await chat.message.press("Enter")
    await expect(chat.send).to_be_disabled()
    assert watch.asked("POST", "/api/chat") == 0


async def test_a_deflected_question_says_why_and_can_be_searched_anyway(
    chat: ChatPage, mock: MockLLM
) -> None:
    await chat.answer("Who painted the sunflowers in Arles?")
    await expect(chat.transcript.locator(".not-covered .why")).not_to_be_empty()
    assert "tools" not in mock.requests[-1]
    before = await chat.shown()
    await chat.reload()
    assert await chat.shown() == before
    await chat.transcript.get_by_role("button", name="Search anyway").click()
    await chat.ended()
    assert "tools" in mock.requests[-1]
    await expect(chat.questions).to_have_count(1)
    await expect(chat.transcript.locator(".not-covered")).to_have_count(0)


async def test_small_talk_is_answered_without_a_notice(chat: ChatPage, mock: MockLLM) -> None:
    await chat.answer("Hello!")
    await expect(chat.transcript.locator(".not-covered")).to_have_count(0)
    assert "tools" not in mock.requests[-1]


async def test_what_is_sent_while_an_answer_runs_is_kept_and_the_page_says_so(
    chat: ChatPage, mock: MockLLM
) -> None:
    mock.script(60.0, *saying("Here."))
    await chat.ask(QUESTION)
    await chat.message.press("Enter")
    await expect(chat.not_sent).to_be_hidden()
    await chat.message.fill("the next question")
    await chat.message.press("Enter")
    await expect(chat.not_sent).to_be_visible()
    await expect(chat.page.get_by_role("status")).to_have_text(await chat.not_sent.inner_text())
    await chat.stop.click()
    await chat.ended()
    await expect(chat.not_sent).to_be_hidden()
    await expect(chat.message).to_have_value("the next question")
    await expect(chat.questions).to_have_count(1)


async def test_a_lost_connection_is_taken_up_again_without_asking_twice(
    chat: ChatPage, mock: MockLLM, watch: Watch, server: Server
) -> None:
    watch.expect("ERR_CONNECTION|ERR_INCOMPLETE_CHUNKED_ENCODING|ERR_EMPTY_RESPONSE")
    async with proxied(server.url) as proxy:
        await chat.page.goto(proxy.url)
        await chat.started()
        mock.script(*slowly(16))
        await chat.ask(QUESTION)
        await expect(chat.answers).to_contain_text("word1")
        proxy.cut()
        await chat.ended()
        await expect(chat.answers).to_contain_text("word15")
        await expect(chat.errors).to_have_count(0)
        before = await chat.shown()
        await chat.reload()
        assert await chat.shown() == before
    assert watch.asked("POST", "/api/chat") == 1
    assert sum(request.url.endswith("/events?render=html") for request in watch.requests) == 1
    assert len(mock.requests) == 1
