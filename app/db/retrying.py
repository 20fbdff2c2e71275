"""What is tried again while the database is away, as it is when it restarts."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

import stamina
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

T = TypeVar("T")

PATIENCE_SECONDS = 30.0
# A broken connection, and a pool that has none to give, are no defects of ours.
UNREACHABLE = (OperationalError, InterfaceError, PoolTimeoutError)


async def retried(once: Callable[[], Awaitable[T]]) -> T:
    """What `once` gives, as soon as the database lets it; raises the last error in the end."""
    async for attempt in stamina.retry_context(
        on=_may_pass, attempts=None, timeout=PATIENCE_SECONDS, wait_max=2.0
    ):
        with attempt:
            return await once()
    raise AssertionError("the last attempt raises its error")


def _may_pass(error: Exception) -> bool:
    """Whether the database may take the same statement a moment later."""
    if isinstance(error, DBAPIError) and error.connection_invalidated:
        return True
    return isinstance(error, OperationalError | InterfaceError | OSError)
