"""Reads the bytes of a request while they arrive, and never more than allowed."""

from collections.abc import AsyncIterable, AsyncIterator

from app.errors import TooLarge


async def limited(
    chunks: AsyncIterable[bytes], limit: int, what: str, announced: str = ""
) -> AsyncIterator[bytes]:
    """The chunks, until they are more than `limit` bytes together: then `TooLarge` names `what`.

    A `Content-Length` that announces more (`announced`) is refused at once; one that announces
    less is no promise.
    """
    if announced.isdecimal() and (len(announced) > 18 or int(announced) > limit):
        raise TooLarge(too_large(what, limit))
    received = 0
    async for chunk in chunks:
        received += len(chunk)
        if received > limit:
            raise TooLarge(too_large(what, limit))
        yield chunk


def too_large(what: str, limit: int) -> str:
    return f"{what} is too large: at most {limit:,} bytes are taken."
