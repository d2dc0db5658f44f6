"""Files in three versions, without git: the edits are told by difflib."""

from __future__ import annotations

import difflib

from prjury.snapshot.threeway import Edit, ThreeWay, lines_of


def edits(old: tuple[str, ...], new: tuple[str, ...]) -> tuple[Edit, ...]:
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    return tuple(
        Edit(range(old_start, old_end), range(new_start, new_end))
        for tag, old_start, old_end, new_start, new_end in matcher.get_opcodes()
        if tag != "equal"
    )


def three_way(base: str | None, onto: str, head: str) -> ThreeWay:
    """The file on all three sides; None is a file that the base does not have."""
    mine, yours = _lines(onto), _lines(head)
    if base is None:
        return ThreeWay.drop_base(mine, yours, edits(mine, yours))
    before = _lines(base)
    return ThreeWay.of(before, mine, yours, (edits(before, mine), edits(before, yours)))


def _lines(text: str) -> tuple[str, ...]:
    return lines_of(text.encode("utf-8", "surrogateescape"))
