"""The operator's own repository: its refs and what they stand for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from prjury.errors import SourceError, UsageError
from prjury.git.command import Git
from prjury.ports.types import BranchTip
from prjury.snapshot.model import Side, visible

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
        excludes_file: a list of files to ignore besides the repository's own lists.
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
    excludes_file: Path | None = None
    lenders: tuple[Path, ...] = ()
    remote_url: str | None = None
    bring: Callable[[str], None] | None = None
    remote_branches: Callable[[], Sequence[BranchTip]] | None = None

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
        raise SourceError(
            f"there is no branch, ref or commit '{visible(ref)}' in {self.name}",
            why="It may not have been fetched, or is spelled differently",
            remedy="List them with: git for-each-ref; fetch it with: git fetch origin "
            f"'{visible(ref)}'",
            reason="no_such_ref",
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
        if not sha:
            raise SourceError(
                f"nothing is committed yet on the current branch of {self.name}",
                remedy="Commit something first, or name both sides with --base REF --head REF",
                reason="empty_repository",
            )
        name, code, _ = self.git.try_run("symbolic-ref", "--quiet", "HEAD")
        return Side(_line(name).removeprefix("refs/heads/") if code == 0 else sha, sha)

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


def _line(output: bytes) -> str:
    return output.decode("utf-8", "surrogateescape").removesuffix("\n")


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
