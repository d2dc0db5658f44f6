"""What models answered before, kept in a file of this user's; what bases came to, in another.

An answer from the file counts as if a model had given it just now, so the file is believed only
where nobody else can have written it: a plain file of this user's in a directory that is this
user's alone. A symbolic link in the file's place is never followed; to keep the answers
elsewhere, set ``XDG_CACHE_HOME`` or link the directory. A build of untrusted code may run
as this user, so each answer is signed with the models' keys, which no build is given.
"""

from __future__ import annotations

import contextlib
import fcntl
import hmac
import os
import stat
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from prjury.ports import Memory, NoMemory
from prjury.state_directory import private_directory

if TYPE_CHECKING:
    import sqlite3

T = TypeVar("T")
_Work: TypeAlias = "Callable[[sqlite3.Connection], T]"

#: Bytes of the file beyond which the oldest answers are forgotten.
LIMIT = 64 * 1024**2
#: Seconds after which an answer is forgotten, however often it is used: what answers to a model's
#: name changes in time.
LIFETIME = 30 * 86_400.0

#: Part of the file; an older one is begun anew, a newer one is left alone.
_VERSION = 1
_SCHEMA = f"""
    CREATE TABLE answers (
        key BLOB PRIMARY KEY, value BLOB NOT NULL, digest BLOB NOT NULL, written REAL NOT NULL
    );
    CREATE INDEX answers_by_age ON answers (written);
    PRAGMA user_version = {_VERSION};
"""
_SIZE = """
    SELECT (page_count - freelist_count) * page_size
    FROM pragma_page_count, pragma_freelist_count, pragma_page_size
"""
_FORGET_A_TENTH = """
    DELETE FROM answers WHERE key IN (
        SELECT key FROM answers ORDER BY written LIMIT (SELECT 1 + COUNT(*) / 10 FROM answers)
    )
"""
#: Seconds that another process or thread is waited for.
_PATIENCE = 10.0


def memory_at(environ: Mapping[str, str], secret: bytes = b"") -> Memory:
    """The answers below ``$XDG_CACHE_HOME/prjury``, or else below ``~/.cache/prjury``.

    Nothing is remembered where there is no such place, or where it is not this user's.

    Args:
        environ: the operator's environment; a relative path in it does not count.
        secret: signs the answers; those that were signed otherwise are not known.
    """
    place = private_directory(environ, "XDG_CACHE_HOME", ".cache")
    return SqliteMemory(place / "answers.sqlite3", secret=secret) if place else NoMemory()


