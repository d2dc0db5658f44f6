r"""The one door through which untrusted text reaches Markdown, HTML, logs and terminals.

First a text is made harmless as text (`clean`): one kind of line break, composed characters,
secrets out, hidden characters visible, cut to a length. Then it is written into a slot that fits
the place where it goes: code in a line, code in a table's cell, a block, plain words, prose, one
line of a log.
"""

from __future__ import annotations

import base64
import json
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import accumulate
from typing import NamedTuple, TypeAlias
from urllib.parse import quote, quote_plus

#: Unseen characters, as the inside of a regular expression's character class. Line feed and tab
#: are not among them; what is left of the line separators has become a line feed before.
_UNSEEN = (
    "\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f"  # C0 with ESC, DEL, C1
    "\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f"  # soft hyphen, fillers
    "\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u3164\\ufeff\\uffa0"  # zero-width, bidi
    "\\ufff0-\\ufffb\\U0001bca0-\\U0001bca3\\U0001d173-\\U0001d17a"  # annotations, formats
    "\\U000e0000-\\U000e0fff"  # tags and the variation selectors that smuggle text
    "\\ud800-\\udfff"  # lone surrogates: bytes that were no UTF-8
)
_HIDDEN = re.compile(f"[{_UNSEEN}]")
_ANSI = r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)"
_SKIPPED = re.compile(f"{_ANSI}|[{_UNSEEN}]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_LINE_END = re.compile("\r\n|[\r\x85\u2028\u2029]")


def normalise_line_ends(text: str) -> str:
    return _LINE_END.sub("\n", text)


def show_invisible(text: str) -> str:
    r"""The text with hidden characters as ``\u{202e}`` and bytes that are no UTF-8 as ``\xff``."""
    return _HIDDEN.sub(_name_char, text) if _HIDDEN.search(text) else text


def show_surrogates(text: str) -> str:
    """The text as UTF-8 can hold it; other control characters stay."""
    return text if text.isascii() else _SURROGATE.sub(_name_char, text)


class Pieces:
    """Pieces of a text, put together to another one: where its characters were."""

    def __init__(self, spans: Sequence[tuple[int, int]]) -> None:
        self._old = [start for start, _ in spans]
        ends = accumulate((end - start for start, end in spans), initial=0)
        self._new = list(ends)[:-1]

    def find(self, at: int) -> int:
        piece = bisect_right(self._new, at) - 1
        return self._old[piece] + at - self._new[piece]


def bare(text: str) -> tuple[str, Pieces | None]:
    """Return the text without terminal sequences and hidden characters, and where its rest was."""
    if not _HIDDEN.search(text):
        return text, None
    ends = [0, *(end for match in _SKIPPED.finditer(text) for end in match.span()), len(text)]
    spans = [(start, end) for start, end in zip(ends[::2], ends[1::2], strict=True) if end > start]
    return "".join([text[start:end] for start, end in spans]), Pieces(spans)


def _name_char(match: re.Match[str]) -> str:
    code = ord(match[0])
    if 0xDC80 <= code <= 0xDCFF:  # noqa: PLR2004 - how surrogateescape writes the bytes 80 to ff
        return f"\\x{code - 0xDC00:02x}"
    return f"\\u{{{code:x}}}"


WITHHELD = "[withheld: redaction error]"

#: Known values shorter than this would blank out ordinary words.
_SHORTEST_SECRET = 6
#: A line of a secret of several lines that is at least this long is a secret of its own.
_LONG_LINE = 20
#: A line at least this long may have been wrapped when it was printed.
_WRAP = re.compile(r"(?m:^)[^\n]{60,}+\n(?!\Z)")

#: Kinds of tokens: how they begin, and their shape from there on. A look ahead, or back, has an
#: end, so that no text takes more time than its length.
_ISSUERS = {
    "GitHub token": (
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
        r"gh[pousr]_[A-Za-z0-9_]{30,}|github_pat_[A-Za-z0-9_]{22,}",
    ),
    "GitLab token": (("glpat-",), r"glpat-[A-Za-z0-9_-]{20,}"),
    "AWS key": (
        ("AKIA", "ASIA", "ABIA", "ACCA"),
        r"(?<![A-Za-z0-9])(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}",
    ),
    "Google key": (
        ("AIza", "ya29.", "GOCSPX-"),
        r"AIza[A-Za-z0-9_-]{35}|ya29\.[A-Za-z0-9_-]{20,}|GOCSPX-[A-Za-z0-9_-]{20,}",
    ),
    "Slack token": (
        ("xox", "xapp-", "hooks.slack"),
        (
            r"xox[a-z]-[A-Za-z0-9-]{10,}|xapp-[A-Za-z0-9-]{10,}"
            r"|hooks\.slack\.com/services/[A-Za-z0-9_/]{20,}"
        ),
    ),
    "npm token": (("npm_",), r"npm_[A-Za-z0-9]{36,}"),
    "PyPI token": (("pypi-",), r"pypi-(?=[a-z_-]{0,100}[A-Z0-9])[A-Za-z0-9_-]{32,}"),
    "Hugging Face token": (("hf_",), r"(?<![A-Za-z0-9_])hf_[A-Za-z0-9]{30,}"),
    "Docker token": (("dckr_",), r"dckr_(?:pat|oat)_[A-Za-z0-9_-]{20,}"),
    "SendGrid key": (("SG.",), r"(?<![A-Za-z0-9])SG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,}"),
    "Stripe key": (
        ("sk_live_", "sk_test_", "rk_live_", "whsec_"),
        r"(?:[sr]k_(?:live|test)|whsec)_[A-Za-z0-9]{16,}",
    ),
    "API key": (("sk-",), r"(?<![A-Za-z0-9_-])sk-[A-Za-z0-9_-]{20,}"),
    "JWT": (("eyJ",), r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"),
}
_ASSIGNED = r"\\?[\"']?\s{0,9}[:=]\s{0,9}\\?[\"']?"
#: Shapes of several words, in whatever case they begin; the first group is the secret where the
#: rest may stay.
_PHRASES = {
    "private key": (
        ("-----begin",),
        (
            r"(?i:-----BEGIN) [A-Z0-9 ]{0,80}PRIVATE KEY[A-Z ]{0,80}-----"
            r"(?s:.*?)(?:-----END [A-Z0-9 ]{0,80}PRIVATE KEY[A-Z ]{0,80}-----|\Z)"
        ),
    ),
    "credentials": (("://",), r"://([^\s/@:\"'<>]*:[^\s/@\"'<>]+|[^\s/@:\"'<>]{20,})@"),
    "authorization": (
        ("authorization",),
        (
            rf"(?i:authorization{_ASSIGNED}"
            r"(?:(?:bearer|basic|token|digest|negotiate|apikey)\s{1,9}"
            r"|(?=[^\s\"',;\\]{0,200}[0-9])(?=[^\s\"',;\\]{16})))([^\s\"',;\\()]+)"
        ),
    ),
    "bearer token": (("bearer",), r"(?i:bearer\s{1,9})([A-Za-z0-9._~+/=-]{16,})"),
    "key": (
        ("api-key", "api_key", "apikey", "secret_access_key", "private-token"),
        (
            rf"(?i:(?:api[_-]?key|secret_access_key|private-token){_ASSIGNED})"
            r"(?=[A-Za-z_~+/=-]{0,200}[0-9])([A-Za-z0-9_~+/=-]{16,})"
        ),
    ),
    "account key": (
        ("accountkey=", "sharedaccesskey="),
        r"(?i:(?:account|sharedaccess)key=)([A-Za-z0-9+/=]{20,})",
    ),
    "password": (
        ("password", "passwd"),
        (
            rf"(?i:passw(?:or)?d{_ASSIGNED})(?=[^\s]{{0,200}}[0-9])"
            r"([^\s\"',;&()<>{}\[\]$%*`|]{8,}+)(?![(\[{<])"
        ),
    ),
}


class _Find(NamedTuple):
    start: int
    end: int
    kind: str


_ISSUER_SHAPES, _PHRASE_SHAPES = (
    [(kind, words, re.compile(shape)) for kind, (words, shape) in kinds.items()]
    for kinds in (_ISSUERS, _PHRASES)
)


def _find_secret_shapes(
    text: str, lowered: str, shapes: Iterable[tuple[str, Sequence[str], re.Pattern[str]]]
) -> Iterator[_Find]:
    for kind, words, shape in shapes:
        for word in words:
            at = lowered.find(word)
            while at >= 0:
                match = shape.match(text, at)
                if match:
                    start, end = match.span(1 if shape.groups else 0)
                    yield _Find(start, end, kind)
                at = lowered.find(word, match.end() if match else at + 1)


def _to_lower(text: str) -> str:
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(low if len(low := char.lower()) == 1 else char for char in text)


#: Takes the secrets out of a text.
Redact: TypeAlias = Callable[[str], str]


@dataclass(frozen=True)
class Redactor:
    """Replaces secrets by ``[redacted: <kind>]``."""

    #: Values that are known to be secret, such as the tokens of this run. Values of fewer than six
    #: characters are not looked for.
    secrets: tuple[str, ...] = field(default=(), repr=False)
    _known: re.Pattern[str] | None = field(init=False, repr=False, compare=False, default=None)

    def __post_init__(self) -> None:
        forms = {form for secret in self.secrets for form in _forms_of(secret.strip())}
        if forms:
            longest_first = sorted(forms, key=lambda form: (-len(form), form))
            pattern = re.compile("|".join(map(re.escape, longest_first)))
            object.__setattr__(self, "_known", pattern)

    def __call__(self, text: str, /) -> str:
        plain, positions = bare(text)
        finds = sorted(self._find_secrets(plain), key=lambda find: (find.start, -find.end))
        if not finds:
            return text
        return "".join(_redact_finds(text, positions, finds))

    def _find_secrets(self, text: str) -> Iterator[_Find]:
        yield from _find_secret_shapes(text, _to_lower(text), _PHRASE_SHAPES)
        yield from self._tokens(text)
        if (wrapped := _join_wrapped_lines(text)) is None:
            return
        joined, pieces = wrapped
        for find in self._tokens(joined):
            start, end = pieces.find(find.start), pieces.find(find.end - 1) + 1
            if end - start > find.end - find.start:
                yield _Find(start, end, find.kind)

    def _tokens(self, text: str) -> Iterator[_Find]:
        yield from _find_secret_shapes(text, text, _ISSUER_SHAPES)
        for match in self._known.finditer(text) if self._known else ():
            yield _Find(match.start(), match.end(), "secret")


def redact_text(text: str, redact: Redact) -> str:
    """The text without secrets; a placeholder for all of it where the redactor fails."""
    # Whatever goes wrong in there, the text must not get out.
    with suppress(Exception):
        return redact(text)
    return WITHHELD


def _forms_of(value: str) -> Iterator[str]:
    """A value in every form, as the text looks in which it is sought; a key also line by line."""
    seen = bare(normalise_line_ends(value))[0]
    lines = [line for line in seen.split("\n") if len(line) >= _LONG_LINE]
    for variant in (value, seen, *lines):
        if len(variant) >= _SHORTEST_SECRET:
            yield from _list_encoded_forms(variant)


def _list_encoded_forms(value: str) -> Iterator[str]:
    raw = value.encode("utf-8", "surrogateescape")
    yield value
    yield quote(raw, safe="")
    yield quote_plus(raw)
    yield json.dumps(value)[1:-1]
    yield json.dumps(value, ensure_ascii=False)[1:-1]
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        for offset in range(3):
            # Characters at the edges also depend on what stands before and behind the value.
            first = (offset * 8 + 5) // 6
            last = (offset + len(raw)) * 8 // 6
            yield encode(b"\0" * offset + raw).decode()[first:last]


def _join_wrapped_lines(text: str) -> tuple[str, Pieces] | None:
    spans, start = [], 0
    for match in _WRAP.finditer(text):
        spans.append((start, match.end() - 1))
        start = match.end()
    if not spans:
        return None
    spans.append((start, len(text)))
    return "".join([text[start:end] for start, end in spans]), Pieces(spans)


def _redact_finds(text: str, positions: Pieces | None, finds: Iterable[_Find]) -> Iterator[str]:
    done = 0
    for find in finds:
        start = positions.find(find.start) if positions else find.start
        end = positions.find(find.end - 1) + 1 if positions else find.end
        if start >= done:
            yield text[done:start]
            yield f"[redacted: {find.kind}]"
        done = max(done, end)
    yield text[done:]


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
    return _span(single(text, limit, redact))


def fence_text(
    text: str,
    limit: int | None = 4_000,
    redact: Redact = BY_SHAPE,
    indent: int = 0,
    language: str = "",
) -> str:
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
    return _ACTIVE.sub(_escape_match, line)


def _escape_match(match: re.Match[str]) -> str:
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
