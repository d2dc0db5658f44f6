"""What the operator asks for, and the environment of the run."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import BinaryIO

from msgspec import Struct, field

from prjury.errors import CannotJudgeError
from prjury.git.open_snapshot import SnapshotRequest
from prjury.policy import POLICY_PATH
from prjury.policy.load import Policy
from prjury.ports import Evidence, NoRecorder, Progress, Recorder, SilentProgress
from prjury.report.model import Dismissal, EarlierVotes, Override
from prjury.report.sanitise import BY_SHAPE, Redact
from prjury.snapshot.model import visible

#: Bytes; the evidence of a very large build stays below it.
LARGEST = 64 * 1024**2


class ReviewRequest(Struct, frozen=True):
    """What the operator asks for."""

    target: SnapshotRequest = field(default_factory=SnapshotRequest)
    #: A policy file of the operator's own; without it the base commit's is in force.
    config: Path | None = None
    policy_path: str = POLICY_PATH
    build: bool = True
    models: bool = True
    model: str | None = None
    offline: bool = False
    #: Seconds for all judges together; the policy's ``limits.wall`` if None.
    timeout: float | None = None
    backport_to: tuple[str, ...] = ()
    #: Whether the base's policy is trusted: it may then say where models are reached and with which
    #: key.
    trusts_policy: bool = False
    override: Override | None = None
    dismissals: tuple[Dismissal, ...] = ()
    #: Whether the repair is asked for, which an enabled `fix` waits for by default.
    asks_fix: bool = True
    #: The models' votes of an earlier run, reused for the same change and policy.
    earlier_votes: EarlierVotes | None = None
    actor: str | None = None
    evidence: Evidence | None = None
    #: A file that keeps what the models answer; nothing is then taken from memory.
    record: Path | None = None
    #: The file of the workflow that runs this, which is the change's own.
    workflow: str | None = None


class RunEnvironment(Struct, frozen=True):
    """The environment of a run."""

    environ: Mapping[str, str] = field(default_factory=dict)
    progress: Progress = field(default_factory=SilentProgress)
    redact: Redact = BY_SHAPE
    #: Is called with the policy in force before anything is judged.
    begun: Callable[[Policy], None] = lambda _policy: None
    journal: Recorder = field(default_factory=NoRecorder)


class EvidenceFile(Struct, frozen=True):
    """The evidence of a build elsewhere, in a file (`prjury.ports.Evidence`)."""

    path: Path

    def __str__(self) -> str:
        return str(self.path)

    def read_evidence_bytes(self) -> bytes:
        shown = visible(str(self.path))
        try:
            return read_regular_file(self.path, LARGEST)
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


def read_regular_file(path: Path, largest: int) -> bytes:
    """The bytes of a regular file, no link; an OSError's `strerror` is a phrase for people."""
    with open_regular_file(path) as file:
        content = file.read(largest + 1)
    if len(content) > largest:
        raise OSError(errno.EFBIG, f"it is larger than {largest // 1024**2} MiB")
    return content


def open_regular_file(path: Path) -> BinaryIO:
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
    return os.fdopen(descriptor, "rb")
