"""The database that the settings name: started where it is our own, migrated, and left as found."""

from collections.abc import Generator
from contextlib import ExitStack, contextmanager

from app.db.migrate import migrate
from app.settings import Settings


@contextmanager
def database(settings: Settings) -> Generator[str]:
    """The URL of a database with the current schema; blocks while it starts."""
    with ExitStack() as stack:
        url = settings.database_url
        if not url:
            # Not every platform that can reach another PostgreSQL can run ours.
            from app.db import embedded  # noqa: PLC0415

            url = stack.enter_context(embedded.start(settings.data_dir)).url
        migrate(url)
        yield url
