"""Builds small real git repositories: quickly, with the same object names every time.

    history = History(tmp_path / "repo")
    history.commit({"a.py": "x = 1\n"})
    history.switch("change", create=True)
    history.commit({"a.py": "x = 2\n", "run.sh": script("echo\n"), "old.py": None})
    history.merge("main")
    history.pull_ref(7)

A value of None deletes the path. Paths may be bytes. Nothing of the user's git configuration is
read, and no commit touches the clock: each is one minute later than the one before.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from prjury.git.operator import open_repository
from prjury.git.store import open_store
from prjury.git.take_snapshot import Caps, take_snapshot
from prjury.snapshot.model import PullRequest

_FIRST_DATE = 1_704_067_200  # 2024-01-01T00:00:00Z
_WHO = b"Ada <ada@example.org>"

#: What git sees of the world in tests: the PATH and nothing of the user's.
ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "LC_ALL": "C",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.org",
    "GIT_AUTHOR_DATE": f"{_FIRST_DATE} +0000",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.org",
    "GIT_COMMITTER_DATE": f"{_FIRST_DATE} +0000",
}


@dataclass(frozen=True)
class Entry:
    """A file with a mode of its own; a submodule's content is the commit's name."""

    content: bytes
    mode: str = "100644"


def script(text: str) -> Entry:
    """An executable file."""
    return Entry(text.encode(), "100755")


def link(target: str | bytes) -> Entry:
    """A symbolic link."""
    return Entry(os.fsencode(target), "120000")


def submodule(sha: str) -> Entry:
    """A submodule's pointer; give the repository a ``.gitmodules`` as well if that matters."""
    return Entry(sha.encode(), "160000")


Content: TypeAlias = str | bytes | Entry | None
#: Paths as str or bytes, and what is to stand there.
Files: TypeAlias = Mapping[Any, Content]


class GitFailedError(AssertionError):
    """Git refused what a test asked of it."""


