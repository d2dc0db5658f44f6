"""What the operator asks for, and the environment of the run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec import Struct, field

from prjury.git.open_snapshot import SnapshotRequest
from prjury.policy.load import POLICY_PATH, Policy
from prjury.ports import Evidence, NoRecorder, Progress, Recorder, SilentProgress
from prjury.report.model import Dismissal, EarlierVotes, Override
from prjury.report.sanitise import BY_SHAPE, Redact


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
