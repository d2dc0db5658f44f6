"""GitHub's expressions, as far as our workflows and `action.yml` use them; no others are taken.

There are names with dots, texts in single quotes, ``==``, ``!=``, ``&&``, ``||``, ``!``, brackets,
and the functions `always`, `success`, `failure`, `cancelled`, `contains`, `startsWith`,
`endsWith` and `fromJSON`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

_TOKEN = re.compile(r"\s*(?:('(?:[^']|'')*')|([A-Za-z_][\w.-]*)|(&&|\|\||==|!=|[!(),]))")
_EMBEDDED = re.compile(r"\$\{\{(.*?)\}\}", re.DOTALL)
_OF_TEXTS: Mapping[str, Callable[[Any, str], bool]] = {
    "contains": lambda text, part: part in text,
    "endsWith": lambda text, part: text.endswith(part),
    "startsWith": lambda text, part: text.startswith(part),
}
_FUNCTIONS = frozenset({"always", "success", "failure", "cancelled"})


@dataclass
class _Reader:
    """Evaluates while it reads, for nothing has a side effect.

    Attributes:
        asked: the functions of the state that were called.
    """

    tokens: list[str]
    context: Mapping[str, Any]
    failed: bool
    asked: set[str] = field(default_factory=set)

    def either(self) -> Any:
        return self._chain("||", self.both, lambda left, right: left or right)

    def both(self) -> Any:
        return self._chain("&&", self.comparison, lambda left, right: left and right)

    def comparison(self) -> Any:
        value = self.operand()
        while self._next() in {"==", "!="}:
            same, other = self.tokens.pop(0) == "==", self.operand()
            value = (_comparable(value) == _comparable(other)) is same
        return value

    def operand(self) -> Any:
        token = self.tokens.pop(0)
        if token == "!":
            return not self.operand()
        if token == "(":
            value = self.either()
            assert self.tokens.pop(0) == ")"
            return value
        if token.startswith("'"):
            return token[1:-1].replace("''", "'")
        if token in _FUNCTIONS and self.tokens[:2] == ["(", ")"]:
            del self.tokens[:2]
            self.asked.add(token)
            return {"always": True, "success": not self.failed, "failure": self.failed}.get(token)
        if token in _OF_TEXTS and self._next() == "(":
            return self._of_texts(token)
        if token == "fromJSON" and self._next() == "(":
            self.tokens.pop(0)
            value = json.loads(self.either())
            assert self.tokens.pop(0) == ")"
            return value
        assert re.fullmatch(r"[A-Za-z_][\w.-]*", token), f"not an expression of ours: {token!r}"
        return {"true": True, "false": False}.get(token, self._value(token))

    def _of_texts(self, name: str) -> bool:
        assert self.tokens.pop(0) == "("
        whole = self.either()
        text = list(map(_comparable, whole)) if isinstance(whole, list) else _comparable(whole)
        assert self.tokens.pop(0) == ","
        part = _comparable(self.either())
        assert self.tokens.pop(0) == ")"
        return _OF_TEXTS[name](text, part)

    def _value(self, name: str) -> Any:
        value: Any = self.context
        for part in name.split("."):
            value = value.get(part) if isinstance(value, Mapping) else None
        return value

    def _chain(self, sign: str, part: Callable[[], Any], join: Callable[[Any, Any], Any]) -> Any:
        value = part()
        while self._next() == sign:
            self.tokens.pop(0)
            value = join(value, part())
        return value

    def _next(self) -> str | None:
        return self.tokens[0] if self.tokens else None


def _comparable(value: Any) -> Any:
    """Texts are compared without regard to case, and what is not there is empty."""
    return str("" if value is None else value).casefold()


def _read(text: str, context: Mapping[str, Any], *, failed: bool) -> tuple[Any, set[str]]:
    tokens, place, text = [], 0, text.strip()
    while place < len(text):
        match = _TOKEN.match(text, place)
        assert match, f"not an expression of ours: {text!r}"
        tokens.append(match[0].strip())
        place = match.end()
    reader = _Reader(tokens, context, failed)
    value = reader.either()
    assert not reader.tokens, f"not an expression of ours: {text!r}"
    return value, reader.asked


def holds(condition: object, context: Mapping[str, Any], *, failed: bool) -> bool:
    """Whether an ``if`` lets a job or a step run; without a word on failure it wants success."""
    if condition is None:
        return not failed
    text = str(condition).strip().removeprefix("${{").removesuffix("}}")
    value, asked = _read(text, context, failed=failed)
    return bool(value) and (bool(asked) or not failed)


def filled(text: object, context: Mapping[str, Any]) -> str:
    """A text with the values in place of ``${{ … }}``."""

    def value(match: re.Match[str]) -> str:
        found, _ = _read(match[1], context, failed=False)
        return _written(found)

    return _EMBEDDED.sub(value, _written(text))


def _written(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else str(value)
