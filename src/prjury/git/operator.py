"""The operator's repository: how it is found, its refs and what they stand for.

Git itself searches and reads configurations: it checks who owns the repository, and it runs without
the caller's environment, in which variables such as ``GIT_OBJECT_DIRECTORY`` could point elsewhere.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from prjury.errors import SourceError, UsageError
from prjury.git.command import Git, ask, decode_path, make_git_error
from prjury.ports.types import BranchTip
from prjury.snapshot.model import Side, visible


def open_repository(path: Path) -> OperatorRepository:
    """Open the repository that holds ``path``."""
    safe = [f"safe.directory={directory}" for directory in _read_user_settings("safe.directory")]
    git = Git(_require_git_dir(path, safe))
    output, _, _ = ask(path, "rev-parse", "--show-toplevel", settings=safe)
    work_tree = Path(_first_line(output)) if output else None  # none in a bare repository
    urls = _list_remote_urls_origin_first(git)
    queries = ("--path-format=absolute", "--git-common-dir", "--show-object-format")
    common_dir, _, object_format = git.text("rev-parse", *queries).rpartition("\n")
    return OperatorRepository(
        git,
        _make_name(urls, work_tree or path),
        work_tree,
        Path(common_dir),
        object_format,
        remote_url=next(iter(urls), None),
    )


def _require_git_dir(path: Path, safe: Sequence[str]) -> Path:
    output, code, stderr = ask(path, "rev-parse", "--absolute-git-dir", settings=safe)
    if code == 0:
        return Path(_first_line(output))
    if "not a git repository" not in stderr and "cannot change to" not in stderr:
        raise make_git_error("rev-parse", code, stderr)
    why = "The directory does not exist or holds no clone"
    remedy = "Run inside a clone, or name one with --repo DIR"
    for place in (path.absolute(), *path.absolute().parents):
        link = place / ".git"
        if link.is_dir():
            raise SourceError(
                f"{visible(str(place))} holds a .git that git takes for no repository",
                why="Its HEAD, refs or objects are missing or damaged",
                remedy="Restore them, or clone again; --repo DIR names another repository",
                reason="no_repository",
            )
        if link.is_file():  # of a linked work tree or submodule whose repository was moved away
            why = f"{visible(str(link))} leads to a place that is not there any more"
            remedy = "Move the repository back, or run in it: git worktree repair"
            break
    raise SourceError(
        f"{visible(str(path.absolute()))} is not in a git repository",
        why=why,
        remedy=remedy,
        reason="no_repository",
    )


def _read_user_settings(key: str) -> list[str]:
    """Read the key's values in the operator's own configuration, in git's order."""
    home = Path.home()
    values: list[str] = []
    for file in (Path("/etc/gitconfig"), home / ".config/git/config", home / ".gitconfig"):
        if file.is_file():
            args = ("config", f"--file={file}", "--includes", "-z", "--get-all", key)
            output, code, stderr = ask(Path("/"), *args)
            if code not in {0, 1}:
                raise make_git_error("config", code, stderr)
            values += [decode_path(value) for value in output.split(b"\0")[:-1]]
    return values


def _list_remote_urls_origin_first(git: Git) -> list[str]:
    """List the URLs of the remotes, those of ``origin`` first; what is not UTF-8 names nothing."""
    output, _, _ = git.try_run("config", "-z", "--get-regexp", r"^remote\..*\.url$")
    urls: dict[str, str] = {}
    for entry in output.decode("utf-8", "replace").split("\0"):
        key, _, url = entry.partition("\n")
        if url and "\ufffd" not in entry:
            urls.setdefault(key, url)
    return [urls[key] for key in sorted(urls, key=lambda key: key != "remote.origin.url")]


def _make_name(urls: Sequence[str], place: Path) -> str:
    for url in urls:
        match = re.search(r"[/:]([\w.-]+/[\w.-]+?)(?:\.git)?/?$", url)
        if match and not url.startswith(("/", ".", "file:")):
            return match[1]
    return visible(place.resolve().name)