class History:
    """A repository that a test writes; the methods that make a commit return its name.

    Args:
        path: where it shall be; made if it does not exist.
        bare: without a work tree. Otherwise the work tree follows every commit and switch.
        branch: the first branch, which is checked out.
        object_format: ``sha1`` or ``sha256``.
    """

    def __init__(
        self,
        path: Path,
        *,
        bare: bool = False,
        branch: str = "main",
        object_format: str = "sha1",
    ) -> None:
        self.path = path
        self.bare = bare
        self._commits = 0
        path.mkdir(parents=True, exist_ok=True)
        kind = ("--bare",) if bare else ()
        options = (f"--initial-branch={branch}", f"--object-format={object_format}")
        self.git("init", "--quiet", "--template=", *options, *kind)

    @property
    def git_dir(self) -> Path:
        return self.path if self.bare else self.path / ".git"

    @property
    def url(self) -> str:
        return f"file://{self.path}"

    @property
    def head(self) -> str:
        return self.sha("HEAD")

    def git(self, *args: str | bytes, stdin: bytes = b"", ok: Sequence[int] = (0,)) -> str:
        """Any git command in the repository; its output without the last line end."""
        argv: list[str | bytes] = ["git", "-c", "protocol.file.allow=always", *args]
        done = subprocess.run(
            argv, cwd=self.path, env=ENVIRONMENT, input=stdin, capture_output=True, check=False
        )
        if done.returncode not in ok:
            raise GitFailedError(f"git {args[0]!r}: {done.stderr.decode(errors='replace')}")
        return done.stdout.decode("utf-8", "surrogateescape").removesuffix("\n")

    def sha(self, ref: str = "HEAD") -> str:
        return self.git("rev-parse", "--verify", f"{ref}^{{}}")

    def commit(
        self,
        files: Files | None = None,
        message: str | bytes = "change",
        *,
        parents: Sequence[str] | None = None,
        author: bytes = _WHO,
        encoding: str | None = None,
    ) -> str:
        """A commit on the checked-out branch that changes these files; none is an empty commit.

        Args:
            parents: instead of the branch's tip; the first one gives the files. None at all starts
                a history of its own.
        """
        tip = self.git("rev-parse", "--quiet", "--verify", "HEAD", ok=(0, 1))
        parents = [tip] * bool(tip) if parents is None else [self.sha(name) for name in parents]
        sha = self._import(files or {}, message, parents, author, encoding)
        self.git("update-ref", "HEAD", sha)
        self.checkout()
        return sha

    def _import(
        self,
        files: Files,
        message: str | bytes,
        parents: Sequence[str],
        author: bytes = _WHO,
        encoding: str | None = None,
        tree: str | None = None,
    ) -> str:
        date = _FIRST_DATE + 60 * self._commits
        self._commits += 1
        text = message.encode() if isinstance(message, str) else message
        stream = [
            b"commit refs/prjury-test/new\nmark :1\n",
            b"author %s %d +0000\n" % (author, date),
            b"committer %s %d +0000\n" % (_WHO, date),
            b"encoding %s\n" % encoding.encode() if encoding else b"",
            _data(text),
            *(b"%s %s\n" % _parent(number, sha) for number, sha in enumerate(parents)),
            b'M 040000 %s ""\n' % tree.encode() if tree else b"",
            *(_change(path, content) for path, content in files.items()),
            b"\nget-mark :1\n",
        ]
        sha = self.git("fast-import", "--quiet", "--force", stdin=b"".join(stream))
        self.git("update-ref", "-d", "refs/prjury-test/new")
        return sha

    def extend(self, branch: str, steps: Sequence[tuple[Files, str]]) -> None:
        """Commits on a branch that is there, in one go; the work tree stays as it is."""
        if not steps:
            return
        stream = [b"reset refs/heads/%s\nfrom %s\n" % (branch.encode(), self.sha(branch).encode())]
        for files, message in steps:
            who = b"committer %s %d +0000\n" % (_WHO, _FIRST_DATE + 60 * self._commits)
            self._commits += 1
            stream += [b"commit refs/heads/%s\n" % branch.encode(), who, _data(message.encode())]
            stream += [_change(path, content) for path, content in files.items()]
        self.git("fast-import", "--quiet", "--force", stdin=b"".join(stream))

    def pad(self, count: int) -> str:
        """So many empty commits on the checked-out branch, in one go."""
        tip = self.head
        stream = [b"reset refs/prjury-test/new\nfrom %s\n" % tip.encode()]
        for number in range(count):
            date = _FIRST_DATE + 60 * (self._commits + number)
            who = b"committer %s %d +0000\n" % (_WHO, date)
            stream.append(b"commit refs/prjury-test/new\n" + who + _data(b"padding"))
        self._commits += count
        self.git("fast-import", "--quiet", "--force", stdin=b"".join(stream))
        self.git("update-ref", "HEAD", "refs/prjury-test/new")
        self.git("update-ref", "-d", "refs/prjury-test/new")
        return self.head

    def checkout(self) -> None:
        """Makes the work tree what HEAD says, without filters and hooks."""
        if not self.bare:
            quiet = ("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false")
            self.git(*quiet, "reset", "--quiet", "--hard")

    def branch(self, name: str, at: str = "HEAD") -> None:
        """A branch that is not switched to; an existing one is moved."""
        self.git("update-ref", f"refs/heads/{name}", self.sha(at))

    def switch(self, name: str, *, create: bool = False, at: str = "HEAD") -> None:
        """Checks out a branch."""
        if create:
            self.branch(name, at)
        self.git("symbolic-ref", "HEAD", f"refs/heads/{name}")
        self.checkout()

    def detach(self, at: str = "HEAD") -> None:
        """Checks out a commit that is no branch."""
        self.git("update-ref", "--no-deref", "HEAD", self.sha(at))
        self.checkout()

    def orphan(self, name: str) -> None:
        """A branch without commits is next; the files of its first commit are all it has."""
        self.git("symbolic-ref", "HEAD", f"refs/heads/{name}")

    def merge(self, *others: str, files: Files | None = None, message: str = "merge") -> str:
        """A merge commit with git's own result, on top of which ``files`` are changed.

        Conflicts stand in their files with markers unless ``files`` replaces them.
        """
        ours, theirs = self.head, [self.sha(other) for other in others]
        output = self.git("merge-tree", "--write-tree", ours, theirs[0], ok=(0, 1))
        tree = output.partition("\n")[0]
        sha = self._import(files or {}, message, [ours, *theirs], tree=tree)
        self.git("update-ref", "HEAD", sha)
        self.checkout()
        return sha

    def tag(self, name: str, at: str = "HEAD") -> None:
        self.git("update-ref", f"refs/tags/{name}", self.sha(at))

    def pull_ref(self, number: int, at: str = "HEAD") -> str:
        """What GitHub keeps of a pull request: ``refs/pull/N/head``."""
        self.git("update-ref", f"refs/pull/{number}/head", self.sha(at))
        return self.sha(at)

    def remote(self, url: str, *, name: str = "origin", head: str | None = None) -> None:
        """A remote, as if cloned from there; ``head`` is what its HEAD points to.

        The local branch of that name becomes the remote's.
        """
        self.git("config", f"remote.{name}.url", url)
        if head:
            self.git("update-ref", f"refs/remotes/{name}/{head}", self.sha(f"refs/heads/{head}"))
            target = f"refs/remotes/{name}/{head}"
            self.git("symbolic-ref", f"refs/remotes/{name}/HEAD", target)

    def clone(self, path: Path, *options: str) -> History:
        """A clone over ``file://``, so that ``--depth`` and ``--filter`` mean something."""
        self.git("config", "uploadpack.allowFilter", "true")
        self.git("clone", "--quiet", "--template=", *options, self.url, str(path))
        cloned = History.__new__(History)
        cloned.path, cloned.bare, cloned._commits = path, "--bare" in options, 1_000
        return cloned

    def write(self, name: str | bytes, content: str | bytes) -> Path:
        """A file of the work tree, not committed."""
        file = self.path / os.fsdecode(name)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return file


