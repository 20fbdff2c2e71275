"""Documents in the browser: bring them in, look at them, remove them, follow a citation."""

from pathlib import Path

import httpx
import pytest
from playwright.async_api import Locator, Page, expect

from tests.e2e.browsing import Watch
from tests.e2e.chat_page import ChatPage
from tests.e2e.conftest import OpenChat
from tests.e2e.mock_llm import MockLLM
from tests.e2e.requests import saying
from tests.factories import put

LONG = "".join(f"line {n}\n" for n in range(1, 401))
NARROW = {"width": 390, "height": 780}
SMALLEST = {"width": 320, "height": 640}


@pytest.fixture
async def page(open_chat: OpenChat) -> Page:
    return (await open_chat("#/documents")).page


def rows(page: Page) -> Locator:
    """The listed documents."""
    return page.locator("#document-groups").get_by_role("listitem")


def outcomes(page: Page) -> Locator:
    return page.get_by_role("region", name="Upload progress").get_by_role("listitem")


async def upload(page: Page, *files: tuple[str, bytes]) -> None:
    chosen = [{"name": name, "mimeType": "", "buffer": body} for name, body in files]
    await page.get_by_label("Upload files").set_input_files(chosen)  # pyright: ignore[reportArgumentType]


async def test_each_file_of_an_upload_has_its_outcome(page: Page, watch: Watch) -> None:
    watch.expect("status of 415 .*b.bin")
    await upload(page, ("a.md", b"# A\n"), ("b.bin", b"\x00\x01\x02\xff" * 50), ("c.txt", b"c\n"))
    await expect(outcomes(page)).to_have_count(3)
    for name, outcome in {"a.md": "created", "b.bin": "refused", "c.txt": "created"}.items():
        row = outcomes(page).filter(has_text=f"uploads/{name}")
        await expect(row.locator(".outcome")).to_have_text(outcome)
    await expect(outcomes(page).filter(has_text="b.bin")).to_contain_text("binary")
    await expect(page.locator(".upload-summary")).to_have_text("2 created, 1 refused")
    await expect(rows(page).get_by_role("link")).to_have_text(["a.md", "c.txt"])


async def test_the_same_file_again_is_unchanged_and_another_text_replaces(page: Page) -> None:
    for body, outcome in ((b"one\n", "created"), (b"one\n", "unchanged"), (b"two\n", "replaced")):
        await upload(page, ("a.md", body))
        await expect(page.locator(".upload-summary").first).to_have_text(f"1 {outcome}")


async def test_a_folder_becomes_a_source_with_its_paths(page: Page, tmp_path: Path) -> None:
    folder = tmp_path / "handbook"
    for name in ("intro.md", "guide/deep/setup.md", "node_modules/left/out.md", ".git/config"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"text of {name}\n")
    await page.get_by_label("Upload a folder").set_input_files(folder)
    await expect(page.locator(".upload-summary")).to_contain_text("2 created, 2 skipped")
    await expect(page.get_by_role("heading", name="handbook")).to_be_visible()
    await expect(rows(page).get_by_role("link")).to_have_text(["guide/deep/setup.md", "intro.md"])


async def test_files_go_to_the_source_that_is_named(page: Page, api: httpx.AsyncClient) -> None:
    await page.get_by_label("into source").fill("contracts")
    await upload(page, ("a.md", b"# A\n"))
    await expect(page.get_by_role("heading", name="contracts")).to_be_visible()
    assert (await api.get("/api/documents/contracts/a.md")).is_success


async def test_a_document_opens_with_numbered_lines_and_loads_more(
    open_chat: OpenChat, api: httpx.AsyncClient
) -> None:
    await put(api, "acme", "long.md", LONG)
    page = (await open_chat("#/documents")).page
    await rows(page).get_by_role("link", name="long.md").click()
    lines = page.get_by_role("region", name="Lines")
    await expect(lines.locator("[data-line='1']")).to_have_text("line 1")
    await expect(lines.locator("[data-line='400']")).to_have_count(0)
    await lines.get_by_role("button", name="Later lines").click()
    await expect(lines.locator("[data-line='400']")).to_have_text("line 400")
    await expect(lines.get_by_role("button", name="Later lines")).to_be_hidden()
    await page.get_by_role("button", name="Close document").click()
    await expect(lines).to_be_hidden()


async def test_a_document_is_deleted_after_a_question(
    open_chat: OpenChat, api: httpx.AsyncClient
) -> None:
    await put(api, "acme", "keep.md", "keep\n")
    await put(api, "acme", "drop.md", "drop\n")
    page = (await open_chat("#/documents")).page
    dialog = page.get_by_role("dialog", name="Delete document?")
    await rows(page).get_by_role("button", name="Delete drop.md").click()
    await dialog.get_by_role("button", name="Cancel").click()
    await expect(rows(page)).to_have_count(2)
    await rows(page).get_by_role("button", name="Delete drop.md").click()
    await dialog.get_by_role("button", name="Delete").click()
    await expect(rows(page).get_by_role("link")).to_have_text(["keep.md"])
    assert (await api.get("/api/documents/acme/drop.md")).status_code == 404


