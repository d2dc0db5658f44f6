"""Files that another job has left behind: not followed if links, not too large, the right ones."""

from __future__ import annotations

import errno
import hashlib
import hmac
import os
import stat
from pathlib import Path

from msgspec import Struct

from prjury.errors import CannotJudgeError, SourceError
from prjury.snapshot.model import visible

#: Bytes; the evidence of a very large build stays below it.
LARGEST = 64 * 1024**2

#: The modes of the action that make the files.
MAKERS = {"evidence": "mode: collect", "verdict": "mode: decide"}


def read_artifact_file(path: Path, what: str, digest: str | None, largest: int) -> bytes:
    try:
        content = _read_regular_file(path, largest)
    except FileNotFoundError as error:
        raise SourceError(
            f"There is no {visible(path.name)}",
            why=f"`{MAKERS[what]}` makes it: that was not run here, or its job in the workflow has "
            "failed, was cancelled or did not upload it",
            remedy=f"Look at the job with `{MAKERS[what]}`, then run the workflow again",
            reason=f"{what}_missing",
        ) from error
    except OSError as error:
        raise _make_refusal(path, what, error.strerror or str(error)) from error
    expected = None if digest is None else digest.strip().removeprefix("sha256:").lower()
    if expected is not None and not hmac.compare_digest(sha256(content), expected):
        raise _make_refusal(path, what, "it is not the file that the job before has made")
    return content


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


class EvidenceFile(Struct, frozen=True):
    """The evidence of a build elsewhere, in a file (`prjury.ports.Evidence`)."""

    path: Path

    def __str__(self) -> str:
        return str(self.path)

    def read(self) -> bytes:
        shown = visible(str(self.path))
        try:
            return _read_regular_file(self.path, LARGEST)
        except FileNotFoundError as error:
            raise CannotJudgeError(
                f"there is no evidence at {shown}",
                why="`prjury build` was not run, or its file was not brought here",
                remedy="run `prjury build` first, and name the file that it writes",
                reason="evidence_missing",
            ) from error
        except OSError as error:
            raise CannotJudgeError(
                f"the evidence {shown} is refused",
                why=error.strerror or str(error),
                remedy="name the file that `prjury build` has written",
                reason="evidence_invalid",
            ) from error


def _read_regular_file(path: Path, largest: int) -> bytes:
    """The bytes of a regular file, no link; an OSError's `strerror` is a phrase for people."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        descriptor = os.open(path, flags)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OSError(errno.ELOOP, "it is a link") from error
        raise
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is not a regular file")
    with os.fdopen(descriptor, "rb") as file:
        content = file.read(largest + 1)
    if len(content) > largest:
        raise OSError(errno.EFBIG, f"it is larger than {largest // 1024**2} MiB")
    return content


def _make_refusal(path: Path, what: str, why: str) -> SourceError:
    return SourceError(
        f"The {what} in {visible(path.name)} is refused: {why}",
        why="It was replaced, or the jobs of the workflow are not those of the examples",
        remedy=f"Name the file that `{MAKERS[what]}` has written, or run the workflow again",
        reason=f"{what}_invalid",
    )
