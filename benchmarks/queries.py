"""Queries made from the text of a folder: frequent, rare and absent, short and long."""

import random
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

_FILES = 400
_WORD = re.compile(r"[^\W\d_]{3,}")


@dataclass(frozen=True)
class Query:
    """What is looked for, and where: in all, in a folder, or in a document (relative paths)."""

    kind: str
    pattern: str
    path: str = ""


def fixed_strings(folder: Path) -> list[Query]:
    """At least 38 fixed strings."""
    chance = random.Random(0)
    files = sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    texts = [_read(path) for path in chance.sample(files, min(_FILES, len(files)))]
    last = "\n".join(map(_read, files[-20:]))
    lines = [line for text in texts for line in text.splitlines() if 20 < len(line) < 120]
    words = Counter(word.lower() for text in texts for word in _WORD.findall(text))
    ordered = [word for word, _ in words.most_common()]
    rare = [word for word, number in words.items() if number == 1]
    return [
        *_named("frequent word", ordered[:5]),
        *_named("middling word", ordered[len(ordered) // 20 :][:4]),
        *_named("rare word", chance.sample(rare, 5)),
        *_named("word of the end", [word for word in _WORD.findall(last) if len(word) > 6][-2:]),
        *_named("phrase", (_cut(chance.choice(lines), 3) for _ in range(5))),
        *_named("half a line", (line[: len(line) // 2] for line in chance.sample(lines, 3))),
        *_named("absent", (one[:3] + other[-3:] + one[:3] for one, other in _pairs(ordered[:12]))),
        *_named("one character", ["e", "~", "§", "北"]),
        *_named("two characters", ["th", "zq", "()", "北京"]),
        *_named("marks", ["%_", "\\n", "});", "->", "========"]),
        *_named("blanks", [" " * 4, " " * 40, "\t\t"]),
        *_named("in a folder", [ordered[0], rare[0], "北京"], _folder(folder, files)),
        *_named("in a document", [ordered[0], rare[0], "zq"], _largest(folder, files)),
    ]


EXPRESSIONS = [
    Query("with a literal", r"err(or)?_[a-z]+\("),
    Query("with a literal", r"\bcopyright\b.*20[01][0-9]"),
    Query("with a literal", r"^#include <.*\.h>$"),
    Query("with a literal", r"(todo|fixme|xxx):"),
    Query("with a literal", r"quadrat[a-z]*\s+\w+"),
    Query("without a literal", r"[0-9]{12}"),
    Query("without a literal", r"\b[A-Z]{30}\b"),
    Query("without a literal", r"^\s{60}\S"),
]


def _read(path: Path) -> str:
    return path.read_bytes()[:20_000].decode(errors="ignore").replace("\0", "")


def _named(kind: str, patterns: Iterable[str], path: str = "") -> list[Query]:
    return [Query(kind, pattern, path) for pattern in patterns]


def _folder(root: Path, files: list[Path]) -> str:
    """The folder in the middle of the files."""
    return files[len(files) // 2].parent.relative_to(root).as_posix()


def _largest(root: Path, files: list[Path]) -> str:
    """The largest file of text that is sure to be stored."""
    texts = [file for file in files if b"\0" not in file.read_bytes()[:4_096]]
    return max(texts, key=lambda file: file.stat().st_size).relative_to(root).as_posix()


def _cut(line: str, words: int) -> str:
    return " ".join(line.split()[1 : 1 + words]) or line


def _pairs(words: list[str]) -> list[tuple[str, str]]:
    return list(zip(words[::2], words[1::2], strict=False))[:4]
