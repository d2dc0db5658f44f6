"""Check runs, commit statuses and workflow runs in the form in which GitHub sends them."""

from __future__ import annotations

from fakes.github.accounts import ACTIONS_APP, Account
from fakes.github.exchange import Payload
from fakes.github.payloads import HEAD_SHA, HTML, MOMENT, minimal_repository, user_payload

REPOSITORY = "octo/shop"
API = "https://api.github.com"


def app_payload(root: str, number: int, slug: str, name: str | None = None) -> Payload:
    return {
        "id": number,
        "slug": slug,
        "node_id": f"A_{number}",
        "owner": user_payload(root, Account("github", id=9_919)),
        "name": name or slug,
        "description": "",
        "external_url": "https://help.github.com/en/actions",
        "html_url": f"{HTML}/apps/{slug}",
        "created_at": MOMENT,
        "updated_at": MOMENT,
        "permissions": {"checks": "write", "metadata": "read"},
        "events": ["check_run"],
    }


def check_run_payload(
    root: str, number: int, name: str, conclusion: str | None, suite: int
) -> Payload:
    """A check run of GitHub Actions."""
    page = f"{HTML}/{REPOSITORY}/actions/runs/{suite}00/job/{number}"
    url = f"{root}/repos/{REPOSITORY}/check-runs/{number}"
    return {
        "id": number,
        "node_id": f"CR_{number}",
        "name": name,
        "head_sha": HEAD_SHA,
        "external_id": "",
        "url": url,
        "html_url": page,
        "details_url": page,
        "status": "completed" if conclusion else "in_progress",
        "conclusion": conclusion,
        "started_at": MOMENT,
        "completed_at": "2026-01-02T03:05:05Z" if conclusion else None,
        "output": {
            "title": None,
            "summary": None,
            "text": None,
            "annotations_count": 0,
            "annotations_url": f"{url}/annotations",
        },
        "check_suite": {"id": suite},
        "app": app_payload(root, ACTIONS_APP, "github-actions", "GitHub Actions"),
        "pull_requests": [],
    }


def status_payload(
    number: int, context: str, state: str, author: Payload, root: str = API
) -> Payload:
    return {
        "id": number,
        "node_id": f"SC_{number}",
        "url": f"{root}/repos/{REPOSITORY}/statuses/{HEAD_SHA}",
        "avatar_url": author.get("avatar_url"),
        "context": context,
        "state": state,
        "description": None,
        "target_url": f"https://ci.example.org/{number}",
        "creator": author,
        "created_at": MOMENT,
        "updated_at": MOMENT,
    }


def workflow_run_payload(
    number: int, name: str, conclusion: str | None, suite: int, counter: int, root: str = API
) -> Payload:
    repository = minimal_repository(root, REPOSITORY)
    run = suite * 100
    url = f"{repository['url']}/actions/runs/{run}"
    parts = {
        f"{part}_url": f"{url}/{part}" for part in ["jobs", "logs", "artifacts", "cancel", "rerun"]
    }
    return {
        "id": run,
        "node_id": f"WFR_{number}",
        "name": name,
        "display_title": "Move the cart",
        "path": ".github/workflows/ci.yml",
        "head_branch": "cart",
        "head_sha": HEAD_SHA,
        "run_number": counter,
        "run_attempt": 1,
        "event": "pull_request",
        "status": "completed" if conclusion else "in_progress",
        "conclusion": conclusion,
        "workflow_id": 70,
        "workflow_url": f"{repository['url']}/actions/workflows/70",
        "check_suite_id": suite,
        "check_suite_url": f"{repository['url']}/check-suites/{suite}",
        "url": url,
        "html_url": f"{HTML}/{REPOSITORY}/actions/runs/{run}",
        "pull_requests": [],
        "created_at": MOMENT,
        "updated_at": MOMENT,
        "run_started_at": MOMENT,
        "repository": repository,
        "head_repository": repository,
        "head_commit": head_commit(HEAD_SHA),
    } | parts


def head_commit(sha: str) -> Payload:
    person = {"name": "octocat", "email": "octocat@example.org"}
    return {
        "id": sha,
        "tree_id": "7" * 40,
        "message": "Move the cart",
        "timestamp": MOMENT,
        "author": person,
        "committer": person,
    }


def commit_payload(root: str, repo: str, sha: str) -> Payload:
    api, page = f"{root}/repos/{repo}", f"{HTML}/{repo}/commit/{sha}"
    person = {"name": "octocat", "email": "octocat@example.org", "date": MOMENT}
    return {
        "sha": sha,
        "node_id": f"C_{sha}",
        "url": f"{api}/commits/{sha}",
        "html_url": page,
        "comments_url": f"{api}/commits/{sha}/comments",
        "author": None,
        "committer": None,
        "parents": [],
        "commit": {
            "url": f"{api}/git/commits/{sha}",
            "author": person,
            "committer": person,
            "message": "Move the cart",
            "comment_count": 0,
            "tree": {"sha": "7" * 40, "url": f"{api}/git/trees/{'7' * 40}"},
        },
    }