async def test_the_list_is_filtered_by_name(open_chat: OpenChat, api: httpx.AsyncClient) -> None:
    for path in ("guide/[draft] plan.md", "guide/setup.md", "notes.txt"):
        await put(api, "acme", path, "text\n")
    page = (await open_chat("#/documents")).page
    await page.get_by_label("Filter documents").fill("[draft]")
    await expect(rows(page).get_by_role("link")).to_have_text(["acme/guide/[draft] plan.md"])
    await page.get_by_label("Filter documents").fill("*.txt")
    await expect(rows(page).get_by_role("link")).to_have_text(["acme/notes.txt"])
    await page.get_by_label("Filter documents").fill("cme/GUIDE/s")
    await expect(rows(page).get_by_role("link")).to_have_text(["acme/guide/setup.md"])
    await page.get_by_label("Filter documents").fill("acme/*.txt")
    await expect(rows(page).get_by_role("link")).to_have_text(["acme/notes.txt"])


async def test_a_citation_opens_the_document_at_its_highlighted_lines(
    chat: ChatPage, api: httpx.AsyncClient, mock: MockLLM
) -> None:
    await put(api, "acme", "long.md", f"{LONG}ZX_4821 stands here\n")
    mock.script(*saying("It says “ZX_4821 stands here” [acme/long.md:401]."))
    answer = await chat.answer("Where is ZX_4821?")
    await answer.get_by_role("link", name="[long.md:401]").click()
    lines = chat.page.get_by_role("region", name="Lines")
    await expect(lines.locator(".cited")).to_have_text("ZX_4821 stands here")
    await expect(lines.locator(".cited")).to_be_in_viewport()
    await expect(chat.questions.last).to_be_visible()


@pytest.mark.parametrize("is_reloaded", [False, True], ids=["live", "reloaded"])
async def test_a_citation_of_a_deleted_document_shows_what_it_cited(
    chat: ChatPage, api: httpx.AsyncClient, mock: MockLLM, watch: Watch, is_reloaded: bool
) -> None:
    watch.expect("status of 404")
    await put(api, "acme", "short.md", "# Short\nZX_4821 stands here\n")
    mock.script(*saying("It says “ZX_4821 stands here” [acme/short.md:2]."))
    answer = await chat.answer("Where is ZX_4821?")
    await api.delete("/api/documents/acme/short.md")
    if is_reloaded:
        await chat.reload()
    await answer.get_by_role("link", name="[short.md:2]").click()
    reader = chat.page.locator("#reader")
    await expect(reader).to_contain_text("This document was deleted. The cited lines said:")
    await expect(reader.locator(".cited")).to_have_text("ZX_4821 stands here")
    await expect(answer.locator(".citation")).to_have_class("citation deleted")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [NARROW, SMALLEST], ids=["390", "320"])
async def test_no_view_scrolls_sideways_on_a_narrow_screen(
    open_chat: OpenChat, api: httpx.AsyncClient, mock: MockLLM, viewport: object, scheme: str
) -> None:
    wide = "W" * 300
    await put(api, "acme", f"{wide}.md", f"ZX_4821 {wide}\n")
    mock.script(*saying(f"{wide} `{wide}`\n\n```\n{wide}\n```\n\n|{wide}|b|\n|-|-|\n|1|{wide}|"))
    chat = await open_chat(viewport=viewport, color_scheme=scheme)
    await assert_fits(chat.page)
    await chat.answer(f"What is ZX_4821? {wide}")
    await assert_fits(chat.page)
    for address in ("#/documents", f"#/documents/acme/{wide}.md?lines=1-1"):
        await chat.page.evaluate("(hash) => { location.hash = hash; }", address)
        await expect(chat.page.get_by_text(f"{wide}.md").last).to_be_attached()
        await assert_fits(chat.page)
    assert await is_dark(chat.page) == (scheme == "dark")


async def assert_fits(page: Page) -> None:
    overflow = "document.scrollingElement.scrollWidth - document.scrollingElement.clientWidth"
    assert await page.evaluate(overflow) <= 0


async def is_dark(page: Page) -> bool:
    """Whether the page itself is darker than its text."""
    return await page.evaluate(
        """() => {
            const canvas = document.createElement("canvas").getContext("2d");
            const light = (color) => {
                canvas.fillStyle = color;
                canvas.fillRect(0, 0, 1, 1);
                return canvas.getImageData(0, 0, 1, 1).data.slice(0, 3).reduce((a, b) => a + b);
            };
            const { backgroundColor, color } = getComputedStyle(document.body);
            return light(backgroundColor) < light(color);
        }"""
    )
