"""Checks of what each job may do: all that its work needs, and nothing beside a change's code."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from prjury.doctor.finding import Diagnosis, problem, warning
from prjury.doctor.setup import BACKPORT, COMMENT, CONFLICTS, ActionUse, Setup
from prjury.manifests.workflow import ALL, Permissions

_SECRET = re.compile(r"\bsecrets\s*(\.\s*(?!GITHUB_TOKEN\b)\w+|\[)", re.IGNORECASE)
_WORKS = "it cannot work"
_TELLS = {
    "pull-requests: write": "it cannot comment",
    "checks: write": "it cannot annotate lines",
}
_REUSES = dict.fromkeys(
    ("actions: read", "pull-requests: read", "statuses: read"),
    "it cannot reuse the verdict on the pull request",
)
#: By the work of a job, the permissions that it needs, and what it cannot do without each.
_NEEDED: Mapping[str, Mapping[str, str]] = {
    "review": {"contents: read": _WORKS, **_TELLS},
    "queue": {"contents: read": _WORKS, **_REUSES},
    "elsewhere": {"contents: read": _WORKS},
    "build": {"contents: read": _WORKS},
    "collect": {
        **dict.fromkeys(
            ("contents: read", "actions: read", "checks: read", "pull-requests: read"), _WORKS
        ),
        "statuses: read": "it cannot read what other checks say by status",
    },
    "decide": {},
    "publish": {
        "statuses: write": _WORKS,
        **_TELLS,
        "actions: read": "it cannot say which run it reports on",
    },
    CONFLICTS: {
        "contents: read": _WORKS,
        **_TELLS,
        "statuses: write": "it cannot keep the status true where that is the gate",
    },
    BACKPORT: {"contents: write": _WORKS, "pull-requests: write": _WORKS},
    COMMENT: {
        "pull-requests: write": _WORKS,
        "actions: write": "it cannot start a run again",
        "statuses: write": "nobody can override the gate by a comment",
    },
}
#: The work beside which nothing may be written: it runs a change's code, or holds a model's key.
_ALONE = {
    "build": "runs the change's code",
    "review": "runs the change's code",
    "decide": "holds the model's key",
}
#: What a review may write: how it tells its verdict.
_TELLING = frozenset({"pull-requests", "checks", "issues", "statuses", "security-events"})


def check_rights(setup: Setup) -> Iterator[Diagnosis]:
    """Permissions that a job lacks, and those to write where a change's code or a key is."""
    for use in setup.of_modes(*_NEEDED):
        if use.posts_as_app:
            continue  # such a token has the permissions of the app
        permissions = use.job.permissions
        permissions = use.workflow.permissions if permissions is None else permissions
        if permissions is None:
            yield warning(
                use.about,
                f"the job `{use.job.id}` declares no `permissions` and gets the repository's "
                "default, which may be too much or too little; list them as `prjury init` does",
            )
            continue
        for permission, otherwise in _NEEDED[_name_work(use)].items():
            if not _has(permissions, permission):
                tell = problem if otherwise == _WORKS else warning
                yield tell(
                    use.about,
                    f"the job `{use.job.id}` lacks the permission `{permission}`, without which "
                    f"{otherwise}; add it",
                )
        writes = [scope for scope, level in permissions.items() if level == "write"]
        if use.mode == "review":
            writes = [scope for scope in writes if scope not in _TELLING]
        if writes and use.mode in _ALONE:
            name = "write-all" if ALL in writes else f"{writes[0]}: write"
            yield problem(
                use.about,
                f"the job `{use.job.id}` {_ALONE[use.mode]} and has the permission `{name}`, which "
                "it does not need; remove it",
            )


def check_secrets(setup: Setup) -> Iterator[Diagnosis]:
    """Secrets in a job that runs the change's code."""
    for use in setup.of_modes("build"):
        if _has_secret(use):
            yield problem(
                use.about,
                f"the job `{use.job.id}` runs the change's code and is given a secret; "
                "remove it, the judge has the model's key",
            )


def _name_work(use: ActionUse) -> str:
    if use.mode != "review" or use.on_pull_requests:
        return use.mode
    return "queue" if use.in_queue else "elsewhere"


def _has_secret(use: ActionUse) -> bool:
    job = use.job
    places = [use.workflow.env, job.env]
    places += [texts for step in job.steps for texts in (step.env, step.inputs)]
    texts = [text for place in places for text in place.values()]
    texts += [step.run for step in job.steps]
    return job.inherits_secrets or any(map(_SECRET.search, texts))


def _has(permissions: Permissions, permission: str) -> bool:
    scope, _, level = permission.partition(": ")
    levels = {permissions.get(scope), permissions.get(ALL)}
    return bool(levels & {level, "write"})
