"""Hunks with more context: the function around what changes, and the headings of what is around it.

Everything here counts in the head's lines, from which those of the base follow.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import groupby
from typing import TypeAlias

from msgspec import Struct

from prjury.code.languages import Language
from prjury.code.outline import OUTLINES
from prjury.code.parser import Job, NotParsed, Parser
from prjury.code.source import Source
from prjury.deadline import Deadline
from prjury.snapshot.model import Hunk, Line

#: Characters; what is longer ends there, so that headings within headings cost no more than that.
_LONGEST_HEADING = 10_000


class Definition(Struct, frozen=True):
    """The lines of a definition, its decorators among them; the heading ends before its body."""

    is_function: bool
    first: int
    heading: int
    last: int


def has_definitions(language: Language) -> bool:
    return language.parser in OUTLINES


def list_definitions(
    sources: Sequence[Source], parser: Parser, deadline: Deadline
) -> list[tuple[Definition, ...]]:
    """The definitions of each text, outer ones first; none of one that is not parsed in time."""
    jobs: list[Job] = [
        {"language": each.language.parser, "text": each.text, "rules": [], "definitions": True}
        for each in sources
    ]
    results: list[tuple[Definition, ...]] = []
    for source, reply in zip(sources, parser.run(jobs, deadline), strict=True):
        listed = [] if isinstance(reply, NotParsed) else reply["definitions"]
        rows = [_read_row(source, *row) for row in listed]
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


#: Lines that a function may have to be shown as a whole.
LONGEST_FUNCTION = 60

#: Lines of a heading; the rest of a longer one is left out.
_MOST_HEADING_LINES = 20
#: Characters of a line that is shown as context; a definition with a longer one holds data.
_LONGEST_LINE = 1_000
#: Definitions within definitions; what is deeper is written to hurt.
_DEEPEST = 12
#: Blank lines that may stand between two definitions.
_BLANK_LINES = 3


def widen_to_functions(
    hunks: Sequence[Hunk],
    text: str,
    definitions: Iterable[Definition],
    longest_function: int = LONGEST_FUNCTION,
) -> tuple[Hunk, ...]:
    """Show around each change, as context, the innermost function of so many lines at most."""
    lines, nested = text.split("\n"), _chain_enclosing_definitions(definitions)
    places = {
        place
        for hunk in hunks
        for change in _list_added_ends_and_removals(hunk, lines)
        for place in _list_ranges_to_show(change, nested, lines, longest_function)
    }
    shown: set[int] = set()
    for first, last in places:
        if all(len(line) <= _LONGEST_LINE for line in lines[first - 1 : last]):
            shown.update(range(first, last + 1))
    begins = {hunk.lines[0]: hunk for hunk in hunks}
    return tuple(_make_hunk(run, begins.get(run[0])) for run in _join_context(hunks, lines, shown))


class _Change(Struct, frozen=True):
    """A line of the head that is added, or those around what is removed, which is indented."""

    line: int
    next: int
    indent: int = 0


#: Scopes by their first lines, each with those around it, inner ones first.
_Nested: TypeAlias = tuple[Sequence[int], Sequence[tuple[Definition, ...]]]


def _chain_enclosing_definitions(definitions: Iterable[Definition]) -> _Nested:
    firsts: list[int] = []
    chains: list[tuple[Definition, ...]] = []
    around: tuple[Definition, ...] = ()
    for scope in sorted(definitions, key=lambda scope: (scope.first, -scope.last)):
        while around and around[0].last < scope.last:
            around = around[1:]
        if len(around) < _DEEPEST:
            around = (scope, *around)
            firsts.append(scope.first)
            chains.append(around)
    return firsts, chains


def _list_ranges_to_show(
    change: _Change, nested: _Nested, lines: Sequence[str], longest_function: int
) -> Iterator[tuple[int, int]]:
    firsts, chains = nested
    at = bisect_right(firsts, change.line) - 1
    searching = True
    for scope in chains[at] if at >= 0 else ():
        # Python's blocks have no other end: the indentation shows what is removed behind a line.
        inside = scope.last >= change.next or _indent_of(lines[scope.first - 1]) < change.indent
        if scope.last < change.line or not inside:
            continue
        if searching and scope.is_function:
            searching = False
            if scope.last - scope.first < longest_function:
                yield scope.first, scope.last
                continue
        yield scope.first, min(scope.heading, scope.first + _MOST_HEADING_LINES - 1)


def _list_added_ends_and_removals(hunk: Hunk, lines: Sequence[str]) -> Iterator[_Change]:
    """The ends of every run of added lines, and every place where lines are only removed."""
    after = _begin(hunk)
    for changed, run in groupby(hunk.lines, key=lambda line: line.sign != " "):
        part = list(run)
        numbers = [line.new for line in part if line.new is not None]
        if changed and numbers:
            yield from (_Change(number, number) for number in {numbers[0], numbers[-1]})
        elif changed:
            texts = (line.text for line in part if line.text.strip())
            # The line before, or one of those shortly before it that is not blank.
            near = range(after - 1, max(after - 1 - _BLANK_LINES, 0), -1)
            line = next((each for each in near if lines[each - 1].strip()), after - 1)
            yield _Change(line, after, _indent_of(next(texts, "")))
        after += len(numbers)


def _indent_of(text: str) -> int:
    return len(text) - len(text.lstrip())


def _join_context(
    hunks: Sequence[Hunk], lines: Sequence[str], shown_numbers: Container[int]
) -> Iterator[list[Line]]:
    run: list[Line] = []
    begin, shift = 1, 0
    for hunk in (*hunks, None):
        for number in range(begin, _begin(hunk) if hunk else len(lines) + bool(lines[-1])):
            if number in shown_numbers:
                run.append(_make_line(number, shift, lines))
            elif run:
                yield run
                run = []
        if hunk:
            run += hunk.lines
            begin = _begin(hunk) + hunk.new_lines
            shift += hunk.new_lines - hunk.old_lines
    if run:
        yield run


def _make_line(number: int, shift: int, lines: Sequence[str]) -> Line:
    text = lines[number - 1]
    if number == len(lines):
        return Line(" ", number - shift, number, text, "")
    end = "\r\n" if text.endswith("\r") else "\n"
    return Line(" ", number - shift, number, text.removesuffix("\r"), end)


def _begin(hunk: Hunk) -> int:
    """The hunk's first line; git names the line before it where there is none."""
    return hunk.new_start + (not hunk.new_lines)


def _make_hunk(lines: Sequence[Line], same_start: Hunk | None) -> Hunk:
    """The hunk of these lines; git's section holds only where it begins with the first one."""
    old = [line.old for line in lines if line.old is not None]
    new = [line.new for line in lines if line.new is not None]
    return Hunk(
        old[0] if old or not same_start else same_start.old_start,
        len(old),
        new[0] if new or not same_start else same_start.new_start,
        len(new),
        same_start.section if same_start else "",
        tuple(lines),
    )
