"""A file that another job has handed over: found, not followed, not too large, and the very one."""

from __future__ import annotations

import hashlib
import hmac
import os
import stat
from pathlib import Path

from prjury.errors import SourceError
from prjury.snapshot.model import visible


def read_artifact_file(path: Path, what: str, digest: str | None, largest: int) -> bytes:
    """The file's bytes.

    Args:
        what: what it holds, for messages, such as ``"evidence"``.
        digest: the sha256 that it must have, 64 hex digits, maybe after ``sha256:``; None where
            nobody told.
        largest: bytes.

    Raises:
        SourceError: ``…_missing`` or ``…_invalid``.
    """
    try:
        content = _read(path, largest + 1)
    except FileNotFoundError as error:
        raise SourceError(
            f"There is no {visible(path.name)}",
            why="The job that makes it has failed, was cancelled, or did not hand it over",
            remedy="See what became of that job, and run the workflow again",
            reason=f"{what}_missing",
        ) from error
    except OSError as error:
        raise _refused(path, what, error.strerror or "it is a link") from error
    if len(content) > largest:
        raise _refused(path, what, f"it is larger than {largest // 1024**2} MiB")
    told = None if digest is None else digest.strip().removeprefix("sha256:").lower()
    if told is not None and not hmac.compare_digest(sha256(content), told):
        raise _refused(path, what, "it is not the file that the job before has made")
    return content


def sha256(content: bytes) -> str:
    """The digest, 64 hex digits."""
    return hashlib.sha256(content).hexdigest()


def _read(path: Path, size: int) -> bytes:
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    descriptor = os.open(path, flags)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(0, "it is not a regular file")
        return file.read(size)


def _refused(path: Path, what: str, why: str) -> SourceError:
    return SourceError(
        f"The {what} in {visible(path.name)} is refused: {why}",
        why="It was replaced, or the jobs of the workflow are not those of the examples",
        remedy="Run the workflow again",
        reason=f"{what}_invalid",
    )
