"""The judges of files over the merged tree, which is read from git's objects, written nowhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import SequenceMatcher
from pathlib import Path, PurePosixPath
from typing import TypeVar

from msgspec import Struct

from prjury.errors import CannotJudgeError, ConfigError
from prjury.judges.builds.evidence import KeptReports
from prjury.judges.builds.workplace import object_missing
from prjury.judges.context import PullRequestContext
from prjury.judges.files.judges import FileContentJudge, FileExistsJudge
from prjury.judges.workspace.files import (
    Kind,
    decode_text,
    judge_or_error,
    outside_workspace,
    unreadable,
)
from prjury.jury.judge import FunctionJudge
from prjury.jury.judgment import Judgment
from prjury.policy.options import FileContentOptions, FileExistsOptions
from prjury.ports import Ports, Repository, Shell
from prjury.ports.types import TreeEntry
from prjury.snapshot.model import FileChange, visible

T = TypeVar("T")

#: More links than this one after the other lead nowhere.
_MOST_LINKS = 40
_LINK, _SUBMODULE = "120000", "160000"
#: Lines; in longer files that both sides change it takes too long to find the added ones.
_LONGEST = 20_000


def judge_tree(context: PullRequestContext, decide: Callable[[str], Judgment]) -> Judgment:
    """Judge the merged tree, or abstain: its lack is no reason to let the change through."""
    merge = context.pull.merge
    tree = merge.tree
    if tree is not None:
        return judge_or_error(lambda: decide(tree))
    why = merge.impossible or "the merge has conflicts"
    label = "no_merge" if merge.impossible else "conflicts"
    return Judgment.abstained(f"there is no merged tree: {why}", label)


def find_added_lines_in_merge(
    file: FileChange, blobs: Mapping[str, str], repository: Repository
) -> Mapping[int, str]:
    """Return the added lines by their numbers in the merged tree; none of what cannot be told."""
    added = {line.new: line.text for line in file.added_lines if line.new is not None}
    merged, head = blobs.get(file.path), file.new_blob
    if merged == head or merged is None or head is None:
        return added
    texts = repository.read([head, merged])
    head_lines, merged_lines = ((texts[blob] or b"").split(b"\n") for blob in (head, merged))
    if max(len(head_lines), len(merged_lines)) > _LONGEST:
        return {}
    blocks = SequenceMatcher(None, head_lines, merged_lines, autojunk=False).get_matching_blocks()
    return {
        block.b + at + 1: added[block.a + at + 1]
        for block in blocks
        for at in range(block.size)
        if block.a + at + 1 in added
    }


def read_kept_reports(
    kept: KeptReports, glob: str, shell: Shell, read: Callable[[Path], T]
) -> Mapping[str, T]:
    """Read the reports that a glob names, by their paths, which errors name as well."""
    with shell.scratch() as around:
        try:
            return {path: read(file) for path, file in kept.write_required(glob, around).items()}
        except CannotJudgeError as error:
            for place in (around.resolve(), around):
                error.what = error.what.replace(f"{place}/", "")
            raise


class CommittedTree(Struct, frozen=True):
    """The files of a tree as a `FileTree`; links are followed as far as they stay in it."""

    entries: Mapping[str, TreeEntry]
    directories: frozenset[str]
    repository: Repository

    @classmethod
    def of(cls, tree: str, repository: Repository) -> CommittedTree:
        entries = {entry.path: entry for entry in repository.files(tree)}
        above = {str(place) for path in entries for place in PurePosixPath(path).parents}
        return cls(entries, frozenset(above), repository)

    def kind(self, path: str) -> Kind:
        real = self._follow_links(path)
        entry = self.entries.get(real)
        if entry is None:
            return "directory" if real in self.directories else "missing"
        return "directory" if entry.mode == _SUBMODULE else "file"

    def text(self, path: str) -> str:
        if self.kind(path) != "file":
            raise unreadable(visible(path), "It is no file")
        return decode_text(self._read_entry(self.entries[self._follow_links(path)]), path)

    def _read_entry(self, entry: TreeEntry) -> bytes:
        content = self.repository.read([entry.blob])[entry.blob]
        if content is not None:
            return content
        raise object_missing(f"{visible(entry.path)} cannot be read")

    def _follow_links(self, path: str) -> str:
        if path.startswith("/"):
            raise outside_workspace(path, "It is absolute")
        waiting, real, links = path.split("/")[::-1], list[str](), 0
        while waiting:
            part = waiting.pop()
            if part in {"", "."}:
                continue
            if part == "..":
                if not real:
                    raise outside_workspace(path, "It, or a link, climbs out with `..`")
                real.pop()
                continue
            entry = self.entries.get("/".join([*real, part]))
            if entry is None or entry.mode != _LINK:
                real.append(part)
                continue
            links += 1
            target = self._read_entry(entry).decode("utf-8", "surrogateescape")
            if target.startswith("/"):
                raise outside_workspace(path, f"A symbolic link leads to {visible(target)}")
            if links > _MOST_LINKS:
                raise unreadable(visible(path), "Its links lead in a circle")
            waiting += target.split("/")[::-1]
        return "/".join(real) or "."


def make(
    options: FileExistsOptions | FileContentOptions, ports: Ports
) -> FunctionJudge[PullRequestContext]:
    """Demand a file of the merged tree, or a text in one; ConfigError for what RE2 refuses."""
    files = FileExistsJudge(options.path)
    if isinstance(options, FileContentOptions):
        files = read_content_options(options)

    def judge(tree: str) -> Judgment:
        return files.judge_in(CommittedTree.of(tree, ports.repository))

    about = "the file is as expected"
    return FunctionJudge(lambda context: judge_tree(context, judge), files.name, about)


def read_content_options(options: FileContentOptions) -> FileContentJudge:
    """Make the judge of a directory; ConfigError for an expression RE2 refuses."""
    exact, contains, regex = options.exact, options.contains, options.regex
    try:
        return FileContentJudge(options.path, exact=exact, contains=contains, regex=regex)
    except ValueError as error:
        raise ConfigError(f"file-content: {error}", remedy="Correct the expression") from error
