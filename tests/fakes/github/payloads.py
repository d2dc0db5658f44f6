"""People, repositories and pull requests in the form in which GitHub sends them."""

from __future__ import annotations

from typing import Any

from fakes.github.accounts import OCTOCAT, Account
from fakes.github.exchange import Payload

MOMENT = "2026-01-02T03:04:05Z"
#: The head of every pull request here, and the tip of its base.
HEAD_SHA = "b" * 40
BASE_SHA = "a" * 40
HTML = "https://github.com"

_LINKED = {
    "archive_url": "{archive_format}{/ref}",
    "assignees_url": "assignees{/user}",
    "blobs_url": "git/blobs{/sha}",
    "branches_url": "branches{/branch}",
    "collaborators_url": "collaborators{/collaborator}",
    "comments_url": "comments{/number}",
    "commits_url": "commits{/sha}",
    "compare_url": "compare/{base}...{head}",
    "contents_url": "contents/{+path}",
    "contributors_url": "contributors",
    "deployments_url": "deployments",
    "downloads_url": "downloads",
    "events_url": "events",
    "forks_url": "forks",
    "git_commits_url": "git/commits{/sha}",
    "git_refs_url": "git/refs{/sha}",
    "git_tags_url": "git/tags{/sha}",
    "hooks_url": "hooks",
    "issue_comment_url": "issues/comments{/number}",
    "issue_events_url": "issues/events{/number}",
    "issues_url": "issues{/number}",
    "keys_url": "keys{/key_id}",
    "labels_url": "labels{/name}",
    "languages_url": "languages",
    "merges_url": "merges",
    "milestones_url": "milestones{/number}",
    "notifications_url": "notifications{?since,all,participating}",
    "pulls_url": "pulls{/number}",
    "releases_url": "releases{/id}",
    "stargazers_url": "stargazers",
    "statuses_url": "statuses/{sha}",
    "subscribers_url": "subscribers",
    "subscription_url": "subscription",
    "tags_url": "tags",
    "teams_url": "teams",
    "trees_url": "git/trees{/sha}",
}

_COUNTS_OF_A_PERSON = (
    "public_repos public_gists followers following private_gists total_private_repos "
    "owned_private_repos disk_usage collaborators"
).split()


def user_payload(root: str, account: Account) -> Payload:
    url = f"{root}/users/{account.login}"
    return {
        "login": account.login,
        "id": account.id,
        "node_id": f"U_{account.id}",
        "avatar_url": f"https://avatars.githubusercontent.com/u/{account.id}",
        "gravatar_id": "",
        "url": url,
        "html_url": f"{HTML}/{account.login}",
        "followers_url": f"{url}/followers",
        "following_url": f"{url}/following{{/other_user}}",
        "gists_url": f"{url}/gists{{/gist_id}}",
        "starred_url": f"{url}/starred{{/owner}}{{/repo}}",
        "subscriptions_url": f"{url}/subscriptions",
        "organizations_url": f"{url}/orgs",
        "repos_url": f"{url}/repos",
        "events_url": f"{url}/events{{/privacy}}",
        "received_events_url": f"{url}/received_events",
        "type": account.type,
        "site_admin": False,
    }


def self_payload(root: str, account: Account) -> Payload:
    """A person as `/user` describes the one who asks, who sees more of it than others do."""
    nothing = dict.fromkeys(
        ["name", "company", "blog", "location", "email", "hireable", "bio", "twitter_username"]
    )
    counts = dict.fromkeys(_COUNTS_OF_A_PERSON, 0)
    dates = {"created_at": MOMENT, "updated_at": MOMENT}
    more = {"two_factor_authentication": True, "user_view_type": "private"}
    return user_payload(root, account) | nothing | counts | dates | more


def minimal_repository(root: str, repo: str) -> Payload:
    """A repository as it stands in a workflow run."""
    owner, name = repo.split("/")
    url = f"{root}/repos/{repo}"
    return {
        "id": 77,
        "node_id": "R_77",
        "name": name,
        "full_name": repo,
        "owner": user_payload(root, Account(owner, id=9)),
        "private": False,
        "html_url": f"{HTML}/{repo}",
        "description": None,
        "fork": False,
        "url": url,
    } | {field: f"{url}/{rest}" for field, rest in _LINKED.items()}


def repository_payload(root: str, repo: str) -> Payload:
    """A repository as it stands in a pull request."""
    counts = [
        "forks", "forks_count", "open_issues", "open_issues_count", "size", "stargazers_count",
        "watchers", "watchers_count",
    ]  # fmt: skip
    switches = ["archived", "disabled", "has_pages", "has_discussions"]
    features = ["has_downloads", "has_issues", "has_projects", "has_wiki"]
    return (
        minimal_repository(root, repo)
        | dict.fromkeys(counts, 0)
        | dict.fromkeys(switches, False)
        | dict.fromkeys(features, True)
        | dict.fromkeys(["homepage", "language", "mirror_url", "license"])
        | dict.fromkeys(["created_at", "updated_at", "pushed_at"], MOMENT)
        | {
            "clone_url": f"{HTML}/{repo}.git",
            "git_url": f"git://github.com/{repo}.git",
            "ssh_url": f"git@github.com:{repo}.git",
            "svn_url": f"{HTML}/{repo}",
            "default_branch": "main",
            "visibility": "public",
            "topics": [],
            "allow_forking": True,
        }
    )


