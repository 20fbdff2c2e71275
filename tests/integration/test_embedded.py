"""The embedded PostgreSQL starts from nothing, is shared, survives kills and says what is wrong."""

import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import make_url

from app.db.embedded import EmbeddedPostgresError, start

ROOT = Path(__file__).parents[2]
HOLD = """
import sys
from pathlib import Path
from app.db.embedded import start
with start(Path(sys.argv[1])) as postgres:
    print(postgres.url, flush=True)
    sys.stdin.read()
"""
NAMELESS_USER = 12345
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")


@pytest.fixture
def folder() -> Generator[Path]:
    """A folder outside of pytest's, which is closed to the user that root's PostgreSQL runs as."""
    made = Path(tempfile.mkdtemp(prefix="brain-test-", dir="/tmp"))
    made.chmod(0o711)
    yield made
    for leftover in made.rglob("postmaster.pid"):
        with suppress(ProcessLookupError):
            os.kill(server_pid(leftover.parent.parent), signal.SIGQUIT)
    shutil.rmtree(made, ignore_errors=True)


@pytest.fixture
def data_dir(folder: Path) -> Path:
    return folder / "data"


def server_pid(data_dir: Path) -> int:
    return int((data_dir / "postgres" / "postmaster.pid").read_text().split()[0])


def runs(data_dir: Path) -> bool:
    return (data_dir / "postgres" / "postmaster.pid").exists()


def query(url: str, statement: str) -> list[tuple[object, ...]]:
    plain = url.replace("postgresql+psycopg://", "postgresql://")
    with psycopg.connect(plain, autocommit=True) as connection:
        cursor = connection.execute(statement.encode())
        return cursor.fetchall() if cursor.description else []


def log(data_dir: Path) -> str:
    return (data_dir / "postgres.log").read_text()


