"""Requests for backports in titles, descriptions and commit messages."""

from __future__ import annotations

import re
from collections.abc import Iterator

from prjury.judges.backport.requests.labels import EVERYWHERE, Answer, BackportRequest, read_label

#: A longer line is prose.
_LONGEST = 300

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_QUOTED = re.compile(r"(?: {4}|\t| {0,3}>)")

_VERB = r"(?P<verb>back-?port|cherry-?pick)"
_SLASH = re.compile(rf"/(?P<no>no-|skip-|dont-)?{_VERB}(?:\s+(?P<rest>\S.*))?", re.IGNORECASE)
_MENTION = re.compile(
    rf"@(?P<bot>[\w-]{{1,60}}(?:\[bot\])?)[,:]?\s+(?:please\s+)?{_VERB}(?:\s+(?P<rest>\S.*))?",
    re.IGNORECASE,
)
_TRAILER = re.compile(
    r"(?:auto-?)?(?:back-?ports?|cherry-?pick)(?:-to)?\s?:\s*(?P<rest>\S.*)", re.IGNORECASE
)
_SENTENCE = re.compile(
    r"(?:auto[- ]?)?(?:cherry-?pick|back-?port)\s+(?:in)?to:?\s+(?P<rest>\S.*)", re.IGNORECASE
)
_STABLE = re.compile(
    r"Cc:\s*<?(?:[\w.+-]+-)?stable@[\w.-]+>?(?:\s*#\s*(?P<rest>\S.*))?", re.IGNORECASE
)

_NAME = re.compile(r"[\w][\w./+*-]*")
_VERSION = re.compile(r"v?\d+(?:\.\d+)*(?:\.[xy])?\+?", re.IGNORECASE)
_SEPARATOR = re.compile(r"\s*[,;&]\s*|\s+and\s+|\s+")
_NOISE = frozenset("please thanks and also too to onto into branch branches the".split())
_NOWHERE = frozenset("none no never skip n/a na false".split())
_SOMEWHERE = frozenset("yes true maybe required needed all".split())
_IN_TITLE = re.compile(r"[\[(]([^\[\]()]{1,80})[\])]")


def of_title(title: str, source: str) -> Iterator[BackportRequest]:
    """Read the brackets of a title; one that names no branch asks for nothing."""
    for match in _IN_TITLE.finditer(title):
        readings = [] if "#" in match[1] else read_label(match[1])
        yield from (BackportRequest(answer, to, source, match[0]) for answer, to in readings if to)


def of_text(text: str, source: str) -> Iterator[BackportRequest]:
    """Read the commands and the trailers of a description."""
    for line in list_plain_lines(text):
        yield from _read_command(line, source)
        yield from _read_trailer(line, source)


def of_message(message: str, source: str) -> Iterator[BackportRequest]:
    """Read the trailers of a commit message."""
    _, _, body = message.strip().partition("\n")
    for line in list_plain_lines(body):
        yield from _read_trailer(line, source)


def list_plain_lines(text: str) -> Iterator[str]:
    """Yield the lines outside of comments, code and quotes, without emphasis."""
    fence = ""
    for line in _COMMENT.sub("", text.replace("\r\n", "\n")).split("\n"):
        opening = _FENCE.match(line)
        if fence:
            if opening and opening[1].startswith(fence) and not line[opening.end() :].strip():
                fence = ""
        elif opening:
            fence = opening[1]
        elif len(line) <= _LONGEST and not _QUOTED.match(line):
            yield line.strip().strip("*_").strip()


def _read_command(line: str, source: str) -> Iterator[BackportRequest]:
    if match := _SLASH.fullmatch(line):
        answer: Answer = "no" if match["no"] else "yes"
        general = EVERYWHERE if answer == "no" else None
        targets: list[str | None] = [*_list_branch_names(match["rest"] or "")] or [general]
        yield from (BackportRequest(answer, name, source, line) for name in targets)
    elif match := _MENTION.fullmatch(line):
        names = _list_branch_names(match["rest"] or "")
        yield from (BackportRequest("yes", name, source, line) for name in names)


def _read_trailer(line: str, source: str) -> Iterator[BackportRequest]:
    if stable := _STABLE.fullmatch(line):
        since = filter(_VERSION.fullmatch, _list_branch_names(stable["rest"] or ""))
        versions: list[str | None] = [*since] or [None]
        yield from (BackportRequest("yes", name, source, line) for name in versions)
        return
    match = _TRAILER.fullmatch(line) or _SENTENCE.fullmatch(line)
    words = [word.strip("`'\"*.") for word in _SEPARATOR.split(match["rest"])] if match else []
    if len(words) == 1 and words[0].casefold() in _NOWHERE:
        yield BackportRequest("no", EVERYWHERE, source, line)
    elif len(words) == 1 and words[0].casefold() in _SOMEWHERE:
        target = EVERYWHERE if words[0].casefold() == "all" else None
        yield BackportRequest("yes", target, source, line)
    elif words and all(map(_is_branch, words)):
        yield from (BackportRequest("yes", word, source, line) for word in words)


def _is_branch(word: str) -> bool:
    return bool(_NAME.fullmatch(word)) and bool(re.search(r"[\d/]", word))


def _list_branch_names(rest: str) -> Iterator[str]:
    """Yield the branch names after a command, up to the first word of prose."""
    for number, raw in enumerate(_SEPARATOR.split(rest.strip())):
        word = raw.strip("`'\"*.:")
        if word.casefold() in _NOISE:
            continue
        if not _NAME.fullmatch(word) or (number > 1 and not _is_branch(word)):
            return
        yield word
