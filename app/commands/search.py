"""`bor search`: prints what matches, as grep does."""

import asyncio
import sys
from typing import Annotated, Any, Literal

import typer
from rich.console import Console
from rich.text import Text

from app.commands.options import Token, Url, failures_told, settings_of
from app.schemas import FoundLine, SearchAnswer, SearchRequest

_Globs = list[str] | None
_GLOB_MARKS = frozenset("*?[{")


def search(  # noqa: PLR0913, PLR0917
    given: typer.Context,
    q: Annotated[str, typer.Argument(metavar="PATTERN", help="What to look for.")],
    mode: Annotated[
        Literal["text", "regex", "path"], typer.Option(help="Fixed string, RE2, or glob of paths.")
    ] = "text",
    source: Annotated[str | None, typer.Option(help="Only in this source.")] = None,
    path: Annotated[str | None, typer.Option(help="Only this document or folder.")] = None,
    include: Annotated[_Globs, typer.Option(help="Only paths like this glob.")] = None,
    exclude: Annotated[_Globs, typer.Option(help="No paths like this glob.")] = None,
    context: Annotated[int, typer.Option("-C", "--context", min=0, max=20)] = 0,
    case_sensitive: Annotated[
        bool, typer.Option("--case-sensitive", help="Let case matter.")
    ] = False,
    limit: Annotated[int, typer.Option(help="At most so many matches.", min=1, max=1000)] = 100,
    count: Annotated[bool, typer.Option("--count", help="Count all matches.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the answer of the API.")] = False,
    url: Url = "",
    token: Token = "",
) -> None:
    """Search all documents: exits with 0 on matches, 1 on none, 2 on an error."""
    with failures_told(2):
        found = asyncio.run(_search(_asked(given.params), url, token))
    if json:
        sys.stdout.write(found.model_dump_json(indent=2) + "\n")
    else:
        _print(found)
    if mode == "path" and not found.matches and not _GLOB_MARKS.intersection(q):
        _hint(q)
    sys.exit(0 if found.matches else 1)


def _asked(given: dict[str, Any]) -> dict[str, Any]:
    """The options that were given, as parameters of the API."""
    asked = {name: given[name] for name in SearchRequest.model_fields if given.get(name)}
    asked["q"] = given["q"]
    return asked | ({"count": "exact"} if given["count"] else {})


async def _search(asked: dict[str, Any], url: str, token: str) -> SearchAnswer:
    if url:
        from app.commands.remote import checked, remote_client  # noqa: PLC0415

        async with remote_client(url, token) as client:
            said = checked(await client.get("/api/search", params=asked))
            return SearchAnswer.model_validate_json(said.content)
    from app.commands.local import local_sessions  # noqa: PLC0415 - with a URL, no database
    from app.search.answer import answer  # noqa: PLC0415

    async with local_sessions(settings_of()) as sessions:
        return await answer(sessions, SearchRequest.model_validate(asked), None)


def _hint(q: str) -> None:
    name = q.rstrip("/").rpartition("/")[2]
    globs = f"**/{name}* or **/{name}/**" if "/" in q else f"*{name}*"
    sentence = f"A name is a glob over paths, without the source: try {globs}"
    Console(stderr=True).print(sentence, style="dim", markup=False, soft_wrap=True)


def _print(found: SearchAnswer) -> None:
    console = Console(highlight=False)
    if console.is_terminal:
        _print_coloured(found, console)
    elif found.text_view:
        sys.stdout.write(found.text_view + "\n")
    if found.truncated:
        at_least = "" if found.total_is_exact else "at least "
        more = f"… {at_least}{found.total:,} in all, {found.shown:,} shown"
        Console(stderr=True).print(more, style="dim", markup=False)


def _print_coloured(found: SearchAnswer, console: Console) -> None:
    marks = {f"{hit.source}/{hit.path}:{hit.line}: ": hit for hit in found.matches}
    for line in found.text_view.split("\n") if found.text_view else ():
        prefix = next((mark for mark in marks if line.startswith(mark)), None)
        shown = Text(line) if prefix is None else _coloured(line, prefix, marks[prefix])
        console.print(shown, soft_wrap=True)


def _coloured(line: str, prefix: str, hit: FoundLine) -> Text:
    shown = Text(line)
    shown.stylize("magenta", 0, len(prefix))
    start = len(prefix) + (1 if hit.text_start else 0) - hit.text_start
    for first, end in hit.ranges:
        shown.stylize("bold red", max(start + first, len(prefix)), max(start + end, len(prefix)))
    return shown
