"""`bor ingest`: stores the texts of a folder, and shows how far it is and what became of them."""

import asyncio
import os
import sys
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Table

from app.commands.collection import Collection, Ended
from app.commands.ingesting import Counts, Plan, carry_out, check_prune, plan, preview
from app.commands.options import Token, Url, failures_told, settings_of
from app.documents.folder import LEFT_OUT, Rules, walk
from app.documents.names import check_source
from app.text import quoted

_WATCH_SECONDS = 2.0
_INTERRUPTED = 130
_NAMED = 20
_Globs = list[str] | None


@dataclass(frozen=True)
class _Job:
    """What was asked for on the command line."""

    folder: Path
    source: str
    rules: Rules
    prune: bool
    agreed: bool
    dry_run: bool
    verbose: bool


def ingest(  # noqa: PLR0913, PLR0917
    folder: Annotated[Path, typer.Argument(help="The folder.", exists=True, file_okay=False)],
    source: Annotated[str, typer.Option(help="Name of the source that it becomes.")],
    include: Annotated[_Globs, typer.Option(help="Only paths like this glob.")] = None,
    exclude: Annotated[
        _Globs, typer.Option(help="No paths like this glob; '' switches the default list off.")
    ] = None,
    prune: Annotated[bool, typer.Option("--prune", help="Remove what the folder lacks.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Even more than half of the source.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would be.")] = False,
    watch: Annotated[bool, typer.Option("--watch", help="Go on when files change.")] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Name all that is skipped.")
    ] = False,
    url: Url = "",
    token: Token = "",
) -> None:
    """Store the texts of a folder; only what changed is read in again."""
    console = Console(stderr=True)
    with failures_told(1):
        rules = _rules(include or [], exclude or [])
        job = _Job(folder.resolve(), check_source(source), rules, prune, yes, dry_run, verbose)
        try:
            asyncio.run(_run(job, (url, token), watch, console))
        except KeyboardInterrupt:
            console.print("Interrupted. The same command goes on from here.")
            sys.exit(_INTERRUPTED)


def _rules(include: list[str], exclude: list[str]) -> Rules:
    return Rules(
        max_bytes=settings_of().max_document_bytes,
        include=tuple(include),
        exclude=tuple(filter(None, exclude)),
        defaults="" not in exclude,
    )


async def _run(job: _Job, where: tuple[str, str], watch: bool, console: Console) -> None:
    async with _collection(job.source, *where) as collection:
        seen = await asyncio.to_thread(_signature, job)
        await _ingest(job, collection, console)
        while watch:
            await asyncio.sleep(_WATCH_SECONDS)
            now = await asyncio.to_thread(_signature, job)
            if now != seen:
                seen = now
                await _ingest(job, collection, console)


@asynccontextmanager
async def _collection(source: str, url: str, token: str) -> AsyncGenerator[Collection]:
    if url:
        from app.commands.remote import RemoteCollection, remote_client  # noqa: PLC0415

        async with remote_client(url, token) as client:
            yield RemoteCollection(client, source)
    else:
        from app.commands.local import LocalCollection, local_sessions  # noqa: PLC0415

        async with local_sessions(settings_of()) as sessions:
            yield LocalCollection(sessions, source)


async def _ingest(job: _Job, collection: Collection, console: Console) -> None:
    with console.status("Looking at the folder …"):
        planned = await plan(job.folder, job.rules, collection)
    if job.prune:
        check_prune(planned, job.agreed)
    if job.dry_run:
        counts = await preview(planned, job.prune)
        _name_skipped(counts, job.verbose, console)
        Console().print(_table(counts, "would be"))
        return
    counts = Counts(skipped=[*planned.skipped])
    try:
        await _carry_out(job, planned, collection, counts, console)
    finally:
        _name_skipped(counts, job.verbose, console)
        Console().print(_table(counts))


async def _carry_out(
    job: _Job, planned: Plan, collection: Collection, counts: Counts, console: Console
) -> None:
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn())
    with Progress(*columns, TimeRemainingColumn(), console=console) as progress:
        task = progress.add_task("Storing", total=planned.bytes)

        def tell(ended: Ended) -> None:
            counts.add(ended)
            progress.advance(task, ended.file.bytes)

        await carry_out(planned, collection, job.prune, tell)


def _name_skipped(counts: Counts, verbose: bool, console: Console) -> None:
    """Unless `verbose`, only what was not left out by a rule, and not very many of that."""
    named = [one for one in counts.skipped if verbose or one.reason not in LEFT_OUT]
    shown = named if verbose else named[:_NAMED]
    for one in shown:
        console.print(f"skipped: {quoted(one.path)} ({one.reason})", markup=False, soft_wrap=True)
    if more := len(named) - len(shown):
        console.print(f"… and {more:,} more: --verbose names them.")


def _table(counts: Counts, title: str = "") -> Table:
    table = Table("documents", "number", box=None, title=title or None)
    table.columns[1].justify = "right"
    for outcome in ("created", "replaced", "unchanged", "removed"):
        table.add_row(outcome, f"{counts.outcomes[outcome]:,}")
    for reason, number in Counter(skipped.reason for skipped in counts.skipped).most_common():
        table.add_row(f"skipped: {reason}", f"{number:,}")
    return table


def _signature(job: _Job) -> list[tuple[str, int, int]]:
    """Paths, sizes and times of all files: it differs when a file does."""
    found: list[tuple[str, int, int]] = []
    for one in walk(job.folder, job.rules):
        try:
            status = os.stat(job.folder / one.path, follow_symlinks=False)
            found.append((one.path, status.st_size, status.st_mtime_ns))
        except OSError:
            continue
    return found
