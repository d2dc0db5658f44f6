"""What a change is, wherever it stands: the same after a rebase that moves its lines."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from prjury.snapshot.model import FileChange, PullRequest


def patch_id(pull: PullRequest) -> str:
    """A name for what a pull request does, 64 hex digits.

    Two changes have the same one if they do the same to the same files with the same lines around
    it; numbers of lines do not count, as in ``git patch-id``, but every blank does. Where the lines
    are not known, the content's name stands for them.
    """
    digest = hashlib.sha256()
    for file in pull.files:
        for part in _parts(file):
            digest.update(part.encode("utf-8", "surrogateescape"))
            digest.update(b"\0")
    return digest.hexdigest()


def _parts(file: FileChange) -> Iterator[str]:
    yield from (
        file.path,
        file.old_path or "",
        file.status,
        file.old_mode or "",
        file.new_mode or "",
    )
    if not file.hunks or file.unread:
        yield f"{file.old_blob} {file.new_blob}"
    for hunk in file.hunks:
        yield "@@"
        for line in hunk.lines:
            yield f"{line.sign}{line.text}{line.end}"
