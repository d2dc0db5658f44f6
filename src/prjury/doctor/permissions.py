"""Checks of what each job may do: enough for its work, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from prjury.doctor.finding import Diagnosis, problem, warning
from prjury.doctor.setup import BACKPORT, COMMENT, CONFLICTS, OVERRIDE, ActionUse, Setup
from prjury.manifests.workflow import ALL, Permissions

_SECRET = re.compile(r"\bsecrets\s*(\.\s*(?!GITHUB_TOKEN\b)\w+|\[)", re.IGNORECASE)


@dataclass(frozen=True)
class _Rights:
    """What a job does, and what it needs and may have.

    Attributes:
        harm: what it does, where a right that it does not need would be harmful.
        must: without these it cannot do its work.
        should: without these it leaves something out; what that is.
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
    OVERRIDE: _Rights(
        "only reports the verdict again",
        {"statuses": "write", "actions": "read"},
        _TELL,
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


def _kind(use: ActionUse) -> str:
    """The part of the work; reviews differ by what starts them."""
    if use.mode != "review" or use.on_pull_requests:
        return use.part
    return "queue" if use.in_queue else "elsewhere"


def _given(use: ActionUse) -> Permissions | None:
    if rights := use.app_rights:
        return rights
    job = use.job.permissions
    return use.workflow.permissions if job is None else job


def too_few(setup: Setup) -> Iterator[Diagnosis]:
    """Rights that a job lacks."""
    for use in setup.parts(*_NEEDED):
        given = _given(use)
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


def too_many(setup: Setup) -> Iterator[Diagnosis]:
    """Rights to write that a job does not need."""
    for use in setup.parts(*_NEEDED):
        rights = _NEEDED[_kind(use)]
        wanted = {**rights.must, **{scope: level for scope, (level, _) in rights.should.items()}}
        for scope, level in (_given(use) or {}).items():
            needed = wanted.get(scope) == "write" or scope in rights.may_write
            if level == "write" and not needed:
                found = "write-all" if scope == ALL else f"{scope}: write"
                yield problem(
                    use.about,
                    f"the job `{use.job.id}` {rights.harm} and has the permission `{found}`, "
                    "which it does not need; remove it",
                )


def secrets(setup: Setup) -> Iterator[Diagnosis]:
    """Secrets in a job that has no use for them."""
    for use in setup.parts("build"):
        if _has_secret(use):
            yield problem(
                use.about,
                f"the job `{use.job.id}` runs the change's code and is given a secret; "
                "remove it, the judge has the model's key",
            )
    keyless = ("collect", "publish", OVERRIDE, BACKPORT, CONFLICTS, COMMENT)
    for use in setup.parts(*keyless):
        if use.step.inputs.get("model-api-key"):
            yield problem(
                use.about,
                f"`mode: {use.mode}` asks no model and is given `model-api-key`; give it to "
                "`mode: decide` alone",
            )


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
