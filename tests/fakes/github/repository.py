"""The repository: files, branches and their rules, comparisons, settings."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from urllib.parse import quote

from fakes.github.check_payloads import commit_payload
from fakes.github.exchange import REPO, Answer, Call, Payload, Refusal, Routes
from fakes.github.payloads import HTML, full_repository
from fakes.github.pulls import file_payload

routes = Routes()

CONTENTS = "contents=read"
ADMINISTRATION = "administration=read"
#: Larger files come without their content, and still larger ones not at all.
MOST_IN_JSON, MOST_AT_ALL = 1_048_576, 104_857_600


@routes("GET", REPO)
def get_repository(call: Call) -> Answer:
    more = call.fake.repositories[call.repo]
    return Answer(200, full_repository(call.fake.url, call.repo) | more)


@routes("GET", f"{REPO}/contents/{{path}}", CONTENTS)
def get_contents(call: Call) -> Answer:
    """A file, or what a directory holds."""
    path = call["path"].strip("/")
    tree = call.fake.tree(call.query.get("ref"))
    if path in tree:
        return _file(call, path, tree[path])
    inside = sorted({name for name in tree if name.startswith(f"{path}/")})
    if not inside:
        raise Refusal(404, "Not Found")
    return Answer(200, _directory(call, path, inside, tree))


@routes("GET", f"{REPO}/compare/{{basehead}}", CONTENTS)
def compare(call: Call) -> Answer:
    comparison = call.fake.comparisons.get(call["basehead"])
    if comparison is None:
        raise Refusal(404, "Not Found")
    return Answer(200, comparison_payload(call, comparison))


@routes("GET", f"{REPO}/branches/{{branch}}/protection", ADMINISTRATION)
def get_protection(call: Call) -> Answer:
    _tip(call)
    contexts = call.fake.protections.get(call["branch"])
    if contexts is None:
        raise Refusal(404, "Branch not protected")
    url = f"{call.fake.url}{call.request.route.removeprefix(call.fake.prefix)}"
    checks = f"{url}/required_status_checks"
    required = {
        "url": checks,
        "contexts_url": f"{checks}/contexts",
        "strict": False,
        **_required(contexts),
    }
    return Answer(200, {"url": url, "required_status_checks": required})


@routes("GET", f"{REPO}/branches/{{branch}}", CONTENTS)
def get_branch(call: Call) -> Answer:
    name, sha = call["branch"], _tip(call)
    url = f"{call.fake.url}/repos/{call.repo}/branches/{quote(name)}"
    contexts = call.fake.protections.get(name)
    protected = contexts is not None or bool(call.fake.rules.get(name))
    checks = {"enforcement_level": "non_admins" if contexts else "off", **_required(contexts or {})}
    payload = {
        "name": name,
        "commit": commit_payload(call.fake.url, call.repo, sha),
        "_links": {"self": url, "html": f"{HTML}/{call.repo}/tree/{quote(name)}"},
        "protected": protected,
        "protection": {"enabled": contexts is not None, "required_status_checks": checks},
        "protection_url": f"{url}/protection",
    }
    return Answer(200, payload)


@routes("GET", f"{REPO}/rules/branches/{{branch}}")
def list_rules(call: Call) -> Answer:
    """The rules of rulesets; GitHub also answers for branches that are not there."""
    return call.paged(call.fake.rules.get(call["branch"], []))


@routes("GET", f"{REPO}/actions/permissions/workflow", ADMINISTRATION)
def workflow_permissions(call: Call) -> Answer:
    return Answer(200, call.fake.workflow_permissions)


def rule_payload(repo: str, context: str, app: int | None, number: int) -> Payload:
    """A ruleset's rule that a check has to be green; `app` is the only one that may say so."""
    source = {} if app is None else {"integration_id": app}
    return {
        "type": "required_status_checks",
        "ruleset_source_type": "Repository",
        "ruleset_source": repo,
        "ruleset_id": number,
        "parameters": {
            "required_status_checks": [{"context": context, **source}],
            "strict_required_status_checks_policy": False,
            "do_not_enforce_on_create": False,
        },
    }


def comparison_payload(call: Call, comparison: Payload) -> Payload:
    """Both sides, and the files as they are given: a path and its added lines."""
    head = call["basehead"].partition("...")[2]
    root, repo, page = call.fake.url, call.repo, f"{HTML}/{call.repo}/compare/{call['basehead']}"
    ahead, behind = comparison["ahead_by"], comparison["behind_by"]
    states = {(True, True): "diverged", (True, False): "ahead", (False, True): "behind"}
    sides = {name: commit_payload(root, repo, comparison[name]) for name in ("base", "merge_base")}
    return {
        "url": f"{root}/repos/{repo}/compare/{call['basehead']}",
        "html_url": page,
        "permalink_url": page,
        "diff_url": f"{page}.diff",
        "patch_url": f"{page}.patch",
        "base_commit": sides["base"],
        "merge_base_commit": sides["merge_base"],
        "status": states.get((ahead > 0, behind > 0), "identical"),
        "ahead_by": ahead,
        "behind_by": behind,
        "total_commits": ahead,
        "commits": [],
        "files": [
            file_payload(call, path, lines, head) for path, lines in comparison["files"].items()
        ],
    }


def _required(contexts: Mapping[str, int | None]) -> Payload:
    checks = [{"context": name, "app_id": app} for name, app in contexts.items()]
    return {"contexts": list(contexts), "checks": checks}


def _tip(call: Call) -> str:
    sha = call.fake.branches.get(call["branch"])
    if sha is None:
        raise Refusal(404, "Branch not found")
    return sha


def _file(call: Call, path: str, content: bytes) -> Answer:
    if len(content) > MOST_AT_ALL:
        error = {"resource": "Blob", "field": "data", "code": "too_large"}
        raise Refusal(403, "This API returns blobs up to 100 MB in size.", [error])
    if "raw" in call.request.accept:
        return Answer(200, content, kind="application/vnd.github.raw+json; charset=utf-8")
    large = len(content) > MOST_IN_JSON
    more = {
        "content": "" if large else base64.encodebytes(content).decode(),
        "encoding": "none" if large else "base64",
    }
    return Answer(200, _entry(call, path, content) | more)


def _directory(
    call: Call, path: str, inside: list[str], tree: Mapping[str, bytes]
) -> list[Payload]:
    names = sorted({name.removeprefix(f"{path}/").partition("/")[0] for name in inside})
    places = [f"{path}/{name}" for name in names]
    return [_entry(call, place, tree.get(place)) for place in places]


def _entry(call: Call, path: str, content: bytes | None) -> Payload:
    """A file, or a directory where there is no content."""
    ref = call.query.get("ref") or "main"
    blob = b"blob %d\0" % len(content or b"") + (content or b"")
    sha = hashlib.sha1(blob, usedforsecurity=False).hexdigest()
    url = f"{call.fake.url}/repos/{call.repo}/contents/{quote(path)}?ref={quote(ref, safe='')}"
    git = f"{call.fake.url}/repos/{call.repo}/git/blobs/{sha}"
    html = f"{HTML}/{call.repo}/blob/{quote(ref)}/{quote(path)}"
    return {
        "type": "dir" if content is None else "file",
        "name": path.rpartition("/")[2],
        "path": path,
        "sha": sha,
        "size": len(content or b""),
        "url": url,
        "git_url": git,
        "html_url": html,
        "download_url": None if content is None else html.replace("/blob/", "/raw/"),
        "_links": {"self": url, "git": git, "html": html},
    }
