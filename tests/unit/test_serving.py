"""How the server listens."""

import socket

import pytest
import uvicorn

from app.serving import bind


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_connections_send_small_answers_without_delay(host: str) -> None:
    with bind(uvicorn.Config("app", host=host, port=0, log_config=None)) as listening:
        listening.listen()
        with (
            socket.create_connection(listening.getsockname()[:2]),
            listening.accept()[0] as accepted,
        ):
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
