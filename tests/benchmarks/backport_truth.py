"""What really became of the changes of a branch: which of them reached a release branch, and how.

Read from a mirror by plain git, apart from the product's own reading of messages. A change is a run
of neighbouring commits on the base that name the same pull request. It is found on a release branch
by, in this order: the name of its commit in a message there, the very same patch, author and moment
of writing with the same title, the number of its pull request with the same title, the same title.
"""

from __future__ import annotations

import re
import subprocess
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from pathlib import Path

_FORM = "%H%x1f%P%x1f%ct%x1f%ae %at%x1f%an%x1f%B%x1e"
_SHA = re.compile(
    r"(?:cherry[- ]picked from(?: commit)?|backport of|backported from \S+|from commit)[ (]*"
    r"([0-9a-f]{7,40})\b|patchback/backports/\S+?/([0-9a-f]{40})/",
    re.IGNORECASE,
)
_PULL = re.compile(
    r"^Merge pull request #(\d+)|\(#(\d+)\)|/pr-(\d+)\b|"
    r"(?:back-?port|cherry[- ]?pick)(?:ed)?(?: of)?(?: PR)? #?(\d+)",
    re.IGNORECASE,
)
#: A merger's words for what the commit closes; an issue has no pull ref.
_CLOSES = re.compile(
    r"^\s*(?:closes|fixes|resolves):? (?:GH-|#)(\d+)\b", re.IGNORECASE | re.MULTILINE
)
_DECORATION = re.compile(
    r"\s*\((?:#|gh-)\d+\)|^\[[\w./ -]+\]\s*|^back-?port(?: PR)?(?: of)? #\d+:?\s*"
    r"|\(?(?:back-?port|cherry[- ]?pick)(?: to)? [#\w.]+(?: (?:for|to) [\w.-]+)?\)?",
    re.IGNORECASE,
)
#: A title of fewer characters may be that of many changes.
_TELLING = 16
_PATCH = ("--no-renames", "--full-index", "--no-color")
#: So many commits are asked for by one command.
_AT_ONCE = 200


@dataclass(frozen=True)
class Mirror:
    """A bare repository that is only read."""

    path: Path

    def git(self, *args: str, stdin: bytes | None = None) -> bytes:
        argv = ["git", "-C", str(self.path), *args]
        return subprocess.run(argv, input=stdin, capture_output=True, check=True).stdout

    def text(self, *args: str) -> str:
        return self.git(*args).decode("utf-8", "replace").strip()

    def commits(self, *args: str) -> list[Commit]:
        """Commits, newest first."""
        output = self.git("log", f"--format={_FORM}", *args).decode("utf-8", "replace")
        return [_commit(one) for one in output.split("\x1e") if one.strip()]

    def patch_ids(self, *args: str) -> Mapping[str, str]:
        """The patch ids of the commits that ``git rev-list`` lists, by their commits."""
        names = self.text("rev-list", *args).split()
        parts = (names[at : at + _AT_ONCE] for at in range(0, len(names), _AT_ONCE))
        return dict(pair for part in parts for pair in self._patch_ids(part))

    def _patch_ids(self, names: list[str]) -> Iterator[tuple[str, str]]:
        """The same for a list; a commit of whose files one is not here is passed over."""
        form = ("--format=commit %H", "-p", *_PATCH, "--diff-merges=first-parent")
        try:
            patches = self.git("log", *form, "--no-walk=unsorted", *names)
        except subprocess.CalledProcessError:
            for name in names if len(names) > 1 else ():
                yield from self._patch_ids([name])
        else:
            yield from self._ids(patches).items()

    def patch_id(self, before: str, after: str, *, context: int = 3) -> str:
        """The patch id from one tree to another."""
        ids = self._ids(self.git("diff-tree", "-p", *_PATCH, f"-U{context}", before, after))
        return next(iter(ids.values()), "")

    def _ids(self, patches: bytes) -> Mapping[str, str]:
        lines = self.git("patch-id", "--stable", stdin=patches).decode().splitlines()
        return {line.split()[-1]: line.split()[0] for line in lines}

    @cached_property
    def pulls(self) -> frozenset[int]:
        """The numbers of pull requests, as far as their heads were fetched."""
        names = self.text("for-each-ref", "--format=%(refname)", "refs/pull").splitlines()
        return frozenset(int(name.split("/")[2]) for name in names)


@dataclass(frozen=True)
class Commit:
    """A commit as git tells of it; ``written`` is who wrote it and when, which picks keep."""

    sha: str
    parents: tuple[str, ...]
    date: int
    written: str
    author: str
    message: str

    @property
    def subject(self) -> str:
        return self.message.strip().partition("\n")[0].strip()

    @property
    def heading(self) -> str:
        """The subject, or what stands below a merge's own words."""
        lines = [line.strip() for line in self.message.strip().splitlines() if line.strip()]
        merged = bool(lines) and lines[0].startswith("Merge pull request") and len(lines) > 1
        return lines[1] if merged else self.subject

    @property
    def title(self) -> str:
        """The heading as it is compared, without numbers and branches."""
        return " ".join(_DECORATION.sub(" ", self.heading).split()).casefold()

    @property
    def numbers(self) -> frozenset[int]:
        """The numbers of pull requests in the subject and in the branch that it merged."""
        return frozenset(int(one) for found in _PULL.findall(self.subject) for one in found if one)


def _commit(record: str) -> Commit:
    sha, parents, date, written, author, message = record.strip("\n").split("\x1f")
    return Commit(sha, tuple(parents.split()), int(date), written, author, message)


