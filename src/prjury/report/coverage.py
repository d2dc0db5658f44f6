"""How much of what the pull request adds was read, by the judges' own declarations.

A judge that reads content says so in ``metadata["scope"]``. An added line counts as judged when its
file was read by at least one of them. Where no judge declares anything (only the merged tree was
judged), every file whose change could be photographed counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from prjury.jury.cascade import TierAttempt
from prjury.pull.model import FileChange, FileKind, PullRequest, printable
from prjury.report.model import Coverage, NotChecked

_REASONS = {
    FileKind.LOCK: "lock file",
    FileKind.GENERATED: "generated file",
    FileKind.VENDORED: "vendored file",
    FileKind.BINARY: "binary file",
    FileKind.SUBMODULE: "submodule",
}
_NOBODY = "no judge read it"


@dataclass(frozen=True)
class _Scope:
    """What all judges together have read, and why not the rest."""

    kind: Literal["lines", "tree"]
    read: frozenset[str]
    unread: Mapping[str, str]

    def reason_against(self, file: FileChange) -> str | None:
        """Why the file does not count as judged, or None if it does."""
        path = printable(file.path)
        if self.kind == "lines" and path in self.read:
            return None
        if file.unread:
            return file.unread
        if self.kind == "tree" or not file.additions:
            return None
        return self.unread.get(path, _NOBODY)


def measure(pull: PullRequest, attempts: Sequence[TierAttempt]) -> Coverage:
    """The coverage that these attempts reach."""
    scope = _scope(attempts)
    readable = [file for file in pull.files if file.readable]
    judged = [file for file in readable if scope.reason_against(file) is None]
    return Coverage(
        scope=scope.kind,
        files_total=len(readable),
        files_judged=len(judged),
        added_lines_total=sum(file.additions for file in readable),
        added_lines_judged=sum(file.additions for file in judged),
        not_checked=tuple(_not_checked(pull.files, scope)),
    )


def _not_checked(files: Iterable[FileChange], scope: _Scope) -> Iterator[NotChecked]:
    for file in files:
        kind = _REASONS.get(file.kind)
        reason = kind or scope.reason_against(file)
        if reason:
            yield NotChecked(printable(file.path), reason)


def _scope(attempts: Iterable[TierAttempt]) -> _Scope:
    declared = list(_declarations(attempts))
    read = {path for scope in declared for path in _entries(scope, "read") if isinstance(path, str)}
    unread: dict[str, str] = {}
    for scope in declared:
        for entry in _entries(scope, "unread"):
            if isinstance(entry, Mapping) and "path" in entry:
                unread.setdefault(str(entry["path"]), str(entry.get("reason") or _NOBODY))
    return _Scope("lines" if declared else "tree", frozenset(read), unread)


def _declarations(attempts: Iterable[TierAttempt]) -> Iterator[Mapping[str, Any]]:
    for attempt in attempts:
        for ballot in attempt.verdict.ballots if attempt.verdict else ():
            scope = ballot.judgment.metadata.get("scope")
            if isinstance(scope, Mapping):
                yield scope


def _entries(scope: Mapping[str, Any], key: str) -> Sequence[Any]:
    entries = scope.get(key)
    return entries if isinstance(entries, list | tuple) else ()
