"""What a measured server takes: memory, connections to the database, open files."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import psycopg


def pss_kib(pid: int) -> int:
    """The proportional set size of a process in KiB: shared pages count in part."""
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1])
    raise LookupError(pid)


def open_files(pid: int) -> int:
    return len(os.listdir(f"/proc/{pid}/fd"))


def processor_seconds(pid: int) -> float:
    """Of a process and its children, those that have ended as well."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    ticks = sum(_ticks(pid)) + sum(sum(_ticks(int(child))[:2]) for child in children)
    return ticks / os.sysconf("SC_CLK_TCK")


def _ticks(pid: int) -> list[int]:
    """In user mode and in the kernel, and both of the children that have ended."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return list(map(int, fields[11:15]))


def connections(url: str) -> int:
    """Connections to the database but for the one that asks."""
    query = (
        "SELECT count(*) FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )
    with psycopg.connect(url.replace("+psycopg", "")) as connection:
        row = connection.execute(query).fetchone()
    return int(row[0]) if row else 0


@contextmanager
def data_folder() -> Generator[Path]:
    """A new folder that root's PostgreSQL, which runs as another account, may enter."""
    folder = Path(tempfile.mkdtemp(prefix="brain-benchmark-"))
    folder.chmod(0o711)
    try:
        yield folder / "data"
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def paced_model() -> Generator[str]:
    """The address of a `PacedModel` in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.paced_model"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().strip()
        finally:
            process.terminate()