@dataclass(frozen=True)
class Unit:
    """A merged pull request: its commits on the base, oldest first."""

    number: int
    commits: tuple[Commit, ...]

    @property
    def base(self) -> str:
        return self.commits[0].parents[0]

    @property
    def head(self) -> str:
        return self.commits[-1].sha

    @property
    def date(self) -> int:
        """When it was merged."""
        return max(commit.date for commit in self.commits)


@dataclass(frozen=True)
class Arrival:
    """How a change came to a release branch.

    Attributes:
        how: by what it was found there.
        commits: the branch's commits, oldest first.
        whole: whether all of its commits came.
    """

    how: str
    commits: tuple[Commit, ...]
    whole: bool

    @property
    def date(self) -> int:
        return min(commit.date for commit in self.commits)


@dataclass
class Branch:
    """A release branch beside its base."""

    mirror: Mirror
    name: str
    main: str = "main"
    _named: dict[str, Commit] = field(default_factory=dict)

    @cached_property
    def parted(self) -> str:
        return self.mirror.text("merge-base", self.main, self.name)

    @cached_property
    def own(self) -> list[Commit]:
        """The branch's commits since both parted, newest first; side branches' after merges."""
        return self.mirror.commits("--topo-order", f"{self.parted}..{self.name}")

    @cached_property
    def spine(self) -> list[Commit]:
        """The branch's first-parent commits since both parted, oldest first."""
        return self.mirror.commits("--first-parent", f"{self.parted}..{self.name}")[::-1]

    def tip_at(self, date: int) -> str:
        """The branch's tip before a moment: nothing in its line is as new as that."""
        tip = self.parted
        for commit in self.spine:
            if commit.date >= date:
                return tip
            tip = commit.sha
        return tip

    @cached_property
    def line(self) -> list[Commit]:
        """The base's first-parent commits since both parted, oldest first."""
        return self.mirror.commits("--first-parent", f"{self.parted}..{self.main}")[::-1]

    @cached_property
    def _titles(self) -> Mapping[str, int]:
        """How many changes of the base have each title; some bots always write the same."""
        return Counter(commit.title for commit in self.line)

    @cached_property
    def units(self) -> list[Unit]:
        """The merged pull requests of the base while the branch lived, oldest first."""
        born = self.spine[0].date
        runs = groupby(self.line, key=self._number)
        units = [Unit(number, tuple(run)) for number, run in runs if number is not None]
        return [one for one in units if born <= one.date <= self.spine[-1].date]

    def _number(self, commit: Commit) -> int | None:
        if numbers := commit.numbers:
            return max(numbers)
        closed = [int(one) for one in _CLOSES.findall(commit.message)]
        return next((one for one in reversed(closed) if one in self.mirror.pulls), None)

    @cached_property
    def _patches(self) -> tuple[Mapping[str, str], Mapping[str, Commit]]:
        ours = self.mirror.patch_ids("--first-parent", f"{self.parted}..{self.main}")
        theirs = self.mirror.patch_ids("--no-merges", f"{self.parted}..{self.name}")
        by_sha = {commit.sha: commit for commit in self.own}
        return ours, {patch: by_sha[sha] for sha, patch in theirs.items()}

    @cached_property
    def _by_name(self) -> Mapping[str, Commit]:
        """The branch's commits by the ten digits of what they say that they were picked from."""
        found: dict[str, Commit] = {}
        for commit in reversed(self.own):
            for one in _SHA.findall(commit.message):
                found.setdefault((one[0] or one[1])[:10], commit)
        return found

    @cached_property
    def _by(self) -> Mapping[str, Mapping[object, Commit]]:
        found: dict[str, dict[object, Commit]] = defaultdict(dict)
        for commit in reversed(self.own):
            found["author"].setdefault((commit.written, commit.title), commit)
            found["title"].setdefault(commit.title, commit)
            for number in (*commit.numbers, *map(int, _CLOSES.findall(commit.message))):
                found["number"].setdefault((number, commit.title), commit)
            for number in commit.numbers:
                found["number alone"].setdefault(number, commit)
        return found

    def arrival(self, unit: Unit) -> Arrival | None:
        """How a change came to the branch; None where it never did."""
        found = [self._found(commit, unit) for commit in unit.commits]
        there = [one for one in found if one]
        if not there:
            return None
        commits = tuple({commit.sha: commit for _, commit in there}.values())
        ways = ", ".join(dict.fromkeys(how for how, _ in there))
        return Arrival(ways, commits, len(there) == len(found))

    def _found(self, commit: Commit, unit: Unit) -> tuple[str, Commit] | None:
        ours, theirs = self._patches
        side = self.mirror.commits(f"{commit.parents[0]}..{commit.sha}") if _merges(commit) else []
        for sha in (commit.sha, *(one.sha for one in side)):
            if sha[:10] in self._by_name:
                return "named", self._by_name[sha[:10]]
        if (patch := ours.get(commit.sha)) and patch in theirs:
            return "same patch", theirs[patch]
        for name, key in self._keys(commit, unit):
            if key in self._by[name]:
                return name, self._by[name][key]
        return None

    def _keys(self, commit: Commit, unit: Unit) -> Iterator[tuple[str, object]]:
        yield "author", (commit.written, commit.title)
        yield "number", (unit.number, commit.title)
        yield "number alone", unit.number
        if len(commit.title) >= _TELLING and self._titles[commit.title] == 1:
            yield "title", commit.title


def _merges(commit: Commit) -> bool:
    return len(commit.parents) > 1


def neighbours(arrival: Arrival) -> bool:
    """Whether the commits of an arrival follow each other, so that they are one change."""
    pairs = zip(arrival.commits, arrival.commits[1:], strict=False)
    return all(later.parents[:1] == (earlier.sha,) for earlier, later in pairs)


def before(arrival: Arrival) -> str:
    """What the branch held before the change came."""
    return arrival.commits[0].parents[0]
