"""Texts without their comments and strings; offsets and lines stay as they are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

import re2

from prjury.code.languages import Language
from prjury.code.parser import Parsed, Parser, job
from prjury.code.source import Source
from prjury.deadline import Deadline

_NOT_A_LINE_END = re.compile(r"[^\n]")


def comment_ranges(text: str, language: Language) -> list[tuple[int, int]]:
    """Start and end, in characters, of each comment of a language that is not parsed."""
    if not language.comment:
        return []
    pattern = f"({language.comment})"
    if language.string:
        # Whichever begins first wins: `"http://x"` holds no comment.
        pattern += f"|{language.string}"
    matches = re2.compile(pattern).finditer(text)
    return [match.span() for match in matches if match[1] is not None]


def mask(text: str, ranges: Iterable[tuple[int, int]]) -> str:
    """The text with blanks in these ranges, which may overlap."""
    pieces: list[str] = []
    last = 0
    for start, end in sorted(ranges):
        if end > last:
            begin = max(start, last)
            pieces += [text[last:begin], _NOT_A_LINE_END.sub(" ", text[begin:end])]
            last = end
    return "".join([*pieces, text[last:]])


def strip_lines(
    sources: Mapping[str, Source], parser: Parser, deadline: Deadline
) -> dict[str, Sequence[str]]:
    """The lines of each text without comments and, of a parser, strings; none if unreadable."""
    parsed = {name: each for name, each in sources.items() if each.language.parser}
    jobs = [job(each.text, each.language, ()) for each in parsed.values()]
    replies = dict(zip(parsed, parser.parse(jobs, deadline) if jobs else [], strict=True))
    stripped: dict[str, Sequence[str]] = {}
    for name, source in sources.items():
        reply = replies.get(name)
        if reply is None:
            stripped[name] = _strip(source, comment_ranges(source.text, source.language))
        elif isinstance(reply, Parsed):
            stripped[name] = _strip(source, [*reply.comments, *reply.strings])
    return stripped


def _strip(source: Source, ranges: Iterable[tuple[int, int]]) -> Sequence[str]:
    lines = dict[int, str]()
    for number, line in zip(source.numbers, mask(source.text, ranges).split("\n"), strict=True):
        lines[number] = f"{lines[number]} {line}" if number in lines else line
    return tuple(lines.values())
