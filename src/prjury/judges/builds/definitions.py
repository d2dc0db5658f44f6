"""The files that say what is run elsewhere for a change. Pure."""

from __future__ import annotations

import re

from prjury.jury.judgment import Judgment, Status
from prjury.snapshot.model import PullRequest, visible

#: Whoever edits one of these chooses the checks that judge him, or the build whose word is taken.
_DEFINITIONS = re.compile(
    r"""\A(
      \.(github/(workflows|actions)|circleci|buildkite|woodpecker|semaphore|tekton|cirrus)/.*
    | (.*/)?action\.ya?ml
    | (.*/)?Jenkinsfile[^/]*
    | \.?(gitlab-ci|travis|cirrus|drone|woodpecker|appveyor|azure-pipelines|bitbucket-pipelines
        |cloudbuild|buildspec|codefresh)\.(ya?ml|star)
    )\Z""",
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)


def unless_edited(judgment: Judgment, pull: PullRequest) -> Judgment:
    """The judgment, or none where a PASS would be the word of what the change has written itself.

    What runs elsewhere for a change is what the change's own files say.
    """
    paths = (path for file in pull.files for path in (file.path, file.old_path) if path)
    edited = next(filter(_DEFINITIONS.match, paths), None)
    if edited is None or judgment.status is not Status.PASS:
        return judgment
    return Judgment.abstained(
        f"this change edits {visible(edited)}, which says what is run elsewhere; all passed there, "
        f"as it does for whoever rewrites it, so look at it. {judgment.reasoning}",
        "build_changed",
        checks=judgment.checks,
        metadata={**judgment.metadata, "reason": "build_changed"},
    )
