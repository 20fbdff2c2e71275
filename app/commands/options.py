"""What the commands share: options, settings, and how they end."""

import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer
from rich.console import Console

from app.errors import AppError

if TYPE_CHECKING:
    from app.settings import Settings

Url = Annotated[
    str,
    typer.Option(envvar="BOR_URL", help="Address of a running Brain; without one, the database."),
]
Token = Annotated[str, typer.Option(envvar="BOR_TOKEN", help="Access token for that Brain.")]

_QUIET_SECONDS = 1.0


def settings_of(**given: object) -> "Settings":
    """The settings of the environment, with what the command line says instead."""
    from pydantic import ValidationError  # noqa: PLC0415 - help is shown without it

    from app.settings import Settings  # noqa: PLC0415

    try:
        return Settings(**{name: value for name, value in given.items() if value is not None})  # pyright: ignore[reportArgumentType]
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        name = "_".join(str(part) for part in first["loc"])
        stop(f"BOR_{name.upper()}: {first['msg']}.")


@contextmanager
def failures_told(status: int) -> Generator[None]:
    """Within it, what a person can do something about ends the command with a sentence."""
    try:
        yield
    except AppError as error:
        stop(error.detail, status)
    except OSError as error:
        stop(str(error), status)
    except Exception as error:
        sentence = _sentence(error)
        if sentence is None:
            raise
        stop(sentence, status)


def _sentence(error: Exception) -> str | None:
    """What a failure of the network or the database means to a person; None for any other."""
    import httpx  # noqa: PLC0415 - only a failure needs these

    if isinstance(error, httpx.HTTPError):
        return f"The Brain cannot be reached: {error or 'the connection broke'}"

    from sqlalchemy.exc import SQLAlchemyError  # noqa: PLC0415

    from app.db.embedded import EmbeddedPostgresError  # noqa: PLC0415
    from app.db.migrate import MigrationError  # noqa: PLC0415

    if isinstance(error, (EmbeddedPostgresError, MigrationError)):
        return str(error)
    if isinstance(error, SQLAlchemyError):
        return f"The database failed: {str(error).partition(chr(10))[0]}"
    return None


@contextmanager
def told_when_slow(sentence: str) -> Generator[None]:
    """Within it, who has waited for a second is told what for, on standard error."""
    telling = threading.Timer(_QUIET_SECONDS, Console(stderr=True).print, [sentence])
    telling.daemon = True
    telling.start()
    try:
        yield
    finally:
        telling.cancel()


def stop(sentence: str, status: int = 1) -> NoReturn:
    """Say why, on standard error, and end the command."""
    Console(stderr=True).print(sentence, style="red", markup=False, soft_wrap=True)
    sys.exit(status)
