"""What `bor ingest` needs of a source, wherever that is: here, or behind the REST API."""

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from app.documents.folder import Found
from app.errors import AppError

_REASONS = {
    "binary_content": "binary",
    "undecodable_text": "unknown encoding",
    "unsupported_format": "unsupported format",
    "too_large": "too large",
}
_BATCH_FILES = 200
_BATCH_BYTES = 1024 * 1024


@dataclass(frozen=True)
class Ended:
    """What became of a file: created, replaced, unchanged, or skipped for a reason."""

    file: Found
    outcome: str
    reason: str = ""


class Collection(Protocol):
    """One source, to read what it has and to change it."""

    async def known(self) -> dict[str, str]:
        """The paths of the stored documents, with the hashes (SHA-256) of their uploads."""
        ...

    def store(self, files: Sequence[Found], known: Mapping[str, str]) -> AsyncIterator[Ended]:
        """Store the files whose hash is not the known one; in any order, a batch at a time."""
        ...

    async def remove(self, paths: Sequence[str]) -> None:
        """Remove documents; one that is gone already is no error."""
        ...


def batches(files: Iterable[Found]) -> Iterable[list[Found]]:
    """The files in portions of a megabyte at most, unless one is larger."""
    batch: list[Found] = []
    size = 0
    for file in files:
        if batch and (len(batch) == _BATCH_FILES or size + file.bytes > _BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(file)
        size += file.bytes
    if batch:
        yield batch


def refused(file: Found, error: AppError | OSError) -> Ended:
    """The file was not taken in: the reason in a few words."""
    if isinstance(error, OSError):
        return Ended(file, "skipped", "not readable")
    return Ended(file, "skipped", _REASONS.get(error.code, error.detail))
