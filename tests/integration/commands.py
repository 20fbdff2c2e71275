"""The commands of `bor`, run within the tests or as processes of their own."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from app.cli import cli

BOR = Path(sys.executable).with_name("bor")


class Command:
    """Runs `bor` on the database of the test, or against an address."""

    def __init__(self, environment: dict[str, str]) -> None:
        self._runner = CliRunner(env={"COLUMNS": "100", **environment})

    async def __call__(self, *arguments: str | Path) -> tuple[int, str, str]:
        result = await asyncio.to_thread(self._runner.invoke, cli, list(map(str, arguments)))
        return result.exit_code, result.stdout, result.stderr

    async def counts(self, *arguments: str | Path) -> dict[str, int]:
        """Run `bor ingest`, which must end well; what it counts apart from zeros."""
        code, out, error = await self("ingest", *arguments)
        assert code == 0, error
        return counted(out)


def counted(table: str) -> dict[str, int]:
    """What the table at the end of `bor ingest` counts, apart from zeros."""
    rows = [line.strip().rpartition(" ") for line in table.splitlines()[1:] if line.strip()]
    numbers = {name.strip(): int(number) for name, _, number in rows if number.isdigit()}
    return {name: number for name, number in numbers.items() if number}


def start(
    environment: Mapping[str, str], *arguments: str | Path, **pipes: Any
) -> subprocess.Popen[str]:
    """`bor` as a process, which a test can interrupt."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("BOR_")}
    return subprocess.Popen(
        [BOR, *map(str, arguments)],
        env={**kept, "COLUMNS": "100", "TERM": "xterm-256color", **environment},
        text=True,
        **pipes,
    )
