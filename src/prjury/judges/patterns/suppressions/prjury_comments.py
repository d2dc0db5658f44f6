"""``prjury-ignore[rule]`` in a comment: silences findings of its own line and of the next one."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from prjury.judges.patterns.match import MARKER, Active
from prjury.judges.patterns.suppressions.directive import CommentPage, Directive

_DIRECTIVE = re.compile(re.escape(MARKER) + r"\[([^\]\n]{1,500})\]")


def own_directives(page: CommentPage) -> Iterator[Directive]:
    """One for each name in each comment of ours."""
    if MARKER not in page.source.text:
        return
    for start, end in page.comments:
        for match in _DIRECTIVE.finditer(page.source.text, start, end):
            line = page.source.line_at(match.start())
            for name in map(str.strip, match[1].split(",")):
                told = f"{MARKER}[{name}]"
                yield Directive(MARKER, told, line, range(line, line + 2), frozenset({name}))


def concerns(name: str, active: Collection[Active]) -> bool:
    """Whether one of the rules that looked at the file is meant, or none that could be."""
    pack, slash, _ = name.rpartition("/")
    return not slash or any(pack == each.pack.id for each in active)
