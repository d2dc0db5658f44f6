"""Finds the operator's repository and reads what describes it.

Git itself searches: it checks who owns the repository, and it is run without the caller's
environment, in which variables such as ``GIT_OBJECT_DIRECTORY`` could point elsewhere. The one
module that knows GitPython, which reads the remotes.
"""

from __future__ import annotations

import configparser
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from prjury.errors import SourceError
from prjury.pull.model import visible
from prjury.sources.git.command import Git, ask, failure
from prjury.sources.git.operator import OperatorRepository

if TYPE_CHECKING:
    from git import Remote


def open_repository(path: Path) -> OperatorRepository:
    """The repository that holds ``path``.

    Raises:
        SourceError: when there is none, or git refuses it.
    """
    safe = [f"safe.directory={directory}" for directory in _operators_own("safe.directory")]
    git = Git(_find(path, safe))
    work_tree = _work_tree(path, safe)
    urls = _remote_urls(git.git_dir)
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
    raise SourceError(
        f"{visible(str(path.absolute()))} is not in a git repository",
        why="The directory does not exist or holds no clone",
        remedy="Run inside a clone, or name one with --repo DIR",
        reason="no_repository",
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


def _remote_urls(git_dir: Path) -> list[str]:
    """The URLs of the remotes, those of ``origin`` first; none where the configuration is odd.

    This is all that GitPython is asked: where it searches itself it obeys the caller's environment,
    and its look-ups of objects start processes that inherit everything.
    """
    import git  # noqa: PLC0415 - 0.1 s that `--help` must not pay

    try:
        with git.Repo(git_dir, expand_vars=False) as repo:
            found = [(remote.name, _url(remote)) for remote in repo.remotes]
    # A configuration in Latin-1, or of a form that only git itself understands, names nothing.
    except (git.GitError, configparser.Error, ValueError, OSError):
        return []
    return [url for name, url in sorted(found, key=lambda pair: pair[0] != "origin") if url]


def _url(remote: Remote) -> str:
    with remote.config_reader as section:
        return str(section.get("url", fallback=""))


def _name(urls: Sequence[str], place: Path) -> str:
    for url in urls:
        match = re.search(r"[/:]([\w.-]+/[\w.-]+?)(?:\.git)?/?$", url)
        if match and not url.startswith(("/", ".", "file:")):
            return match[1]
    return visible(place.resolve().name)


def _line(output: bytes) -> str:
    return output.decode("utf-8", "surrogateescape").removesuffix("\n")
