"""What the commands share: options, settings, and how they end."""

import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import Annotated, NoReturn

import httpx
import typer
from pydantic import ValidationError
from rich.console import Console
from sqlalchemy.exc import SQLAlchemyError

from app.db.embedded import EmbeddedPostgresError
from app.db.migrate import MigrationError
from app.errors import AppError
from app.settings import Settings

Url = Annotated[
    str,
    typer.Option(envvar="BOR_URL", help="Address of a running Brain; without one, the database."),
]
Token = Annotated[str, typer.Option(envvar="BOR_TOKEN", help="Access token for that Brain.")]

_QUIET_SECONDS = 1.0


def settings_of(**given: object) -> Settings:
    """The settings of the environment, with what the command line says instead."""
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
    except httpx.HTTPError as error:
        stop(f"The Brain cannot be reached: {error or 'the connection broke'}", status)
    except (EmbeddedPostgresError, MigrationError, OSError) as error:
        stop(str(error), status)
    except SQLAlchemyError as error:
        stop(f"The database failed: {str(error).partition(chr(10))[0]}", status)


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