class SqliteMemory:
    """Answers in an SQLite file that many threads and processes may use at once.

    It never fails: what cannot be read is not known, and what cannot be written is forgotten.
    Everybody who uses the file holds its directory's lock, and who throws it away, because it is
    damaged, holds it alone.

    Args:
        path: the file, in a directory that is there and that only this user may write to.
        now: seconds since the epoch.
        limit: bytes of the file.
        secret: signs the answers; without one they are only proof against a failing disk.
    """

    def __init__(
        self,
        path: Path,
        now: Callable[[], float] = time.time,
        limit: int = LIMIT,
        secret: bytes = b"",
    ) -> None:
        self._path = path
        self._now = now
        self._limit = limit
        self._secret = secret
        self._writing = threading.Lock()

    def recall(self, key: str) -> str | None:
        """Return what was kept under the key, if it is still as it was written."""
        return self._try(lambda connection: self._look_up(connection, _bytes(key)))

    def keep(self, key: str, value: str) -> None:
        """Keeps it, if that can be had."""
        # Threads take turns here, for SQLite lets only one of them in and the others time out.
        with self._writing:
            self._try(lambda connection: self._store(connection, _bytes(key), _bytes(value)))

    def _look_up(self, connection: sqlite3.Connection, key: bytes) -> str | None:
        row = connection.execute(
            "SELECT value, digest, written FROM answers WHERE key = ?", (key,)
        ).fetchone()
        if row is None:
            return None
        value, digest, written = row
        if not isinstance(value, bytes) or not self._is_signed(key, value, written, digest):
            return None  # somebody else, or the disk, has changed it: SQLite does not notice
        if written < self._now() - LIFETIME:
            return None
        return value.decode("utf-8", "surrogatepass")

    def _store(self, connection: sqlite3.Connection, key: bytes, value: bytes) -> None:
        now = float(self._now())
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(
            "REPLACE INTO answers VALUES (?, ?, ?, ?)",
            (key, value, self._digest(key, value, now), now),
        )
        connection.execute("DELETE FROM answers WHERE written < ?", (now - LIFETIME,))
        while connection.execute(_SIZE).fetchone()[0] > self._limit:
            if not connection.execute(_FORGET_A_TENTH).rowcount:
                break
        connection.execute("COMMIT")

    def _is_signed(self, key: bytes, value: bytes, written: object, digest: object) -> bool:
        if not isinstance(digest, bytes) or not isinstance(written, float):
            return False
        return hmac.compare_digest(self._digest(key, value, written), digest)

    def _digest(self, key: bytes, value: bytes, written: float) -> bytes:
        head = f"{len(key)} {written!r} ".encode()
        return hmac.digest(self._secret, head + key + value, "sha256")

    def _try(self, work: _Work[T]) -> T | None:
        """The work's result; the file is made where it is missing, and again if it is damaged."""
        try:
            import sqlite3  # noqa: PLC0415 - costs start-up time, and some Pythons lack it
        except ImportError:
            return None
        try:
            with self._lock() as hold:
                hold(fcntl.LOCK_SH)
                try:
                    return self._done(work)
                except sqlite3.DatabaseError as error:
                    if not _tells_damage(error):
                        return None
                hold(fcntl.LOCK_EX)
                self._throw_away()
                return self._done(work)
        except (OSError, sqlite3.Error):
            return None

    def _done(self, work: _Work[T]) -> T | None:
        """The work's result, None where the file is not ours or a newer program's.

        Raises:
            OSError, sqlite3.Error: when the file cannot be made or used.
        """
        import sqlite3  # noqa: PLC0415 - costs start-up time

        if not self._is_ours():
            return None
        with _open(self._path) as connection:
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            if version < _VERSION:
                raise sqlite3.DatabaseError("older than this program")
            return work(connection) if version == _VERSION else None

    def _is_ours(self) -> bool:
        if not os.path.lexists(self._path):
            _lay_out(self._path)
        # Not opened to look: closing it would drop the locks that other threads have on it.
        status = self._path.lstat()
        return stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid()

    def _throw_away(self) -> None:
        for suffix in ("-wal", "-shm", ""):
            self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)

    @contextlib.contextmanager
    def _lock(self) -> Iterator[Callable[[int], None]]:
        """Takes the directory's lock in a mode of `fcntl.flock`, as often as it is called."""
        directory = os.open(self._path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            yield lambda mode: _held(directory, mode)
        finally:
            os.close(directory)


@contextlib.contextmanager
def _open(path: Path) -> Iterator[sqlite3.Connection]:
    import sqlite3  # noqa: PLC0415 - costs start-up time

    connection = sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None)
    try:
        yield connection
    finally:
        connection.close()


def _lay_out(path: Path) -> None:
    """Puts an empty database in its place, unless somebody else was faster."""
    descriptor, name = tempfile.mkstemp(prefix=f"{path.name}.", dir=path.parent)
    os.close(descriptor)
    try:
        with _open(Path(name)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.executescript(_SCHEMA)
        with contextlib.suppress(FileExistsError):
            os.link(name, path)
    finally:
        Path(name).unlink()


def _held(directory: int, mode: int) -> None:
    """Takes the lock, or changes its mode.

    Raises:
        BlockingIOError: when it cannot be had soon.
    """
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            return fcntl.flock(directory, mode | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= until:
                raise
            time.sleep(0.005)


def _tells_damage(error: sqlite3.DatabaseError) -> bool:
    import sqlite3  # noqa: PLC0415 - costs start-up time

    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_NOTADB) & 0xFF
    return code in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR}


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
