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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol
from urllib.parse import quote, quote_plus

from prjury.report.invisible_chars import Pieces, bare, normalise_line_ends

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
    "JWT": (
        ("eyJ",),
        r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*",
    ),
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
    "credentials": (
        ("://",),
        r"://([^\s/@:\"'<>]*:[^\s/@\"'<>]+|[^\s/@:\"'<>]{20,})@",
    ),
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


class _Shapes:
    """Shapes with the words at which they are looked for."""

    def __init__(self, kinds: Mapping[str, tuple[Sequence[str], str]], *, lower: bool) -> None:
        self._kinds = [(kind, words, re.compile(shape)) for kind, (words, shape) in kinds.items()]
        self._lower = lower

    def find(self, text: str) -> Iterator[_Find]:
        """Find them all."""
        searched = _to_lower(text) if self._lower else text
        for kind, words, shape in self._kinds:
            for word in words:
                at = searched.find(word)
                while at >= 0:
                    match = shape.match(text, at)
                    if match:
                        start, end = match.span(1 if shape.groups else 0)
                        yield _Find(start, end, kind)
                    at = searched.find(word, match.end() if match else at + 1)


def _to_lower(text: str) -> str:
    """The text in lower case, and as long."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(low if len(low := char.lower()) == 1 else char for char in text)


class Redact(Protocol):
    """Anything that takes the secrets out of a text."""

    def __call__(self, text: str, /) -> str:
        """The text without secrets."""


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
        """The text without secrets."""
        plain, positions = bare(text)
        finds = sorted(self._finds(plain), key=lambda find: (find.start, -find.end))
        if not finds:
            return text
        return "".join(_replace(text, positions, finds))

    def _finds(self, text: str) -> Iterator[_Find]:
        yield from _PHRASE_SHAPES.find(text)
        yield from self._tokens(text)
        joined, pieces = _join_wrapped(text)
        if pieces is None:
            return
        for find in self._tokens(joined):
            start, end = pieces.find(find.start), pieces.find(find.end - 1) + 1
            if end - start > find.end - find.start:
                yield _Find(start, end, find.kind)

    def _tokens(self, text: str) -> Iterator[_Find]:
        yield from _ISSUER_SHAPES.find(text)
        for match in self._known.finditer(text) if self._known else ():
            yield _Find(match.start(), match.end(), "secret")


_ISSUER_SHAPES = _Shapes(_ISSUERS, lower=False)
_PHRASE_SHAPES = _Shapes(_PHRASES, lower=True)


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


def _join_wrapped(text: str) -> tuple[str, Pieces | None]:
    """The text with hard-wrapped lines put together, and where its characters were."""
    spans, start = [], 0
    for match in _WRAP.finditer(text):
        spans.append((start, match.end() - 1))
        start = match.end()
    if not spans:
        return "", None
    spans.append((start, len(text)))
    return "".join([text[start:end] for start, end in spans]), Pieces(spans)


def _replace(text: str, positions: Pieces | None, finds: Iterable[_Find]) -> Iterator[str]:
    done = 0
    for find in finds:
        start = positions.find(find.start) if positions else find.start
        end = positions.find(find.end - 1) + 1 if positions else find.end
        if start >= done:
            yield text[done:start]
            yield f"[redacted: {find.kind}]"
        done = max(done, end)
    yield text[done:]
