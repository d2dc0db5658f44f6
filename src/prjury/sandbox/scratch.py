"""Directories that untrusted programs may fill with anything, and that go away all the same."""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import stat
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def scratch(prefix: str = "prjury-") -> Iterator[Path]:
    """A fresh directory that only this user can enter, removed at the end.

    The end may be that of the interpreter: a judge's thread is a daemon, Ctrl-C does not unwind it.
    Whoever ends the process by `os._exit` calls the handlers of `atexit` first.
    """
    place = Path(tempfile.mkdtemp(prefix=prefix))
    cleaning = functools.partial(_remove_alone, place, threading.Lock())
    atexit.register(cleaning)
    try:
        yield place
    finally:
        # In this order: at Ctrl-C the process may end as soon as no handler is left.
        cleaning()
        atexit.unregister(cleaning)


def _remove_alone(place: Path, lock: threading.Lock) -> None:
    """The judge's thread and the end of the process may both be about to remove the directory."""
    with lock:
        remove(place)


def remove(place: Path) -> bool:
    """Removes a directory with all it holds; whether nothing is left.

    Directories may be thousands of levels deep, so nothing here recurses or uses long paths: each
    directory is first moved to the top, under a number. Ones without permissions get them back.
    """
    waiting = [place]
    numbers = iter(range(1 << 62))
    emptied: list[Path] = []
    while waiting:
        directory = waiting.pop()
        emptied.append(directory)
        with contextlib.suppress(OSError):
            waiting.extend(_empty(directory, place, numbers))
    for directory in reversed(emptied):
        with contextlib.suppress(OSError):
            directory.rmdir()
    return not place.exists()


def _empty(directory: Path, top: Path, numbers: Iterator[int]) -> list[Path]:
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
