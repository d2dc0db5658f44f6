"""The repository: files, branches and their rules, comparisons, settings."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote

from fakes.github.check_payloads import commit_payload
from fakes.github.exchange import REPO, Answer, Call, Payload, Refusal, Routes
from fakes.github.payloads import HTML, full_repository

routes = Routes()

CONTENTS = "contents=read"
ADMINISTRATION = "administration=read"


@routes("GET", REPO)
def get_repository(call: Call) -> Answer:
    more = call.fake.repositories[call.repo]
    return Answer(200, full_repository(call.fake.url, call.repo) | more)


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


def _required(contexts: Mapping[str, int | None]) -> Payload:
    checks = [{"context": name, "app_id": app} for name, app in contexts.items()]
    return {"contexts": list(contexts), "checks": checks}


def _tip(call: Call) -> str:
    sha = call.fake.branches.get(call["branch"])
    if sha is None:
        raise Refusal(404, "Branch not found")
    return sha