@contextmanager
def holder(data_dir: Path, **environment: str) -> Generator[subprocess.Popen[str]]:
    """Another process that uses the server."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(data_dir)],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], **environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("postgresql+psycopg://")
        yield process


def as_user(uid: int, action: Callable[[], str]) -> str:
    """What `action` returns in a process of that user."""
    receiver, sender = multiprocessing.Pipe(duplex=False)

    def become_and_act() -> None:
        os.setgroups([])
        os.setgid(uid)
        os.setuid(uid)
        sender.send(action())

    process = multiprocessing.get_context("fork").Process(target=become_and_act)
    process.start()
    process.join()
    return receiver.recv() if receiver.poll() else ""


def outcome(data_dir: Path) -> str:
    try:
        with start(data_dir) as postgres:
            return str(query(postgres.url, "SELECT 1"))
    except EmbeddedPostgresError as error:
        return str(error)


def test_starts_from_nothing_without_network_and_compares_by_code_point(data_dir: Path) -> None:
    with start(data_dir) as postgres:
        [settings] = query(
            postgres.url,
            "SELECT current_database(), current_setting('listen_addresses'), datlocprovider,"
            " datlocale, pg_encoding_to_char(encoding), upper('ä'), 'Z' < 'a'"
            " FROM pg_database WHERE datname = current_database()",
        )
    assert settings == ("brain", "", "b", "C.UTF-8", "UTF8", "Ä", True)


def test_only_the_owner_can_enter_the_files_and_the_socket(data_dir: Path) -> None:
    with start(data_dir):
        modes = [
            (data_dir / name).stat().st_mode & 0o777 for name in ("postgres", "postgres.socket")
        ]
    assert modes == [0o700, 0o700]


def test_a_second_start_keeps_the_rows(data_dir: Path) -> None:
    with start(data_dir) as postgres:
        query(postgres.url, "CREATE TABLE kept AS SELECT 7 AS number")
    with start(data_dir) as postgres:
        assert query(postgres.url, "SELECT number FROM kept") == [(7,)]
    assert "was not properly shut down" not in log(data_dir)


def test_the_last_of_two_users_stops_the_server(data_dir: Path) -> None:
    first, second = start(data_dir), start(data_dir)
    assert first.url == second.url
    first.stop()
    first.stop()
    assert query(second.url, "SELECT 1") == [(1,)]
    second.stop()
    assert not runs(data_dir)


def test_a_user_in_another_process_keeps_the_server_up(data_dir: Path) -> None:
    with holder(data_dir):
        start(data_dir).stop()
        assert runs(data_dir)


def test_recovers_from_a_killed_server(data_dir: Path) -> None:
    postgres = start(data_dir)
    query(postgres.url, "CREATE TABLE kept AS SELECT 7 AS number")
    os.kill(server_pid(data_dir), signal.SIGKILL)
    with postgres, start(data_dir) as again:
        assert query(again.url, "SELECT number FROM kept") == [(7,)]
    assert "was not properly shut down" in log(data_dir)


def test_adopts_the_server_of_a_killed_process(data_dir: Path) -> None:
    with holder(data_dir) as process:
        before = server_pid(data_dir)
        process.kill()
    with start(data_dir):
        assert server_pid(data_dir) == before
    assert not runs(data_dir)


def test_a_leftover_pid_of_a_foreign_process_does_not_matter(data_dir: Path) -> None:
    start(data_dir).stop()
    leftover = data_dir / "postgres" / "postmaster.pid"
    lines = (
        str(os.getpid()),
        str(data_dir / "postgres"),
        "1",
        "5432",
        "/nowhere",
        "",
        "1 1",
        "ready",
    )
    leftover.write_text("\n".join(lines))
    with start(data_dir) as postgres:
        assert query(postgres.url, "SELECT 1") == [(1,)]


def test_an_interrupted_creation_is_made_anew(data_dir: Path) -> None:
    half = data_dir / "postgres.new"
    half.mkdir(parents=True)
    (half / "PG_VERSION").write_text("18\n")
    data_dir.chmod(0o711)
    with start(data_dir) as postgres:
        assert query(postgres.url, "SELECT 1") == [(1,)]
    assert not half.exists()


@pytest.mark.parametrize(
    "environment", [{}, {"LANG": "de_DE.UTF-8", "LC_ALL": "xx_YY", "PGPORT": "1"}]
)
def test_a_bare_or_broken_environment_does_not_matter(
    data_dir: Path, environment: dict[str, str]
) -> None:
    with holder(data_dir, **environment), start(data_dir) as postgres:
        assert query(postgres.url, "SHOW server_encoding") == [("UTF8",)]


def test_a_path_longer_than_a_socket_may_have(folder: Path) -> None:
    data_dir = folder / ("long $name with 'quotes' " * 5)
    with start(data_dir) as first, start(data_dir) as second:
        assert first.url == second.url
        assert query(second.url, "SELECT 1") == [(1,)]
    Path(str(make_url(first.url).query["host"])).rmdir()


def test_a_server_that_ends_while_it_starts_shows_its_log(data_dir: Path) -> None:
    start(data_dir).stop()
    (data_dir / "postgres" / "postgresql.conf").write_text("no_such_setting = 1\n")
    with pytest.raises(EmbeddedPostgresError, match="no_such_setting"):
        start(data_dir)


def test_the_files_of_another_version_are_refused(data_dir: Path) -> None:
    start(data_dir).stop()
    (data_dir / "postgres" / "PG_VERSION").write_text("15\n")
    with pytest.raises(EmbeddedPostgresError, match="made by PostgreSQL 15"):
        start(data_dir)


@needs_root
def test_root_hands_the_server_to_an_unprivileged_user(data_dir: Path) -> None:
    with start(data_dir):
        assert (data_dir / "postgres").stat().st_uid != 0
        assert Path(f"/proc/{server_pid(data_dir)}").stat().st_uid != 0


@needs_root
def test_a_closed_parent_is_named_and_left_as_it_is(folder: Path) -> None:
    closed = folder / "closed"
    closed.mkdir(mode=0o700)
    with pytest.raises(EmbeddedPostgresError, match=f"may not enter {closed}: set BOR_DATA_DIR"):
        start(closed / "data")
    assert closed.stat().st_mode & 0o777 == 0o700


@needs_root
def test_a_user_without_a_name_is_told_what_to_do(data_dir: Path) -> None:
    data_dir.mkdir(mode=0o700)
    os.chown(data_dir, NAMELESS_USER, NAMELESS_USER)
    assert "/etc/passwd has none for 12345" in as_user(NAMELESS_USER, lambda: outcome(data_dir))


@needs_root
def test_an_ordinary_user_joins_nobody_elses_files(data_dir: Path) -> None:
    start(data_dir).stop()
    answer = as_user(NAMELESS_USER, lambda: outcome(data_dir))
    assert f"{data_dir / 'postgres'} belongs to user" in answer