def full_repository(root: str, repo: str) -> Payload:
    """A repository asked for by its name."""
    counts = {"network_count": 0, "subscribers_count": 0, "temp_clone_token": None}
    return repository_payload(root, repo) | counts


def label_payload(root: str, repo: str, name: str, number: int = 1) -> Payload:
    return {
        "id": number,
        "node_id": f"LA_{number}",
        "url": f"{root}/repos/{repo}/labels/{number}",
        "name": name,
        "description": None,
        "color": "ededed",
        "default": False,
    }


def side_payload(root: str, repo: str, ref: str, sha: str) -> Payload:
    owner, _ = repo.split("/")
    return {
        "label": f"{owner}:{ref}",
        "ref": ref,
        "sha": sha,
        "user": user_payload(root, Account(owner, id=9)),
        "repo": repository_payload(root, repo),
    }


def pull_payload(root: str, repo: str, number: int) -> Payload:
    """A pull request asked for by its number; a list leaves `ONLY_ALONE` out."""
    api = f"{root}/repos/{repo}"
    url, issue, page = (
        f"{api}/pulls/{number}",
        f"{api}/issues/{number}",
        f"{HTML}/{repo}/pull/{number}",
    )
    statuses = f"{api}/statuses/{HEAD_SHA}"
    links = {
        "self": url,
        "html": page,
        "issue": issue,
        "comments": f"{issue}/comments",
        "review_comments": f"{url}/comments",
        "review_comment": f"{api}/pulls/comments{{/number}}",
        "commits": f"{url}/commits",
        "statuses": statuses,
    }
    alone: dict[str, Any] = {
        "merged": False,
        "mergeable": None,
        "rebaseable": None,
        "mergeable_state": "unknown",
        "merged_by": None,
        "maintainer_can_modify": False,
        "commits": 1,
    }
    counts = ["comments", "review_comments", "additions", "deletions", "changed_files"]
    empty = ["milestone", "assignee", "active_lock_reason", "closed_at", "merged_at", "auto_merge"]
    return (
        {
            "id": 10_000 + number,
            "node_id": f"PR_{number}",
            "url": url,
            "html_url": page,
            "diff_url": f"{page}.diff",
            "patch_url": f"{page}.patch",
            "issue_url": issue,
            "commits_url": links["commits"],
            "review_comments_url": links["review_comments"],
            "review_comment_url": links["review_comment"],
            "comments_url": links["comments"],
            "statuses_url": statuses,
            "number": number,
            "state": "open",
            "locked": False,
            "title": "Move the cart",
            "body": "It was in the way.",
            "user": user_payload(root, OCTOCAT),
            "labels": [label_payload(root, repo, "bug")],
            "created_at": MOMENT,
            "updated_at": MOMENT,
            "merge_commit_sha": None,
            "assignees": [],
            "requested_reviewers": [],
            "requested_teams": [],
            "draft": False,
            "author_association": "CONTRIBUTOR",
            "base": side_payload(root, repo, "main", BASE_SHA),
            "head": side_payload(root, repo, "cart", HEAD_SHA),
            "_links": {name: {"href": href} for name, href in links.items()},
        }
        | dict.fromkeys(empty)
        | dict.fromkeys(counts, 0)
        | alone
    )


#: What a list of pull requests does not tell.
ONLY_ALONE = frozenset(
    "merged mergeable rebaseable mergeable_state merged_by maintainer_can_modify commits "
    "comments review_comments additions deletions changed_files".split()
)


def issue_payload(root: str, repo: str, number: int) -> Payload:
    """A pull request as the event ``issue_comment`` shows it: without its sides."""
    url, page = f"{root}/repos/{repo}/pulls/{number}", f"{HTML}/{repo}/pull/{number}"
    return {
        "url": f"{root}/repos/{repo}/issues/{number}",
        "repository_url": f"{root}/repos/{repo}",
        "html_url": page,
        "id": number,
        "number": number,
        "title": "Move the cart",
        "user": user_payload(root, OCTOCAT),
        "labels": [],
        "state": "open",
        "locked": False,
        "comments": 1,
        "created_at": MOMENT,
        "updated_at": MOMENT,
        "closed_at": None,
        "author_association": "CONTRIBUTOR",
        "draft": False,
        "pull_request": {
            "url": url,
            "html_url": page,
            "diff_url": f"{page}.diff",
            "patch_url": f"{page}.patch",
            "merged_at": None,
        },
        "body": "It was in the way.",
        "performed_via_github_app": None,
    }
