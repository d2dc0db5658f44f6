"""What a rule sees of a pull request, as JSON; documented in the page about the policy. Pure."""

from __future__ import annotations

from typing import Any, Final, TypeAlias

from prjury.snapshot.model import FileChange, FileStatus, PullRequest

SCHEMA_NAME: Final = "prjury/pull/v1"

Json: TypeAlias = dict[str, Any]


def view_of(pull: PullRequest) -> Json:
    """The view of a pull request."""
    there = (file.path for file in pull.files if file.status is not FileStatus.DELETED)
    return {
        "schema": SCHEMA_NAME,
        "repo": pull.repo,
        "number": pull.number,
        "title": pull.title,
        "body": pull.body,
        "author": pull.author,
        "draft": pull.draft,
        "labels": list(pull.labels),
        "base": {"ref": pull.base.ref, "sha": pull.base.sha},
        "head": {"ref": pull.head.ref, "sha": pull.head.sha},
        "merge_base": pull.merge_base,
        "additions": pull.additions,
        "deletions": pull.deletions,
        "paths": list(there),
        "files": [_file(file) for file in pull.files],
    }


def _file(file: FileChange) -> Json:
    lines = [line for hunk in file.hunks for line in hunk.lines]
    return {
        "path": file.path,
        "old_path": file.old_path,
        "status": file.status.value,
        "kind": file.kind.value,
        "additions": file.additions,
        "deletions": file.deletions,
        "unread": file.unread,
        "added": [{"line": one.new, "text": one.text} for one in lines if one.sign == "+"],
        "removed": [{"line": one.old, "text": one.text} for one in lines if one.sign == "-"],
    }
