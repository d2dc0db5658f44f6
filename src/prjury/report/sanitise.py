r"""The one door through which untrusted text reaches Markdown, HTML, logs and terminals.

First a text is made harmless as text (`clean`): one kind of line break, composed characters,
secrets out, hidden characters visible, cut to a length. Then it is written into a slot that fits
the place where it goes: code in a line, code in a table's cell, a block, plain words, prose, one
line of a log.
"""

from __future__ import annotations

import re
import unicodedata

from prjury.report.invisible_chars import normalise_line_ends, show_invisible
from prjury.report.redact import Redact, Redactor, redact_text

EMPTY = "(empty)"
ZERO_WIDTH_SPACE = "\u200b"

#: What is looked at beyond a limit, so that a secret that straddles it is still recognised.
_MARGIN = 65_536
#: What is thrown away at the end of a text that was cut before its secrets were looked for.
_UNSURE = 8_192

_MARKER = re.compile(r"<!--(?=\s*prjury)", re.IGNORECASE)
_BACKTICKS = re.compile("`+")
#: What stands between single backticks.
CODE_SPAN = re.compile("`([^`]+)`")
_ESCAPE = re.compile(r"\\(?:x[0-9a-f]{0,2}|u\{?[0-9a-f]{0,6})$")
_ACTIVE = re.compile(
    r"""
    (?P<reference>[@#](?=\w) | :(?=//) | (?<=www)\. | (?<=ftp)\.)
    | (?P<issue>(?<![a-z0-9])gh-)(?=\d)
    | (?P<sha>(?<![a-z0-9])(?=[a-f]*[0-9])(?=[0-9]*[a-f])[0-9a-f]{7,64}(?![a-z0-9]))
    | (?P<emoji>:)(?=[a-z0-9_+-]+:)
    | (?P<numbered>^\d{1,9}[.)])(?=\s|$)
    | (?P<inert>[,;'"?%()/{}:.] | (?<=.)[+=-] | (?<=[a-z0-9])_(?=[a-z0-9]))
    | (?P<mark>[!-/:-@\[-`{-~])
    """,
    re.VERBOSE | re.IGNORECASE,
)
_COMMAND = re.compile(r"##(?=\[)")
_LEADING_COMMAND = re.compile(r"^(\s*):(?=:)")

#: Without known values: what looks like a secret is one.
BY_SHAPE = Redactor()


def clean(text: str, limit: int | None = None, redact: Redact = BY_SHAPE) -> str:
    r"""The text made harmless as text; line feeds and tabs stay."""
    seen = text if limit is None else text[: limit + _MARGIN]
    unseen = len(text) - len(seen)
    composed = unicodedata.normalize("NFC", normalise_line_ends(seen))
    safe = show_invisible(redact_text(composed, redact))
    if unseen:
        unseen += min(_UNSURE, len(safe))
        safe = safe[:-_UNSURE]
    return safe if limit is None else _cut_text(safe, limit, unseen)


def inline_code(text: str, limit: int | None = 200, redact: Redact = BY_SHAPE) -> str:
    r"""A code span of one line; a line feed shows as ``\n``."""
    return _span(single(text, limit, redact))


def block(
    text: str,
    limit: int | None = 4_000,
    redact: Redact = BY_SHAPE,
    indent: int = 0,
    language: str = "",
) -> str:
    """A fenced block with a fence longer than any run of backticks in it."""
    body = _remove_marker(clean(text, limit, redact)).strip("\n") or EMPTY
    fence = "`" * max(3, _longest_run(body) + 1)
    lines = [fence + language, *(body if body.strip() else EMPTY).split("\n"), fence]
    return "\n".join(" " * indent + line for line in lines)


def plain(text: str, limit: int | None = 300, redact: Redact = BY_SHAPE) -> str:
    """Words in one line: no markup, reference, mention, link or emoji code is live in them.

    Punctuation that can do nothing in the middle of a line stays as it is, because people also
    read the source, in mails.
    """
    return _escape(join_lines(text, limit, redact))


def prose(
    text: str, limit: int | None = 600, redact: Redact = BY_SHAPE, *, in_cell: bool = False
) -> str:
    """Like `plain`, but what stands between single backticks becomes code."""
    line = join_lines(text, limit, redact)
    pieces: list[str] = []
    end = 0
    for match in CODE_SPAN.finditer(line):
        code = _span(match[1])
        pieces += _escape(line[end : match.start()]), code.replace("|", "\\|") if in_cell else code
        end = match.end()
    return "".join([*pieces, _escape(line[end:])])


def log_line(text: str, limit: int | None = None, redact: Redact = BY_SHAPE) -> str:
    """One line for a log, in which a runner finds no command (``##[…]``, ``::…::``)."""
    return remove_commands(single(text, limit, redact))


def remove_commands(line: str) -> str:
    """A line of output, wherever it was broken, in which a runner finds no command."""
    return _LEADING_COMMAND.sub(r"\1: ", _COMMAND.sub("# #", line))


def single(text: str, limit: int | None, redact: Redact = BY_SHAPE) -> str:
    r"""One line that shows a line feed as ``\n``."""
    whole = _remove_marker(clean(text, limit, redact))
    return whole.replace("\n", "\\n").replace("\t", " ") if whole.strip() else EMPTY


def join_lines(text: str, limit: int | None, redact: Redact = BY_SHAPE) -> str:
    """One line with single spaces."""
    return _remove_marker(" ".join(clean(text, limit, redact).split())) or EMPTY


def _cut_text(text: str, limit: int, unseen: int) -> str:
    if len(text) <= limit + len("… (+9 chars)") and not unseen:
        return text
    at = _boundary(text, min(limit, len(text)))
    return f"{text[:at].rstrip()}… (+{len(text) - at + unseen} chars)"


def _boundary(text: str, at: int) -> int:
    """The nearest place at or before ``at`` where no character and no shown escape is broken."""
    while 0 < at < len(text) and _extends(text[at]):
        at -= 1
    broken = _ESCAPE.search(text, max(0, at - 10), at)
    return broken.start() if broken else at


def _extends(char: str) -> bool:
    """Return true for what belongs to the character before it: marks, selectors, skin tones."""
    return unicodedata.category(char).startswith("M") or "\U0001f3fb" <= char <= "\U0001f3ff"


def _remove_marker(text: str) -> str:
    return _MARKER.sub("<! --", text)


def _longest_run(text: str) -> int:
    return max((len(run) for run in _BACKTICKS.findall(text)), default=0)


def _span(line: str) -> str:
    fence = "`" * (_longest_run(line) + 1)
    edge = line[0] + line[-1]
    pad = " " if "`" in edge or edge.isspace() else ""
    return f"{fence}{pad}{line}{pad}{fence}"


def _escape(line: str) -> str:
    return _ACTIVE.sub(_defuse, line)


def _defuse(match: re.Match[str]) -> str:
    text = match[0]
    match match.lastgroup:
        case "inert":
            return text
        case "sha":
            return f"`{text}`"
        case "issue" | "numbered":
            return f"{text[:-1]}\\{text[-1]}{ZERO_WIDTH_SPACE * (match.lastgroup == 'issue')}"
        case "reference" | "emoji":
            return f"\\{text}{ZERO_WIDTH_SPACE}"
    return f"\\{text}"
