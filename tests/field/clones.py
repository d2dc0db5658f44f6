"""Throw-away clones of the corpus's repositories, and commits that are made in them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from field.corpus import Case, Edit, Repository

_AUTHOR = {
    "GIT_AUTHOR_NAME": "Field",
    "GIT_AUTHOR_EMAIL": "field@prjury.invalid",
    "GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z",
    "GIT_COMMITTER_NAME": "Field",
    "GIT_COMMITTER_EMAIL": "field@prjury.invalid",
    "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z",
    "GIT_TERMINAL_PROMPT": "0",
}


@dataclass(frozen=True)
class Clone:
    """A bare clone of one repository."""

    path: Path

    def commit(self, case: Case) -> str:
        """The id of the commit to judge, the same each time; it is made for a mutation."""
        head = self._git("rev-parse", "--verify", f"{case.head}^{{commit}}")
        if case.merged:
            return head
        env = {"GIT_INDEX_FILE": str(self.path / "field-index")}
        self._git("read-tree", head, env=env)
        for edit in case.edits:
            self._edit(edit, env)
        tree = self._git("write-tree", env=env)
        if tree == self._git("rev-parse", f"{head}^{{tree}}"):
            raise ValueError(f"{case.repository.name}: {case.name} changes nothing")
        made = self._git("commit-tree", tree, "-p", head, "-m", f"Edit: {case.name}")
        self._git("update-ref", f"refs/heads/field/{case.name.replace(' ', '-')}", made)
        return made

    def base(self, case: Case) -> str:
        return self._git("rev-parse", "--verify", f"{case.base}^{{commit}}")

    def check_out(self, commit: str, into: Path) -> None:
        """A clone of its own with a work tree, as a developer has it."""
        self._git("clone", "-q", "--no-checkout", "--shared", str(self.path), str(into))
        subprocess.run(["git", "checkout", "-q", "--detach", commit], cwd=into, check=True)

    def _edit(self, edit: Edit, env: Mapping[str, str]) -> None:
        entry = self._git("ls-files", "--stage", "--", edit.file, env=env).split()
        if not entry and (edit.delete or edit.old is not None):
            raise ValueError(f"{edit.file} is not there")
        if edit.delete:
            self._put(f"0 {'0' * 40}", edit.file, env)
            return
        mode, text = "100644", ""
        if entry:
            mode, text = entry[0], self._bytes("cat-file", "blob", entry[1]).decode()
        blob = self._bytes("hash-object", "-w", "--stdin", sent=edit.of(text).encode())
        self._put(f"{mode} {blob.decode().strip()}", edit.file, env)

    def _put(self, entry: str, file: str, env: Mapping[str, str]) -> None:
        line = f"{entry}\t{file}\n"
        self._bytes("update-index", "--index-info", env=env, sent=line.encode())

    def _git(self, *arguments: str, env: Mapping[str, str] | None = None) -> str:
        return self._bytes(*arguments, env=env).decode().strip()

    def _bytes(
        self, *arguments: str, env: Mapping[str, str] | None = None, sent: bytes = b""
    ) -> bytes:
        ran = subprocess.run(
            ["git", *arguments],
            cwd=self.path,
            input=sent,
            env={**os.environ, **_AUTHOR, **(env or {})},
            check=True,
            capture_output=True,
        )
        return ran.stdout


def clone(repository: Repository, into: Path, mirrors: Path | None) -> Clone:
    """A bare clone, from ``mirrors``/OWNER+NAME/repo if there is one, else from the address.

    Raises:
        subprocess.CalledProcessError: It cannot be had.
    """
    if not into.is_dir():
        mirror = mirrors and mirrors / repository.name.replace("/", "+") / "repo"
        near = mirror and mirror.is_dir()
        source = ["--shared", str(mirror)] if near else [repository.address]
        part = into.with_name(f"{into.name}.part")
        subprocess.run(["rm", "-rf", str(part)], check=True)
        subprocess.run(["git", "clone", "-q", "--bare", *source, str(part)],
                       env={**os.environ, **_AUTHOR}, check=True)  # fmt: skip
        part.rename(into)
    return Clone(into)
