"""The stage build: run what the change brings, without a secret, and leave evidence behind."""

from __future__ import annotations

from prjury.app import steps
from prjury.app.composition import build_ports, builds, commands
from prjury.app.request import ReviewRequest, RunEnvironment
from prjury.errors import ConfigError
from prjury.git.open_snapshot import NothingToReview
from prjury.judges.builds.stage import BuiltEvidence, build_evidence
from prjury.resources import program_version


def build(request: ReviewRequest, environment: RunEnvironment) -> BuiltEvidence | NothingToReview:
    """Build the merged tree, wherever the policy says that builds come from: this is that place."""
    with steps.open_change(request) as change:
        if isinstance(change, NothingToReview):
            return change
        options, others = builds(change.config), commands(change.config)
        if len(options) > 1 or not (options or others):
            raise ConfigError(
                f"the policy has {len(options) or 'no'} build judges, and this stage needs one",
                remedy="Add one, such as `judges: [merge, build]`, or name another with --config",
            )
        store = change.snapshot.store
        hidden = (store.operator.common_dir,)
        ports = build_ports(environment, change.config, store, lend=(), hidden=hidden)
        try:
            context, build = change.start_clock(), options[0] if options else None
            return build_evidence(build, ports, context, program_version(), others)
        finally:
            ports.progress.close()
