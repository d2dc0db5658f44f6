"""Takes secrets out of a text: those that we hold, and whatever looks like one.

Values that are known are found as they are and in the forms in which programs print them (base64
at any offset, URL and JSON escapes); others by the shape of their issuer. Commit ids and UUIDs have
no such shape and stay. A token that a colour code, a hidden character or a hard line wrap
interrupts is found as well.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Protocol
from urllib.parse import quote, quote_plus

from prjury.report.invisible_chars import bare, normalise_line_ends

WITHHELD = "[withheld: redaction error]"

#: Known values shorter than this would blank out ordinary words.
_SHORTEST_SECRET = 6
#: A line of a secret of several lines that is at least this long is a secret of its own.
_LONG_LINE = 20
#: A line at least this long may have been wrapped when it was printed.
_WRAPPED = 60

_ISSUERS = {
    "GitHub token": r"gh[pousr]_[A-Za-z0-9_]{30,}|github_pat_[A-Za-z0-9_]{22,}",
    "GitLab token": r"glpat-[A-Za-z0-9_-]{20,}",
    "AWS key": r"(?<![A-Za-z0-9])(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}",
    "Google key": r"AIza[A-Za-z0-9_-]{35}|ya29\.[A-Za-z0-9_-]{20,}|GOCSPX-[A-Za-z0-9_-]{20,}",
    "Slack token": r"xox[a-z]-[A-Za-z0-9-]{10,}|xapp-[A-Za-z0-9-]{10,}"
    r"|hooks\.slack\.com/services/[A-Za-z0-9_/]{20,}",
    "npm token": r"npm_[A-Za-z0-9]{36,}",
    "PyPI token": r"pypi-(?=[a-z_-]*[A-Z0-9])[A-Za-z0-9_-]{32,}",
    "API key": r"(?<![A-Za-z0-9_-])sk-[A-Za-z0-9_-]{20,}",
    "JWT": r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*",
}
#: Shapes of several words; the first group is the secret where the rest may stay.
_PHRASES = {
    "private key": r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----"
    r"(?s:.*?)(?:-----END [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----|\Z)",
    "credentials": r"://([^\s/@:\"'<>]*:[^\s/@\"'<>]+|[^\s/@:\"'<>]{20,})@",
    "authorization": r"(?i:\b(?:proxy-)?authorization\\?[\"']?\s*[:=]\s*\\?[\"']?"
    r"(?:(?:bearer|basic|token|digest|negotiate|apikey)\s+|(?=[^\s\"',;\\]*[0-9])"
    r"(?=[^\s\"',;\\]{16})))"
    r"([^\s\"',;\\()]+)",
    "bearer token": r"(?i:\bbearer\s+)([A-Za-z0-9._~+/=-]{16,})",
    "key": r"(?i:\b(?:x-api-key|api[_-]?key|aws_secret_access_key|private-token)"
    r"\\?[\"']?\s*[:=]\s*\\?[\"']?)(?=[A-Za-z_~+/=-]*[0-9])([A-Za-z0-9_~+/=-]{16,})",
}
_HINT = re.compile(
    r"gh[pousr]_|github_pat_|glpat-|AKIA|ASIA|ABIA|ACCA|AIza|ya29\.|GOCSPX-|xox|xapp-|hooks\.slack"
    r"|npm_|pypi-|sk-|eyJ|-----BEGIN|://|(?i:authorization|bearer|api[_-]?key|secret_access"
    r"|private-token)"
)
_COMPILED_ISSUERS = {kind: re.compile(shape) for kind, shape in _ISSUERS.items()}
_COMPILED_PHRASES = {kind: re.compile(shape) for kind, shape in _PHRASES.items()}


class Redact(Protocol):
    """Anything that takes the secrets out of a text."""

    def __call__(self, text: str, /) -> str:
        """The text without secrets."""


@dataclass(frozen=True, slots=True)
class _Find:
    start: int
    end: int
    kind: str


@dataclass(frozen=True)
class Redactor:
    """Replaces secrets by ``[redacted: <kind>]``.

    Args:
        secrets: values that are known to be secret, such as the tokens of this run. Values of
            fewer than six characters are not looked for.
    """

    secrets: tuple[str, ...] = field(default=(), repr=False)
    _known: re.Pattern[str] | None = field(init=False, repr=False, compare=False, default=None)

    def __post_init__(self) -> None:
        forms = {form for secret in self.secrets for form in _forms_of(secret.strip())}
        if forms:
            longest_first = sorted(forms, key=lambda form: (-len(form), form))
            known = re.compile("|".join(map(re.escape, longest_first)))
            object.__setattr__(self, "_known", known)

    def __call__(self, text: str, /) -> str:
        """The text without secrets."""
        plain, positions = bare(text)
        if not self._known and not _HINT.search(plain):
            return text
        finds = sorted(self._finds(plain), key=lambda find: (find.start, -find.end))
        if not finds:
            return text
        return "".join(_replace(text, positions, finds))

    def _finds(self, text: str) -> Iterator[_Find]:
        yield from _matches(text, _COMPILED_PHRASES)
        yield from self._tokens(text)
        joined, at = _join_wrapped(text)
        for find in self._tokens(joined) if at else ():
            start, end = at[find.start], at[find.end - 1] + 1
            if end - start > find.end - find.start:
                yield _Find(start, end, find.kind)

    def _tokens(self, text: str) -> Iterator[_Find]:
        yield from _matches(text, _COMPILED_ISSUERS)
        if self._known:
            yield from _matches(text, {"secret": self._known})


def redacted(text: str, redact: Redact) -> str:
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
            yield from _forms(variant)


def _forms(value: str) -> Iterator[str]:
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


def _matches(text: str, shapes: dict[str, re.Pattern[str]]) -> Iterator[_Find]:
    for kind, shape in shapes.items():
        for match in shape.finditer(text):
            start, end = match.span(1 if shape.groups else 0)
            if end > start:
                yield _Find(start, end, kind)


def _join_wrapped(text: str) -> tuple[str, list[int]]:
    """The text with hard-wrapped lines put together, and where each character was."""
    lines = text.split("\n")
    if not any(len(line) >= _WRAPPED for line in lines[:-1]):
        return "", []
    pieces: list[str] = []
    positions: list[int] = []
    at = 0
    for line in lines:
        whole = line + ("" if len(line) >= _WRAPPED else "\n")
        pieces.append(whole)
        positions.extend(range(at, at + len(whole)))
        at += len(line) + 1
    return "".join(pieces), positions


def _replace(text: str, positions: list[int] | None, finds: Iterable[_Find]) -> Iterator[str]:
    done = 0
    for find in finds:
        start = positions[find.start] if positions else find.start
        end = positions[find.end - 1] + 1 if positions else find.end
        if start >= done:
            yield text[done:start]
            yield f"[redacted: {find.kind}]"
        done = max(done, end)
    yield text[done:]
