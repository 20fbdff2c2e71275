"""The command `bor`."""

import asyncio
import signal
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from app.commands.ingest import ingest
from app.commands.options import failures_told, settings_of, stop, told_when_slow
from app.commands.search import search

if TYPE_CHECKING:
    from app.settings import Settings

cli = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
cli.command()(ingest)
cli.command()(search)


@cli.callback()
def bor() -> None:
    """Brain: chat over your own documents."""


@cli.command()
def serve(
    host: Annotated[str | None, typer.Option(help="Address to bind.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to bind; 0 picks a free one.")] = None,
    workers: Annotated[int | None, typer.Option(help="Number of server processes.")] = None,
) -> None:
    """Start everything, the database included, and print the address."""
    from app.access import Tokens  # noqa: PLC0415 - all other commands start without FastAPI
    from app.guard import LOOPBACK  # noqa: PLC0415
    from app.logs import configure_logs  # noqa: PLC0415
    from app.serving import serve_alone, serve_together  # noqa: PLC0415

    settings = settings_of(host=host, port=port, workers=workers)
    if settings.host.lower() not in LOOPBACK and not Tokens(settings):
        stop(
            f"Without tokens Brain serves no other host than this one: to serve on"
            f" {settings.host}, set BOR_EDITOR_TOKENS."
        )
    configure_logs(settings.log_level)
    # Once uvicorn has shut down it raises the signal again; by then all is well.
    signal.signal(signal.SIGTERM, _exit_well)
    try:
        with failures_told(1), _database(settings) as url:
            opened = settings.model_copy(update={"database_url": url})
            serving = serve_alone if settings.workers == 1 else serve_together
            serving(opened, Console(stderr=False, highlight=False))
            _end_undisturbed()
    except KeyboardInterrupt:
        _end_undisturbed()
        sys.exit(0)


@cli.command(name="eval")
def evaluate(
    questions: Annotated[
        Path, typer.Argument(help="JSON Lines: question, expect (grounded, deflected), path, line.")
    ],
    source: Annotated[list[str] | None, typer.Option(help="Only this source; repeatable.")] = None,
) -> None:
    """Measure retrieval and the gate on questions whose answers are known."""
    from app.db.database import database  # noqa: PLC0415
    from app.doors import evaluation  # noqa: PLC0415
    from app.rag.evaluation import read_questions  # noqa: PLC0415

    settings = settings_of()
    console = Console(highlight=False)
    with failures_told(1):
        try:
            known = read_questions(questions.read_text("utf-8").splitlines())
        except ValueError as error:
            stop(str(error))
        with database(settings) as url:
            opened = settings.model_copy(update={"database_url": url})
            visible = frozenset(source) if source else None
            asked = evaluation.ask_all(opened, known, visible, console)
            evaluation.show(asyncio.run(asked), console)


@contextmanager
def _database(settings: "Settings") -> Generator[str]:
    """The URL of the database; says what is being waited for."""
    from app.db.database import database  # noqa: PLC0415

    opened = database(settings)
    with told_when_slow("Starting the database …"):
        url = opened.__enter__()
    try:
        yield url
    finally:
        with told_when_slow("Stopping the database …"):
            opened.__exit__(None, None, None)


def _exit_well(_number: int, _frame: FrameType | None) -> None:
    _end_undisturbed()
    sys.exit(0)


def _end_undisturbed() -> None:
    """Ignore signals from now on: a second one must not cut off the end of the database."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)


def main() -> None:
    """The entry point of the package."""
    cli()
