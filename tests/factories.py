"""What tests are made of: documents, put in through the API."""

from typing import Any
from urllib.parse import quote

import httpx


def address(source: str, path: str) -> str:
    """The address of a document, whatever characters its path holds."""
    return f"/api/documents/{source}/{quote(path)}"


async def put(
    client: httpx.AsyncClient, source: str, path: str, content: str | bytes, **headers: str
) -> dict[str, Any]:
    """Store a document and return the answer, which must be a success."""
    body = content.encode() if isinstance(content, str) else content
    answer = await client.put(address(source, path), content=body, headers=headers)
    assert answer.is_success, answer.text
    return answer.json()
