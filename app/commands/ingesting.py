"""What `bor ingest` does to a source: compare a folder with it, store, remove, count."""

import asyncio
import hashlib
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from app.commands.collection import Collection, Ended, refused
from app.documents.extract import to_text
from app.documents.folder import Found, Rules, Skipped, walk
from app.errors import AppError, Conflict


@dataclass
class Counts:
    """How many files came to what end, and which were skipped and why."""

    outcomes: Counter[str] = field(default_factory=Counter[str])
    skipped: list[Skipped] = field(default_factory=list[Skipped])

    def add(self, ended: Ended) -> None:
        if ended.outcome == "skipped":
            self.skipped.append(Skipped(ended.file.path, ended.reason))
        else:
            self.outcomes[ended.outcome] += 1

    @property
    def changed(self) -> int:
        return sum(self.outcomes[name] for name in ("created", "replaced", "removed"))


@dataclass(frozen=True)
class Plan:
    """The files of a folder, what is stored already, and what of that is gone."""

    files: list[Found]
    known: dict[str, str]
    gone: list[str]
    skipped: list[Skipped]

    @property
    def bytes(self) -> int:
        return sum(file.bytes for file in self.files)


async def plan(folder: Path, rules: Rules, collection: Collection) -> Plan:
    """Look at the folder and at the source; nothing is changed."""
    files: list[Found] = []
    skipped: list[Skipped] = []
    for one in await asyncio.to_thread(lambda: list(walk(folder, rules))):
        if isinstance(one, Skipped):
            skipped.append(one)
        else:
            files.append(one)
    known = await collection.known()
    gone = await asyncio.to_thread(_gone, folder, known, {file.path for file in files})
    return Plan(files, known, gone, skipped)


def check_prune(planned: Plan, agreed: bool) -> None:
    """Refuse to remove more than half of a source without a word: the folder may be a wrong one."""
    if len(planned.gone) * 2 > len(planned.known) and not agreed:
        raise Conflict(
            f"{len(planned.gone):,} of {len(planned.known):,} documents are not in the folder:"
            " to remove more than half of a source, add --yes."
        )


async def carry_out(
    planned: Plan, collection: Collection, prune: bool, tell: Callable[[Ended], None]
) -> None:
    """Store what changed, and remove what is gone if `prune`; `tell` hears of each file."""
    async for ended in collection.store(planned.files, planned.known):
        tell(ended)
    if prune:
        for path in planned.gone:
            await collection.remove([path])
            tell(Ended(Found(path, Path(path), 0), "removed"))


async def preview(planned: Plan, prune: bool) -> Counts:
    """What would happen; the files are read as they would be to store them."""
    counts = Counts(skipped=[*planned.skipped])
    for ended in await asyncio.to_thread(_compare, planned.files, planned.known):
        counts.add(ended)
    counts.outcomes["removed"] = len(planned.gone) if prune else 0
    return counts


def _compare(files: list[Found], known: Mapping[str, str]) -> list[Ended]:
    return [_compare_one(file, known.get(file.path)) for file in files]


def _compare_one(file: Found, known_hash: str | None) -> Ended:
    try:
        body = file.file.read_bytes()
        if hashlib.sha256(body).hexdigest() == known_hash:
            return Ended(file, "unchanged")
        to_text(body, None, file.path)
    except (AppError, OSError) as error:
        return refused(file, error)
    return Ended(file, "created" if known_hash is None else "replaced")


def _gone(folder: Path, known: Mapping[str, str], found: set[str]) -> list[str]:
    """Stored paths without a file; one that is only skipped now is not gone."""
    return [path for path in sorted(known) if path not in found and not _is_file(folder / path)]


def _is_file(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()
