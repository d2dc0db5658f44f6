"""What models answered before, and what bases came to, each in a directory of this user's.

An answer from a file counts as if a model had given it just now, so a file is believed only where
nobody else can have written it: a plain file of this user's in a directory that is this user's
alone. A build of untrusted code may run as this user, so each answer is signed with the models'
keys, which no build is given.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import stat
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from prjury.ports import Memory, NoMemory
from prjury.state_directory import make_private_directory

#: Bytes of all answers, beyond which the oldest are forgotten.
LIMIT = 64 * 1024**2
#: Seconds after which an answer is forgotten: what answers to a model's name changes in time.
LIFETIME = 30 * 86_400.0


def memory_at(environ: Mapping[str, str], secret: bytes = b"") -> Memory:
    """Return the answers below ``$XDG_CACHE_HOME/prjury``, or else below ``~/.cache/prjury``."""
    place = make_private_directory(environ, "XDG_CACHE_HOME", ".cache")
    return CheckedFileMemory(place / "answers", secret=secret) if place else NoMemory()


class CheckedFileMemory:
    """One file an answer, which threads and processes replace as a whole, up to a limit of bytes.

    It never fails: what cannot be read is not known, and what cannot be written is forgotten.
    Without a secret that signs them answers are only proof against a failing disk.
    """

    def __init__(
        self,
        place: Path,
        now: Callable[[], float] = time.time,
        limit: int = LIMIT,
        secret: bytes = b"",
    ) -> None:
        self._place, self._now, self._limit, self._secret = place, now, limit, secret
        self._lock = threading.Lock()
        self._unswept = limit

    def recall(self, key: str) -> str | None:
        """Return what was kept under the key, if it is still as it was written."""
        try:
            signature, written, value = _read_plain_file(self._file(key)).split(b"\n", 2)
            is_signed = hmac.compare_digest(self._sign(key, written, value), signature)
            if not is_signed or float(written) < self._now() - LIFETIME:
                return None
            return value.decode("utf-8", "surrogatepass")
        except (OSError, ValueError):
            return None

    def keep(self, key: str, value: str) -> None:
        content, written = _encode(value), repr(float(self._now())).encode()
        with contextlib.suppress(OSError):
            self._place.mkdir(mode=0o700, exist_ok=True)
            descriptor, name = tempfile.mkstemp(dir=self._place)
            try:
                with os.fdopen(descriptor, "wb") as file:
                    file.write(b"\n".join((self._sign(key, written, content), written, content)))
                Path(name).replace(self._file(key))
            except OSError:
                Path(name).unlink()
                raise
            self._delete_old_sometimes(len(content))

    def _file(self, key: str) -> Path:
        return self._place / hashlib.sha256(_encode(key)).hexdigest()

    def _sign(self, key: str, written: bytes, value: bytes) -> bytes:
        head = hashlib.sha256(_encode(key)).digest()
        return hmac.new(self._secret, head + written + b"\n" + value, "sha256").hexdigest().encode()

    def _delete_old_sometimes(self, written_bytes: int) -> None:
        """Forget the old, and the oldest beyond the limit; now and then."""
        with self._lock:
            self._unswept += written_bytes
            if self._unswept < self._limit // 16:
                return
            self._unswept = 0
        files = []
        with os.scandir(self._place) as entries:
            for entry in entries:
                with contextlib.suppress(FileNotFoundError):  # another process sweeps as well
                    files.append((entry.stat(follow_symlinks=False), Path(entry.path)))
        total, now = 0, time.time()
        for status, path in sorted(files, key=lambda item: -item[0].st_mtime_ns):
            total += status.st_size
            if total > self._limit or status.st_mtime < now - LIFETIME:
                path.unlink(missing_ok=True)


def _read_plain_file(path: Path) -> bytes:
    """Return the bytes of a plain file of this user's; no link is followed, no pipe waited for."""
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid():
            raise PermissionError(path)
        return file.read()


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
