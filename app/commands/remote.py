"""A Brain that runs somewhere, by its REST API."""

import asyncio
import hashlib
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import quote

import httpx

from app.commands.collection import Ended, batches, refused
from app.documents.folder import Found
from app.errors import AppError, NotFound

_AT_ONCE = 4
_PATIENCE = httpx.Timeout(10, read=120, write=120)


@asynccontextmanager
async def remote_client(url: str, token: str) -> AsyncGenerator[httpx.AsyncClient]:
    """A client of the Brain at `url`; the token is sent when there is one."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with httpx.AsyncClient(
        base_url=url.rstrip("/"), headers=headers, timeout=_PATIENCE
    ) as client:
        yield client


class RemoteCollection:
    """A source behind the REST API, which takes whole files."""

    def __init__(self, client: httpx.AsyncClient, source: str) -> None:
        self._client = client
        self._source = source

    async def known(self) -> dict[str, str]:
        known: dict[str, str] = {}
        parameters: dict[str, Any] = {"source": self._source, "limit": 1_000}
        while True:
            page = checked(await self._client.get("/api/documents", params=parameters)).json()
            known |= {document["path"]: document["sha256"] for document in page["documents"]}
            if page["next"] is None:
                return known
            parameters["after"] = page["next"]

    async def store(self, files: Sequence[Found], known: Mapping[str, str]) -> AsyncIterator[Ended]:
        free = asyncio.Semaphore(_AT_ONCE)

        async def put(file: Found) -> Ended:
            async with free:
                return await self._put(file, known.get(file.path, ""))

        for batch in batches(files):
            for ended in await asyncio.gather(*map(put, batch)):
                yield ended

    async def remove(self, paths: Sequence[str]) -> None:
        for path in paths:
            try:
                checked(await self._client.delete(self._address(path)))
            except NotFound:
                continue

    async def _put(self, file: Found, known_hash: str) -> Ended:
        try:
            body = await asyncio.to_thread(file.file.read_bytes)
            if hashlib.sha256(body).hexdigest() == known_hash:
                return Ended(file, "unchanged")
            answer = await self._client.put(self._address(file.path), content=body)
            if answer.status_code in (401, 403):
                checked(answer)
            if answer.is_error:
                return refused(file, _error(answer))
            return Ended(file, answer.json()["outcome"])
        except OSError as error:
            return refused(file, error)

    def _address(self, path: str) -> str:
        return f"/api/documents/{self._source}/{quote(path)}"


def checked(answer: httpx.Response) -> httpx.Response:
    """The answer, if it is a success; else raises an `AppError` with the server's sentence."""
    if answer.is_error:
        raise _error(answer)
    return answer


def _error(answer: httpx.Response) -> AppError:
    try:
        problem = answer.json()
        code, detail = str(problem["error"]), str(problem["detail"])
    except (ValueError, KeyError, TypeError):
        code, detail = "unexpected", f"The server answered with status {answer.status_code}."
    error = NotFound(detail) if code == "not_found" else AppError(detail)
    error.code = code
    return error
