"""The file that a build elsewhere has left behind, read without harm."""

from __future__ import annotations

import errno
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from prjury.errors import CannotJudgeError
from prjury.snapshot.model import visible

#: Bytes; the evidence of a very large build stays below it.
LARGEST = 64 * 1024**2


@dataclass(frozen=True)
class EvidenceFile:
    """The evidence in a file (`prjury.ports.Evidence`).

    A link is not followed, and nothing but a regular file is opened: it may come out of an artifact
    that somebody else has packed.
    """

    path: Path

    def __str__(self) -> str:
        return str(self.path)

    def read(self) -> bytes:
        """All of it.

        Raises:
            CannotJudgeError: ``evidence_missing`` or ``evidence_invalid``.
        """
        try:
            with open(self._descriptor(), "rb") as file:  # noqa: PTH123 - a descriptor, so that it is no link
                content = file.read(LARGEST + 1)
        except FileNotFoundError as error:
            raise CannotJudgeError(
                f"there is no evidence at {visible(str(self.path))}",
                why="`prjury build` was not run, or its file was not brought here",
                remedy="run `prjury build` first, and name the file that it writes",
                reason="evidence_missing",
            ) from error
        except OSError as error:
            link = error.errno == errno.ELOOP
            raise self._refused("it is a link" if link else error.strerror or str(error)) from error
        if len(content) > LARGEST:
            raise self._refused(f"it is larger than {LARGEST // 1024**2} MiB")
        return content

    def _descriptor(self) -> int:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        descriptor = os.open(self.path, flags)
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise self._refused("it is not a regular file")
        return descriptor

    def _refused(self, why: str) -> CannotJudgeError:
        return CannotJudgeError(
            f"the evidence {visible(str(self.path))} is refused",
            why=why,
            remedy="name the file that `prjury build` has written",
            reason="evidence_invalid",
        )
