"""Code without its comments and texts, for the few files on which a claim rests."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from prjury.code.languages import Language, language_of
from prjury.code.masks import comment_ranges
from prjury.code.parser import Parsed, Parser, job
from prjury.code.source import Source, UnreadableError, decode
from prjury.deadline import Deadline
from prjury.judges.backport.content.names.forms import definitions
from prjury.judges.backport.content.names.words import family_of, of_standard_library, referred
from prjury.jury.judgment import Location
from prjury.ports import Repository

#: Seconds for all files of a branch together.
_SECONDS = 3.0
#: C, its kin and what else no parser is asked about.
_OTHER = Language(
    "other", "sample.c", comment=r"//[^\n]*|/\*(?s:.*?)(?:\*/|\z)", string=r'"(?:[^"\\\n]|\\.)*"'
)
_NOT_A_LINE_END = re.compile(r"[^\n]")


@dataclass(frozen=True)
class BareCode:
    """Files by blob, read as they are asked for.

    Attributes:
        lines: each file's lines with blanks for comments and texts.
        unread: files that could not be read; nothing is found in them.
    """

    repository: Repository
    lines: dict[str, Sequence[str]] = field(default_factory=dict)
    unread: set[str] = field(default_factory=set)
    parser: Parser = field(default_factory=Parser)

    def read(self, files: Iterable[tuple[str, str]]) -> None:
        """Reads files, each a path and a blob."""
        seen = self.lines.keys() | self.unread
        wanted = {blob: path for path, blob in files if blob not in seen}
        if not wanted:
            return
        sources = self._sources(wanted)
        parsed = {blob: each for blob, each in sources.items() if each.language.parser}
        jobs = [job(each.text, each.language, ()) for each in parsed.values()]
        replies = self.parser.parse(jobs, Deadline.after(_SECONDS)) if jobs else []
        known = dict(zip(parsed, replies, strict=True))
        for blob, source in sources.items():
            reply = known.get(blob)
            if reply is None:
                self.lines[blob] = _blanked(source, comment_ranges(source.text, source.language))
            elif isinstance(reply, Parsed):
                self.lines[blob] = _blanked(source, [*reply.comments, *reply.strings])
        self.unread.update(wanted.keys() - self.lines.keys())

    def _sources(self, wanted: Mapping[str, str]) -> dict[str, Source]:
        """What is text of those blobs, whose paths are given."""
        found: dict[str, Source] = {}
        for blob, content in self.repository.read(list(wanted)).items():
            if content is not None:
                with suppress(UnreadableError):
                    language = language_of(wanted[blob]) or _OTHER
                    found[blob] = Source.of(decode(content), language)
        return found

    def holds(self, blob: str, at: Location) -> bool:
        """Whether there is any code on the line."""
        return bool(self._line(blob, at).strip())

    def refers(self, blob: str, at: Location, word: str) -> bool:
        """Whether the line refers to the word."""
        line = self._line(blob, at)
        return word in referred(line) and not of_standard_library(family_of(at.path), line, word)

    def defines(self, blob: str, at: Location, word: str) -> bool:
        """Whether the line may define the word."""
        found = definitions(family_of(at.path) or "", [word]).within(self._line(blob, at).encode())
        return any(found)

    def _line(self, blob: str, at: Location) -> str:
        lines = self.lines.get(blob, ())
        return lines[at.line - 1] if at.line and at.line <= len(lines) else ""


def _blanked(source: Source, ranges: Iterable[tuple[int, int]]) -> Sequence[str]:
    pieces: list[str] = []
    last = 0
    for start, end in sorted(ranges):
        if end > last:
            begin = max(start, last)
            pieces += [source.text[last:begin], _NOT_A_LINE_END.sub(" ", source.text[begin:end])]
            last = end
    text = "".join([*pieces, source.text[last:]])
    lines = dict[int, str]()
    for number, line in zip(source.numbers, text.split("\n"), strict=True):
        lines[number] = f"{lines[number]} {line}" if number in lines else line
    return tuple(lines.values())
