"""A pick's objects, written through GitHub's API and compared with those of the trial."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from prjury.errors import PublishError
from prjury.publishers.backport_port import BranchesPort
from prjury.snapshot.model import visible
from prjury.snapshot.picked import Pick, PickedCommit, PickedEntry, PickedFile

_GIT_MADE = ("Signed-off-by: ", "(cherry picked from commit ")
_TRAILER = re.compile(r"[A-Za-z0-9-]+[ \t]*:")
#: One line in four has to be a trailer where one of them is made by git.
_OTHERS_FOR_EACH = 3
_COMMENT = "#"


def with_origins(message: str, origins: Sequence[str]) -> str:
    """The message with a line for each commit that it is picked from.

    The lines join trailers that are there; without any, a blank line stands before them.
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
    """Whether git takes the last paragraph for trailers; the first one is the title."""
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
    """The lines of it, none where there is but the title."""
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
    """No blanks at the ends of lines, and no two blank lines in a row."""
    kept: list[str] = []
    for line in (one.rstrip() for one in lines):
        if line or (kept and kept[-1]):
            kept.append(line)
    while kept and not kept[-1]:
        kept.pop()
    return "\n".join(kept) + "\n"


#: One request holds so many paths, and so many characters of text.
_MOST_ENTRIES = 100
_MOST_TEXT = 1_000_000
#: Bytes of a text that stands in the tree's own request; others get requests of their own.
_LONGEST_TEXT = 100_000
_MODES = frozenset({"100644", "100755", "120000", "160000"})
_WORKFLOWS = ".github/workflows/"


def store_commit(pick: Pick, port: BranchesPort) -> str:
    """Stores the commits; the result is the name of the last one, which no branch holds yet.

    Nothing is changed by it that anybody sees, and to do it again does no harm.

    Raises:
        PublishError: ``tree_differs`` where GitHub's tree is another one than the trial's.
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
    """Stores a commit that changes nothing: a pull request takes one commit at least."""
    return port.add_commit(
        message, pick.branch_tree, pick.branch_sha, author=None, committer=port.account()
    ).sha


def refuse_unsayable(pick: Pick) -> None:
    """Refuses what the API has no way to say.

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
    """Says of a refusal that it is due to workflows, where the change touches some."""
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
        # The server may have changed a text on its way; as bytes it cannot.
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
    """The entries of each request; what stands in another path's way goes first."""
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
    """What goes away where a directory comes, or in a directory where a file comes."""
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
    """A text stands in the request itself; what is not one, or long, or empty, is stored before."""
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
