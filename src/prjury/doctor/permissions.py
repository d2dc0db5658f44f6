"""Checks of what each job may do: enough for its work, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from prjury.doctor.finding import Diagnosis, problem, warning
from prjury.doctor.setup import BACKPORT, COMMENT, CONFLICTS, ActionUse, Setup
from prjury.manifests.workflow import ALL, Permissions

_SECRET = re.compile(r"\bsecrets\s*(\.\s*(?!GITHUB_TOKEN\b)\w+|\[)", re.IGNORECASE)


@dataclass(frozen=True)
class _Rights:
    """The work of a job, and the rights that it needs and may have.

    Attributes:
        harm: its work, where a right that it does not need would be harmful.
        must: the rights without which it cannot do its work.
        should: those without which it leaves something out; what that is.
        may_write: the scopes that it may write besides.
    """

    harm: str
    must: Mapping[str, str]
    should: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    may_write: frozenset[str] = frozenset()


_FETCH = {"contents": "read"}
_TELL = {
    "pull-requests": ("write", "it cannot comment"),
    "checks": ("write", "it cannot annotate lines"),
}
_AGAIN = ("read", "it cannot reuse the verdict on the pull request")
_TELLING = frozenset({"issues", "statuses", "security-events"})
_BUILDS = "runs the change's code"

_NEEDED = {
    "review": _Rights(_BUILDS, _FETCH, _TELL, _TELLING),
    "queue": _Rights(
        _BUILDS,
        _FETCH,
        dict.fromkeys(("actions", "pull-requests", "statuses"), _AGAIN),
        _TELLING,
    ),
    "elsewhere": _Rights(_BUILDS, _FETCH, may_write=_TELLING | _TELL.keys()),
    "build": _Rights(_BUILDS, _FETCH),
    "collect": _Rights(
        "only reads",
        {"contents": "read", "actions": "read", "checks": "read", "pull-requests": "read"},
        {"statuses": ("read", "it cannot read what other checks say by status")},
    ),
    "decide": _Rights("holds the model's key", {}),
    "publish": _Rights(
        "only reports the verdict",
        {"statuses": "write"},
        {**_TELL, "actions": ("read", "it cannot say which run it reports on")},
        _TELLING | {"actions"},
    ),
    CONFLICTS: _Rights(
        "only tells of conflicts",
        {"contents": "read"},
        {**_TELL, "statuses": ("write", "it cannot keep the status true where that is the gate")},
        _TELLING,
    ),
    BACKPORT: _Rights(
        "only opens pull requests",
        {"contents": "write", "pull-requests": "write"},
        may_write=frozenset({"issues"}),
    ),
    COMMENT: _Rights(
        "only answers comments",
        {"pull-requests": "write"},
        {
            "actions": ("write", "it cannot start a run again"),
            "statuses": ("write", "nobody can override the gate by a comment"),
        },
        frozenset({"contents", "checks", "issues"}),
    ),
}
_KEYLESS = ("collect", "publish", BACKPORT, CONFLICTS, COMMENT)


def check_rights(setup: Setup) -> Iterator[Diagnosis]:
    """Rights that a job lacks, and rights to write that it does not need."""
    for use in setup.of_modes(*_NEEDED):
        if use.posts_as_app:
            continue  # the rights of such a token are those of the app
        given = _granted(use)
        if given is None:
            yield warning(
                use.about,
                f"the job `{use.job.id}` declares no `permissions` and gets the repository's "
                "default, which may be too much or too little; list them as `prjury init` does",
            )
            continue
        rights = _NEEDED[_kind(use)]
        needed = [(problem, *each, "it cannot work") for each in rights.must.items()]
        needed += [(warning, scope, *each) for scope, each in rights.should.items()]
        for tell, scope, level, otherwise in needed:
            if not _has(given, scope, level):
                yield tell(
                    use.about,
                    f"the job `{use.job.id}` lacks the permission `{scope}: {level}`, without "
                    f"which {otherwise}; add it",
                )
        for scope, level in given.items():
            wanted = rights.must.get(scope) or rights.should.get(scope, ("",))[0]
            if level == "write" and wanted != "write" and scope not in rights.may_write:
                name = "write-all" if scope == ALL else f"{scope}: write"
                yield problem(
                    use.about,
                    f"the job `{use.job.id}` {rights.harm} and has the permission `{name}`, "
                    "which it does not need; remove it",
                )


def check_secrets(setup: Setup) -> Iterator[Diagnosis]:
    """Secrets in a job that has no use for them."""
    for use in setup.of_modes("build"):
        if _has_secret(use):
            yield problem(
                use.about,
                f"the job `{use.job.id}` runs the change's code and is given a secret; "
                "remove it, the judge has the model's key",
            )
    for use in setup.of_modes(*_KEYLESS):
        if use.step.inputs.get("model-api-key"):
            yield problem(
                use.about,
                f"`mode: {use.mode}` asks no model and is given `model-api-key`; give it to "
                "`mode: decide` alone",
            )


def _kind(use: ActionUse) -> str:
    if use.mode != "review" or use.on_pull_requests:
        return use.mode
    return "queue" if use.in_queue else "elsewhere"


def _granted(use: ActionUse) -> Permissions | None:
    job = use.job.permissions
    return use.workflow.permissions if job is None else job


def _has_secret(use: ActionUse) -> bool:
    job = use.job
    places = [use.workflow.env, job.env]
    places += [given for step in job.steps for given in (step.env, step.inputs)]
    texts = [text for place in places for text in place.values()]
    texts += [step.run for step in job.steps]
    return job.inherits_secrets or any(map(_SECRET.search, texts))


def _has(given: Permissions, scope: str, level: str) -> bool:
    held = {given.get(scope), given.get(ALL)}
    return "write" in held or (level == "read" and "read" in held)
