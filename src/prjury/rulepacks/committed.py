"""The user's packs as a commit has them: where the policy is the base's, its packs are as well.

They are laid out in a directory of their own and loaded there as any others, so that a working
directory, which may be the pull request's, has no say in what the pull request is judged by.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from prjury.errors import ConfigError, SourceError
from prjury.policy.fields import is_inside
from prjury.ports import Repository
from prjury.ports.types import TreeEntry
from prjury.rulepacks import astgrep
from prjury.rulepacks.load import cases_of, load_packs
from prjury.rulepacks.rule import Pack
from prjury.scratch import scratch
from prjury.snapshot.kinds import REGULAR_MODES
from prjury.snapshot.model import MISSING, PullRequest, visible

_TOP = "."
_REMEDY = "Correct the pack, or where the policy says that it is"


@dataclass(frozen=True)
class CommittedPart:
    """A part of a tree: a file, or the ``*.yml`` in a directory.

    Attributes:
        deep: whether it is all YAML in that directory and below it.
    """

    path: str
    deep: bool = False

    def has(self, name: str) -> bool:
        """Return true if the file belongs to it."""
        if self.deep:
            return _is_below(name, self.path) and name.endswith((".yml", ".yaml"))
        return name == self.path or (_parent(name) == self.path and name.endswith(".yml"))


@dataclass(frozen=True)
class CommittedPacks:
    """The user's packs, and the parts of the base's tree that they come from, if they do."""

    packs: Sequence[Pack] = ()
    parts: Sequence[CommittedPart] = ()

    def note(self, pull: PullRequest) -> str | None:
        """What is said where a pull request changes them; None where it does not."""
        names = (name for file in pull.files for name in (file.old_path, file.path) if name)
        found = next((n for n in names if any(part.has(n) for part in self.parts)), None)
        if found is None:
            return None
        in_force = "the base's packs are in force until it is merged"
        return f"this change touches {visible(found)}; {in_force}"


def committed_packs(repository: Repository, commit: str, paths: Iterable[str]) -> CommittedPacks:
    """The packs at these paths of a commit, as `load_packs` reads them; no link is followed.

    Raises:
        ConfigError: for a path that leaves the repository or is not there, and for a wrong pack.
        SourceError: when a partial clone lacks one.
    """
    with scratch("prjury-packs-") as directory:
        root = directory.resolve() / "repository"
        copy = _Copy(repository, {e.path: e for e in repository.files(commit)}, root)
        try:
            inside = [_inside(path) for path in paths]
            parts = [part for path in inside for part in copy.lay_out(path)]
            loaded = load_packs(root / path for path in inside)
        except ConfigError as error:
            problem = f"{error.what.replace(f'{root}/', '')} (in the base commit {commit[:12]})"
            raise ConfigError(problem, remedy=_REMEDY, reason=error.reason) from error
    return CommittedPacks([each.pack for each in loaded], list(dict.fromkeys(parts)))


@dataclass(frozen=True)
class _Copy:
    """The parts of a tree that are needed, as files below a root."""

    repository: Repository
    tree: Mapping[str, TreeEntry]
    root: Path

    def lay_out(self, path: str) -> Iterator[CommittedPart]:
        """Writes what stands at the path: a pack with its cases, a directory, a project."""
        if path not in self.tree and not any(_is_below(name, path) for name in self.tree):
            raise ConfigError(f"there is no pack {visible(path)}", remedy=_REMEDY)
        yield from map(self._write_files, self._parts(path))
        place = self.root / path
        if astgrep.is_project(place):
            home = _parent(path) if path in self.tree else path
            _, project = astgrep.project_at(place)
            for name in astgrep.directories(project):
                yield self._write_files(
                    CommittedPart(_inside(posixpath.join(home, name)), deep=True)
                )

    def _parts(self, path: str) -> list[CommittedPart]:
        if path in self.tree:
            return [CommittedPart(path), CommittedPart(str(cases_of(Path(path))))]
        config = CommittedPart(posixpath.normpath(posixpath.join(path, astgrep.CONFIG)))
        if config.path in self.tree:
            return [config]
        listed = CommittedPart(path)
        rules = CommittedPart(posixpath.normpath(posixpath.join(path, astgrep.RULES)), deep=True)
        return [listed] if any(map(listed.has, self.tree)) else [listed, rules]

    def _write_files(self, part: CommittedPart) -> CommittedPart:
        names = [name for name in self.tree if part.has(name)]
        for name in names:
            if self.tree[name].mode not in REGULAR_MODES or not is_inside(name):
                raise ConfigError(f"the pack {visible(name)} is not a regular file", remedy=_REMEDY)
        if any(_is_below(name, part.path) for name in self.tree):
            (self.root / part.path).mkdir(parents=True, exist_ok=True)
        contents = self.repository.read([self.tree[name].blob for name in names])
        for name in names:
            content = contents[self.tree[name].blob]
            if content is None:
                problem = f"the pack {visible(name)} is {MISSING}"
                raise SourceError(problem, reason="object_missing")
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).write_bytes(content)
        return part


def _inside(path: str) -> str:
    """The path from the top of the repository, as git writes it."""
    inside = posixpath.normpath(path)
    if inside != _TOP and not is_inside(inside):
        raise ConfigError(
            f"the path of packs {visible(path)} leaves the repository; only a policy that is "
            "handed over with --config may name such a one",
            remedy=_REMEDY,
        )
    return inside


def _parent(name: str) -> str:
    return posixpath.dirname(name) or _TOP


def _is_below(name: str, directory: str) -> bool:
    return directory == _TOP or name.startswith(f"{directory}/")
