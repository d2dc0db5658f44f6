"""A pick's objects, written through GitHub's API and compared with those of the trial.

The API here cannot move or delete a branch: it creates objects and new branches only.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from prjury.errors import PublishError
from prjury.github.payload import at, object_name, text
from prjury.github.repo_client import RepoClient
from prjury.snapshot.model import visible
from prjury.snapshot.picked import Author, Pick, PickedCommit, PickedFile

_TRAILER = re.compile(r"[A-Za-z0-9-]+: |\(cherry picked from commit ")


def add_origins(message: str, origins: Sequence[str]) -> str:
    """Return the message with a line for each origin, as `git cherry-pick -x` writes it."""
    lines = "\n".join(line.rstrip() for line in message.split("\n"))
    text = re.sub(r"\n{3,}", "\n\n", lines.strip("\n"))
    for origin in origins:
        body, _, ending = text.rpartition("\n\n")
        joins = bool(body) and all(map(_TRAILER.match, ending.split("\n")))
        gap = ("\n" if joins else "\n\n") if text else ""
        text += f"{gap}(cherry picked from commit {origin})"
    return text + "\n"


#: Paths of one request.
_MOST_ENTRIES = 100
_MODES = frozenset({"100644", "100755", "120000", "160000"})
_TYPES = {"160000": "commit", "040000": "tree"}
_WORKFLOWS = ".github/workflows/"


def store_commit(pick: Pick, room: RepoClient) -> str:
    """Store the commits and return the last one, which no branch has yet; idempotent."""
    parent, tree = pick.branch_sha, pick.branch_tree
    for commit in pick.commits:
        _store_tree(tree, commit, room)
        message = add_origins(commit.message, commit.origins)
        parent = _add_commit(room, message, commit.tree, parent, commit.author)
        tree = commit.tree
    return parent


def store_empty_commit(pick: Pick, message: str, room: RepoClient) -> str:
    """Store an empty commit: a pull request needs one."""
    return _add_commit(room, message, pick.branch_tree, pick.branch_sha, None)


def _add_commit(
    room: RepoClient, message: str, tree: str, parent: str, author: Author | None
) -> str:
    """Store a commit by our account, whose address is GitHub's of no mailbox."""
    account = room.account()
    committer = {"name": account, "email": f"{account}@users.noreply.github.com"}
    own = author and {"name": text(author.name), "email": text(author.email), "date": author.date}
    content = {
        "message": text(message),
        "tree": object_name(tree, "the tree"),
        "parents": [object_name(parent, "the parent")],
        "author": own or committer,
        "committer": committer,
    }
    return _store(room, "a commit", "/git/commits", content)


def _store(room: RepoClient, what: str, path: str, content: Mapping[str, Any]) -> str:
    """Return the name of an object; stored twice it is the same, or one that nothing leads to."""
    return room.send(
        f"store {what} in {room.repo}",
        "POST",
        path,
        content,
        lambda answer: object_name(at(answer, "sha"), "sha"),
        needs="contents: write",
    )


def refuse_unsayable(pick: Pick) -> None:
    """Refuse what the API cannot express."""
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
def explain_workflows(pick: Pick) -> Iterator[None]:
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


def _store_tree(base: str, commit: PickedCommit, room: RepoClient) -> None:
    tree = _add_trees(base, commit.files, room)
    if tree != commit.tree:
        raise _differs("tree", tree, commit.tree)


def _add_trees(tree: str, files: Sequence[PickedFile], room: RepoClient) -> str:
    """Store the trees of all files; paths that are in the way of others go first."""
    obstacles = _find_obstacles(files)
    others = [file for file in files if file not in obstacles]
    parts = [others[at : at + _MOST_ENTRIES] for at in range(0, len(others), _MOST_ENTRIES)]
    for part in filter(None, (obstacles, *parts)):
        entries = [_make_entry(file, room) for file in part]
        content = {"base_tree": object_name(tree, "the tree"), "tree": entries}
        tree = _store(room, "a tree", "/git/trees", content)
    return tree


def _find_obstacles(files: Sequence[PickedFile]) -> list[PickedFile]:
    """Return removed files where a directory is added, or in a directory that becomes a file."""
    present = {file.path for file in files if file.mode}
    above = {parent for path in present for parent in _parents(path)}
    return [
        file
        for file in files
        if not file.mode and (file.path in above or present.intersection(_parents(file.path)))
    ]


def _parents(path: str) -> Iterator[str]:
    while path:
        path = path.rpartition("/")[0]
        if path:
            yield path


def _make_entry(file: PickedFile, room: RepoClient) -> dict[str, Any]:
    """Return GitHub's entry of a tree; a path with the object null goes away."""
    entry: dict[str, Any] = {"path": file.path, "mode": file.mode or "100644", "type": "blob"}
    if file.mode is None:
        return {**entry, "sha": None}
    entry["type"] = _TYPES.get(file.mode, "blob")
    if file.content is None:
        return {**entry, "sha": file.blob}
    encoded = {"content": base64.b64encode(file.content).decode(), "encoding": "base64"}
    blob = _store(room, "a file", "/git/blobs", encoded)
    if blob != file.blob:
        raise _differs(f"content of {visible(file.path)}", blob, file.blob)
    return {**entry, "sha": blob}


def _is_text(name: str) -> bool:
    return not any("\ud800" <= char <= "\udfff" for char in name)


def _differs(what: str, theirs: str, ours: str) -> PublishError:
    return PublishError(
        f"No pull request: the {what} is {theirs[:12]} at GitHub, and {ours[:12]} in the trial",
        why="What would be proposed is not what was judged",
        remedy="Run again; if it happens again, report it",
        reason="tree_differs",
    )
