"""Every ending of a turn keeps what there is, says what happened and leaves the page free."""

import asyncio

import httpx
import pytest
from playwright.async_api import expect

from tests.e2e.browsing import Watch, statuses
from tests.e2e.chat_page import ChatPage
from tests.e2e.mock_llm import MockLLM
from tests.e2e.mock_wire import DONE, finished
from tests.e2e.requests import said
from tests.factories import put

QUESTION = "Tell me of PORT_8081"
SLOW = f"slow answer: {QUESTION}"
SILENT = f"silent 30: {QUESTION}"


@pytest.fixture(autouse=True)
async def documents(api: httpx.AsyncClient) -> None:
    await put(api, "acme", "guide/setup.md", "# Setup\nPORT_8081 is the port.\nlast line\n")


async def test_stop_in_silence_ends_the_turn_and_the_conversation_goes_on(
    chat: ChatPage, mock: MockLLM
) -> None:
    await chat.ask(SILENT)
    await asyncio.to_thread(mock.arrived.wait, 10)
    await chat.stop.click()
    await chat.ended()
    await expect(chat.transcript).to_contain_text("Stopped.")
    assert await asyncio.to_thread(mock.disconnected.wait, 10)
    answer = await chat.answer(QUESTION)
    await expect(answer).to_contain_text("The documents say")


async def test_stop_keeps_the_text_so_far_and_marks_it(chat: ChatPage, mock: MockLLM) -> None:
    await chat.ask(SLOW)
    await expect(chat.answers).to_contain_text("word2")
    await chat.stop.click()
    await chat.ended()
    await expect(chat.answers).to_contain_text("word2")
    await expect(chat.transcript).to_contain_text("Stopped.")
    assert await asyncio.to_thread(mock.disconnected.wait, 10)
    before = await chat.shown()
    await chat.reload()
    assert await chat.shown() == before
    await chat.answer(QUESTION)
    kept = said(mock.requests[-1], "assistant")[0]
    assert kept.startswith("word1 word2")
    assert "word30" not in kept


async def test_a_refusal_of_the_provider_is_one_error_with_a_way_to_try_again(
    chat: ChatPage, mock: MockLLM
) -> None:
    mock.script(b'{"error": {"message": "this model is retired"}}', status=400)
    await chat.ask(QUESTION)
    await chat.ended()
    await expect(chat.errors).to_have_count(1)
    await expect(chat.errors).to_contain_text("this model is retired")
    await chat.errors.get_by_role("button", name="Try again").click()
    await chat.ended()
    await expect(chat.errors).to_have_count(0)
    await expect(chat.questions).to_have_count(1)
    await expect(chat.answers).to_contain_text("The documents say")
    before = await chat.shown()
    await chat.reload()
    assert await chat.shown() == before


async def test_an_answer_that_breaks_off_is_kept_and_its_error_is_shown_once(
    chat: ChatPage,
) -> None:
    await chat.ask(f"break off: {QUESTION}")
    await chat.ended()
    await expect(chat.answers).to_contain_text("This answer breaks off in the middle of")
    await expect(chat.errors).to_have_count(1)
    before = await chat.shown()
    await chat.reload()
    assert await chat.shown() == before


async def test_a_wait_for_another_try_is_told_in_the_status_line(
    chat: ChatPage, mock: MockLLM
) -> None:
    mock.script(b'{"error": "busy"}', status=503, Retry_After="1")
    await chat.ask(QUESTION)
    await chat.ended()
    assert any("trying again in 1 s" in status for status in await statuses(chat.page))
    await expect(chat.errors).to_have_count(0)
    await expect(chat.answers).to_contain_text("The documents say")


async def test_a_server_error_before_the_stream_gives_the_question_back(
    chat: ChatPage, watch: Watch, mock: MockLLM
) -> None:
    watch.expect("status of 500")

    await chat.page.route(
        "**/api/chat",
        lambda route: route.fulfill(status=500, body="<h1>Broken</h1>"),
        times=1,
    )
    await chat.ask(QUESTION)
    await chat.ended()
    await expect(chat.errors).to_have_count(1)
    await expect(chat.message).to_have_value(QUESTION)
    assert mock.requests == []


async def test_an_empty_reply_is_an_error_and_no_empty_answer(
    chat: ChatPage, mock: MockLLM
) -> None:
    for _ in range(2):
        mock.script(finished(), DONE)
    await chat.ask(QUESTION)
    await chat.ended()
    await expect(chat.errors).to_have_count(1)


async def test_a_deleted_conversation_ends_its_running_turn(
    chat: ChatPage, api: httpx.AsyncClient, mock: MockLLM
) -> None:
    await chat.ask(SILENT)
    await asyncio.to_thread(mock.arrived.wait, 10)
    [conversation] = (await api.get("/api/conversations")).json()["conversations"]
    await api.delete(f"/api/conversations/{conversation['id']}")
    assert await asyncio.to_thread(mock.disconnected.wait, 10)
    await chat.ended()
    await expect(chat.errors).to_contain_text("This conversation was deleted.")
