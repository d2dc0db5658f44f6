"""The lines that a change adds, as they are numbered in the merged tree."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import SequenceMatcher

from prjury.ports import Repository
from prjury.snapshot.model import FileChange

#: Lines; in longer files that both sides change it takes too long to find the added ones.
_LONGEST = 20_000


def merged_lines(
    file: FileChange, blobs: Mapping[str, str], repository: Repository
) -> Mapping[int, str]:
    """The added lines of a file, elsewhere where the base has moved on in it.

    None are known of a file that is not read, or that both sides change and that is very long.

    Args:
        blobs: the files of the merged tree, each with its object name.
    """
    added = {line.new: line.text for line in file.added_lines if line.new is not None}
    merged, head = blobs.get(file.path), file.new_blob
    if merged == head or merged is None or head is None:
        return added
    texts = repository.read([head, merged])
    ours, theirs = ((texts[blob] or b"").split(b"\n") for blob in (head, merged))
    if max(len(ours), len(theirs)) > _LONGEST:
        return {}
    blocks = SequenceMatcher(None, ours, theirs, autojunk=False).get_matching_blocks()
    return {
        block.b + at + 1: added[block.a + at + 1]
        for block in blocks
        for at in range(block.size)
        if block.a + at + 1 in added
    }
