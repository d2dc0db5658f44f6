"""What a clone says of pull requests: which are merged, and what their files hold."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from prjury.errors import SourceError
from prjury.git.operator import OperatorRepository, open_repository
from prjury.report.codec import PullJson


class CloneHistory:
    """The history of a clone."""

    def __init__(self, repository: OperatorRepository) -> None:
        self._git = repository.git
        self._repository = repository

    def is_merged(self, pull: PullJson) -> bool:
        """Tell whether the base branch holds the change: as it is, squashed or rebased."""
        return any(self._has_change(tip, pull) for tip in self._tips(pull.base.ref))

    def read(self, pull: PullJson, path: str) -> str | None:
        """Return the text of a file at the pull request's head; None if it is not here."""
        content, code, _ = self._git.try_run("cat-file", "blob", f"{pull.head.sha}:{path}")
        return None if code else content.decode("utf-8", "replace")

    def knows(self, commit: str) -> bool:
        """Tell whether a commit is here."""
        return self._git.try_run("cat-file", "-e", f"{commit}^{{commit}}")[1] == 0

    def _tips(self, branch: str) -> Iterator[str]:
        """Iterate over the commits at which a branch stands here and where it was cloned from."""
        for ref in (f"refs/remotes/origin/{branch.removeprefix('origin/')}", branch):
            try:
                yield self._repository.commit(ref).sha
            except (SourceError, ValueError):
                continue

    def _has_change(self, tip: str, pull: PullJson) -> bool:
        head, base = pull.head.sha, pull.base.sha
        if tip == base or not self.knows(base):
            return False
        if pull.number is not None:
            subjects = self._git.text("log", "--first-parent", "--format=%s", f"{base}..{tip}")
            pattern = rf"\(#{pull.number}\)$|^Merge pull request #{pull.number} "
            if re.search(pattern, subjects, re.MULTILINE):
                return True
        if not self.knows(head):
            return False
        if self._git.try_run("merge-base", "--is-ancestor", head, tip)[1] == 0:
            return True
        picked = self._git.text("cherry", tip, head)  # without merges, so that it may be empty
        if picked and "+" not in picked:  # each commit is there, or one like it
            return True
        whole = self._patch_ids("diff", "--no-ext-diff", pull.merge_base, head)
        each = ("log", "--first-parent", "--patch", "--no-ext-diff", f"{base}..{tip}")
        return bool(whole & self._patch_ids(*each))

    def _patch_ids(self, *command: str) -> set[str]:
        names = self._git("patch-id", "--stable", stdin=self._git(*command)).decode()
        return {line.split()[0] for line in names.splitlines()}


def open_clone(directory: Path, base: str) -> CloneHistory | None:
    """Open the clone at a directory; None if there is none that knows a commit of the base."""
    try:
        clone = CloneHistory(open_repository(directory))
    except SourceError:
        return None
    return clone if clone.knows(base) else None
