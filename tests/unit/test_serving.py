"""How the server listens."""

import asyncio
import io
import socket

import pytest
import uvicorn
from rich.console import Console

from app.serving import bind, tell_what_ends


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_connections_send_small_answers_without_delay(host: str) -> None:
    with bind(uvicorn.Config("app", host=host, port=0, log_config=None)) as listening:
        listening.listen()
        with (
            socket.create_connection(listening.getsockname()[:2]),
            listening.accept()[0] as accepted,
        ):
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_a_port_that_is_taken_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(OSError, match=f"Port {port} of 127.0.0.1 is taken"):
            bind(uvicorn.Config("app", port=port, log_config=None))


def test_an_address_of_another_machine_is_named() -> None:
    with pytest.raises(OSError, match=r"cannot listen on port 0 of 192\.0\.2\.1: Cannot assign"):
        bind(uvicorn.Config("app", host="192.0.2.1", port=0, log_config=None))


@pytest.mark.parametrize(
    ("still_open", "said"), [(0, ""), (1, "1 open request,"), (2, "2 open re")]
)
async def test_whoever_waits_for_the_end_is_told_what_for(still_open: int, said: str) -> None:
    server = uvicorn.Server(uvicorn.Config("app", log_config=None))
    server.should_exit = True
    going = {asyncio.create_task(asyncio.sleep(60)) for _ in range(still_open)}
    server.server_state.tasks |= going
    told = io.StringIO()
    await tell_what_ends(server, Console(file=told), quiet=0)
    for request in going:
        request.cancel()
    assert said in told.getvalue()
    assert bool(said) == bool(told.getvalue())
