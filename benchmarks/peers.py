"""What the benchmarks stand on: a Brain of their own with a folder in it, and a stopwatch."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import geometric_mean, median, quantiles

import httpx

BIN = Path(sys.executable).parent


def bor(data: Path, *arguments: str | Path) -> None:
    """Run a command of `bor` on the data folder, to its end."""
    subprocess.run([BIN / "bor", *map(str, arguments)], env=_environment(data), check=True)


@contextmanager
def serving(data: Path, *, embeds: bool = False) -> Generator[httpx.Client]:
    """A client of a server on the data folder, which ends with it.

    Unless it is what is measured, nothing makes vectors in the background: that takes a core.
    """
    process = subprocess.Popen(
        [BIN / "bor", "serve", "--port", "0"],
        env=_environment(data, embeds=embeds),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout
        address = process.stdout.readline().rpartition(" ")[2].strip()
        with httpx.Client(base_url=address, timeout=120) as client:
            yield client
    finally:
        process.terminate()
        process.wait()


def milliseconds(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return (time.perf_counter() - begun) * 1_000


def spread(times: Sequence[float]) -> str:
    """Median and 99th percentile."""
    return f"p50 {median(times):.0f} ms, p99 {quantiles(times, n=100)[98]:.0f} ms"


def mean_ratio(pairs: Sequence[tuple[float, float]]) -> float:
    """The geometric mean of the ratios."""
    return geometric_mean([one / other for one, other in pairs])


def _environment(data: Path, *, embeds: bool = False) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("BOR_")}
    embeddings = {} if embeds else {"BOR_EMBEDDINGS": "off"}
    return {**kept, **embeddings, "BOR_DATA_DIR": str(data)}
