"""The operator's repository: how it is found, its refs and what they stand for.

Git itself searches and reads configurations: it checks who owns the repository, and it runs without
the caller's environment, in which variables such as ``GIT_OBJECT_DIRECTORY`` could point elsewhere.
Only this module uses GitPython, to say where the trail of a lost submodule ends.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from prjury.errors import SourceError, UsageError
from prjury.git.command import Git, ask, failure
from prjury.ports.types import BranchTip
from prjury.snapshot.model import Side, visible


def open_repository(path: Path) -> OperatorRepository:
    """The repository that holds ``path``.

    Raises:
        SourceError: when there is none, or git refuses it.
    """
    safe = [f"safe.directory={directory}" for directory in _operators_own("safe.directory")]
    git = Git(_find(path, safe))
    work_tree = _work_tree(path, safe)
    urls = _remote_urls(git)
    asked = ("--path-format=absolute", "--git-common-dir", "--show-object-format")
    common_dir, _, object_format = git.text("rev-parse", *asked).rpartition("\n")
    return OperatorRepository(
        git,
        _name(urls, work_tree or path),
        work_tree,
        Path(common_dir),
        object_format,
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
    damaged = next(
        (one for one in (path, *path.absolute().parents) if (one / ".git").is_dir()), None
    )
    if damaged and not lost:
        raise SourceError(
            f"{visible(str(damaged.absolute()))} holds a .git that git takes for no repository",
            why="Its HEAD, refs or objects are missing or damaged",
            remedy="Restore them, or clone again; --repo DIR names another repository",
            reason="no_repository",
        )
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
_PLACE = re.compile(r"^refs/(heads|remotes/origin)/")
_SHA = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


@dataclass(frozen=True)
class OperatorRepository:
    """A repository on this machine, bare or not, opened for reading.

    Attributes:
        git: commands on it.
        name: ``owner/name`` by its first remote, else the directory's name.
        work_tree: where its files are, None for a bare repository.
        common_dir: where objects and refs lie, which linked work trees share.
        lenders: further object directories that it borrows from.
        remote_url: where it was cloned from.
        bring: fetches a branch or commit that is not here; raises SourceError if it is nowhere.
        remote_branches: the branches of a remote from which nothing but a change was fetched.
    """

    git: Git
    name: str
    work_tree: Path | None
    common_dir: Path
    object_format: str
    lenders: tuple[Path, ...] = ()
    remote_url: str | None = None
    bring: Callable[[str], None] | None = None
    remote_branches: Callable[[], Sequence[BranchTip]] | None = None

    @property
    def excludes_file(self) -> Path:
        """The list of ignored files that the repository or its user names, or the usual one."""
        output, code, _ = self.git.try_run("config", "--get", "core.excludesFile")
        named = [_line(output)] if code == 0 else _operators_own("core.excludesFile")
        usual = Path.home() / ".config" / "git" / "ignore"
        return Path(os.path.expanduser(named[-1])) if named else usual  # noqa: PTH111 - never raises

    @property
    def object_directories(self) -> tuple[Path, ...]:
        """Where its objects lie."""
        return (self.common_dir / "objects", *self.lenders)

    @property
    def shallow_file(self) -> Path | None:
        """The list of commits at which a shallow clone was cut off, None for a whole clone."""
        path = self.common_dir / "shallow"
        return path if path.is_file() else None

    @property
    def partial(self) -> bool:
        """Whether it was cloned without some of its content."""
        packs = (self.common_dir / "objects" / "pack").glob("*.promisor")
        return next(packs, None) is not None

    def commit(self, ref: str) -> Side:
        """The commit that a branch, tag, ref or sha stands for, possibly with ``~2`` or ``^``.

        A branch comes before a tag of the same name, a local one before one of ``origin``.

        Raises:
            UsageError: for something that cannot be the name of a ref.
            SourceError: when there is no such ref.
        """
        refuse_odd_refs(ref)
        sha = self._named(ref)
        if sha is None and self.bring:
            self.bring(ref)
            sha = self._named(ref)
        if sha:
            return Side(ref, sha)
        self._refuse_damaged(ref)
        raise SourceError(
            f"there is no branch, ref or commit '{visible(ref)}' in {self.name}",
            why="It may not have been fetched, or is spelled differently",
            remedy="List them with: git for-each-ref; fetch it with: git fetch origin "
            f"'{visible(ref)}'",
            reason="no_such_ref",
        )

    def _refuse_damaged(self, ref: str) -> None:
        """Tell a name that leads nowhere from one that is not there.

        Raises:
            SourceError: ``object_missing``.
        """
        for spelling in _spellings(ref):
            output, code, stderr = self.git.try_run("rev-parse", "--verify", spelling, "--")
            gone = (
                code == 0
                and not is_sha(ref)
                and self.git.try_run("cat-file", "-t", _line(output))[1]
            )
            if gone or "broken ref" in stderr:
                raise SourceError(
                    f"'{visible(ref)}' is in {self.name}, and its commit cannot be read",
                    why="The ref is damaged, or the commit that it names is missing or damaged",
                    remedy="Look for damage with: git fsck; or clone again",
                    reason="object_missing",
                )

    def _named(self, ref: str) -> str | None:
        return next(filter(None, map(self._resolve, _spellings(ref))), None)

    def branches(self) -> Sequence[BranchTip]:
        """Every branch, the repository's own before one of ``origin`` that has the same name."""
        if self.remote_branches:
            return self.remote_branches()
        form = "--format=%(objectname) %(committerdate:unix) %(refname)"
        listing = self.git.text("for-each-ref", form, "refs/remotes/origin", "refs/heads")
        found: dict[str, BranchTip] = {}
        for line in filter(None, listing.split("\n")):
            sha, date, ref = line.split(" ", 2)
            name = _PLACE.sub("", ref)
            if ref != "refs/remotes/origin/HEAD" and date:  # no date: not a commit, or not here
                found[name] = BranchTip(name, sha, int(date))
        return list(found.values())

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
        name, code, _ = self.git.try_run("symbolic-ref", "--quiet", "HEAD")
        if not sha:
            self._refuse_damaged(_line(name) or "HEAD")
            raise SourceError(
                f"nothing is committed yet on the current branch of {self.name}",
                remedy="Commit something first, or name both sides with --base REF --head REF",
                reason="empty_repository",
            )
        return Side(_line(name).removeprefix("refs/heads/") if code == 0 else sha, sha)

    def default_branch(self) -> Side:
        """The branch that pull requests go to: the remote's HEAD, or what is usually called so.

        Raises:
            SourceError: when it is not known which branch that is.
        """
        if side := next(filter(None, self._default_candidates()), None):
            return side
        raise SourceError(
            f"the default branch of {self.name} is not known",
            why="There is no remote HEAD and no branch with a usual name",
            remedy="Name it with --base BRANCH, or run: git remote set-head origin --auto",
            reason="no_default_branch",
        )

    def _default_candidates(self) -> Iterator[Side | None]:
        output, code, _ = self.git.try_run("symbolic-ref", "--quiet", "refs/remotes/origin/HEAD")
        if code == 0:
            yield self._side(_line(output))
        if self.work_tree is None:
            output, code, _ = self.git.try_run("symbolic-ref", "--quiet", "HEAD")
            yield self._side(_line(output)) if code == 0 else None
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

    def below(self, base: str, head: str) -> Side | None:
        """The nearest other local branch on which the head is built and that is not in the base."""
        tips = {side.sha: side for side in self._local_branches()}
        commits = self.git.text("rev-list", "--first-parent", head, f"^{base}").split()
        return next((tips[sha] for sha in commits[1:] if sha in tips), None)

    def _local_branches(self) -> list[Side]:
        listing = self.git.text("for-each-ref", "--format=%(objectname) %(refname)", "refs/heads")
        rows = (line.split(" ", 1) for line in listing.split("\n") if line)
        return [Side(ref.removeprefix("refs/heads/"), sha) for sha, ref in rows]


def refuse_odd_refs(ref: str) -> None:
    """Raises a UsageError for anything that cannot be the name of a ref or a step back from one."""
    name = _STEPS_BACK.sub("", ref)
    if not name or _FORBIDDEN_IN_REFS.search(name) or "~" in name or "^" in name:
        raise UsageError(
            f"'{visible(ref)}' is not the name of a branch, tag, ref or commit",
            remedy="Give a plain name such as main, v1.2, refs/pull/7/head, HEAD~1 or a sha",
            reason="invalid_ref",
        )


def is_sha(name: str) -> bool:
    """Whether the name is a full object name."""
    return bool(_SHA.fullmatch(name))


def _spellings(ref: str) -> tuple[str, ...]:
    """What the name may stand for, the likeliest first."""
    name = _STEPS_BACK.sub("", ref)
    if name == "HEAD" or name.startswith("refs/") or is_sha(name):
        return (ref,)
    return f"refs/heads/{ref}", f"refs/remotes/origin/{ref}", ref
