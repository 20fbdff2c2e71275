"""The real server, the real mock of a model over HTTP, and a real browser."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack

import httpx
import pytest
from playwright.async_api import Browser, async_playwright, expect

from app.db.migrate import migrate
from tests.e2e.browsing import Watch, arguments, chromium
from tests.e2e.chat_page import ChatPage
from tests.e2e.databases import empty, fresh_database
from tests.e2e.mock_llm import MockLLM
from tests.e2e.server import Server

OpenChat = Callable[..., Awaitable[ChatPage]]
StartServer = Callable[..., Server]
PATIENCE_MS = 15_000


@pytest.fixture(scope="session")
def _migrated(database_url: str) -> Iterator[str]:
    # Not the session's own: a running server looks after everything in its database.
    with fresh_database(database_url) as url:
        migrate(url)
        yield url


@pytest.fixture(scope="session")
def _model() -> Iterator[MockLLM]:
    with MockLLM() as mock:
        yield mock


@pytest.fixture(scope="session")
def _server(_migrated: str, _model: MockLLM) -> Iterator[Server]:
    with Server(database_url=_migrated, llm_base_url=_model.url, llm_model="mock") as server:
        yield server.ready()


@pytest.fixture
def database(_migrated: str) -> str:
    """The URL of the servers' database, empty."""
    empty(_migrated)
    return _migrated


@pytest.fixture
def mock(_model: MockLLM) -> MockLLM:
    """The model, which has not been asked anything yet."""
    _model.reset()
    return _model


@pytest.fixture
def server(database: str, mock: MockLLM, _server: Server) -> Server:
    """A server without documents and conversations, whose model is `mock`."""
    return _server


@pytest.fixture
def start(database: str, mock: MockLLM) -> Iterator[StartServer]:
    """Starts further servers like `server`, on the same database, with other settings."""
    started: list[Server] = []

    def start(*arguments: str, **settings: object) -> Server:
        usual = {"database_url": database, "llm_base_url": mock.url, "llm_model": "mock"}
        started.append(Server(*arguments, **{**usual, **settings}))
        return started[-1]

    yield start
    for server in started:
        server.__exit__()


@pytest.fixture
async def api(server: Server) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=server.url, timeout=30) as client:
        yield client


@pytest.fixture(scope="session")
async def browser() -> AsyncIterator[Browser]:
    # A machine that is busy with other things makes no test fail.
    expect.set_options(timeout=PATIENCE_MS)
    async with async_playwright() as playwright:
        launched = await playwright.chromium.launch(executable_path=chromium(), args=arguments())
        yield launched
        await launched.close()


@pytest.fixture
async def watch(server: Server) -> AsyncIterator[Watch]:
    """Fails the test in the end when a page reached out, broke the policy or logged an error."""
    watch = Watch(server.url)
    yield watch
    assert watch.verdict() == []


@pytest.fixture
async def open_chat(browser: Browser, server: Server, watch: Watch) -> AsyncIterator[OpenChat]:
    """Opens the page in a browser of its own, with options of Playwright's contexts."""
    async with AsyncExitStack() as stack:

        async def open_chat(address: str = "", **options: object) -> ChatPage:
            context = await browser.new_context(base_url=server.url, **options)  # pyright: ignore[reportArgumentType]
            stack.push_async_callback(context.close)
            await watch.over(context)
            page = await context.new_page()
            await page.goto(f"{server.url}/{address}")
            chat = ChatPage(page)
            await chat.started()
            return chat

        yield open_chat


@pytest.fixture
async def chat(open_chat: OpenChat) -> ChatPage:
    """The page at the start of a new conversation."""
    return await open_chat()
