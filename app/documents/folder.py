"""Walks a folder: which of its files are taken in, and why the others are not."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pathspec import GitIgnoreSpec

from app.documents.names import check_path
from app.errors import BadPath
from app.search.globs import matcher

__all__ = ["DEFAULT_SKIPS", "LEFT_OUT", "Found", "Rules", "Skipped", "walk"]

DEFAULT_SKIPS = frozenset(
    ".git .hg .svn __pycache__ .pytest_cache .mypy_cache .ruff_cache node_modules venv .venv env"
    " .env dist build target out .next .nuxt .turbo coverage .idea .vscode .DS_Store".split()
)

# The reasons that follow from rules, not from what a file is.
LEFT_OUT = frozenset({"default list", "hidden folder", ".gitignore", "excluded", "not included"})


@dataclass(frozen=True)
class Rules:
    """What to take: globs over paths, a size in bytes, and whether the default list applies."""

    max_bytes: int
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    defaults: bool = True


@dataclass(frozen=True)
class Found:
    """A file to take in; `path` is its name within the source, in normal form C."""

    path: str
    file: Path
    bytes: int


@dataclass(frozen=True)
class Skipped:
    """A file or a folder that is not taken in, and why."""

    path: str
    reason: str


@dataclass(frozen=True)
class _Place:
    """A folder on the way: its path below the root, and the ignore files, nearest first."""

    folder: Path
    prefix: str = ""
    ignores: tuple[tuple[str, GitIgnoreSpec], ...] = ()


def walk(folder: Path, rules: Rules) -> Iterator[Found | Skipped]:
    """Everything in `folder` in order of names, folders that are skipped as one; no link followed.

    Raises `InvalidPattern` for a glob that is none, and `OSError` when `folder` cannot be read.
    """
    globs = _Globs(rules)
    seen: set[str] = set()
    for one in _walk(_Place(folder), rules):
        if isinstance(one, Found):
            one = _named(one, seen) or Skipped(one.path, "unusable name")  # noqa: PLW2901
        if isinstance(one, Found) and (reason := globs.objection(one.path)):
            yield Skipped(one.path, reason)
        else:
            yield one


class _Globs:
    """The include and exclude globs, in RE2: a stranger's glob takes linear time as well."""

    def __init__(self, rules: Rules) -> None:
        self._include = [matcher(glob) for glob in rules.include]
        self._exclude = [matcher(glob) for glob in rules.exclude]

    def objection(self, path: str) -> str | None:
        if any(matches(path) for matches in self._exclude):
            return "excluded"
        if self._include and not any(matches(path) for matches in self._include):
            return "not included"
        return None


def _walk(place: _Place, rules: Rules) -> Iterator[Found | Skipped]:
    with os.scandir(place.folder) as entries:
        ordered = sorted(entries, key=lambda entry: entry.name)
    place = _with_ignore_file(place, ordered)
    for entry in ordered:
        path = place.prefix + entry.name
        if reason := _objection(entry, path, place, rules):
            yield Skipped(path, reason)
        elif entry.is_dir(follow_symlinks=False):
            inside = _Place(Path(entry.path), f"{path}/", place.ignores)
            try:
                yield from _walk(inside, rules)
            except PermissionError:
                yield Skipped(path, "not readable")
        else:
            size = entry.stat(follow_symlinks=False).st_size
            too_large = size > rules.max_bytes
            yield Skipped(path, "too large") if too_large else Found(path, Path(entry.path), size)


def _objection(entry: os.DirEntry[str], path: str, place: _Place, rules: Rules) -> str | None:
    if entry.is_symlink():
        return "symbolic link"
    is_folder = entry.is_dir(follow_symlinks=False)
    if not is_folder and not entry.is_file(follow_symlinks=False):
        return "no regular file"
    if rules.defaults and entry.name in DEFAULT_SKIPS:
        return "default list"
    if rules.defaults and is_folder and entry.name.startswith("."):
        return "hidden folder"
    return ".gitignore" if _is_ignored(path, is_folder, place) else None


def _is_ignored(path: str, is_folder: bool, place: _Place) -> bool:
    """Whether the ignore file nearest to the path that speaks of it says so."""
    for prefix, spec in place.ignores:
        said = spec.check_file(path.removeprefix(prefix) + ("/" if is_folder else "")).include
        if said is not None:
            return said
    return False


def _with_ignore_file(place: _Place, entries: list[os.DirEntry[str]]) -> _Place:
    if not any(entry.name == ".gitignore" and entry.is_file() for entry in entries):
        return place
    text = (place.folder / ".gitignore").read_text("utf-8", "replace")
    spec = GitIgnoreSpec.from_lines(re.split(r"\r?\n", text))
    return _Place(place.folder, place.prefix, ((place.prefix, spec), *place.ignores))


def _named(found: Found, seen: set[str]) -> Found | None:
    """The file under its stored name; None where that is none, or another file has it."""
    try:
        path, _ = check_path(found.path)
    except BadPath:
        return None
    if path in seen:
        return None
    seen.add(path)
    return Found(path, found.file, found.bytes)
