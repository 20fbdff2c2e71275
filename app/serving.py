"""Runs the server: in this process, or in several."""

import asyncio
import errno
import multiprocessing
import os
import signal
import socket
from contextlib import suppress
from threading import Thread

import uvicorn
from fastapi import FastAPI
from rich.console import Console
from uvicorn.supervisors import Multiprocess

from app.logs import configure_logs
from app.main import create_app
from app.settings import Settings

# Seconds that open requests get to end when the server is told to stop.
GRACE_SECONDS = 6
CONNECTIONS = 80
# Who ends the server is told what it waits for after so long.
QUIET_SECONDS = 1.0


def serve_alone(settings: Settings, console: Console) -> None:
    """Serve in this process until a signal comes; say the address as soon as requests are taken."""
    config = _config(create_app(settings), settings)
    listening = bind(config)
    with suppress(KeyboardInterrupt):
        asyncio.run(_serve(uvicorn.Server(config), listening, console))


async def _serve(server: uvicorn.Server, listening: socket.socket, console: Console) -> None:
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    # uvicorn tells nobody when it has started, except by this attribute.
    while not server.started and not serving.done():  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    if server.started:
        _announce(listening, console)
    telling = asyncio.create_task(tell_what_ends(server, Console(stderr=True)))
    await serving
    telling.cancel()


async def tell_what_ends(
    server: uvicorn.Server, console: Console, quiet: float = QUIET_SECONDS
) -> None:
    """Say how many requests are still open, if any are `quiet` seconds after the server's end."""
    # uvicorn tells nobody of this either.
    while not server.should_exit:  # noqa: ASYNC110
        await asyncio.sleep(0.2)
    await asyncio.sleep(quiet)
    if still_open := len(server.server_state.tasks):
        requests = "1 open request" if still_open == 1 else f"{still_open} open requests"
        console.print(f"Ending {requests}, in {GRACE_SECONDS} seconds at most …", soft_wrap=True)


def serve_together(settings: Settings, console: Console) -> None:
    """Serve in several processes, which find their settings in the environment."""
    # PostgreSQL has a hundred connections by default, ours too, for all processes together.
    pool = min(settings.database_pool, max(2, CONNECTIONS // settings.workers))
    passed_on = {
        "host": settings.host,
        "port": settings.port,
        "database_url": settings.database_url,
    }
    for name, value in {**passed_on, "database_pool": pool}.items():
        os.environ[f"BOR_{name.upper()}"] = str(value)
    config = _config("app.serving:create_worker", settings)
    listening = bind(config)
    # Bound is not enough: whoever comes before the first process is up would be turned away.
    listening.listen(config.backlog)
    _announce(listening, console)
    Multiprocess(config, sockets=[listening]).run()


def _config(app: FastAPI | str, settings: Settings) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        factory=isinstance(app, str),
        host=settings.host,
        port=settings.port,
        workers=settings.workers,
        timeout_graceful_shutdown=GRACE_SECONDS,
        log_config=None,
        access_log=False,
        server_header=False,
    )


def bind(config: uvicorn.Config) -> socket.socket:
    """The socket to serve on; its connections send at once, as they inherit.

    Raises `OSError` with a sentence that names the address. (uvicorn's own way ends the process.)
    """
    family = socket.AF_INET6 if ":" in config.host else socket.AF_INET
    listening = socket.socket(family)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((config.host, config.port))
    except OSError as error:
        listening.close()
        raise OSError(_refused(error, config)) from error
    listening.set_inheritable(True)
    # asyncio does so only for sockets that name their protocol: without, an answer of two parts
    # waits 40 ms for the acknowledgement of the first.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def _refused(error: OSError, config: uvicorn.Config) -> str:
    if error.errno == errno.EADDRINUSE:
        return (
            f"Port {config.port} of {config.host} is taken by another program, perhaps another"
            " Brain: choose one with --port (0 picks a free one)."
        )
    return f"Brain cannot listen on port {config.port} of {config.host}: {error.strerror}."


def create_worker() -> FastAPI:
    """The application of one process among several; it ends with the one that started it."""
    Thread(target=_end_with_parent, daemon=True).start()
    settings = Settings()
    configure_logs(settings.log_level)
    return create_app(settings)


def _end_with_parent() -> None:
    # Killed, the parent cannot tell its processes, and they would keep the port for ever.
    if parent := multiprocessing.parent_process():
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)


def _announce(listening: socket.socket, console: Console) -> None:
    host, port = listening.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    console.print(f"Brain is ready: http://{shown}:{port}", markup=False, soft_wrap=True)
