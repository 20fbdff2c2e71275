"""Ends running streams as soon as the server is told to stop, since it waits for them to end."""

import asyncio
import signal
import threading
from collections.abc import Callable, Coroutine, Generator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGTERM, signal.SIGINT)


@contextmanager
def on_shutdown(close: Callable[[], Coroutine[None, None, None]]) -> Generator[None]:
    """Run `close` at the first SIGTERM or SIGINT, before whoever handled the signal so far."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop = asyncio.get_running_loop()
    before = {number: signal.getsignal(number) for number in SIGNALS}
    closing: list[asyncio.Task[None]] = []

    def begin() -> None:
        if not closing:
            closing.append(loop.create_task(close()))

    def handle(number: int, frame: FrameType | None) -> None:
        loop.call_soon_threadsafe(begin)
        handler = before[signal.Signals(number)]
        if callable(handler):
            handler(number, frame)

    for number in SIGNALS:
        signal.signal(number, handle)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
