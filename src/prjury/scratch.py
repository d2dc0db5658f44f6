"""Scratch directories, of which nothing is left however this process ends.

Ctrl-C unwinds the main thread alone: threads of judges and their programs go on. At the end those
are killed, no directory is made any more, and what there is gets removed until it stays away.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import functools
import os
import re
import shutil
import stat
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from prjury.errors import CannotJudgeError
from prjury.processes import kill_by_environment

NEW_FILE_MODE = 0o644
_SECONDS_TO_END = 5.0
#: Directories that this program makes, and locks as long as it lives.
_OURS = re.compile(
    r"prjury-((agent|demo|index|fetch|model|remote|store|packs)-)?[a-z0-9_]{8}", re.ASCII
)
#: Seconds after which a directory that nobody has locked is nobody's.
_NEW = 60.0


class _Scratches:
    """The scratch directories of this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._places: dict[Path, int] = {}
        self._ended = False
        atexit.register(self.kill_writers_and_remove_all)

    def make_and_lock(self, prefix: str) -> tuple[Path, int]:
        """Make and lock a directory; CannotJudgeError when the process is about to end."""
        with self._lock:
            if self._ended:
                raise CannotJudgeError("the run was interrupted", reason="interrupted")
            sweep(tempfile.gettempdir())
            place = Path(tempfile.mkdtemp(prefix=prefix))
            self._places[place] = _open_and_lock_directory(place)
            return place, self._places[place]

    def forget(self, place: Path) -> None:
        """Leave a directory to another program, which removes it."""
        with self._lock:
            if place in self._places:
                os.close(self._places.pop(place))

    def kill_writers_and_remove_all(self) -> None:
        """Remove all directories, until nothing writes into them any more."""
        with self._lock:
            self._ended = True
            places = set(self._places)
        until = time.monotonic() + _SECONDS_TO_END
        while places and time.monotonic() < until:
            kill_by_environment([str(place) for place in places], seconds=2)
            for place in places:
                remove_directory(place)
            time.sleep(0.02)  # for threads that were about to write
            places = {place for place in places if place.exists()}


_SCRATCHES = _Scratches()


@contextlib.contextmanager
def scratch(prefix: str = "prjury-", *, later: bool = False) -> Iterator[Path]:
    """Make a directory for this user alone, and remove it; ``later`` does not wait for that."""
    place, lock = _SCRATCHES.make_and_lock(prefix)
    try:
        yield place
    finally:
        remove_in_background(place, lock) if later else remove_directory(place)
        _SCRATCHES.forget(place)


#: Twice as fast as `remove_directory`, and beside it; what forbids its removal is made to allow it.
_REMOVE = 'rm -rf -- "$1" || { chmod -R u+rwX -- "$1"; rm -rf -- "$1"; }'


def remove_in_background(place: Path, lock: int | None = None) -> None:
    """Start a program that removes a directory, and keeps its lock meanwhile; do not wait."""
    if not shutil.which("rm", path=os.defpath):
        remove_directory(place)
        return
    silent = subprocess.DEVNULL
    try:
        removing = subprocess.Popen(  # noqa: S603 - a directory of our own
            ["/bin/sh", "-c", _REMOVE, "sh", str(place)],
            env={"PATH": os.defpath},  # a runner ends what bears its mark with the job
            stdin=silent,
            stdout=silent,
            stderr=silent,
            start_new_session=True,
            pass_fds=() if lock is None else (lock,),
        )
    except OSError:
        remove_directory(place)
    else:
        threading.Thread(target=removing.wait, daemon=True).start()


def remove_directory(place: Path) -> bool:
    """Remove a directory with all it holds; return true if nothing is left.

    It may be thousands of levels deep, so nothing here recurses or uses long paths: each directory
    is first moved to the top. Ones without permissions get them back.
    """
    waiting = [place]
    numbers = iter(range(1 << 62))
    emptied: list[Path] = []
    while waiting:
        directory = waiting.pop()
        emptied.append(directory)
        with contextlib.suppress(OSError):
            waiting.extend(_unlink_and_hoist(directory, place, numbers))
    for directory in reversed(emptied):
        with contextlib.suppress(OSError):
            directory.rmdir()
    return not place.exists()


def _unlink_and_hoist(directory: Path, top: Path, numbers: Iterator[int]) -> list[Path]:
    """Deletes the files of a directory and moves its directories to the top."""
    directory.chmod(stat.S_IRWXU)
    with os.scandir(directory) as listing:
        entries = list(listing)
    moved = []
    for entry in entries:
        with contextlib.suppress(OSError):
            if entry.is_dir(follow_symlinks=False):
                moved.append(_hoist(Path(entry.path), top, numbers))
            else:
                Path(entry.path).unlink()
    return moved


def _hoist(directory: Path, top: Path, numbers: Iterator[int]) -> Path:
    directory.chmod(stat.S_IRWXU)
    target = next(path for number in numbers if not os.path.lexists(path := top / f".{number}"))
    return directory.rename(target)


@functools.cache
def sweep(directory: str) -> None:
    """Have removed, once, what runs that were killed have left in a directory."""
    with contextlib.suppress(OSError), os.scandir(directory) as entries:
        for entry in entries:
            if _OURS.fullmatch(entry.name):
                with contextlib.suppress(OSError):  # it is locked, or gone
                    _remove_if_abandoned(entry)


def _remove_if_abandoned(entry: os.DirEntry[str]) -> None:
    status = entry.stat(follow_symlinks=False)
    mine = stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid()
    if mine and time.time() - status.st_ctime > _NEW:
        lock = _open_and_lock_directory(Path(entry.path))
        remove_in_background(Path(entry.path), lock)
        os.close(lock)


def _open_and_lock_directory(place: Path) -> int:
    """Open a directory, and lock it as long as this process lives; OSError if another one has."""
    descriptor = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def replace_file(path: Path, data: bytes) -> None:
    """Put a file in place as a whole: a reader sees the old content or the new one."""
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name[:100]}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fchmod(file.fileno(), NEW_FILE_MODE)
            os.fsync(file.fileno())
        Path(temporary).replace(path)
    finally:
        Path(temporary).unlink(missing_ok=True)
