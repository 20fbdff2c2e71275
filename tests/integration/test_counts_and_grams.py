"""What is kept beside the documents: counts of sources, grams, and short lists of new entries."""

import pytest
from sqlalchemy import text

from app.db.engine import Sessions
from app.db.pending import merge_after
from app.documents import queries_store
from app.documents.queries_batch import store_batch
from app.documents.upload import Upload, prepare
from app.search import substring
from app.search.scope import Scope, count
from tests.stored import store_texts


def upload(path: str, content: str, source: str = "acme") -> Upload:
    return prepare(source, path, content.encode(), None)


async def counted(sessions: Sessions, source: str | None = None) -> int:
    async with sessions.begin() as session:
        return (await count(session, None, Scope(source))).documents


async def find(sessions: Sessions, pattern: str) -> list[str]:
    async with sessions.begin() as session:
        return [hit.path for hit in (await substring.search(session, pattern, None)).hits]


async def test_counts_follow_every_change(sessions: Sessions) -> None:
    await store_texts(sessions, {"a.txt": "x", "b.txt": "x", "c.txt": "x"})
    await store_texts(sessions, {"a.txt": "changed"})
    assert await counted(sessions) == 3
    async with sessions.begin() as session:
        await queries_store.move(session, None, ("acme", "a.txt"), ("other", "a.txt"))
        await queries_store.remove(session, None, "acme", "b.txt")
    assert (await counted(sessions, "acme"), await counted(sessions, "other")) == (1, 1)
    async with sessions.begin() as session:
        await queries_store.remove_source(session, None, "other")
    assert (await counted(sessions), await counted(sessions, "other")) == (1, 0)


async def test_short_patterns_follow_a_replacement(sessions: Sessions) -> None:
    await store_texts(sessions, {"a.txt": "zq 北", "b.txt": "nothing"})
    assert (await find(sessions, "ZQ"), await find(sessions, "北")) == (["a.txt"], ["a.txt"])
    await store_texts(sessions, {"a.txt": "nothing", "b.txt": "§"})
    assert (await find(sessions, "zq"), await find(sessions, "§")) == ([], ["b.txt"])


async def test_a_batch_tells_new_changed_and_unchanged_apart(sessions: Sessions) -> None:
    await store_texts(sessions, {"a.txt": "one", "b.txt": "two"})
    batch = [upload("a.txt", "one"), upload("b.txt", "other"), upload("c.txt", "three")]
    async with sessions.begin() as session:
        assert await store_batch(session, None, batch) == ["unchanged", "replaced", "created"]
    assert await counted(sessions) == 3
    assert await find(sessions, "three") == ["c.txt"]
    assert await find(sessions, "two") == []


async def test_a_batch_stores_what_single_uploads_store(sessions: Sessions) -> None:
    odd = "it's a \\ tab\t'quoted' 北京 don't \\N\n" + "long " * 600
    async with sessions.begin() as session:
        await store_batch(
            session, None, [upload("a.txt", odd, "batch"), upload("é.txt", "", "batch")]
        )
        await queries_store.store(session, None, upload("a.txt", odd, "single"))
        await queries_store.store(session, None, upload("é.txt", "", "single"))
    stored: list[list[object]] = []
    for source in ("batch", "single"):
        async with sessions.begin() as session:
            documents = await session.execute(
                text(
                    "SELECT path, title, media_type, bytes, characters, lines, sha256, text_sha256,"
                    " version, notices, content, signature, grams"
                    " FROM documents JOIN document_grams"
                    " ON document_id = id WHERE source = :source ORDER BY path"
                ),
                {"source": source},
            )
            passages = await session.execute(
                text(
                    "SELECT position, p.lines, p.characters, text, folded, words FROM passages p"
                    " JOIN documents d ON d.id = document_id WHERE source = :source"
                    " ORDER BY path, position"
                ),
                {"source": source},
            )
            stored.append([tuple(row) for row in [*documents, *passages]])
    assert stored[0] == stored[1]


async def test_new_entries_are_merged_once(sessions: Sessions) -> None:
    await store_texts(sessions, {"a.txt": "needle"})
    writes = await merge_after(sessions, -1)
    assert await merge_after(sessions, writes) == writes
    assert await find(sessions, "needle") == ["a.txt"]


@pytest.mark.parametrize("size", [0, 1])
async def test_a_batch_may_be_empty(sessions: Sessions, size: int) -> None:
    async with sessions.begin() as session:
        batch = [upload("a.txt", "x")][:size]
        assert len(await store_batch(session, None, batch)) == size
