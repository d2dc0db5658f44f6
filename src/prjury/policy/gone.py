"""Keys and judges of earlier releases, each with the one line that says what to use."""

from __future__ import annotations

from collections.abc import Sequence

#: By the key that they stood below, empty for the top, and their own name.
_KEYS = {
    ("gate", "override"): "an override is a comment now: `/prjury override REASON`",
    ("backport", "override"): "use `/prjury backport BRANCH`, or a label that asks for a branch",
    ("backport", "most"): "name the branches with `backport: {branches: […]}`",
    ("backport", "trailers"): "leave it out: lines such as `Backport-to: 1.2.x` always count",
    ("open", "title"): "leave it out: the title is `[BRANCH] TITLE`",
    ("sandbox", "mounts"): "name what a build may read with `sandbox: {lend: [npmrc]}`",
    ("suppressions", "ecosystem"): "use `suppressions: {allow: false}` for all of them",
    ("patterns", "suppressions"): "use `suppressions: {allow: false}`",
    ("patterns", "ecosystem"): "use `suppressions: {allow: false}`",
}
#: Judges that have no seat any more.
SEATS = {
    "semantic": "use `prjury judge semantic`, the library, or `file-content`",
    "superset-diff": "use `prjury judge superset-diff`, the library, or `file-content`",
    "class-version": "use `prjury judge class-version` or the library",
}


def replacement_of_key(path: Sequence[str | int]) -> str:
    """The replacement of a key that is gone; empty for any other key."""
    words = ["", *(part for part in path if isinstance(part, str))]
    return _KEYS.get((words[-2], words[-1]), "")
