"""What a judge of pull requests is asked about."""

from __future__ import annotations

from dataclasses import dataclass, field

from prjury.deadline import Deadline
from prjury.jury.context import JudgmentContext
from prjury.pull.model import PullRequest


@dataclass(frozen=True)
class PullRequestContext(JudgmentContext):
    """A judgment context with the photograph of a pull request and the time that is left."""

    pull: PullRequest = field(kw_only=True)
    deadline: Deadline = field(kw_only=True)
