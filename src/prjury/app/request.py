"""What an operator asks for, and what a run finds around it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from prjury.git.open_snapshot import SnapshotRequest
from prjury.policy.load import POLICY_PATH, Policy
from prjury.ports import Evidence, Progress, SilentProgress
from prjury.report.model import EarlierVotes, Override
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
        trusts_policy: whether the base's policy is the operator's own word: it may then say where
            models are reached and with which key.
        override: a label that somebody with the right to write has put on this very head; it opens
            the gate if it is the policy's.
        said: what models said before, which counts again of the same change under the same policy.
        actor: whose act started this run; None where nobody says.
        evidence: what a build elsewhere has left behind, where the policy takes the build from it.
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
    said: EarlierVotes | None = None
    actor: str | None = None
    evidence: Evidence | None = None


@dataclass(frozen=True)
class RunEnvironment:
    """What a run finds around it.

    Attributes:
        environ: the operator's environment.
        progress: hears what is going on.
        redact: takes secrets out of whatever leaves this machine.
        begun: hears by which policy is judged, before anything is.
    """

    environ: Mapping[str, str] = field(default_factory=dict)
    progress: Progress = field(default_factory=SilentProgress)
    redact: Redact = BY_SHAPE
    begun: Callable[[Policy], None] = lambda _policy: None
