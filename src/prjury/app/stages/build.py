"""BUILD: runs what the change brings, holds no secret, and leaves evidence behind."""

from __future__ import annotations

from prjury.app import terms
from prjury.app.composition import build_ports, builds
from prjury.app.policy_in_force import policy_in_force
from prjury.app.request import ReviewRequest, RunEnvironment
from prjury.errors import ConfigError
from prjury.git.open_snapshot import NothingToReview, open_snapshot
from prjury.judges.builds.stage import BuiltEvidence, build_evidence
from prjury.resources import own_version


def build(request: ReviewRequest, environment: RunEnvironment) -> BuiltEvidence | NothingToReview:
    """The untrusted half alone: event -> PullRequest -> build -> evidence.

    It runs whatever source the policy names, for this is where that source comes from.

    Raises:
        PrJuryError: with the exit code that says whose fault it is.
    """
    with open_snapshot(request.wanted) as snapshot:
        if isinstance(snapshot, NothingToReview):
            return snapshot
        policy = policy_in_force(snapshot.pull, snapshot.store, request.config, request.policy_path)
        options = builds(policy.config)
        if len(options) != 1:
            raise ConfigError(
                f"the policy seats {len(options) or 'no'} build judges, and one is needed",
                remedy="Seat one, such as `judges: [merge, build]`, or name another with --config",
            )
        ports = build_ports(environment, policy.config, snapshot.store)
        context = terms.context_of(snapshot.pull, terms.seconds(request, policy.config))
        try:
            return build_evidence(options[0], ports, context, own_version())
        finally:
            ports.progress.close()
