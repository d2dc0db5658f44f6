"""The functions and classes of a text: their headings, and how far they reach.

Both in a wide sense: JavaScript's ``const f = () => …`` is a function, the ``describe`` of a test a
class; a function without a name in a statement belongs to what is around it.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from prjury.code.languages import Language
from prjury.code.outline import OUTLINES
from prjury.code.parser import Job, NotParsed, Parser
from prjury.code.source import Source
from prjury.deadline import Deadline

#: Characters; what is longer ends there, so that headings within headings cost no more than that.
_LONGEST_HEADING = 10_000


class Definition(Struct, frozen=True):
    """The lines of a definition, its decorators among them; the heading ends before its body."""

    is_function: bool
    first: int
    heading: int
    last: int


def has_definitions(language: Language) -> bool:
    """Return true if definitions are known in a language at all."""
    return language.parser in OUTLINES


def definitions(
    sources: Sequence[Source], parser: Parser, deadline: Deadline
) -> list[tuple[Definition, ...]]:
    """The definitions of each text, outer ones first; none of one that is not parsed in time."""
    jobs: list[Job] = [
        {"language": each.language.parser, "text": each.text, "rules": [], "definitions": True}
        for each in sources
        if has_definitions(each.language)
    ]
    replies = iter(parser.check(jobs, deadline))
    results: list[tuple[Definition, ...]] = []
    for source in sources:
        rows: list[Definition] = []
        if has_definitions(source.language):
            reply = next(replies)
            if not isinstance(reply, NotParsed):
                rows = [_read_row(source, *row) for row in reply["definitions"]]
        results.append(tuple(sorted(rows, key=lambda each: (each.first, -each.last))))
    return results


def _read_row(source: Source, is_function: bool, start: int, body: int, end: int) -> Definition:  # noqa: FBT001 - a row of the worker's
    """The definition with its heading, without what Python's comments add to that."""
    lines = source.text[start : min(body, start + _LONGEST_HEADING)].split("\n")
    while len(lines) > 1 and (not lines[-1].strip() or lines[-1].lstrip().startswith("#")):
        lines.pop()
    return Definition(
        is_function,
        source.line_at(start),
        _last_line(source, start, start + len("\n".join(lines))),
        _last_line(source, start, end),
    )


def _last_line(source: Source, start: int, end: int) -> int:
    return source.line_at(max(start, end - 1))
