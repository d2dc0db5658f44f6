"""Files that need not be read according to the policy."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec.structs import replace

from prjury.snapshot.model import FileChange, PullRequest

_PARTS = re.compile(r"\*\*/|\*\*|\*|\?")
_MEANINGS = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def matches(path: str, glob: str) -> bool:
    """Return true if a glob speaks of a path.

    ``*`` and ``?`` stay inside a directory, ``**`` crosses directories. A glob without a slash
    holds in every directory, one that ends in a slash for all that is below it.
    """
    whole = f"{glob}**" if glob.endswith("/") else glob
    whole = whole if "/" in whole else f"**/{whole}"
    pattern, at = "", 0
    for part in _PARTS.finditer(whole):
        pattern += re.escape(whole[at : part.start()]) + _MEANINGS[part[0]]
        at = part.end()
    return re.fullmatch(pattern + re.escape(whole[at:]), path, re.DOTALL) is not None


def mark_exempt(pull: PullRequest, globs: Sequence[str]) -> PullRequest:
    """The pull request, with the files marked that the policy exempts from being read."""
    return replace(pull, files=tuple(_mark_file(file, globs) for file in pull.files))


def _mark_file(file: FileChange, globs: Sequence[str]) -> FileChange:
    glob = next((glob for glob in globs if matches(file.path, glob)), None)
    if glob is None or file.exempt:
        return file
    return replace(file, exempt=f"`{glob}` in the policy's coverage.exempt")
