"""What signatures of documents are for, and how documents without one get theirs."""

from sqlalchemy import text

from app.db.engine import Sessions
from app.documents.queries_signatures import sign_some
from app.documents.signature import document_signature
from app.search import substring
from app.search.fold import searchable
from tests.stored import store_texts

TEXTS = {"a.txt": "A needle.\n", "b.txt": "Nothing.\n", "c.txt": ""}


async def find(sessions: Sessions, pattern: str) -> list[str]:
    async with sessions.begin() as session:
        return [hit.path for hit in (await substring.search(session, pattern, None)).hits]


async def write(sessions: Sessions, signature: bytes | None) -> None:
    async with sessions.begin() as session:
        await session.execute(text("UPDATE documents SET signature = :it"), {"it": signature})


async def read(sessions: Sessions) -> dict[str, bytes | None]:
    async with sessions.begin() as session:
        rows = await session.execute(text("SELECT path, signature FROM documents"))
    return {row.path: row.signature for row in rows}


async def test_what_a_signature_rules_out_is_not_looked_into(sessions: Sessions) -> None:
    await store_texts(sessions, TEXTS)
    assert await find(sessions, "needle") == ["a.txt"]
    await write(sessions, bytes(64))
    assert await find(sessions, "needle") == []


async def test_a_document_without_a_signature_is_looked_into(sessions: Sessions) -> None:
    await store_texts(sessions, TEXTS)
    await write(sessions, None)
    assert await find(sessions, "needle") == ["a.txt"]


async def test_documents_without_signatures_are_signed(sessions: Sessions) -> None:
    await store_texts(sessions, TEXTS)
    expected = {path: document_signature(searchable(body)) for path, body in TEXTS.items()}
    assert await read(sessions) == expected
    await write(sessions, None)
    assert await sign_some(sessions) == len(TEXTS)
    assert await read(sessions) == expected
    assert await sign_some(sessions) == 0


async def test_a_program_that_knows_no_signatures_invalidates_them(sessions: Sessions) -> None:
    await store_texts(sessions, TEXTS)
    async with sessions.begin() as session:
        await session.execute(text("UPDATE documents SET title = 'new' WHERE path = 'a.txt'"))
        change = "UPDATE documents SET content = 'x', text_sha256 = 'y' WHERE path = 'b.txt'"
        await session.execute(text(change))
    signed = await read(sessions)
    assert (signed["a.txt"] is None, signed["b.txt"] is None) == (False, True)


async def test_a_replaced_document_has_the_signature_of_its_new_text(sessions: Sessions) -> None:
    await store_texts(sessions, TEXTS)
    await store_texts(sessions, {"b.txt": "Another needle.\n"})
    assert await find(sessions, "another") == ["b.txt"]
    assert (await read(sessions))["b.txt"] == document_signature(searchable("Another needle.\n"))
