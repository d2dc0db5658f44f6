"""Pull requests and their files."""

from __future__ import annotations

from fakes.github.exchange import REPO, Answer, Call, Payload, Refusal, Routes, invalid
from fakes.github.payloads import (
    ONLY_ALONE,
    issue_payload,
    pull_payload,
    side_payload,
    user_payload,
)

routes = Routes()

READS = "pull_requests=read"
WRITES = "pull_requests=write"
LONGEST_TITLE, LONGEST_BODY = 256, 65_536
_PULL = f"{REPO}/pulls/{{pull_number}}"


@routes("GET", f"{REPO}/pulls", READS)
def list_pulls(call: Call) -> Answer:
    """The newest first; a ``head`` without an owner filters nothing, as at GitHub."""
    found = [pull for (repo, _), pull in call.fake.pulls.items() if repo == call.repo]
    state, head, base = (call.query.get(name, "") for name in ("state", "head", "base"))
    if (state or "open") != "all":
        found = [pull for pull in found if pull["state"] == (state or "open")]
    if ":" in head:
        found = [pull for pull in found if pull["head"]["label"] == head]
    if base:
        found = [pull for pull in found if pull["base"]["ref"] == base]
    newest = call.query.get("direction", "desc") == "desc"
    found.sort(key=lambda pull: pull["number"], reverse=newest)
    return call.paged([_in_list(pull) for pull in found])


@routes("GET", "/search/issues", READS)
def search(call: Call) -> Answer:
    """Open pull requests by the name of their head, but for those that are not indexed yet."""
    fake, (where, *_, sha) = call.fake, call.query["q"].split()
    found = [
        _found(issue_payload(fake.url, repo, number))
        for (repo, number), pull in fake.pulls.items()
        if (f"repo:{repo}", pull["state"], pull["head"]["sha"]) == (where, "open", sha)
        and number not in fake.unindexed
    ]
    more = {"incomplete_results": False, "search_type": "lexical"}
    return call.paged(found, "items", **more)


def _found(issue: Payload) -> Payload:
    return {**_whole(issue), "score": 1.0}


def _whole(issue: Payload) -> Payload:
    """An issue as it is answered, and not sent with an event."""
    urls = {f"{name}_url": f"{issue['url']}/{name}" for name in ("comments", "events", "labels")}
    return {**issue, **urls, "node_id": "PR_1", "assignee": None, "milestone": None}


@routes("GET", f"{REPO}/issues/{{issue_number}}", "issues=read; pull_requests=read")
def get_issue(call: Call) -> Answer:
    """An issue, or a pull request, which is one as well; each by its own permission."""
    number = int(call["issue_number"])
    is_pull = (call.repo, number) in call.fake.pulls
    account = call.account
    if account and not account.may("pull_requests=read" if is_pull else "issues=read"):
        raise Refusal(403, "Resource not accessible by integration")
    if is_pull:
        return Answer(200, _whole(issue_payload(call.fake.url, call.repo, number)))
    if number not in call.fake.issues:
        raise Refusal(404, "Not Found")
    return Answer(200, _whole(call.fake.issues[number]))


@routes("POST", f"{REPO}/pulls", WRITES)
def create_pull(call: Call) -> Answer:
    """From a branch of the repository itself; one that is open already is refused."""
    head, base = call.needed("head"), call.needed("base")
    title, body = call.needed("title"), call.body.get("body", "")
    _may_open(call)
    for field, name in (("head", head), ("base", base)):
        if name not in call.fake.branches:
            raise invalid("PullRequest", field, "invalid")
    if not title.strip() or len(title) > LONGEST_TITLE or len(body) > LONGEST_BODY:
        raise invalid("PullRequest", "title", "is blank or too long")
    ours = [pull for (repo, _), pull in call.fake.pulls.items() if repo == call.repo]
    label = f"{call['owner']}:{head}"
    for pull in ours:
        same = (pull["head"]["label"], pull["base"]["ref"]) == (label, base)
        if same and pull["state"] == "open":
            error = f"A pull request already exists for {label}."
            raise Refusal(422, "Validation Failed", [{"message": error, "code": "custom"}])
    tips = {name: call.fake.branches[name] for name in (head, base)}
    if not call.fake.objects.before(tips[head]) - call.fake.objects.before(tips[base]):
        error = f"No commits between {base} and {head}"
        raise Refusal(422, "Validation Failed", [{"message": error, "code": "custom"}])
    number = max((pull["number"] for pull in ours), default=0) + 1
    sides = {
        name: side_payload(call.fake.url, call.repo, ref, tips[ref])
        for name, ref in (("head", head), ("base", base))
    }
    call.fake.pulls[call.repo, number] = pull_payload(call.fake.url, call.repo, number) | {
        "title": title,
        "body": body or None,
        "draft": call.body.get("draft", False),
        "user": user_payload(call.fake.url, call.author),
        "labels": [],
        **sides,
    }
    return Answer(201, call.fake.pulls[call.repo, number])


def _may_open(call: Call) -> None:
    allowed = call.fake.workflow_permissions["can_approve_pull_request_reviews"]
    if call.author.slug == "github-actions" and not allowed:
        error = "GitHub Actions is not permitted to create or approve pull requests."
        raise Refusal(403, error)
    if call.body.get("draft") and not call.fake.drafts:
        raise Refusal(422, "Draft pull requests are not supported in this repository.")


@routes("GET", _PULL, READS)
def get_pull(call: Call) -> Answer:
    """GitHub tries the merge when somebody asks, and has the answer when he asks again."""
    pull = pull_of(call)
    told = dict(pull)
    if pull["state"] == "open":
        pull["mergeable"] = call.fake.can_merge(pull)
    return Answer(200, told)


def pull_of(call: Call, name: str = "pull_number") -> Payload:
    pull = call.fake.pulls.get((call.repo, int(call[name])))
    if pull is None:
        raise Refusal(404, "Not Found")
    return pull


def _in_list(pull: Payload) -> Payload:
    return {name: value for name, value in pull.items() if name not in ONLY_ALONE}
