"""Folders for the files of a PostgreSQL: any user may enter them, and none waits for a disk."""

import os
import shutil
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

MEMORY = Path("/dev/shm")
ROOM = 2**31  # bytes: several clusters, with copies of PostgreSQL's programs


@contextmanager
def open_folder() -> Generator[Path]:
    """A folder outside of pytest's, which are closed to the user that root's PostgreSQL runs as."""
    made = Path(tempfile.mkdtemp(prefix="brain-tests-", dir=MEMORY if _takes_clusters() else None))
    made.chmod(0o711)
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _takes_clusters() -> bool:
    """A container's memory folder is often small, or closed to programs."""
    if not os.access(MEMORY, os.W_OK | os.X_OK):
        return False
    closed = os.statvfs(MEMORY).f_flag & os.ST_NOEXEC
    return not closed and shutil.disk_usage(MEMORY).free > ROOM
