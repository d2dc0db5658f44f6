r"""A file's text in the line model of the judge, with git's line numbers.

Git ends a line at a line feed and nowhere else, compilers also at a lone carriage return: ``//
x<CR>import y;`` is code to javac. So it is a line break for the parser, while places are given in
git's numbers, and Java's ``\uXXXX`` escapes are resolved before anything else is looked at.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate

import re2
from msgspec import Struct

from prjury.code.languages import Language
from prjury.code.parser import Parsed, Parser, make_job
from prjury.deadline import Deadline

MAX_BYTES = 1024 * 1024
MAX_LINE = 20_000

_ESCAPE = re.compile(r"(?<!\\)((?:\\\\)*)\\u+([0-9a-fA-F]{4})")
#: Python's declaration of an encoding, in one of the first two lines (PEP 263).
_CODING = re.compile(
    r"\A(?:[ \t\f]*(?:#[^\n]*)?\n)?[ \t\f]*#[^\n]*?coding[:=][ \t]*([\w.-]+)", re.ASCII
)
_PLAIN = re.compile(r"(?i)utf[-_]?8(?:[-_]sig)?|(?:us-)?ascii|latin[-_]?1|iso-?8859-?1|cp1252")
_SURROGATES = range(0xD800, 0xE000)


class UnreadableError(Exception):
    """A file that cannot be judged; the message is the reason that coverage gives."""


class Source(Struct, frozen=True):
    r"""A text whose only line break is ``\n``, with git's number and the offset of each line."""

    text: str
    language: Language
    numbers: Sequence[int]
    starts: tuple[int, ...]

    def line_at(self, offset: int) -> int:
        return self.numbers[bisect_right(self.starts, offset) - 1]

    @classmethod
    def of(cls, text: str, language: Language) -> Source:
        """The text as it is; UnreadableError for Python in an encoding that hides code."""
        plain = text.removeprefix("\ufeff")
        declared = _CODING.match(plain) if language.name == "python" else None
        if declared and not _PLAIN.fullmatch(declared[1]):
            raise UnreadableError(f"it declares the encoding {declared[1]}; only UTF-8 is read")
        lines = plain.split("\n")
        numbers: Sequence[int] = range(1, len(lines) + 1)
        if "\r" in plain or unescape_java(plain, language) is not plain:
            pieces = [
                (number, piece)
                for number, line in enumerate(lines, 1)
                for piece in re.split(r"[\r\n]", unescape_java(line.removesuffix("\r"), language))
            ]
            numbers, lines = tuple(at for at, _ in pieces), [piece for _, piece in pieces]
        ends = accumulate(len(line) + 1 for line in lines)
        return cls("\n".join(lines), language, numbers, (0, *ends)[:-1])


def decode_text(content: bytes) -> str:
    """The text of a file; UnreadableError for a large one, a long line, or what is not UTF-8."""
    if len(content) > MAX_BYTES:
        raise UnreadableError(f"larger than {MAX_BYTES // 1024} KiB")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UnreadableError(f"not UTF-8 (byte {error.start})") from error
    if "\0" in text:
        raise UnreadableError("not text (NUL bytes)")
    if max(map(len, text.split("\n"))) > MAX_LINE:
        raise UnreadableError(f"a line above {MAX_LINE} characters")
    return text


def unescape_java(line: str, language: Language) -> str:
    if language.name != "java" or "\\u" not in line:
        return line

    def resolve(match: re.Match[str]) -> str:
        code = int(match[2], 16)
        return match[0] if code in _SURROGATES else match[1] + chr(code)

    return _ESCAPE.sub(resolve, line)


_NOT_A_LINE_END = re.compile(r"[^\n]")


def find_comment_ranges(text: str, language: Language) -> list[tuple[int, int]]:
    if not language.comment:
        return []
    pattern = f"({language.comment})"
    if language.string:
        # Whichever begins first wins: `"http://x"` holds no comment.
        pattern += f"|{language.string}"
    matches = re2.compile(pattern).finditer(text)
    return [match.span() for match in matches if match[1] is not None]


def blank(text: str, ranges: Iterable[tuple[int, int]]) -> str:
    """The text with blanks in these ranges, which may overlap."""
    pieces: list[str] = []
    last = 0
    for start, end in sorted(ranges):
        if end > last:
            begin = max(start, last)
            pieces += [text[last:begin], _NOT_A_LINE_END.sub(" ", text[begin:end])]
            last = end
    return "".join([*pieces, text[last:]])


def strip_to_code(
    sources: Mapping[str, Source], parser: Parser, deadline: Deadline
) -> dict[str, Sequence[str]]:
    parsed = {name: each for name, each in sources.items() if each.language.parser}
    jobs = [make_job(each.text, each.language, ()) for each in parsed.values()]
    replies = dict(zip(parsed, parser.parse(jobs, deadline), strict=True))
    stripped: dict[str, Sequence[str]] = {}
    for name, source in sources.items():
        reply = replies.get(name)
        if reply is None:
            stripped[name] = _strip(source, find_comment_ranges(source.text, source.language))
        elif isinstance(reply, Parsed):
            stripped[name] = _strip(source, [*reply.comments, *reply.strings])
    return stripped


def _strip(source: Source, ranges: Iterable[tuple[int, int]]) -> Sequence[str]:
    lines = dict[int, str]()
    for number, line in zip(source.numbers, blank(source.text, ranges).split("\n"), strict=True):
        lines[number] = f"{lines[number]} {line}" if number in lines else line
    return tuple(lines.values())
