"""A repository at GitHub with one pull request: its objects, its API, and the events it sends.

The project is small and really built, by make.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from fakes.github import Account, FakeGitHub, pull_payload, side_payload, user_payload
from fakes.github.payloads import minimal_repository
from fakes.history import Files, History, script
from runner.git_server import GitServer
from runner.surroundings import ROOT

Payload = dict[str, Any]

REPO = "octo/shop"
NUMBER = 7
BUILD_WORKFLOW = ".github/workflows/prjury-build.yml"
EXAMPLE = ".github/workflows/examples/prjury-build.yml"

_PROJECT: Files = {
    "Makefile": "test: cart.sh check.sh\n\t./check.sh\n",
    "cart.sh": "total() {\n  echo $(($1 + $2))\n}\n",
    "check.sh": script('#!/bin/sh\nset -eu\n. ./cart.sh\ntest "$(total 2 3)" = 5\n'),
    "README.md": "A shop.\n",
}
GREEN: Files = {"cart.sh": "# What two things cost.\ntotal() {\n  echo $(($1 + $2))\n}\n"}
BROKEN: Files = {"cart.sh": "# What two things cost.\ntotal() {\n  echo $(($1 * $2))\n}\n"}
REPAIRED: Files = {"cart.sh": "# The price of two.\ntotal() {\n  echo $(($2 + $1))\n}\n"}


@dataclass
class Shop:
    """The repository and its pull request.

    Attributes:
        fork: the repository that the head lies in, if it is another one.
        base: the branch that the pull request is merged into.
    """

    history: History
    fake: FakeGitHub
    git: GitServer
    fork: str | None = None
    base: str = "main"
    runs: int = field(default=100, init=False)
    draft: bool = field(default=False, init=False)

    @classmethod
    def founded(
        cls, directory: Path, fake: FakeGitHub, git: GitServer, project: Files = _PROJECT
    ) -> Shop:
        """A shop whose pull request has no commit yet.

        Args:
            directory: what the git server serves.
        """
        history = History(directory / f"{REPO}.git", bare=True)
        history.commit({**project, BUILD_WORKFLOW: (ROOT / EXAMPLE).read_bytes()}, "A shop")
        history.branch("cart")
        fake.branches["main"] = history.sha("main")
        return cls(history, fake, git)

    def push(
        self,
        files: Files,
        action: Literal["opened", "synchronize"] = "synchronize",
        *,
        force: bool = False,
    ) -> Payload:
        """A commit on the pull request's branch, and the event that GitHub makes of it.

        Args:
            force: the commit replaces those that were there.
        """
        if force:
            self.history.branch("cart", at=self.base)
        self.history.switch("cart")
        self.history.commit(files, "Tell what the total is")
        self.history.pull_ref(NUMBER)
        self.history.switch(self.base)
        return self.event(action)

    def event(self, action: str, **more: Any) -> Payload:
        """An event of the pull request as it is now."""
        return {
            "action": action,
            "number": NUMBER,
            "pull_request": self.pull(),
            **self._where(),
            **more,
        }

    def move_base(self, files: Files, *, conflicts: bool = False) -> Payload:
        """A commit on the branch below the pull request, and the event that GitHub makes of it."""
        self.history.switch(self.base)
        self.history.commit(files, "Move on")
        self.fake.branches[self.base] = after = self.history.sha(self.base)
        self.fake.conflicting = {NUMBER} if conflicts else set()
        self.pull()
        return {"ref": f"refs/heads/{self.base}", "after": after, **self._where()}

    def rename_base(self, name: str) -> Payload:
        """The branch below the pull request gets another name, to which GitHub takes it along."""
        before, tip = self.base, self.history.sha(self.base)
        self.history.switch(name, create=True, at=before)
        self.history.git("update-ref", "-d", f"refs/heads/{before}")
        self.fake.branches[name] = self.fake.branches.pop(before)
        self.base = name
        changes = {"base": {"ref": {"from": before}, "sha": {"from": tip}}}
        return self.event("edited", changes=changes)

    def labelled(self, name: str, by: str) -> Payload:
        """The event of a label that somebody has put on."""
        self.fake.add_label(NUMBER, name, repo=REPO)
        pull = self.fake.pulls[REPO, NUMBER]
        event = {"action": "labeled", "label": {"name": name}, "pull_request": pull}
        return {**event, **self._where(), "sender": {"login": by}}

    @property
    def head(self) -> str:
        """The pull request's newest commit."""
        return self.history.sha("cart")

    def pull(self) -> Payload:
        """The pull request as it is now, also for the API."""
        url = self.fake.url
        payload = pull_payload(url, REPO, NUMBER) | {
            "base": side_payload(url, REPO, self.base, self.history.sha(self.base)),
            "draft": self.draft,
            "labels": self.fake.pulls.get((REPO, NUMBER), {}).get("labels", []),
            "head": side_payload(url, self.fork or REPO, "cart", self.history.sha("cart")),
        }
        self.fake.pulls[REPO, NUMBER] = payload
        return payload

    def queued(self) -> Payload:
        """The event of a merge queue that tests the pull request on its base."""
        base, head = self.history.sha(self.base), self.history.sha("cart")
        ref = f"gh-readonly-queue/{self.base}/pr-{NUMBER}-{base}"
        self.history.switch(ref, create=True, at=self.base)
        self.history.merge("cart", message=f"Merge pull request #{NUMBER}")
        group = self.history.head
        self.history.switch(self.base)
        commit = {"id": group, "tree_id": head, "message": f"Merge pull request #{NUMBER}"}
        return {
            "action": "checks_requested",
            "merge_group": {
                "head_sha": group,
                "head_ref": f"refs/heads/{ref}",
                "base_sha": base,
                "base_ref": f"refs/heads/{self.base}",
                "head_commit": commit,
            },
            **self._where(),
        }

    def built(self, conclusion: str, evidence: bytes | None) -> Payload:
        """The end of the last run, which was that of the build, and the event that tells of it.

        Args:
            evidence: the archive of the artifact that it left.
        """
        head: Payload = {"head_sha": self.head, "head_branch": "cart"}
        owner, _, _ = (self.fork or REPO).partition("/")
        actor = user_payload(self.fake.url, Account(owner, id=9))
        run = self.fake.add_workflow_run(
            "PR Jury build",
            conclusion,
            id=self.runs,
            path=BUILD_WORKFLOW,
            head_repository=minimal_repository(self.fake.url, self.fork or REPO),
            actor=actor,
            triggering_actor=actor,
            **head,
        )
        if evidence is not None:
            owned = {"id": self.runs, "repository_id": 77, "head_repository_id": 77, **head}
            self.fake.add_artifact("build-evidence", evidence, self.runs, workflow_run=owned)
        return {"action": "completed", "workflow_run": run, **self._where()}

    def env(self, attempt: int = 1) -> Mapping[str, str]:
        """What GitHub sets for the next run of a workflow, or a later attempt of the last one."""
        self.runs += attempt == 1
        owner, _, _ = REPO.partition("/")
        return {
            "GITHUB_REPOSITORY": REPO,
            "GITHUB_REPOSITORY_OWNER": owner,
            "GITHUB_SERVER_URL": self.git.url,
            "GITHUB_API_URL": self.fake.url,
            "GITHUB_GRAPHQL_URL": f"{self.fake.url}/graphql",
            "GITHUB_RUN_ID": str(self.runs),
            "GITHUB_RUN_ATTEMPT": str(attempt),
            "GITHUB_REF": f"refs/pull/{NUMBER}/merge",
            "GIT_SSL_CAINFO": str(self.git.authority),
        }

    def _where(self) -> Payload:
        owner, _, name = REPO.partition("/")
        repository = {"full_name": REPO, "name": name, "owner": {"login": owner}}
        return {"repository": repository, "sender": {"login": "octocat"}}
