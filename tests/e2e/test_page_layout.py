"""How the page looks and what it hands out: room for every view, whole citations, who one is."""

import httpx
import pytest
from playwright.async_api import Browser, Locator, expect

from tests.e2e.browsing import Watch, statuses
from tests.e2e.chat_page import ChatPage
from tests.e2e.conftest import OpenChat, StartServer
from tests.e2e.mock_llm import MockLLM
from tests.e2e.requests import saying, slowly
from tests.factories import put

PATH = "guide/the-first-steps-of-a-setup.md"
WIDE = {"width": 1280, "height": 800}
ANSWER = f"It is “PORT_8081 is the port” [acme/{PATH}:2]."


@pytest.fixture(autouse=True)
async def documents(api: httpx.AsyncClient) -> None:
    await put(api, "acme", PATH, "# Setup\nPORT_8081 is the port.\nlast line\n")


async def width(element: Locator) -> float:
    box = await element.bounding_box()
    assert box is not None
    return box["width"]


async def test_nothing_of_the_chat_reaches_under_the_reader(
    open_chat: OpenChat, mock: MockLLM
) -> None:
    chat = await open_chat(viewport=WIDE)
    mock.script(*saying(ANSWER))
    await (await chat.answer("What is PORT_8081?")).get_by_role("link").click()
    await expect(chat.page.locator("#reader .cited")).to_be_visible()
    main = await chat.page.locator("#main").evaluate("(main) => main.getBoundingClientRect().right")
    rights = await chat.page.locator("#chat, #composer, .composer-foot").evaluate_all(
        "(parts) => parts.map((part) => part.getBoundingClientRect().right)"
    )
    assert max(rights) <= main


async def test_names_of_documents_keep_their_room_beside_the_reader(open_chat: OpenChat) -> None:
    chat = await open_chat(f"#/documents/acme/{PATH}", viewport=WIDE)
    await expect(chat.page.locator("#reader .line").first).to_be_visible()
    assert await width(chat.page.locator(".document a")) > 250


@pytest.mark.parametrize("pixels", [1280, 390, 320])
async def test_a_citation_stands_on_one_line_within_the_page(
    open_chat: OpenChat, mock: MockLLM, pixels: int
) -> None:
    chat = await open_chat(viewport={"width": pixels, "height": 800})
    mock.script(*saying(f"- Some words that fill a line: {ANSWER}"))
    citation = (await chat.answer("What is PORT_8081?")).get_by_role("link")
    assert await citation.evaluate("(link) => link.getClientRects().length") == 1
    assert await chat.page.evaluate("document.documentElement.scrollWidth") == pixels


async def test_two_notes_under_an_answer_begin_at_one_edge_on_a_phone(
    open_chat: OpenChat, mock: MockLLM
) -> None:
    chat = await open_chat(viewport={"width": 390, "height": 800})
    mock.script(*saying(f"{ANSWER} It is also said elsewhere [acme/{PATH}:9]."))
    await chat.answer("What is PORT_8081?")
    lefts = await chat.transcript.locator(".folded-note").evaluate_all(
        "(notes) => notes.map((note) => note.getBoundingClientRect().left)"
    )
    assert len(lefts) == 2
    assert lefts[0] == lefts[1]


async def test_a_copied_answer_names_the_whole_path_of_what_it_cites(
    open_chat: OpenChat, mock: MockLLM
) -> None:
    chat = await open_chat(permissions=["clipboard-read", "clipboard-write"])
    mock.script(*saying(ANSWER))
    answer = await chat.answer("What is PORT_8081?")
    shown = await answer.inner_text()
    await chat.transcript.get_by_role("button", name="Copy answer").click()
    await expect(chat.transcript.locator(".copied")).to_be_visible()
    assert await chat.page.evaluate("navigator.clipboard.readText()") == ANSWER
    assert await answer.inner_text() == shown


async def test_the_citation_that_the_reader_shows_is_marked_as_long_as_it_does(
    chat: ChatPage, mock: MockLLM
) -> None:
    mock.script(*saying(ANSWER))
    await chat.answer("What is PORT_8081?")
    citation = chat.transcript.locator("a.citation")
    await citation.click()
    await expect(citation).to_have_attribute("aria-current", "true")
    await chat.reload()
    await expect(citation).to_have_attribute("aria-current", "true")
    await chat.page.get_by_role("button", name="Close document").click()
    await expect(citation).not_to_have_attribute("aria-current", "true")


async def test_the_status_tells_when_the_answer_is_being_written(
    chat: ChatPage, mock: MockLLM
) -> None:
    mock.script(*slowly(3))
    await chat.answer("What is PORT_8081?")
    assert (await statuses(chat.page))[-1] == "Brain is answering …"


async def test_who_is_signed_in_is_told_and_can_sign_out(
    browser: Browser, start: StartServer, watch: Watch
) -> None:
    server = start(editor_tokens="pen", guest_tokens="eye").ready()
    watch.home = server.url
    context = await browser.new_context()
    await watch.over(context)
    page = await context.new_page()
    await page.goto(server.url)
    dialog = page.get_by_role("dialog", name="Sign in")
    refusal = dialog.get_by_text("This token is not valid.")
    for token, role in (("wrong", None), ("eye", "Guest"), ("pen", "Editor")):
        await dialog.get_by_label("Access token").fill(token)
        await dialog.get_by_role("button", name="Continue").click()
        if role is None:
            await expect(refusal).to_be_visible()
            continue
        await expect(page.locator("#signed-in .role")).to_have_text(role)
        await page.get_by_role("button", name="Sign out").click()
        await expect(dialog).to_be_visible()
        await expect(refusal).to_be_hidden()
    assert await page.evaluate("localStorage.length") == 0
    await context.close()
