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


def test_a_port_that_is_taken_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(OSError, match=f"Port {port} of 127.0.0.1 is taken"):
            bind(uvicorn.Config("app", port=port, log_config=None))


def test_an_address_of_another_machine_is_named() -> None:
    with pytest.raises(OSError, match=r"cannot listen on port 0 of 192\.0\.2\.1: Cannot assign"):
        bind(uvicorn.Config("app", host="192.0.2.1", port=0, log_config=None))
