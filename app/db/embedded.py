"""The life of the PostgreSQL that comes as a wheel: started, shared by processes, stopped.

Whether a server lives is never guessed from process ids: its processes inherit a locked file, so
the kernel knows. A server whose users were all killed stays up, and the next `start` adopts it.
"""

import fcntl
import os
import socket
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO, Self

import psycopg
from sqlalchemy import URL

from app.db.account import Account, EmbeddedPostgresError, make_way
from app.db.cluster import SERVER_SETTINGS, check_version, find_programs, make_cluster

__all__ = ["EmbeddedPostgres", "EmbeddedPostgresError", "start"]

_DETACHED = ("sh", "-c", '"$@" &', "sh")
_LOG_LIMIT = 4_000_000  # bytes
_SOCKET_LIMIT = 103  # bytes: sun_path has 104 on macOS and 108 on Linux, with the closing zero


@dataclass(frozen=True)
class EmbeddedPostgres:
    """One use of a running server; the last to stop, in any process, stops the server itself."""

    url: str
    _site: "_Site"
    _use: BinaryIO

    def stop(self) -> None:
        if self._use.closed:
            return
        with self._site.alone(), self._use:
            if _lock(self._use, fcntl.LOCK_EX | fcntl.LOCK_NB):
                self._site.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def start(data_dir: Path) -> EmbeddedPostgres:
    """Start the server of `data_dir`, or join it; a recovery is awaited as long as it takes."""
    try:
        data_dir = data_dir.resolve()
        make_way(data_dir)
        site = _Site(data_dir, Account.for_cluster(data_dir / "postgres"))
        site.account.check_way_to(data_dir)
        with site.alone():
            site.ensure_ready()
            use = _open(data_dir / "postgres.users")
            _lock(use, fcntl.LOCK_SH)
    except (OSError, psycopg.Error) as error:
        raise EmbeddedPostgresError(
            f"PostgreSQL cannot run in {data_dir} (BOR_DATA_DIR): {error}"
        ) from error
    return EmbeddedPostgres(site.url("brain").render_as_string(), site, use)


@dataclass(frozen=True)
class _Site:
    """The server of one data folder: its files, and what one process at a time does to it."""

    data_dir: Path
    account: Account

    @property
    def cluster(self) -> Path:
        return self.data_dir / "postgres"

    @property
    def log(self) -> Path:
        return self.data_dir / "postgres.log"

    @property
    def socket(self) -> Path:
        path = self.data_dir / "postgres.socket" / ".s.PGSQL.5432"
        if len(os.fsencode(path)) <= _SOCKET_LIMIT:
            return path
        # TMPDIR may be long or private as well, and differs between processes.
        short = Path("/tmp") / f"brain-{sha256(os.fsencode(self.data_dir)).hexdigest()[:16]}"  # noqa: S108
        return short / path.name

    @cached_property
    def programs(self) -> Path:
        return find_programs(self.account, self.data_dir)

    def url(self, database: str) -> URL:
        where = {"host": str(self.socket.parent), "port": "5432"}
        return URL.create("postgresql+psycopg", "brain", database=database, query=where)

    @contextmanager
    def alone(self) -> Generator[None]:
        """Keep every other process from starting or stopping this server."""
        with _open(self.data_dir / "postgres.lock") as gate:
            _lock(gate, fcntl.LOCK_EX)
            yield

    def ensure_ready(self) -> None:
        launched = False
        while not (self._status() == "ready" and self._listens()):
            with _open(self.data_dir / "postgres.alive") as alive:
                # A server that somebody restarted by hand has not inherited the lock.
                if _lock(alive, fcntl.LOCK_EX | fcntl.LOCK_NB) and not self._listens():
                    if launched:
                        raise self._failure("PostgreSQL ended while it started")
                    self._launch(alive.fileno())
                    launched = True
            time.sleep(0.01)
        self._ensure_database()

    def stop(self) -> None:
        how = ("--mode=fast", "--timeout=3600")
        self.account.run([self.programs / "pg_ctl", "stop", *how, "-D", self.cluster])

    def _status(self) -> str:
        try:
            lines = (self.cluster / "postmaster.pid").read_text().splitlines()
        except FileNotFoundError:
            return "stopped"
        return lines[7].strip() if len(lines) > 7 else "starting"

    def _listens(self) -> bool:
        with socket.socket(socket.AF_UNIX) as probe:
            return probe.connect_ex(os.fsencode(self.socket)) == 0

    def _launch(self, lock: int) -> None:
        with self._open_log() as log:
            if not self.cluster.exists() and not make_cluster(
                self.account, self.programs, self.cluster, log, lock
            ):
                raise self._failure("PostgreSQL could not make its files")
            check_version(self.cluster)
            # No server lives: these are leftovers, whatever process has the id in them by now.
            (self.cluster / "postmaster.pid").unlink(missing_ok=True)
            self.socket.with_name(f"{self.socket.name}.lock").unlink(missing_ok=True)
            self.account.make_private(self.socket.parent)
            settings = [*SERVER_SETTINGS, f"unix_socket_directories={self.socket.parent}"]
            options = [word for setting in settings for word in ("-c", setting)]
            server = [self.programs / "postgres", "-D", self.cluster, *options]
            self.account.run([*_DETACHED, *server], log, [lock])

    def _ensure_database(self) -> None:
        where = self.url("postgres").set(drivername="postgresql").render_as_string()
        with psycopg.connect(where, autocommit=True) as server:
            if not server.execute("SELECT FROM pg_database WHERE datname = 'brain'").fetchall():
                server.execute("CREATE DATABASE brain")

    def _open_log(self) -> BinaryIO:
        log = _open(self.log)
        if log.tell() < _LOG_LIMIT:
            return log
        log.close()
        self.log.replace(self.log.with_suffix(".log.1"))
        return _open(self.log)

    def _failure(self, what: str) -> EmbeddedPostgresError:
        tail = "\n".join(self.log.read_text(errors="replace").splitlines()[-8:])
        return EmbeddedPostgresError(f"{what}. The end of {self.log}:\n{tail}")


def _open(path: Path) -> BinaryIO:
    """Open to append, private from the start: whoever can open a lock file can hold its lock."""
    return open(path, "ab", opener=lambda name, flags: os.open(name, flags, mode=0o600))


def _lock(file: BinaryIO, how: int) -> bool:
    try:
        fcntl.flock(file, how)
    except BlockingIOError:
        return False
    return True
