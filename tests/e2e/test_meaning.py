"""Finding by meaning with the real server: vectors come by themselves, and the page tells of it."""

import asyncio

import httpx
from playwright.async_api import Browser, expect

from tests.e2e.conftest import StartServer
from tests.factories import put

PATIENCE_SECONDS = 60.0
BACKUPS = "# Backups\n\nThe nightly snapshot is kept for 35 days in the vault.\n"
ASKED = "For how much time do you retain copies of the data?"


async def until_ready(client: httpx.AsyncClient) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            (source,) = (await client.get("/api/sources")).json()["sources"]
            ready = (await client.get("/readyz")).json()["meaning"] == "ready"
            if ready and source["meaning"]["embedded"] == source["meaning"]["passages"] == 1:
                return
            await asyncio.sleep(0.2)


async def test_a_document_is_found_by_its_meaning_soon_after_its_upload(start: StartServer) -> None:
    with start(embeddings="on").ready() as server:
        async with httpx.AsyncClient(base_url=server.url, timeout=30) as client:
            await put(client, "manual", "backup.md", BACKUPS)
            await until_ready(client)
            found = (await client.get("/api/retrieve", params={"q": ASKED})).json()
    assert found["passages"][0]["path"] == "backup.md"
    assert found["similarity"] > 0.3
    assert "Similarity 0." in found["reason"]


async def test_without_an_endpoint_words_carry_on_and_the_page_says_how_far_meaning_is(
    start: StartServer, browser: Browser
) -> None:
    nobody = {"embeddings_base_url": "http://127.0.0.1:9/v1", "embeddings_model": "m"}
    with start(embeddings="on", **nobody).ready() as server:
        async with httpx.AsyncClient(base_url=server.url, timeout=30) as client:
            await put(client, "manual", "backup.md", BACKUPS)
            asked = {"q": "How long is the nightly snapshot kept?"}
            found = (await client.get("/api/retrieve", params=asked)).json()
            assert (found["grounded"], found["similarity"]) == (True, None)
            async with asyncio.timeout(PATIENCE_SECONDS):
                while "does not answer" not in (await client.get("/readyz")).json()["meaning"]:  # noqa: ASYNC110
                    await asyncio.sleep(0.2)
        page = await browser.new_page()
        await page.goto(f"{server.url}/#/documents")
        await expect(page.get_by_text("meaning: 0 %")).to_be_visible()
        await page.close()
