"""The user that PostgreSQL runs as: root steps down to another one, all others stay the same."""

import os
import pwd
import stat
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Self

_STEP_DOWN_TO = ("postgres", "nobody")
# Not ours: a broken LANG or a stray PGPORT would reach the server.
_ENVIRONMENT = {"LC_ALL": "C", "PATH": os.defpath, "TZ": "UTC"}


class EmbeddedPostgresError(Exception):
    """The embedded PostgreSQL cannot run; the message tells a person why and what to do."""


@dataclass(frozen=True)
class Account:
    uid: int
    gid: int

    @classmethod
    def for_cluster(cls, cluster: Path) -> Self:
        """The owner of an existing cluster; for a new one, ourselves or whom root steps down to."""
        uid = os.geteuid()
        owner = cluster.stat() if cluster.exists() else None
        if owner and uid not in {0, owner.st_uid}:
            raise EmbeddedPostgresError(
                f"{cluster} belongs to user {owner.st_uid}: "
                "start Brain as that user, or set BOR_DATA_DIR to another folder."
            )
        if owner and owner.st_uid != 0:
            return cls(owner.st_uid, owner.st_gid)
        if uid != 0:
            return cls(uid, os.getegid())
        users = {user.pw_name: user for user in pwd.getpwall()}
        chosen = next((users[name] for name in _STEP_DOWN_TO if name in users), None)
        if chosen is None:
            raise EmbeddedPostgresError(
                "PostgreSQL does not run as root: start Brain as another user."
            )
        return cls(chosen.pw_uid, chosen.pw_gid)

    def run(
        self,
        command: Sequence[str | Path],
        log: BinaryIO | int = subprocess.DEVNULL,
        keep: Sequence[int] = (),
    ) -> bool:
        """Run to the end, tell of success; what is left behind still has the open files `keep`."""
        finished = subprocess.run(  # noqa: S603 - the commands are our own
            command,
            cwd="/",
            env=_ENVIRONMENT,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            pass_fds=keep,
            user=self.uid,
            group=self.gid,
            extra_groups=[] if os.geteuid() == 0 else None,
            umask=0o077,
            start_new_session=True,  # Ctrl-C in the terminal is not for the server
            check=False,
        )
        return finished.returncode == 0

    def may_enter(self, folder: Path) -> bool:
        return self.run(["test", "-x", folder])

    def check_way_to(self, folder: Path) -> None:
        if self.may_enter(folder):
            return
        way = [*reversed(folder.parents), folder]
        barred = next((each for each in way if not self.may_enter(each)), folder)
        raise EmbeddedPostgresError(
            f"PostgreSQL does not run as root but as user {self.uid}, who may not enter {barred}: "
            "set BOR_DATA_DIR to a folder that every user can reach, such as /var/lib/brain."
        )

    def check_name(self) -> None:
        """initdb refuses a user without a name, which `docker run --user 12345` makes."""
        try:
            pwd.getpwuid(self.uid)
        except KeyError:
            raise EmbeddedPostgresError(
                f"PostgreSQL needs a user with a name, and /etc/passwd has none for {self.uid}: "
                "add it there, run as another user, or set BOR_DATABASE_URL."
            ) from None

    def make_private(self, folder: Path) -> None:
        """Make a folder for this user alone; in /tmp a stranger may have been there first."""
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
        ours = stat.S_ISDIR(found.st_mode) and found.st_uid in {self.uid, os.geteuid()}
        if not ours or found.st_mode & 0o077:
            raise EmbeddedPostgresError(
                f"{folder} is not a private folder of ours: remove it and start again."
            )
        if found.st_uid != self.uid:
            os.chown(folder, self.uid, self.gid)


def make_way(folder: Path) -> None:
    """Make a folder and its missing parents: private, but passable when root steps down."""
    for each in [*reversed(folder.parents), folder]:
        if not each.exists():
            each.mkdir(exist_ok=True)
            each.chmod(0o711 if os.geteuid() == 0 else 0o700)