def _parent(number: int, sha: str) -> tuple[bytes, bytes]:
    return (b"merge" if number else b"from"), sha.encode()


def _data(content: bytes) -> bytes:
    return b"data %d\n%s\n" % (len(content), content)


def _change(path: str | bytes, content: Content) -> bytes:
    name = _quoted(os.fsencode(path))
    if content is None:
        return b"D %s\n" % name
    if isinstance(content, str):
        content = content.encode("utf-8", "surrogateescape")
    entry = content if isinstance(content, Entry) else Entry(content)
    mode = entry.mode.encode()
    if entry.mode == "160000":
        return b"M %s %s %s\n" % (mode, entry.content, name)
    return b"M %s inline %s\n%s" % (mode, name, _data(entry.content))


def _quoted(path: bytes) -> bytes:
    plain = b"".join(
        b"%c" % byte if 0x20 <= byte < 0x7F and byte not in b'"\\' else b"\\%03o" % byte
        for byte in path
    )
    return b'"%s"' % plain


def snapshot(
    repository: History | Path, base: str = "main", head: str = "change", caps: Caps | None = None
) -> PullRequest:
    """The photograph of what would bring one ref into the other."""
    path = repository.path if isinstance(repository, History) else repository
    operator = open_repository(path)
    with open_store(operator) as store:
        sides = operator.resolve(base), operator.resolve(head)
        return take_snapshot(store, *sides, caps=caps or Caps())


def crafted_tree(history: History, entries: Sequence[tuple[str, str, str]]) -> str:
    """A tree object with these modes, names and object names, whatever git thinks of them."""
    rows = [f"{mode} {name}\0".encode() + bytes.fromhex(oid) for mode, name, oid in entries]
    args = ("hash-object", "-w", "-t", "tree", "--literally", "--stdin")
    return history.git(*args, stdin=b"".join(rows))