def _first_line(output: bytes) -> str:
    return decode_path(output).removesuffix("\n")


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


class OperatorRepository(Struct, frozen=True):
    """A repository on this machine, bare or not, opened for reading."""

    git: Git
    #: ``owner/name`` by its first remote, else the directory's name.
    name: str
    work_tree: Path | None
    common_dir: Path
    object_format: str
    #: Further object directories that it borrows from.
    lenders: tuple[Path, ...] = ()
    remote_url: str | None = None
    #: Fetches a branch or commit that is not here; raises SourceError if it is nowhere.
    bring: Callable[[str], None] | None = None
    #: The branches of a remote from which nothing but a change was fetched.
    remote_branches: Callable[[], Sequence[BranchTip]] | None = None

    @property
    def excludes_file(self) -> Path:
        """The list of ignored files that the repository or its user names, or the usual one."""
        output, code, _ = self.git.try_run("config", "--get", "core.excludesFile")
        files = ["~/.config/git/ignore"]
        files += [_first_line(output)] if code == 0 else _read_user_settings("core.excludesFile")
        return Path(os.path.expanduser(files[-1]))  # noqa: PTH111 - never raises

    @property
    def object_directories(self) -> tuple[Path, ...]:
        """The directories of its objects."""
        return (self.common_dir / "objects", *self.lenders)

    @property
    def shallow_file(self) -> Path | None:
        """The list of commits at which a shallow clone was cut off, None for a whole clone."""
        path = self.common_dir / "shallow"
        return path if path.is_file() else None

    @property
    def partial(self) -> bool:
        """True for a clone without some of its content."""
        packs = (self.common_dir / "objects" / "pack").glob("*.promisor")
        return next(packs, None) is not None

    def resolve(self, ref: str) -> Side:
        """Return the commit of a branch, tag, ref or sha, possibly with ``~2`` or ``^``.

        A branch comes before a tag of the same name, a local one before one of ``origin``.
        """
        refuse_invalid_ref(ref)
        sha = self._resolve_any(ref)
        if sha is None and self.bring:
            self.bring(ref)
            sha = self._resolve_any(ref)
        if sha:
            return Side(ref, sha)
        self._refuse_damaged_ref(ref)
        raise SourceError(
            f"there is no branch, ref or commit '{visible(ref)}' in {self.name}",
            why="It may not have been fetched, or is spelled differently",
            remedy="List them with: git for-each-ref; fetch it with: git fetch origin "
            f"'{visible(ref)}'",
            reason="no_such_ref",
        )

    def _refuse_damaged_ref(self, ref: str) -> None:
        """Tell a name that leads nowhere from one that is not there."""
        for spelling in _list_spellings(ref):
            output, code, stderr = self.git.try_run("rev-parse", "--verify", spelling, "--")
            missing = "broken ref" in stderr
            if code == 0 and not is_sha(ref):
                missing |= self.git.try_run("cat-file", "-t", _first_line(output))[1] != 0
            if missing:
                raise SourceError(
                    f"'{visible(ref)}' is in {self.name}, and its commit cannot be read",
                    why="The ref is damaged, or the commit that it names is missing or damaged",
                    remedy="Look for damage with: git fsck; or clone again",
                    reason="object_missing",
                )

    def _resolve_any(self, ref: str) -> str | None:
        return next(filter(None, map(self._resolve_ref, _list_spellings(ref))), None)

    def branches(self) -> Sequence[BranchTip]:
        """List every branch, the repository's own in place of one of ``origin`` of that name."""
        if self.remote_branches:
            return self.remote_branches()
        form = "--format=%(objectname) %(committerdate:unix) %(refname)"
        listing = self.git.text("for-each-ref", form, "refs/remotes/origin", "refs/heads")
        tips: dict[str, BranchTip] = {}
        for line in filter(None, listing.split("\n")):
            sha, date, ref = line.split(" ", 2)
            name = _PLACE.sub("", ref)
            if ref != "refs/remotes/origin/HEAD" and date:  # no date: not a commit, or not here
                tips[name] = BranchTip(name, sha, int(date))
        return list(tips.values())

    def pull(self, number: int) -> Side | None:
        """Return the head of a pull request that was fetched earlier."""
        refs = [pattern.format(number) for pattern in _PULL_REFS]
        sides = (Side(ref, sha) for ref in refs if (sha := self._resolve_ref(ref)))
        return next(sides, None)

    def read_head(self) -> Side:
        """Return the branch that is checked out, or the commit by its sha."""
        sha = self._resolve_ref("HEAD")
        ref = self._follow("HEAD")
        if not sha:
            self._refuse_damaged_ref(ref or "HEAD")
            raise SourceError(
                f"nothing is committed yet on the current branch of {self.name}",
                remedy="Commit something first, or name both sides with --base REF --head REF",
                reason="empty_repository",
            )
        return Side(ref.removeprefix("refs/heads/") if ref else sha, sha)

    def _follow(self, ref: str) -> str | None:
        """Return the ref that a symbolic one stands for."""
        output, code, _ = self.git.try_run("symbolic-ref", "--quiet", ref)
        return _first_line(output) if code == 0 else None

    def default_branch(self) -> Side:
        """Return the remote's HEAD, or a branch with a usual name."""
        for ref in self._list_defaults():
            if sha := self._resolve_ref(ref):
                name = ref.removeprefix("refs/heads/").removeprefix("refs/remotes/")
                return Side(name, sha)
        raise SourceError(
            f"the default branch of {self.name} is not known",
            why="There is no remote HEAD and no branch with a usual name",
            remedy="Name it with --base BRANCH, or run: git remote set-head origin --auto",
            reason="no_default_branch",
        )

    def _list_defaults(self) -> Iterator[str]:
        heads = ["refs/remotes/origin/HEAD", *(["HEAD"] if self.work_tree is None else [])]
        yield from filter(None, map(self._follow, heads))
        for prefix in ("refs/remotes/origin/", "refs/heads/"):
            yield from (prefix + name for name in _USUAL_DEFAULTS)

    def _resolve_ref(self, ref: str) -> str | None:
        args = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
        output, code, stderr = self.git.try_run(*args)
        if "dubious ownership" in stderr or "not a git repository" in stderr:
            raise make_git_error("rev-parse", code, stderr)
        return output.decode().strip() if code == 0 else None

    def below(self, base: str, head: str) -> Side | None:
        """Return the nearest local branch on which the head is built and that the base lacks."""
        listing = self.git.text("for-each-ref", "--format=%(objectname) %(refname)", "refs/heads")
        tips = dict(line.split(" ", 1) for line in listing.split("\n") if line)
        commits = self.git.text("rev-list", "--first-parent", head, f"^{base}").split()
        sha = next((sha for sha in commits[1:] if sha in tips), None)
        return Side(tips[sha].removeprefix("refs/heads/"), sha) if sha else None


def refuse_invalid_ref(ref: str) -> None:
    """Raise a UsageError for anything that cannot be the name of a ref or a step back from one."""
    name = _STEPS_BACK.sub("", ref)
    if not name or _FORBIDDEN_IN_REFS.search(name) or "~" in name or "^" in name:
        raise UsageError(
            f"'{visible(ref)}' is not the name of a branch, tag, ref or commit",
            remedy="Give a plain name such as main, v1.2, refs/pull/7/head, HEAD~1 or a sha",
            reason="invalid_ref",
        )


def is_sha(name: str) -> bool:
    """Return true for a full object name."""
    return bool(_SHA.fullmatch(name))


def _list_spellings(ref: str) -> tuple[str, ...]:
    """List what the name may stand for, the likeliest first."""
    name = _STEPS_BACK.sub("", ref)
    if name == "HEAD" or name.startswith("refs/") or is_sha(name):
        return (ref,)
    return f"refs/heads/{ref}", f"refs/remotes/origin/{ref}", ref
