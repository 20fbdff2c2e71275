"""Search for text against a plain reference, in databases of several locales.

The documents are so many, and so uneven, that every way in which a search can go is taken.
"""

import asyncio
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from posixpath import basename
from typing import Any

import pytest
import re2
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import create_engine, make_url, text

from app.db.engine import Sessions, create_sessions
from app.db.engine import create_engine as create_async_engine
from app.db.migrate import migrate
from app.documents.queries_batch import store_batch
from app.documents.upload import prepare
from app.search import regex, substring
from app.search.lines import grep_document, split_lines
from app.search.page import Cursor, Page
from app.search.regex import Expression
from app.search.result import SearchResult
from app.search.scope import Scope
from app.search.substring import EVERYWHERE

ALPHABET = "aAbB  éÉσςΣKk.%_\\-,/\t'Ж北京👍🏽\u0301"
# Two such lines do not fit into a passage.
PADDING = " pad" * 180
LOCALES = {
    "C": "LOCALE_PROVIDER libc LOCALE 'C'",
    "C.UTF-8 of libc": "LOCALE_PROVIDER libc LOCALE 'C.UTF-8'",
    "C.UTF-8 of PostgreSQL": "LOCALE_PROVIDER builtin BUILTIN_LOCALE 'C.UTF-8' LOCALE 'C'",
}
Place = tuple[str, str, int | None]


def word(chance: random.Random) -> str:
    return "".join(chance.choices(ALPHABET, k=chance.randint(1, 9)))


def make_documents() -> dict[tuple[str, str], str]:
    """A document of many passages that sorts first, then many short ones.

    Some words stand at the end only, or once at the beginning and then at the end.
    """
    chance = random.Random(1)
    long = "".join(f"long line {n} of needle {word(chance)}{PADDING}\n" for n in range(2_500))
    made = {("one", "0.txt"): "seldom " + long.replace("needle", "head", 2_300)}
    for n in range(1_500):
        words = [word(chance), "every"]
        words += ["needle", "seldom", "late"] if n >= 1_000 else [word(chance)]
        words += ["third"] * (n % 3 == 0) + ["seventh"] * (n % 7 == 0) + ["====="] * (n % 50 == 0)
        chance.shuffle(words)
        source = "one" if n < 1_200 else "two"
        made[source, f"folder {n // 300}/{n}.txt"] = chance.choice(" \n").join(words)
    return made


@dataclass(frozen=True)
class Stored:
    """The documents of a database as they are stored, in catalog order."""

    runner: asyncio.Runner
    sessions: Sessions
    documents: dict[tuple[str, str], str] = field(repr=False)

    def find(self, pattern: str | Expression, scope: Scope, page: Page) -> SearchResult:
        async def found() -> SearchResult:
            async with self.sessions.begin() as session:
                if isinstance(pattern, str):
                    return await substring.search(session, pattern, None, scope, page)
                return await regex.search(session, pattern, None, scope, page)

        return self.runner.run(found())

    def expected(self, pattern: str | Expression, scope: Scope) -> list[Place]:
        return [
            (source, path, line)
            for (source, path), content in self.documents.items()
            if scope.source in (None, source) and scope.path in (None, path)
            if scope.folder is None or path.startswith(f"{scope.folder}/")
            if not scope.include or any(fnmatchcase(basename(path), g) for g in scope.include)
            for line in matching(content, pattern)
        ]


def matching(content: str, pattern: str | Expression) -> list[int]:
    if isinstance(pattern, str):
        return [match.line for match in grep_document(content, pattern)]
    engine: Any = re2
    compiled = engine.compile(f"(?i){pattern.pattern}")
    return [n for n, line in enumerate(split_lines(content), start=1) if compiled.search(line)]


