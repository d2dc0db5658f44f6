"""The operator's own repository: where it is, what its branches are, what is not committed.

The one module that knows GitPython; it finds and describes the repository. Commands go through
`prjury.sources.git.command`.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prjury.errors import SourceError, UsageError
from prjury.pull.kinds import SUBMODULE_MODE
from prjury.pull.model import Side, printable
from prjury.sources.git.command import Git, GitError

_PULL_REFS = (
    "refs/pull/{}/head",
    "refs/remotes/origin/pull/{}/head",
    "refs/remotes/origin/pull/{}",
    "refs/remotes/origin/pr/{}",
    "refs/remotes/pull/{}/head",
)
_USUAL_DEFAULTS = ("main", "master", "trunk", "develop")
_FORBIDDEN_IN_REFS = re.compile(r"\.\.|@\{|[\x00-\x20\x7f:?*\[\\]|//|/$|\.lock(/|$)|^[-/]|\.$")
_STEPS_BACK = re.compile(r"([~^]\d*)+$")


@dataclass(frozen=True)
class OperatorRepository:
    """A repository on this machine, bare or not, opened for reading.

    Attributes:
        git: commands on it.
        name: ``owner/name`` by its first remote, else the directory's name.
        work_tree: where its files are, None for a bare repository.
    """

    git: Git
    name: str
    work_tree: Path | None
    common_dir: Path
    object_format: str
    excludes_file: str | None = None
    lenders: tuple[Path, ...] = ()

    @property
    def object_directories(self) -> tuple[Path, ...]:
        """Where its objects lie."""
        return (self.common_dir / "objects", *self.lenders)

    @property
    def shallow_file(self) -> Path | None:
        """The list of commits at which a shallow clone was cut off, None for a whole clone."""
        path = self.common_dir / "shallow"
        return path if path.is_file() else None

    def commit(self, ref: str) -> Side:
        """The commit that a branch, tag, ref or sha stands for, possibly with ``~2`` or ``^``.

        Raises:
            UsageError: for something that cannot be the name of a ref.
            SourceError: when there is no such ref.
        """
        _refuse_odd_refs(ref)
        sha = self._resolve(ref) or self._resolve(f"refs/remotes/origin/{ref}")
        if not sha:
            raise SourceError(
                f"there is no branch, ref or commit {printable(ref)!r} in {self.name}",
                why="It may not have been fetched, or is spelled differently",
                remedy="List them with: git for-each-ref; fetch it with: git fetch origin "
                f"{printable(ref)}",
                reason="no_such_ref",
            )
        return Side(ref, sha)

    def branch(self, name: str) -> Side:
        """A branch by its name, local or of the first remote, or any other ref or commit."""
        for ref in (f"refs/heads/{name}", f"refs/remotes/origin/{name}"):
            _refuse_odd_refs(name)
            if sha := self._resolve(ref):
                return Side(name, sha)
        return self.commit(name)

    def pull(self, number: int) -> Side | None:
        """The head of a pull request that was fetched earlier."""
        for pattern in _PULL_REFS:
            ref = pattern.format(number)
            if sha := self._resolve(ref):
                return Side(ref, sha)
        return None

    def current(self) -> Side:
        """What is checked out: a branch, or a commit by its sha.

        Raises:
            SourceError: in a repository without commits.
        """
        sha = self._resolve("HEAD")
        if not sha:
            raise SourceError(
                f"{self.name} has no commits yet",
                remedy="Commit something first",
                reason="empty_repository",
            )
        name, code, _ = self.git.try_run("symbolic-ref", "--quiet", "--short", "HEAD")
        return Side(_decode(name) if code == 0 else sha, sha)

    def default_branch(self) -> Side:
        """The branch that pull requests go to: the remote's HEAD, or what is usually called so.

        Raises:
            SourceError: when nothing tells which branch that is.
        """
        for side in self._default_candidates():
            if side:
                return side
        raise SourceError(
            f"the default branch of {self.name} cannot be told",
            why="There is no remote HEAD and no branch with a usual name",
            remedy="Name it with --base BRANCH, or run: git remote set-head origin --auto",
            reason="no_default_branch",
        )

    def _default_candidates(self) -> Iterator[Side | None]:
        output, code, _ = self.git.try_run("symbolic-ref", "--quiet", "refs/remotes/origin/HEAD")
        if code == 0:
            yield self._side(_decode(output))
        if self.work_tree is None:
            output, code, _ = self.git.try_run("symbolic-ref", "--quiet", "HEAD")
            yield self._side(_decode(output)) if code == 0 else None
        for prefix in ("refs/remotes/origin/", "refs/heads/"):
            for name in _USUAL_DEFAULTS:
                yield self._side(prefix + name)

    def _side(self, ref: str) -> Side | None:
        sha = self._resolve(ref)
        short = ref.removeprefix("refs/heads/").removeprefix("refs/remotes/")
        return Side(short, sha) if sha else None

    def _resolve(self, ref: str) -> str | None:
        args = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
        output, code, stderr = self.git.try_run(*args)
        if "dubious ownership" in stderr or "not a git repository" in stderr:
            self.git(*args)
        return output.decode().strip() if code == 0 else None

    def local_branches(self) -> list[Side]:
        """The local branches with their tips."""
        listing = self.git("for-each-ref", "--format=%(objectname) %(refname:short)", "refs/heads")
        rows = (line.split(" ", 1) for line in _decode(listing).splitlines())
        return [Side(name, sha) for sha, name in rows]

    def uncommitted(self) -> list[str]:
        """Paths whose content in the work tree is not the committed one; nobody judges these.

        Content is compared without running any filter that the repository configures.
        """
        if self.work_tree is None:
            return []
        tree = Git(self.git.git_dir, self.git.settings, {"GIT_WORK_TREE": str(self.work_tree)})
        staged = _split(tree("diff-index", "--cached", "--name-only", "-z", "HEAD"))
        ignore = (f"-ccore.excludesFile={self.excludes_file}",) if self.excludes_file else ()
        untracked = _split(tree(*ignore, "ls-files", "-z", "--others", "--exclude-standard"))
        return sorted({*staged, *untracked, *self._modified(tree, self.work_tree)})

    def _modified(self, tree: Git, root: Path) -> Iterator[str]:
        """Files whose stat differs from the index and whose raw content does as well."""
        fields = _split(tree("diff-files", "-z", "--raw"))
        for head, path in zip(fields[::2], fields[1::2], strict=True):
            mode, _, blob, *_ = head.lstrip(":").split(" ")
            if mode != SUBMODULE_MODE and self._object_name(root / path) != blob:
                yield path

    def _object_name(self, file: Path) -> str | None:
        """The name that git gives the file's raw content, None where there is no such file."""
        if file.is_symlink():
            content = os.fsencode(file.readlink())
        elif file.is_file():
            content = file.read_bytes()
        else:
            return None
        return hashlib.new(self.object_format, b"blob %d\0" % len(content) + content).hexdigest()


