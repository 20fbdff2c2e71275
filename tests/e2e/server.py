"""Brain as users run it: the command `bor serve` in a process of its own."""

import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Self

import httpx

BOR = Path(sys.executable).with_name("bor")
READY = "Brain is ready: "
START_SECONDS = 60.0
END_SECONDS = 20.0


class ServerFailed(Exception):
    """The server ended, or was silent, before it was ready; the message is its log."""


class Server:
    """A started `bor serve --port 0`; settings are given as on its page: `agent_max_rounds=2`."""

    def __init__(self, *arguments: str, **settings: object) -> None:
        self._log = tempfile.NamedTemporaryFile("a")  # noqa: SIM115 - closed with the process
        # A process that makes vectors takes the processor from the tests.
        chosen = {"embeddings": "off", **settings}
        given = {f"BOR_{name.upper()}": str(value) for name, value in chosen.items()}
        self.process = subprocess.Popen(
            [BOR, "serve", "--port", "0", *arguments],
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            env={**_environment(), **given},
            start_new_session=True,
        )
        self.url = ""

    def ready(self) -> Self:
        """Wait for the line that tells the address; raises `ServerFailed`."""
        deadline = time.monotonic() + START_SECONDS
        stdout = self.process.stdout
        assert stdout is not None
        while not self.url:
            remaining = max(0.0, deadline - time.monotonic())
            line = stdout.readline() if select.select([stdout], [], [], remaining)[0] else ""
            if not line:
                self.kill()
                raise ServerFailed(self.log)
            if line.startswith(READY):
                self.url = line.removeprefix(READY).strip()
        return self

    @property
    def log(self) -> str:
        """What it has said on stderr so far."""
        return Path(self._log.name).read_text(errors="replace")

    def stop(self, how: signal.Signals = signal.SIGTERM) -> int:
        """End it as an operator does and return its exit code."""
        self.process.send_signal(how)
        return self.wait()

    def wait(self) -> int:
        """Wait until it has ended by itself; its exit code."""
        return self.process.wait(timeout=END_SECONDS)

    def kill(self) -> None:
        """End it without a word, its workers as well."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            if self.process.poll() is None:
                self.stop()
        finally:
            self.kill()
            self._log.close()
            if self.process.stdout is not None:
                self.process.stdout.close()


def connect(server: Server) -> httpx.AsyncClient:
    """A client whose addresses begin at the server."""
    return httpx.AsyncClient(base_url=server.url, timeout=30)


def _environment() -> dict[str, str]:
    """The environment of the tests, coverage included, without settings of Brain."""
    # Compiling every module anew would be half of each start.
    slow = {"PYTHONDONTWRITEBYTECODE"}
    kept = os.environ.items()
    return {name: value for name, value in kept if name not in slow and name[:4] != "BOR_"}