async def fill(sessions: Sessions) -> dict[tuple[str, str], str]:
    made = list(make_documents().items())
    # The order of the table is not that of the catalog.
    random.Random(2).shuffle(made)
    uploads = [prepare(source, path, body.encode(), None) for (source, path), body in made]
    async with sessions.begin() as session:
        for source in ("two", "one"):
            await store_batch(session, None, [one for one in uploads if one.source == source])
        rows = await session.execute(text("SELECT source, path, content FROM documents"))
        stored = {(row.source, row.path): row.content for row in rows}
    async with sessions.begin() as session:
        await session.execute(text("ANALYZE documents, passages"))
    return dict(sorted(stored.items()))


@pytest.fixture(scope="module", params=LOCALES)
def stored(request: pytest.FixtureRequest, database_url: str) -> Iterator[Stored]:
    name = "property"
    server = create_engine(database_url, isolation_level="AUTOCOMMIT")
    with server.connect() as connection:
        connection.execute(
            text(f"CREATE DATABASE {name} TEMPLATE template0 {LOCALES[request.param]}")
        )
    url = make_url(database_url).set(database=name).render_as_string(hide_password=False)
    migrate(url)
    engine = create_async_engine(url, pool_size=2)
    with asyncio.Runner() as runner:
        sessions = create_sessions(engine)
        yield Stored(runner, sessions, runner.run(fill(sessions)))
        runner.run(engine.dispose())
    with server.connect() as connection:
        connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))
    server.dispose()


PIECES = " ".join(make_documents().values()).replace(PADDING, "").replace("\n", " ")


def piece(start: int, length: int, change: str) -> str:
    taken = PIECES[start : start + length]
    return {"upper": taken.upper(), "lower": taken.lower(), "back": taken[::-1]}.get(change, taken)


patterns = st.one_of(
    st.sampled_from(["needle", "every", "third", "seventh", "=====", "====", "long line", "head"]),
    st.sampled_from(["late", "seldom", "seldom every", "late needle", "dles", "lat"]),
    st.sampled_from(["e", "th", "北", "%_", "\\", "  ", "needleevery", "everthird", "line 2499"]),
    st.builds(
        piece,
        st.integers(0, len(PIECES) - 20),
        st.integers(1, 12),
        st.sampled_from(["", "upper", "lower", "back"]),
    ),
)
scopes = st.sampled_from(
    [EVERYWHERE] * 3
    + [Scope("one"), Scope("two"), Scope("one", folder="folder 1"), Scope("one", "0.txt")]
    + [Scope("two", folder="folder 4", include=("*7.txt",)), Scope(include=("*00.txt", "0.txt"))]
)


expressions = st.sampled_from(
    [
        "needle",
        "late|absent",
        "seldom\\b",
        "(third|seventh)",
        "e[a-z]+y",
        "^every",
        "=+$",
        "need|ever",
        r"\d{4}",
        r"line 24\d\d of",
        "long.*head",
        "head$",
        "北|👍",
        "(needle|every).*third",
        "absent[a-z]",
    ]
).map(Expression)


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.one_of(patterns, expressions), scopes, st.sampled_from([1, 5, 20, 1000]), st.booleans())
def test_search_gives_what_a_plain_reference_gives(
    stored: Stored, pattern: str | Expression, scope: Scope, limit: int, exact: bool
) -> None:
    expected = stored.expected(pattern, scope)
    result = stored.find(pattern, scope, Page(limit=limit, exact=exact))
    places = [(hit.source, hit.path, hit.line) for hit in result.hits]
    assert places == expected[:limit]
    assert result.truncated == (len(expected) > limit)
    assert len(places) <= result.total <= len(expected)
    if result.total_is_exact or exact:
        assert result.total == len(expected)
        assert result.documents_matched == len({place[:2] for place in expected})
    if result.next is not None:
        following = stored.find(pattern, scope, Page(limit=limit, after=Cursor.parse(result.next)))
        places = [(hit.source, hit.path, hit.line) for hit in following.hits]
        assert places == expected[limit : 2 * limit]
