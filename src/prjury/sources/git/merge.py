"""The trial merge in object space: no checkout, no index, no work tree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from prjury.pull.conflicts import classify, read_conflicts
from prjury.pull.kinds import REGULAR_MODES
from prjury.pull.model import Conflict, ConflictType, MergeTrial, printable, visible
from prjury.sources.git.command import Git
from prjury.sources.git.objects import find_in_tree, read_blobs

#: The words of git's merge-ort for each kind of conflict, in the order in which they are preferred.
_TYPES: Mapping[str, ConflictType] = {
    "CONFLICT (binary)": ConflictType.BINARY,
    "CONFLICT (submodule": ConflictType.SUBMODULE,
    "CONFLICT (modify/delete)": ConflictType.MODIFY_DELETE,
    "CONFLICT (rename": ConflictType.RENAME,
    "CONFLICT (directory rename": ConflictType.RENAME,
    "CONFLICT(directory rename": ConflictType.RENAME,
    "CONFLICT (file in way of directory rename)": ConflictType.RENAME,
    "CONFLICT (contents)": ConflictType.CONTENT,
    "CONFLICT (content)": ConflictType.CONTENT,
}

_WHOLE_FILE = {
    ConflictType.BINARY: "both sides change a binary file",
    ConflictType.SUBMODULE: "both sides move a submodule",
    ConflictType.MODIFY_DELETE: "one side changes the file, the other deletes it",
    ConflictType.RENAME: "the sides rename or move the file differently",
    ConflictType.OTHER: "the sides disagree about what stands at this path",
}


@dataclass(frozen=True)
class _Message:
    """One of git's messages about the merge: the paths concerned, its type, its words."""

    paths: tuple[str, ...]
    type: str
    words: str


def try_merge(git: Git, ours: str, theirs: str) -> MergeTrial:
    """Merges two commits; the result's tree exists in ``git``'s object store."""
    args = ("merge-tree", "--write-tree", "-z", "--messages", ours, theirs)
    output, code, stderr = git.try_run(*args)
    if code not in {0, 1}:
        return MergeTrial(None, impossible=_why_not(stderr, code))
    tree, *rest = output.decode("utf-8", "surrogateescape").split("\0")
    if code == 0:
        return MergeTrial(tree)
    stages, messages = _read(rest)
    types = {path: _type_of(path, stages[path], messages) for path in stages}
    texts = _texts(git, tree, [path for path, kind in types.items() if kind not in _WHOLE_FILE])
    conflicts = [_conflict(path, kind, texts.get(path, "")) for path, kind in types.items()]
    return MergeTrial(None, tuple(conflicts))


def _why_not(stderr: str, code: int) -> str:
    if "usage: git merge-tree" in stderr:
        return "git 2.38 or newer is needed for a trial merge"
    last = stderr.splitlines()[-1] if stderr else f"exit code {code}"
    return f"git could not try the merge: {visible(last)}"


def _read(fields: list[str]) -> tuple[dict[str, str], list[_Message]]:
    """The conflicted paths with their stages in the index, and the messages behind them.

    A conflict that leaves no path in conflict, such as a directory whose files went two ways, is
    told by its message alone.
    """
    split = fields.index("")
    stages: dict[str, str] = {}
    for entry in fields[:split]:
        head, _, path = entry.partition("\t")
        stages[path] = stages.get(path, "") + head[-1]
    messages = list(_messages(iter(fields[split + 1 :])))
    for message in messages:
        if message.type.startswith("CONFLICT") and not stages.keys() & set(message.paths):
            stages.update(dict.fromkeys(message.paths, ""))
    return stages, messages


def _messages(fields: Iterator[str]) -> Iterator[_Message]:
    for count in fields:
        if not count.isdecimal():
            return  # the end, or advice on submodules that git prints there
        paths = tuple(next(fields) for _ in range(int(count)))
        yield _Message(paths, next(fields), next(fields))


def _type_of(path: str, stages: str, messages: list[_Message]) -> ConflictType:
    told = [message.type for message in messages if path in message.paths]
    for words, kind in _TYPES.items():
        if any(text.startswith(words) for text in told):
            added = kind is ConflictType.CONTENT and stages == "23"
            return ConflictType.ADD_ADD if added else kind
    return ConflictType.OTHER


def _conflict(path: str, kind: ConflictType, text: str) -> Conflict:
    if kind in _WHOLE_FILE:
        return Conflict(path, kind, mechanical=False, reason=_WHOLE_FILE[kind])
    hunks = read_conflicts(text)
    mechanical, reason = classify(printable(path), hunks)
    lines = (hunks[0].line, hunks[-1].line) if hunks else None
    return Conflict(path, kind, mechanical, reason, lines)


def _texts(git: Git, tree: str, paths: Sequence[str]) -> dict[str, str]:
    """The files with conflict markers, as the merge left them in its tree."""
    entries = [entry for entry in find_in_tree(git, tree, paths) if entry.mode in REGULAR_MODES]
    content = read_blobs(git, [entry.blob for entry in entries])
    return {
        entry.path: (content.get(entry.blob) or b"").decode("utf-8", "replace") for entry in entries
    }
