"""What the operator asks for, and the environment of the run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from prjury.git.open_snapshot import SnapshotRequest
from prjury.policy.load import POLICY_PATH, Policy
from prjury.ports import Evidence, NoRecorder, Progress, Recorder, SilentProgress
from prjury.report.model import Dismissal, EarlierVotes, Override
from prjury.report.redact import Redact
from prjury.report.sanitise import BY_SHAPE


@dataclass(frozen=True)
class ReviewRequest:
    """What the operator asks for.

    Attributes:
        wanted: which pull request.
        config: a policy file of the operator's own; without it the base commit's is in force.
        policy_path: where the base commit's policy stands.
        build: whether builds may run.
        models: whether model-backed judges may be asked.
        model: a model by name, ``provider:name``.
        offline: no network at all.
        timeout: seconds for all judges together; the policy's ``limits.wall`` if None.
        backport_to: branches beyond those that the policy names.
        trusts_policy: whether the base's policy is trusted: it may then say where models are
            reached and with which key.
        override: the word of somebody with write access on this head, which opens the gate.
        dismissals: the findings that a maintainer has dismissed.
        asks_fix: whether the repair is asked for, which an enabled `fix` waits for by default.
        said: the models' votes of an earlier run, reused for the same change and policy.
        actor: who started this run; None if unknown.
        evidence: the evidence of a build elsewhere, where the policy takes the build from it.
        record: a file that keeps what the models answer; nothing is then taken from memory.
        workflow: the file of the workflow that runs this, which is the change's own.
    """

    wanted: SnapshotRequest = field(default_factory=SnapshotRequest)
    config: Path | None = None
    policy_path: str = POLICY_PATH
    build: bool = True
    models: bool = True
    model: str | None = None
    offline: bool = False
    timeout: float | None = None
    backport_to: tuple[str, ...] = ()
    trusts_policy: bool = False
    override: Override | None = None
    dismissals: tuple[Dismissal, ...] = ()
    asks_fix: bool = True
    said: EarlierVotes | None = None
    actor: str | None = None
    evidence: Evidence | None = None
    record: Path | None = None
    workflow: str | None = None


@dataclass(frozen=True)
class RunEnvironment:
    """The environment of a run.

    Attributes:
        environ: the operator's environment.
        redact: removes secrets from everything that leaves this machine.
        begun: is called with the policy in force before anything is judged.
    """

    environ: Mapping[str, str] = field(default_factory=dict)
    progress: Progress = field(default_factory=SilentProgress)
    redact: Redact = BY_SHAPE
    begun: Callable[[Policy], None] = lambda _policy: None
    journal: Recorder = field(default_factory=NoRecorder)
