"""A pick's objects, written through GitHub's API and compared with those of the trial.

The API here cannot move or delete a branch: it creates objects and new branches only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from prjury.errors import PublishError
from prjury.snapshot.model import visible
from prjury.snapshot.picked import Author, Pick, PickedCommit, PickedEntry, PickedFile

if TYPE_CHECKING:
    from prjury.github.branches import StoredCommit, StoredPull


class BranchesPort(Protocol):
    """Objects, new branches and pull requests of one repository.

    Every method raises PublishError.
    """

    def account(self) -> str:
        """Return the account that writes."""

    def tip(self, branch: str) -> str | None:
        """Return the commit of a branch; None if there is no such branch."""

    def commit(self, sha: str) -> StoredCommit:
        """Return a commit."""

    def add_blob(self, content: bytes) -> str:
        """Store a content and return its object name; idempotent."""

    def add_tree(self, base: str, entries: Sequence[PickedEntry]) -> str:
        """Store the tree ``base`` with other entries and return its object name."""

    def add_commit(
        self, message: str, tree: str, parent: str, author: Author | None, committer: str
    ) -> StoredCommit:
        """Store a commit, which no branch has yet.

        Args:
            author: None for the committer.
            committer: an account.
        """

    def create_branch(self, name: str, sha: str) -> None:
        """Create a branch whose name starts with `HEADS`; an existing one is never changed.

        After an unclear failure it may exist. The reason is ``refused`` if it existed before.
        """

    def pulls(self, branch: str) -> Sequence[StoredPull]:
        """Return all pull requests from a branch of this repository, in any state."""

    def open_pull(self, *, head: str, base: str, title: str, body: str, draft: bool) -> StoredPull:
        """Open a pull request; after an unclear failure it may exist."""

    def label(self, number: int, names: Sequence[str]) -> None:
        """Add labels; GitHub creates missing ones."""


_GIT_MADE = ("Signed-off-by: ", "(cherry picked from commit ")
_TRAILER = re.compile(r"[A-Za-z0-9-]+[ \t]*:")
#: Git takes a paragraph for trailers if it made one of them and one line in four is one.
_OTHERS_FOR_EACH = 3
_COMMENT = "#"


def with_origins(message: str, origins: Sequence[str]) -> str:
    """Return the message with a line for each origin, as `git cherry-pick -x` writes it.

    The lines join existing trailers, or follow a blank line.
    """
    lines = message.split("\n")
    while lines and not lines[0].strip():
        del lines[0]
    if lines and not lines[-1]:
        del lines[-1]
    for origin in origins:
        if not _ends_in_trailers(lines):
            lines.append("")
        lines.append(f"(cherry picked from commit {origin})")
    return _tidied(lines)


def _ends_in_trailers(lines: Sequence[str]) -> bool:
    """Whether git takes the last paragraph for trailers."""
    ending = _last_paragraph(lines)
    trailers = others = continuations = 0
    git_made = False
    for line in reversed(ending):
        if line.startswith(_COMMENT):
            others, continuations = others + continuations, 0
        elif line.startswith(_GIT_MADE):
            trailers, continuations, git_made = trailers + 1, 0, True
        elif _TRAILER.match(line):
            trailers, continuations = trailers + 1, 0
        elif line[0].isspace():
            continuations += 1
        else:
            others, continuations = others + 1 + continuations, 0
    others += continuations
    if git_made and trailers * _OTHERS_FOR_EACH >= others:
        return True
    return trailers > 0 and not others


def _last_paragraph(lines: Sequence[str]) -> list[str]:
    """Return the lines of the last paragraph, none if there is only the title."""
    blank = [not line.strip() for line in lines]
    if True not in blank:
        return []
    end = len(lines)
    while end and blank[end - 1]:
        end -= 1
    start = end
    while start and not blank[start - 1]:
        start -= 1
    return list(lines[start:end]) if start else []


def _tidied(lines: Sequence[str]) -> str:
    """Remove trailing blanks and repeated blank lines."""
    kept: list[str] = []
    for line in (one.rstrip() for one in lines):
        if line or (kept and kept[-1]):
            kept.append(line)
    while kept and not kept[-1]:
        kept.pop()
    return "\n".join(kept) + "\n"


#: Limits of one request: paths, and characters of text.
_MOST_ENTRIES = 100
_MOST_TEXT = 1_000_000
#: Bytes of a text in the tree's request; longer ones get requests of their own.
_LONGEST_TEXT = 100_000
_MODES = frozenset({"100644", "100755", "120000", "160000"})
_WORKFLOWS = ".github/workflows/"


def store_commit(pick: Pick, port: BranchesPort) -> str:
    """Store the commits and return the last one, which no branch has yet; idempotent.

    Raises:
        PublishError: ``tree_differs`` if GitHub's tree is not the trial's.
    """
    account = port.account()
    parent, tree = pick.branch_sha, pick.branch_tree
    for commit in pick.commits:
        _store_tree(tree, commit, port)
        message = with_origins(commit.message, commit.origins)
        made = port.add_commit(message, commit.tree, parent, commit.author, account)
        parent, tree = made.sha, commit.tree
    return parent


def store_empty_commit(pick: Pick, message: str, port: BranchesPort) -> str:
    """Store an empty commit: a pull request needs one."""
    return port.add_commit(
        message, pick.branch_tree, pick.branch_sha, author=None, committer=port.account()
    ).sha


def refuse_unsayable(pick: Pick) -> None:
    """Refuse what the API cannot express.

    Raises:
        PublishError: ``not_carried``, before anything is written.
    """
    files = [file for commit in pick.commits for file in commit.files]
    names = [pick.branch, *(file.path for file in files)]
    wrong = next((name for name in names if not _is_text(name)), None)
    modes = {file.path: file.mode for file in files if file.mode}
    odd = next((path for path, mode in modes.items() if mode not in _MODES), None)
    if wrong is None and odd is None:
        return
    why = "Its name is not UTF-8" if wrong is not None else f"Its mode is {modes[odd or '']}"
    raise PublishError(
        f"No pull request onto {visible(pick.branch)}: {visible(wrong or odd or '')} "
        "cannot be written through GitHub's API",
        why=why,
        remedy="Pick the change by hand",
        reason="not_carried",
    )


@contextmanager
def workflows_explained(pick: Pick) -> Iterator[None]:
    """Explain a refusal by touched workflows, if there are any."""
    try:
        yield
    except PublishError as error:
        paths = (file.path for commit in pick.commits for file in commit.files)
        if error.reason not in {"permission", "not_found"} or not any(
            path.startswith(_WORKFLOWS) for path in paths
        ):
            raise
        why = f"The change touches {_WORKFLOWS}, which a job's own token may not write"
        raise PublishError(
            error.what,
            why=f"{error.why}. {why}",
            remedy="Pick it by hand, or give the token of an app that has `workflows: write`",
            reason="permission",
        ) from error


def _store_tree(base: str, commit: PickedCommit, port: BranchesPort) -> None:
    tree = _made(base, commit.files, port, _LONGEST_TEXT)
    if tree != commit.tree and any(map(_is_short_text, commit.files)):
        # The server may have changed a text on its way; it cannot change bytes.
        tree = _made(base, commit.files, port, 0)
    if tree != commit.tree:
        raise _differs("tree", tree, commit.tree)


def _made(base: str, files: Sequence[PickedFile], port: BranchesPort, longest: int) -> str:
    tree = base
    for entries in _requests(files, port, longest):
        tree = port.add_tree(tree, entries)
    return tree


def _requests(
    files: Sequence[PickedFile], port: BranchesPort, longest: int
) -> Iterator[list[PickedEntry]]:
    """Yield the entries of each request; paths that are in the way of others go first."""
    first = _in_the_way(files)
    if first:
        yield [PickedEntry(file.path, None) for file in first]
    gone = {file.path for file in first}
    entries: list[PickedEntry] = []
    room = _MOST_TEXT
    for file in files:
        if file.path in gone:
            continue
        entry = _entry(file, port, longest)
        size = len(entry.text or "")
        if entries and (len(entries) == _MOST_ENTRIES or size > room):
            yield entries
            entries, room = [], _MOST_TEXT
        entries.append(entry)
        room -= size
    if entries:
        yield entries


def _in_the_way(files: Sequence[PickedFile]) -> list[PickedFile]:
    """Return removed files where a directory is added, or in a directory that becomes a file."""
    there = {file.path for file in files if file.mode}
    above = {parent for path in there for parent in _parents(path)}
    return [
        file
        for file in files
        if not file.mode and (file.path in above or there.intersection(_parents(file.path)))
    ]


def _parents(path: str) -> Iterator[str]:
    while path:
        path = path.rpartition("/")[0]
        if path:
            yield path


def _entry(file: PickedFile, port: BranchesPort, longest: int) -> PickedEntry:
    """Put a short text into the request itself; store other contents before."""
    if file.content is None or file.mode is None:
        return PickedEntry(file.path, file.mode, file.blob or None)
    text = _as_text(file.content, longest)
    if text is not None:
        return PickedEntry(file.path, file.mode, text=text)
    blob = port.add_blob(file.content)
    if blob != file.blob:
        raise _differs(f"content of {visible(file.path)}", blob, file.blob)
    return PickedEntry(file.path, file.mode, blob)


def _is_short_text(file: PickedFile) -> bool:
    return file.content is not None and _as_text(file.content, _LONGEST_TEXT) is not None


def _as_text(content: bytes, longest: int) -> str | None:
    if not content or len(content) > longest or b"\0" in content:
        return None
    try:
        return content.decode()
    except UnicodeDecodeError:
        return None


def _is_text(name: str) -> bool:
    return not any("\ud800" <= char <= "\udfff" for char in name)


def _differs(what: str, theirs: str, ours: str) -> PublishError:
    return PublishError(
        f"No pull request: the {what} is {theirs[:12]} at GitHub, and {ours[:12]} in the trial",
        why="What would be proposed is not what was judged",
        remedy="Run again; if it happens again, report it",
        reason="tree_differs",
    )
