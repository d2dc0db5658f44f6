"""Picks made by git itself, for publishers: what a trial would have found."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from typing import Any

from fakes.history import ENVIRONMENT, Files, History
from prjury.snapshot.picked import Author, Pick, PickedCommit, PickedFile

_TRIAL = "trial"


@dataclass(frozen=True)
class Line:
    """A development line and a release branch of one history.

    Attributes:
        start: where they part.
    """

    history: History
    branch: str
    start: str

    def change(self, *commits: tuple[Files, str | bytes]) -> list[str]:
        """Commits on the development line, one on top of the other."""
        self.history.switch("main")
        return [self.history.commit(files, message) for files, message in commits]

    def release(self, files: Files) -> str:
        """A commit on the release branch."""
        self.history.switch(self.branch)
        return self.history.commit(files, "release")

    def pick(self, *shas: str, squash: bool = False, **more: Any) -> Pick:
        """What ``git cherry-pick -x`` makes of the commits, in order."""
        git, tip = self.history.git, self.history.sha(self.branch)
        self.history.switch(_TRIAL, create=True, at=tip)
        git("cherry-pick", "-x", "--allow-empty", *shas)
        made = git("rev-list", "--reverse", f"{tip}..HEAD").split()
        self.history.switch("main")
        git("branch", "--quiet", "-D", _TRIAL)
        if squash:
            commits = [self._commit(tip, made[-1], shas[-1], shas)]
        else:
            before = [tip, *made]
            commits = [
                self._commit(parent, new, sha, [sha])
                for parent, new, sha in zip(before, made, shas, strict=False)
            ]
        return self.empty(commits=tuple(commits), **more)

    def empty(self, **more: Any) -> Pick:
        """A pick of nothing, with what else it is to have."""
        tip = self.history.sha(self.branch)
        given = {
            "branch": self.branch,
            "branch_sha": tip,
            "branch_tree": self.history.sha(f"{tip}^{{tree}}"),
            "commits": (),
            "verdict": "suitable",
            "number": 7,
            "title": "Fix the cart",
            "url": "https://github.com/octo/shop/pull/7",
            "reasons": ("picks cleanly",),
        }
        return Pick(**{**given, **more})

    def _commit(
        self, before: str, after: str, original: str, origins: list[str] | tuple[str, ...]
    ) -> PickedCommit:
        git = self.history.git
        name, email, date, message = git(
            "log", "-1", "--format=%an%x00%ae%x00%aI%x00%B", original
        ).split("\0", 3)
        return PickedCommit(
            tree=git("rev-parse", f"{after}^{{tree}}"),
            files=tuple(self._files(before, after)),
            message=message,
            author=Author(name, email, date),
            origins=tuple(origins),
        )

    def _files(self, before: str, after: str) -> list[PickedFile]:
        raw = self.history.git("diff-tree", "-r", "-z", "--raw", "--no-renames", before, after)
        words = raw.split("\0")[:-1]
        return [self._file(head, path) for head, path in zip(words[::2], words[1::2], strict=True)]

    def _file(self, head: str, path: str) -> PickedFile:
        _, mode, _, blob, status = head.split(" ")
        if status == "D":
            return PickedFile(path, None)
        if mode == "160000":
            return PickedFile(path, mode, blob)
        return PickedFile(path, mode, blob, self._content(blob))

    def _content(self, blob: str) -> bytes:
        command = ["git", "cat-file", "blob", blob]
        return subprocess.run(
            command, cwd=self.history.path, env=ENVIRONMENT, capture_output=True, check=True
        ).stdout
