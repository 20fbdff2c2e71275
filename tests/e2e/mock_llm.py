"""An OpenAI-compatible server for tests: deterministic, strict about histories, scriptable.

In a test: `with MockLLM() as mock`, then `mock.url`, `mock.requests`, `mock.script(…)`. By hand:
`python tests/e2e/mock_llm.py --port 0` prints the address to use as BOR_LLM_BASE_URL.
"""

import argparse
import json
import os
import select
import socket
import struct
import threading
import time
from collections import Counter, deque
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self, cast

from tests.e2e.mock_replies import Planned, plan, read_request
from tests.e2e.mock_wire import DONE, Json, called, chunk, event, finished, refusal

_USAGE = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}


class Reset:
    """A step of a script: reset the connection."""


RST = Reset()
Step = bytes | float | Reset


@dataclass(frozen=True)
class Script:
    """A raw response: bytes to send, seconds to wait, `RST`; the end closes the connection."""

    steps: tuple[Step, ...]
    status: int = 200
    headers: Json = field(default_factory=lambda: {"Content-Type": "text/event-stream"})


class MockLLM:
    """The server, in a thread; every request's body is kept in `requests`."""

    def __init__(self, port: int = 0) -> None:
        self.requests: list[Json] = []
        self.headers: list[dict[str, str]] = []
        self.arrived = threading.Event()
        """Set when a request has come."""
        self.disconnected = threading.Event()
        """Set when a client closes its connection while it is answered."""
        self.model: Json = {}
        """What `/v1/models` says of the model besides its name."""
        self._scripts: deque[Script] = deque()
        self._asked: Counter[str] = Counter()
        self._server = _Server(("127.0.0.1", port), _Handler)
        self._server.mock = self

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def script(self, *steps: Step, status: int = 200, **headers: str) -> None:
        """Queue a raw response; header names are given with `_` for `-`."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        defaults = {"Content-Type": "text/event-stream"}
        self._scripts.append(Script(steps, status, {**defaults, **named}))

    def reset(self) -> None:
        self.requests.clear()
        self.headers.clear()
        self.model.clear()
        self._scripts.clear()
        self._asked.clear()
        self.arrived.clear()
        self.disconnected.clear()

    def clear_scripts(self) -> None:
        """Answer by the markers of the question again."""
        self._scripts.clear()

    def respond(self, body: Json) -> Script:
        self.requests.append(body)
        self.arrived.set()
        if self._scripts:
            return self._scripts.popleft()
        if flaw := refusal(body["messages"]):
            return _json({"error": {"message": flaw, "type": "invalid_request_error"}}, 400)
        asked = read_request(body)
        self._asked[asked.question] += 1
        planned = plan(asked, self._asked[asked.question])
        if planned.status != 200:
            message = f"The mock fails with {planned.status}."
            return _json({"error": {"message": message}}, planned.status)
        number = sum(len(message.get("tool_calls") or []) for message in body["messages"])
        calls = [
            called(i, id=f"mock_{number + i + 1}", name=name, arguments=json.dumps(arguments))
            for i, (name, arguments) in enumerate(planned.calls)
        ]
        return _streamed(planned, calls) if body.get("stream") else _whole(planned, calls)

    def serve(self) -> None:
        self._server.serve_forever(poll_interval=0.01)

    def __enter__(self) -> Self:
        threading.Thread(target=self.serve, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def _json(value: Any, status: int = 200) -> Script:
    return Script((json.dumps(value).encode(),), status, {"Content-Type": "application/json"})


def _whole(planned: Planned, calls: list[Json]) -> Script:
    message: Json = {"role": "assistant", "content": planned.text}
    if calls:
        message["tool_calls"] = calls
    reason = "tool_calls" if calls else "stop"
    choice = {"index": 0, "message": message, "finish_reason": reason}
    return _json({"object": "chat.completion", "choices": [choice], "usage": _USAGE})


def _streamed(planned: Planned, calls: list[Json]) -> Script:
    steps: list[Step] = [planned.silence, chunk({"role": "assistant", "content": ""})]
    for word in planned.text.split(" ") if planned.text else ():
        steps += [chunk({"content": word + " "}), planned.pause]
    if planned.breaks_off:
        return Script((*steps, 0.2, RST))
    steps += [chunk({"tool_calls": [call]}) for call in calls]
    steps += [finished("tool_calls" if calls else "stop")]
    steps += [event({"choices": [], "usage": _USAGE}), DONE]
    return Script(tuple(steps))


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64
    mock: MockLLM


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    @property
    def _mock(self) -> MockLLM:
        return cast("_Server", self.server).mock

    def do_GET(self) -> None:
        model = {"id": "mock", "object": "model", **self._mock.model}
        models = {"object": "list", "data": [model]}
        self._play(_json(models) if self.path == "/v1/models" else _json({"error": "no"}, 404))

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path != "/v1/chat/completions":
            self._play(_json({"error": {"message": f"no {self.path}"}}, 404))
            return
        self._mock.headers.append(dict(self.headers))
        self._play(self._mock.respond(body))

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is given
        """Say nothing."""

    def _play(self, script: Script) -> None:
        self.close_connection = True
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.send_response(script.status)
        for name, value in {**script.headers, "Connection": "close"}.items():
            self.send_header(name, value)
        try:
            self.end_headers()
            for step in script.steps:
                self._step(step)
        except OSError:
            self._mock.disconnected.set()

    def _step(self, step: Step) -> None:
        if isinstance(step, bytes):
            self.wfile.write(step)
        elif isinstance(step, Reset):
            # Closed with a linger of zero, and under the file objects that still hold it: a reset.
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            os.close(self.connection.detach())
        elif step and select.select([self.connection], [], [], step)[0]:
            raise ConnectionResetError("the client is gone")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    with MockLLM(parser.parse_args().port) as mock:
        print(mock.url, flush=True)  # noqa: T201 - this is what it is started for
        while True:
            time.sleep(3600)


if __name__ == "__main__":
    main()