def _decode(output: bytes) -> str:
    return output.decode("utf-8", "surrogateescape").strip()


def _split(output: bytes) -> list[str]:
    return [part.decode("utf-8", "surrogateescape") for part in output.split(b"\0") if part]


def _refuse_odd_refs(ref: str) -> None:
    name = _STEPS_BACK.sub("", ref)
    if not name or _FORBIDDEN_IN_REFS.search(name) or "~" in name or "^" in name:
        raise UsageError(
            f"{printable(ref)!r} is not the name of a branch, tag, ref or commit",
            remedy="Give a plain name such as main, v1.2, refs/pull/7/head, HEAD~1 or a sha",
            reason="invalid_ref",
        )


def open_repository(path: Path) -> OperatorRepository:
    """The repository that holds ``path``.

    Raises:
        SourceError: when there is none, or git refuses it.
    """
    repo = _find(path)
    git_dir, common_dir = Path(repo.git_dir), Path(repo.common_dir)
    git = Git(git_dir, tuple(f"safe.directory={d}" for d in _safe_directories()))
    try:
        object_format = git.text("rev-parse", "--show-object-format")
    except GitError as error:
        if error.reason == "dubious_ownership":
            raise
        raise _no_repository(path) from error
    name, excludes = _name(repo, path), _excludes_file(repo)
    return OperatorRepository(git, name, _work_tree(repo), common_dir, object_format, excludes)


def _work_tree(repo: Any) -> Path | None:  # noqa: ANN401 - GitPython's Repo
    """The checked-out files; a bare repository without a configuration only seems to have some."""
    root = Path(repo.working_tree_dir) if repo.working_tree_dir else None
    return root if root and (root / ".git").exists() else None


def _find(path: Path) -> Any:  # noqa: ANN401 - GitPython's Repo, which is imported only here
    import git as gitpython  # noqa: PLC0415 - 0.16 s that `--help` must not pay

    try:
        return gitpython.Repo(path, search_parent_directories=True)
    except (gitpython.InvalidGitRepositoryError, gitpython.NoSuchPathError, OSError) as error:
        raise _no_repository(path) from error


def _no_repository(path: Path) -> SourceError:
    return SourceError(
        f"{printable(str(path))} is not in a git repository",
        why="The directory does not exist or holds no clone",
        remedy="Run inside a clone, or name one with --repo DIR",
        reason="no_repository",
    )


def _safe_directories() -> list[str]:
    """The directories that the operator's own configuration declares safe."""
    from git.config import GitConfigParser  # noqa: PLC0415 - as above

    home = Path.home()
    files = [home / ".gitconfig", home / ".config" / "git" / "config", Path("/etc/gitconfig")]
    found: list[str] = []
    for file in filter(Path.is_file, files):
        with GitConfigParser(str(file), read_only=True) as config:
            if config.has_section("safe"):
                found += map(str, config.get_values("safe", "directory", ""))
    return [directory for directory in found if directory]


def _excludes_file(repo: Any) -> str | None:  # noqa: ANN401 - GitPython's Repo
    with repo.config_reader() as config:
        named = str(config.get_value("core", "excludesFile", ""))
    path = Path(named).expanduser() if named else Path.home() / ".config" / "git" / "ignore"
    return str(path) if path.is_file() else None


def _name(repo: Any, path: Path) -> str:  # noqa: ANN401 - GitPython's Repo
    for remote in repo.remotes:
        url = str(next(iter(remote.urls), ""))
        match = re.search(r"[/:]([\w.-]+/[\w.-]+?)(?:\.git)?/?$", url)
        if match and ("://" in url or "@" in url):
            return match[1]
    return Path(repo.working_tree_dir or path).resolve().name
