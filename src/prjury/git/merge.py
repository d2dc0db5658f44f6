"""The trial merge in object space: no checkout, no index, no work tree."""

from __future__ import annotations

from collections.abc import Iterator

from prjury.git.command import TIMEOUT, Git
from prjury.git.line_conflicts import conflicts_of
from prjury.git.merge_tree import ConflictReader, ConflictStage, FailedMerge, MergeMessage
from prjury.snapshot.model import MergeTrial, visible
from prjury.snapshot.threeway import BASE_AND_HEAD, Classify, SideNames, unclassified


def try_merge(
    git: Git,
    ours: str,
    theirs: str,
    names: SideNames = BASE_AND_HEAD,
    *,
    classify: Classify = unclassified,
    timeout: float = TIMEOUT,
) -> MergeTrial:
    """Merges two commits; the result's tree exists in ``git``'s object store.

    Args:
        ours: what is merged onto.
        theirs: what is merged.
        names: what both are called in sentences.
        classify: decides what kind of work a conflict is.
        timeout: seconds for the merge itself.

    Raises:
        GitError: when git takes too long, prints too much, or the conflicts cannot be read.
    """
    args = ("merge-tree", "--write-tree", "-z", "--messages", ours, theirs)
    output, code, stderr = git.try_run(*args, timeout=timeout)
    if code not in {0, 1}:
        return MergeTrial(None, impossible=_why_not(stderr, code))
    tree, *rest = output.decode("utf-8", "surrogateescape").split("\0")
    if code == 0:
        return MergeTrial(tree)
    trial = FailedMerge(git, ours, theirs, names, classify)
    return MergeTrial(None, conflicts_of(trial, _read(rest, (ours, theirs))))


def merged_tree(git: Git, ours: str, theirs: str, *, timeout: float = TIMEOUT) -> str | None:
    """The tree of a trial merge; None where it conflicts or cannot be tried, whatever the reason.

    What collides is often most of the work, and not everybody asks for it.

    Raises:
        GitError: when git takes too long.
    """
    args = ("merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", ours, theirs)
    output, code, _ = git.try_run(*args, timeout=timeout)
    return output.partition(b"\0")[0].decode() if code == 0 else None


def _why_not(stderr: str, code: int) -> str:
    if "usage: git merge-tree" in stderr:
        return "git 2.38 or newer is needed for a trial merge"
    last = stderr.splitlines()[-1] if stderr else f"exit code {code}"
    return f"git could not try the merge: {visible(last)}"


def _read(fields: list[str], labels: tuple[str, str]) -> list[ConflictReader]:
    """The conflicted paths with their stages in the index, and the messages behind them.

    A conflict that leaves no path in conflict, such as a directory whose files went two ways, is
    told by its message alone.
    """
    split = fields.index("")
    messages = [
        message
        for message in _messages(iter(fields[split + 1 :]))
        if message.type.startswith(("CONFLICT", "ERROR"))
    ]
    moved = _moved(messages, labels)
    stages: dict[str, dict[int, ConflictStage]] = {}
    for entry in fields[:split]:
        head, _, path = entry.partition("\t")
        mode, blob, stage = head.split(" ")
        stages.setdefault(moved.get(path, path), {})[int(stage)] = ConflictStage(mode, blob)
    told: dict[str, list[MergeMessage]] = {path: [] for path in stages}
    for message in messages:
        paths = dict.fromkeys(moved.get(path, path) for path in message.paths)
        for path in [path for path in paths if path in stages] or paths:
            told.setdefault(path, []).append(message)
    return [ConflictReader(path, stages.get(path, {}), tuple(told[path])) for path in told]


def _messages(fields: Iterator[str]) -> Iterator[MergeMessage]:
    for count in fields:
        if not count.isdecimal():
            return  # the end, or advice on submodules that git prints there
        paths = tuple(next(fields) for _ in range(int(count)))
        yield MergeMessage(paths, next(fields), next(fields))


def _moved(messages: list[MergeMessage], labels: tuple[str, str]) -> dict[str, str]:
    """Names that git makes up where two things cannot stand at one path, and what they stand for.

    Such a name is the path with ``~``, the name of a side, and a number if that is taken as well.
    """
    found: dict[str, str] = {}
    for message in messages:
        for path in message.paths:
            made_up = [
                name
                for name in message.paths
                if name.startswith(tuple(f"{path}~{label}" for label in labels))
            ]
            found.update(dict.fromkeys(made_up, path))
    return found
