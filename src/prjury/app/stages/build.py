"""BUILD: runs what the change brings, holds no secret, and leaves evidence behind."""

from __future__ import annotations

from prjury.app import terms
from prjury.app.composition import build_doors, builds
from prjury.app.policy_in_force import policy_in_force
from prjury.app.request import ReviewRequest, Surroundings
from prjury.errors import ConfigError
from prjury.git.open_snapshot import NothingToReview, photographed
from prjury.judges.builds.stage import Built, built
from prjury.resources import own_version


def build(request: ReviewRequest, surroundings: Surroundings) -> Built | NothingToReview:
    """The untrusted half alone: event -> PullRequest -> build -> evidence.

    It runs whatever source the policy names, for this is where that source comes from.

    Raises:
        PrJuryError: with the exit code that says whose fault it is.
    """
    with photographed(request.wanted) as photo:
        if isinstance(photo, NothingToReview):
            return photo
        policy = policy_in_force(photo.pull, photo.store, request.config, request.policy_path)
        options = builds(policy.config)
        if len(options) != 1:
            raise ConfigError(
                f"the policy seats {len(options) or 'no'} build judges, and one is needed",
                remedy="Seat one, such as `judges: [merge, build]`, or name another with --config",
            )
        doors = build_doors(surroundings, policy.config, photo.store)
        context = terms.context_of(photo.pull, terms.seconds(request, policy.config))
        try:
            return built(options[0], doors, context, own_version())
        finally:
            doors.progress.close()
