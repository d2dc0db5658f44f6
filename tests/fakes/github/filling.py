"""What tests put there before a program comes."""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Iterable, Mapping
from typing import Any

from fakes.github.accounts import ACTIONS, OCTOCAT, Account
from fakes.github.check_payloads import (
    REPOSITORY,
    check_run_payload,
    status_payload,
    workflow_run_payload,
)
from fakes.github.exchange import Payload
from fakes.github.objects import EMPTY_TREE, Named
from fakes.github.payloads import (
    HEAD_SHA,
    MOMENT,
    issue_payload,
    label_payload,
    pull_payload,
    user_payload,
)
from fakes.github.repository import rule_payload
from fakes.github.state import State


class Filling(State):
    """A state that is easily filled."""

    def add_pull(self, repo: str, number: int, **more: Any) -> Payload:
        pull = pull_payload(self.url, repo, number) | more
        self.repositories.setdefault(repo, {})
        self.pulls[repo, number] = pull
        return pull

    def add_issue(self, number: int, title: str, body: str | None, **more: Any) -> Payload:
        """An issue, which is no pull request."""
        issue = issue_payload(self.url, REPOSITORY, number) | {"title": title, "body": body}
        del issue["pull_request"], issue["draft"]
        page = f"https://github.com/{REPOSITORY}/issues/{number}"
        self.issues[number] = issue | {"html_url": page} | more
        return self.issues[number]

    def set_diff(self, number: int, lines: Mapping[str, Iterable[int]]) -> None:
        """The files of a pull request, and the lines of its head that are in the diff."""
        self.diffs[number] = {path: frozenset(numbers) for path, numbers in lines.items()}

    def add_comment(self, body: str, author: Account = ACTIONS, number: int = 7) -> Payload:
        with self._lock:
            comment = self._comment(self.number(), body, author, number)
            self.comments[comment["id"]] = comment
            return comment

    def add_check_run(
        self, name: str, conclusion: str | None = None, *, suite: int = 1, **more: Any
    ) -> Payload:
        """A check run of GitHub Actions; it runs as long as it has no conclusion."""
        with self._lock:
            run = check_run_payload(self.url, self.number(), name, conclusion, suite) | more
            self.check_runs.append(run)
            return run

    def add_status(
        self, context: str, state: str, by: str | Account = "ci", sha: str = HEAD_SHA, **more: Any
    ) -> Payload:
        """A commit status."""
        with self._lock:
            account = by if isinstance(by, Account) else Account(by, id=5)
            author = user_payload(self.url, account)
            status = status_payload(self.number(), context, state, author, self.url)
            status["url"] = status["url"].replace(HEAD_SHA, sha)
            self.statuses.append(status | more)
            return self.statuses[-1]

    def add_workflow_run(
        self, name: str, conclusion: str | None = None, *, suite: int = 1, **more: Any
    ) -> Payload:
        """A run of a workflow, to which the check runs of the same suite belong."""
        with self._lock:
            counter = len(self.workflow_runs) + 1
            number = self.number()
            run = workflow_run_payload(number, name, conclusion, suite, counter, self.url) | more
            self.workflow_runs.append(run)
            return run

    def add_artifact(
        self, name: str, content: bytes | Mapping[str, bytes], run: int = 100, **more: Any
    ) -> Payload:
        """An artifact of a run by its id: an archive, or the files to put into one."""
        with self._lock:
            archive = content if isinstance(content, bytes) else zipped(content)
            number = self.number()
            url = f"{self.url}/repos/{REPOSITORY}/actions/artifacts/{number}"
            self.archives[number] = archive
            self.artifacts[number] = {
                "id": number,
                "node_id": f"AR_{number}",
                "name": name,
                "size_in_bytes": len(archive),
                "url": url,
                "archive_download_url": f"{url}/zip",
                "expired": False,
                "digest": f"sha256:{hashlib.sha256(archive).hexdigest()}",
                "created_at": MOMENT,
                "updated_at": MOMENT,
                "expires_at": "2026-04-02T03:04:05Z",
                "workflow_run": {
                    "id": run,
                    "repository_id": 77,
                    "head_repository_id": 77,
                    "head_branch": "cart",
                    "head_sha": HEAD_SHA,
                },
            } | more
            return self.artifacts[number]

    def add_label(
        self, number: int, name: str, by: Account = OCTOCAT, repo: str = REPOSITORY
    ) -> None:
        """A label, and the event that says by whom; nothing where it is there already."""
        with self._lock:
            labels = self.pulls[repo, number]["labels"]
            if name.lower() in {label["name"].lower() for label in labels}:
                return
            self.known_labels.add(name.lower())
            labels.append(label_payload(self.url, repo, name, self.number()))

    def remove_label(
        self, number: int, name: str, by: Account = OCTOCAT, repo: str = REPOSITORY
    ) -> bool:
        """Whether the label was there."""
        with self._lock:
            labels = self.pulls[repo, number]["labels"]
            kept = [label for label in labels if label["name"].lower() != name.lower()]
            if len(kept) == len(labels):
                return False
            labels[:] = kept
            return True

    def add_branch(self, name: str, files: Mapping[str, bytes], onto: str | None = None) -> str:
        """A branch with one commit, whose name is the result: of these files, on another one."""
        with self._lock:
            blobs = {path: self.objects.add("blob", text) for path, text in files.items()}
            changes = {tuple(path.split("/")): Named("100644", sha) for path, sha in blobs.items()}
            tree = self.objects.changed(EMPTY_TREE, changes)
            parent = f"parent {self.branches[onto]}\n" if onto else ""
            by = "Octo <octo@example.com> 1767322800 +0000"
            text = f"tree {tree}\n{parent}author {by}\ncommitter {by}\n\n{name}\n"
            self.branches[name] = self.objects.add("commit", text.encode())
            return self.branches[name]

    def protect(self, branch: str, contexts: Mapping[str, int | None]) -> None:
        """Branch protection: checks that have to be green, each with its app or None for any."""
        self.protections[branch] = dict(contexts)

    def require(self, branch: str, context: str, app: int | None = None) -> None:
        """The same by a ruleset."""
        rule = rule_payload(REPOSITORY, context, app, self.number())
        self.rules.setdefault(branch, []).append(rule)

    def _comment(self, number: int, body: str, author: Account, issue: int) -> Payload:
        root = f"{self.url}/repos/{REPOSITORY}/issues"
        return {
            "id": number,
            "node_id": f"IC_{number}",
            "url": f"{root}/comments/{number}",
            "html_url": f"https://github.com/{REPOSITORY}/pull/{issue}#issuecomment-{number}",
            "issue_url": f"{root}/{issue}",
            "body": body,
            "user": user_payload(self.url, author),
            "created_at": self.moment(),
            "updated_at": self.moment(),
            "author_association": "CONTRIBUTOR",
            "performed_via_github_app": None,
        }


def zipped(files: Mapping[str, bytes]) -> bytes:
    """The same archive for the same files."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return buffer.getvalue()
