"""Passages as they are stored, and what can be asked of the documents."""

import re

import pytest
from sqlalchemy import select, text, update

from app.db.engine import Sessions
from app.documents import queries
from app.documents.passages import cut
from app.documents.queries_catalog import Selection, catalog
from app.documents.queries_store import store
from app.documents.upload import prepare
from app.errors import Forbidden, NotFound
from app.models import Passage
from app.search.globs import to_regex

PARAGRAPHS = [f"Paragraph {n}\n{'word ' * 200}\n\n" for n in range(12)]


async def keep(sessions: Sessions, path: str, content: str, source: str = "acme") -> None:
    async with sessions.begin() as session:
        await store(session, None, prepare(source, path, content.encode(), None))


async def passages(sessions: Sessions) -> list[tuple[int, str]]:
    """Identity and text of all passages, in order."""
    async with sessions.begin() as session:
        rows = await session.execute(select(Passage.id, Passage.text).order_by(Passage.position))
        return [(row.id, row.text) for row in rows]


@pytest.mark.parametrize(
    "new",
    [
        ["An insertion\n\n", *PARAGRAPHS],
        [*PARAGRAPHS, "An addition\n\n"],
        [*PARAGRAPHS[:6], "In between\n" * 100, *PARAGRAPHS[6:]],
        PARAGRAPHS[:5] + PARAGRAPHS[8:],
        PARAGRAPHS[1:],
        ["word\n" * 5_000],
        [],
        ["x" * 9_000],
    ],
)
async def test_the_passages_of_a_new_version_are_its_text(
    sessions: Sessions, new: list[str]
) -> None:
    await keep(sessions, "a.txt", "".join(PARAGRAPHS))
    await keep(sessions, "a.txt", "".join(new))
    stored = [text for _, text in await passages(sessions)]
    assert stored == [piece.text for piece in cut("".join(new))]


async def test_a_change_leaves_the_other_passages_alone(sessions: Sessions) -> None:
    await keep(sessions, "a.txt", "".join(PARAGRAPHS))
    before = await passages(sessions)
    changed = [*PARAGRAPHS]
    changed[5] = changed[5].replace("word", "term")
    await keep(sessions, "a.txt", "".join(changed))
    assert len(set(before) & set(await passages(sessions))) == len(before) - 1


async def test_insertions_at_one_place_never_run_out_of_room(sessions: Sessions) -> None:
    await keep(sessions, "a.txt", "".join(PARAGRAPHS))
    async with sessions.begin() as session:
        position = (Passage.position // 2**20) * 2
        await session.execute(update(Passage).values(position=-position))
        await session.execute(update(Passage).values(position=-Passage.position))
    grown = [*PARAGRAPHS]
    for number in range(4):
        grown.insert(6, f"Inserted {number}\n{'new ' * 250}\n\n")
        await keep(sessions, "a.txt", "".join(grown))
        assert "".join(text for _, text in await passages(sessions)) == "".join(grown)


async def test_any_range_of_lines_is_the_same_range_of_the_text(sessions: Sessions) -> None:
    content = "".join(f"{n} {'x' * (n % 50 * 9)}\n" for n in range(1, 301))
    await keep(sessions, "other.txt", "not this\n" * 500)
    await keep(sessions, "a.txt", content)
    lines = content.split("\n")[:-1]
    key = ("acme", "a.txt")
    async with sessions.begin() as session:
        for first, last in [(1, 1), (1, 300), (299, 10**18), (120, 180), (300, 300), (-5, 2)]:
            found = await queries.read_lines(session, None, key, first, last)
            begin = max(first, 1)
            assert found.lines == tuple(lines[begin - 1 : last])
            assert (found.first, found.last, found.total) == (begin, min(last, 300), 300)
        assert (await queries.read_lines(session, None, key, 9, 2)).lines == ()
        for first in (301, 10**30):
            assert (await queries.read_lines(session, None, key, first, first + 5)).lines == ()


async def test_what_is_not_visible_does_not_exist(sessions: Sessions) -> None:
    await keep(sessions, "a.txt", "text", "secret")
    await keep(sessions, "a.txt", "text", "open")
    visible = frozenset({"open"})
    async with sessions.begin() as session:
        with pytest.raises(NotFound):
            await queries.get(session, visible, "secret", "a.txt")
        with pytest.raises(NotFound):
            await queries.read_lines(session, visible, ("secret", "a.txt"), 1, 2)
        with pytest.raises(Forbidden):
            await store(session, visible, prepare("secret", "b.txt", b"x", None))
        assert await queries.count_documents(session, visible) == 1
        assert [total.source for total in await queries.sources(session, visible)] == ["open"]
        assert await queries.source_names(session, visible, 9) == ["open"]
        assert await queries.nearest(session, visible, ("secret", "a.txt")) == ["open/a.txt"]
        page = await catalog(session, visible, Selection(), None, 10)
        assert (page.total, [document.source for document in page.documents]) == (1, ["open"])


async def test_the_nearest_names_come_first(sessions: Sessions) -> None:
    for path in ("guide/setup.md", "guide/start.md", "notes/a.txt"):
        await keep(sessions, path, path)
    async with sessions.begin() as session:
        nearest = await queries.nearest(session, None, ("acme", "setup.md"))
        assert nearest[0] == "acme/guide/setup.md"
        assert await queries.nearest(session, None, ("zzz", "qqq")) == []


async def test_a_page_says_how_many_are_left(sessions: Sessions) -> None:
    for number in range(5):
        await keep(sessions, f"{number}.txt", "x")
    async with sessions.begin() as session:
        page = await catalog(session, None, Selection(source="acme"), "acme/0.txt", 2)
        assert (page.total, page.left, page.next) == (5, 2, "acme/2.txt")
        last = await catalog(session, None, Selection(source="acme"), page.next, 2)
        assert (last.total, last.left, last.next) == (5, 0, None)


@pytest.mark.parametrize(
    "glob",
    ["**/*.md", "*.{md,txt}", "[[]draft]*", "{rule}*", "[!a-k]*", "guide/{**/,}x.md", "[+-9]*.txt",
     "K*", "É*", "*]*", "a\\,b*", "[a-z0-9 ]*", "[\\d]*", "*-*", "^*", "*$", "(*)", "*|*", "a.b"],
)  # fmt: skip
async def test_postgresql_and_python_agree_about_a_glob(sessions: Sessions, glob: str) -> None:
    paths = ["top.md", "guide/x.md", "guide/deep/x.md", "[draft] plan.md", "{rule} one.md", "d",
             "a,b.txt", "100%.txt", "\u212aelvin", "kelvin", "été", "ÉTÉ", "a-b", "^a", "a$", "(x)",
             "a|b", "a.b", "axb", "7.txt", "\\d"]  # fmt: skip
    async with sessions.begin() as session:
        found = await session.scalars(
            text("SELECT path FROM unnest(CAST(:paths AS text[])) AS path WHERE path ~ :regex"),
            {"paths": paths, "regex": to_regex(glob)},
        )
        assert set(found) == {path for path in paths if re.search(to_regex(glob), path)}


async def test_a_glob_full_of_stars_takes_no_time_to_speak_of(sessions: Sessions) -> None:
    await keep(sessions, "a" * 1_000, "x")
    async with sessions.begin() as session:
        await session.execute(text("SET LOCAL statement_timeout = '5s'"))
        page = await catalog(session, None, Selection(glob="*a" * 400 + "b"), None, 10)
        assert page.total == 0
