"""The application: what lives as long as the server does, and which routes it has."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path

import httpx
from fastapi import FastAPI

from app import handlers
from app.access import Tokens
from app.chat.queries import hand_over
from app.chat.routes import router as chat_router
from app.chat.turns import Turns
from app.db.database import database
from app.db.engine import Sessions, create_engine, create_sessions
from app.db.pending import keep_merged
from app.documents.queries_signatures import keep_signed
from app.documents.routes import router as documents_router
from app.documents.uploads import router as uploads_router
from app.doors.status import router as status_router
from app.guard import Guard, allowed_hosts
from app.llm.client import OpenAIModel
from app.llm.messages import Model
from app.llm.offline import OfflineModel
from app.rag.decision import Agent
from app.rag.embedders import open_meaning
from app.rag.embedding_process import keep_embedding
from app.rag.overview import Overview
from app.rag.routes import router as rag_router
from app.search.routes import router as search_router
from app.settings import Settings
from app.shutdown import on_shutdown

FRONTEND = Path(__file__).parents[1] / "frontend"


def create_app(settings: Settings, model: Model | None = None) -> FastAPI:
    """Build the application; `model` stands in for the one that the settings name."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncGenerator[None]:
        async with AsyncExitStack() as stack:
            await _open(app, settings, model, stack)
            yield

    app = FastAPI(
        title=settings.brand,
        description="Chat over your own documents.",
        lifespan=lifespan,
        # Their pages load scripts from another host; the description itself stays.
        docs_url=None,
        redoc_url=None,
    )
    app.state.settings = settings
    app.state.tokens = Tokens(settings)
    app.state.large_uploads = asyncio.Semaphore(1)
    # A search may take seconds: some connections stay free for what takes milliseconds.
    app.state.searches = asyncio.Semaphore(max(settings.database_pool // 2, 1))
    app.add_middleware(Guard, hosts=allowed_hosts(settings))
    handlers.install(app)
    for router in (chat_router, documents_router, rag_router, search_router, status_router):
        app.include_router(router, max_body_size=settings.max_json_bytes)
    app.include_router(uploads_router)
    app.frontend("/", directory=FRONTEND)
    return app


async def _open(
    app: FastAPI, settings: Settings, model: Model | None, stack: AsyncExitStack
) -> None:
    """Open the database, the model and the turns; the stack closes them in reverse."""
    opened = database(settings)
    url = await asyncio.to_thread(opened.__enter__)
    stack.push_async_callback(asyncio.to_thread, opened.__exit__, None, None, None)
    engine, own_engine = create_engine(url, settings.database_pool), create_engine(url, 2)
    stack.push_async_callback(engine.dispose)
    stack.push_async_callback(own_engine.dispose)
    sessions = create_sessions(engine)
    if heir := app.state.tokens.heir:
        async with sessions.begin() as session:
            await hand_over(session, heir)
    agent = await _agent(settings, sessions, model, stack)
    turns = Turns(agent, create_sessions(own_engine))
    app.state.sessions, app.state.turns, app.state.retriever = sessions, turns, agent.retriever
    app.state.overview = Overview(agent.retriever)
    stack.push_async_callback(app.state.overview.close)
    background = [turns.keep_written(), turns.keep_recovering()]
    background += [keep_merged(sessions), keep_signed(sessions)]
    if agent.meaning:
        background.append(keep_embedding(settings, url, sessions))
    for work in background:
        stack.push_async_callback(_cancel, asyncio.create_task(work))
    stack.push_async_callback(turns.close)
    stack.enter_context(on_shutdown(turns.close))


async def _agent(
    settings: Settings, sessions: Sessions, model: Model | None, stack: AsyncExitStack
) -> Agent:
    meaning = await stack.enter_async_context(open_meaning(settings, sessions))
    return Agent(settings, sessions, model or await _model(settings, stack), meaning)


async def _model(settings: Settings, stack: AsyncExitStack) -> Model:
    if not settings.llm_base_url:
        return OfflineModel()
    # As many turns as there are may ask at once: none waits for the connection of another.
    # Kept for less than the five seconds after which many servers close theirs.
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=20, keepalive_expiry=4.0)
    http = await stack.enter_async_context(httpx.AsyncClient(limits=limits))
    return OpenAIModel(settings, http)


async def _cancel(task: asyncio.Task[None]) -> None:
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
