"""Finds the operator's repository and reads what describes it.

Git itself searches and reads configurations: it checks who owns the repository, and it is run
without the caller's environment, in which variables such as ``GIT_OBJECT_DIRECTORY`` could point
elsewhere. The one module that knows GitPython, which says where the trail of a lost one ends.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from prjury.errors import SourceError
from prjury.git.command import Git, ask, failure
from prjury.git.operator import OperatorRepository
from prjury.snapshot.model import visible


def open_repository(path: Path) -> OperatorRepository:
    """The repository that holds ``path``.

    Raises:
        SourceError: when there is none, or git refuses it.
    """
    safe = [f"safe.directory={directory}" for directory in _operators_own("safe.directory")]
    git = Git(_find(path, safe))
    work_tree = _work_tree(path, safe)
    urls = _remote_urls(git)
    return OperatorRepository(
        git,
        _name(urls, work_tree or path),
        work_tree,
        Path(git.text("rev-parse", "--path-format=absolute", "--git-common-dir")),
        git.text("rev-parse", "--show-object-format"),
        excludes_file=_excludes_file(git),
        remote_url=next(iter(urls), None),
    )


def _find(path: Path, safe: Sequence[str]) -> Path:
    """The git directory for ``path``.

    Raises:
        GitError: when another user owns the repository and the operator does not call it safe.
    """
    output, code, stderr = ask(path, "rev-parse", "--absolute-git-dir", settings=safe)
    if code == 0:
        return Path(_line(output))
    if "not a git repository" not in stderr and "cannot change to" not in stderr:
        raise failure("rev-parse", code, stderr)
    lost = _lost(path.absolute())
    raise SourceError(
        f"{visible(str(path.absolute()))} is not in a git repository",
        why=f"{visible(str(lost))} leads to a place that is not there any more"
        if lost
        else "The directory does not exist or holds no clone",
        remedy="Move the repository back, or run in it: git worktree repair"
        if lost
        else "Run inside a clone, or name one with --repo DIR",
        reason="no_repository",
    )


def _lost(path: Path) -> Path | None:
    """The ``.git`` file of a linked work tree or submodule whose repository was moved away.

    This is all that GitPython is asked: where it opens a repository it obeys the caller's
    environment and takes only configurations that it understands, and its look-ups of objects
    start processes that inherit everything.
    """
    from git.repo.fun import find_submodule_git_dir  # noqa: PLC0415 - 0.1 s for this error only

    links = (place / ".git" for place in (path, *path.parents))
    return next(
        (link for link in links if link.is_file() and not find_submodule_git_dir(link)), None
    )


def _work_tree(path: Path, safe: Sequence[str]) -> Path | None:
    """The root of the checked-out files, None in a bare repository."""
    output, _, _ = ask(path, "rev-parse", "--show-toplevel", settings=safe)
    return Path(_line(output)) if output else None


def _operators_own(key: str) -> list[str]:
    """The key's values in the operator's own configuration, in the order in which git reads it."""
    home = Path.home()
    files = [Path("/etc/gitconfig"), home / ".config" / "git" / "config", home / ".gitconfig"]
    return [value for file in files if file.is_file() for value in _values(file, key)]


def _values(file: Path, key: str) -> list[str]:
    args = ("config", f"--file={file}", "--includes", "-z", "--get-all", key)
    output, code, stderr = ask(Path("/"), *args)
    if code not in {0, 1}:
        raise failure("config", code, stderr)
    return [value.decode("utf-8", "surrogateescape") for value in output.split(b"\0")[:-1]]


def _excludes_file(git: Git) -> Path | None:
    """The list of ignored files that the repository or the operator names, or the usual one."""
    output, code, _ = git.try_run("config", "--get", "core.excludesFile")
    named = [_line(output)] if code == 0 else _operators_own("core.excludesFile")
    usual = Path.home() / ".config" / "git" / "ignore"
    return Path(os.path.expanduser(named[-1])) if named else usual  # noqa: PTH111 - never raises


def _remote_urls(git: Git) -> list[str]:
    """The URLs of the remotes, those of ``origin`` first; what is not UTF-8 names nothing."""
    output, _, _ = git.try_run("config", "-z", "--get-regexp", r"^remote\..*\.url$")
    found: dict[str, str] = {}
    for entry in output.decode("utf-8", "replace").split("\0"):
        key, _, url = entry.partition("\n")
        if url and "\ufffd" not in entry:
            found.setdefault(key, url)
    return [found[key] for key in sorted(found, key=lambda key: key != "remote.origin.url")]


def _name(urls: Sequence[str], place: Path) -> str:
    for url in urls:
        match = re.search(r"[/:]([\w.-]+/[\w.-]+?)(?:\.git)?/?$", url)
        if match and not url.startswith(("/", ".", "file:")):
            return match[1]
    return visible(place.resolve().name)


def _line(output: bytes) -> str:
    return output.decode("utf-8", "surrogateescape").removesuffix("\n")
