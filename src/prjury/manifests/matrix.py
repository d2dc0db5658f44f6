"""Expressions of GitHub's workflows, and the rows of a job's matrix, as far as files decide them.

Nothing is known of the run: an expression about it is `UNKNOWN`, and so is what depends on it.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Mapping
from itertools import islice, product
from typing import Any, Final

from msgspec import Struct, field

from prjury.errors import ConfigError
from prjury.policy.yaml_reader import read_yaml

#: The most rows that GitHub runs.
_MOST_ROWS = 256
_LONGEST = 2_000
_EXPRESSION = re.compile(r"\$\{\{(.*?)\}\}", re.DOTALL)
_TOKEN = re.compile(
    r"\s*(?:(?P<text>'(?:[^']|'')*')|(?P<number>-?\d+(?:\.\d+)?)(?![\w.])"
    r"|(?P<name>[A-Za-z_][\w-]*(?:\.(?:[\w-]+|\*)|\[\s*'[^']*'\s*\])*)"
    r"|(?P<sign>\|\||&&|==|!=|<=|>=|[!(),<>]))"
)


class _Unknown:
    def __repr__(self) -> str:
        return "UNKNOWN"


#: The value of an expression that the files do not decide.
UNKNOWN: Final = _Unknown()


class ExpressionContext(Struct, frozen=True):
    """Values that expressions may name, by the first part of the name: ``matrix``, ``env``, …."""

    values: Mapping[str, Any] = field(default_factory=dict)

    def value(self, expression: str) -> Any:  # noqa: ANN401 - what YAML holds, or UNKNOWN
        """The value of an expression without its brackets."""
        try:
            return _Parser(expression, self).value() if len(expression) < _LONGEST else UNKNOWN
        except (ValueError, RecursionError):
            return UNKNOWN

    def holds(self, condition: str) -> bool | None:
        """Return true if an ``if:`` holds; None if that is not known."""
        inner = _EXPRESSION.fullmatch(condition.strip())
        value = self.value(inner[1] if inner else condition) if condition.strip() else True
        return None if value is UNKNOWN else bool(value)

    def filled(self, text: str) -> str | None:
        """A text with its expressions replaced; None if one of them is not known."""
        values = [self.value(match[1]) for match in _EXPRESSION.finditer(text)]
        if any(value is UNKNOWN or isinstance(value, dict | list) for value in values):
            return None
        remaining = iter(values)
        return _EXPRESSION.sub(lambda _: _show(next(remaining)), text)

    def named(self, name: str) -> Any:  # noqa: ANN401 - what YAML holds, or UNKNOWN
        """The value of a name with dots; a part that is missing is empty, as GitHub has it."""
        first, *rest = re.findall(r"[^.\[\]'\s]+", name)
        if first not in self.values:
            return UNKNOWN
        value = self.values[first]
        for part in rest:
            if value is UNKNOWN:
                return UNKNOWN
            value = value.get(part, "") if isinstance(value, Mapping) else ""
        return value


def _show(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else "" if value is None else str(value)


def _text(value: object) -> str:
    return _show(value).lower()


#: Signs of order; a number that is none (NaN) is on no side of another.
_ORDERS: Mapping[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge,
}  # fmt: skip


def _as_comparable(left: object, right: object) -> tuple[Any, Any]:
    """Return two texts as texts, all else as numbers."""
    if isinstance(left, str) and isinstance(right, str):
        return left.lower(), right.lower()
    return _as_number(left), _as_number(right)


def _as_number(value: object) -> float:
    try:
        return float(_show(value) or 0) if not isinstance(value, bool) else float(value)
    except ValueError:
        return float("nan")


def _read_json(text: str) -> Any:  # noqa: ANN401 - JSON
    """A value in JSON; a comma after the last item is allowed, as GitHub does."""
    try:
        return read_yaml(text, "fromJSON").value
    except ConfigError as error:
        raise ValueError(text) from error


_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "startswith": lambda text, start: _text(text).startswith(_text(start)),
    "endswith": lambda text, end: _text(text).endswith(_text(end)),
    "contains": lambda within, item: _text(item) in (
        [_text(one) for one in within] if isinstance(within, list) else _text(within)
    ),
    "format": lambda form, *given: re.sub(r"\{(\d)\}", lambda at: _show(given[int(at[1])]), form),
    "fromjson": _read_json,
    "join": lambda items, sign=",": _show(sign).join(map(_show, items)),
    "success": lambda: True,
    "always": lambda: True,
    "failure": lambda: False,
    "cancelled": lambda: False,
}  # fmt: skip


class _Parser:
    """Reads one expression from left to right; `ValueError` for what it does not know."""

    def __init__(self, text: str, context: ExpressionContext) -> None:
        self._tokens = list(_tokens(text))
        self._context = context

    def value(self) -> Any:  # noqa: ANN401 - what YAML holds, or UNKNOWN
        result = self._either()
        if self._tokens:
            raise ValueError(self._tokens[0])
        return result

    def _next(self, *signs: str) -> str | None:
        if self._tokens and self._tokens[0] in {("sign", sign) for sign in signs}:
            return self._tokens.pop(0)[1]
        return None

    def _either(self) -> Any:  # noqa: ANN401
        result = self._both()
        while self._next("||"):
            other = self._both()
            if result is UNKNOWN:
                result = other if other is not UNKNOWN and other else UNKNOWN
            else:
                result = result or other
        return result

    def _both(self) -> Any:  # noqa: ANN401
        result = self._compare()
        while self._next("&&"):
            other = self._compare()
            if result is UNKNOWN:
                result = UNKNOWN if other is UNKNOWN or other else other
            else:
                result = result and other
        return result

    def _compare(self) -> Any:  # noqa: ANN401
        result = self._single()
        while sign := self._next("==", "!=", "<", ">", "<=", ">="):
            other = self._single()
            if result is UNKNOWN or other is UNKNOWN:
                result = UNKNOWN
            elif sign in _ORDERS:
                result = _ORDERS[sign](*_as_comparable(result, other))
            else:
                result = (_text(result) == _text(other)) == (sign == "==")
        return result

    def _single(self) -> Any:  # noqa: ANN401
        if self._next("!"):
            result = self._single()
            return UNKNOWN if result is UNKNOWN else not result
        if self._next("("):
            result = self._either()
            self._expect(")")
            return result
        kind, text = self._tokens.pop(0) if self._tokens else ("", "")
        if kind == "text":
            return text[1:-1].replace("''", "'")
        if kind == "number":
            return float(text) if "." in text else int(text)
        if kind != "name":
            raise ValueError(text)
        return self._call(text) if self._next("(") else self._named(text)

    def _named(self, name: str) -> Any:  # noqa: ANN401
        words = {"true": True, "false": False, "null": None}
        return words[name] if name in words else self._context.named(name)

    def _call(self, name: str) -> Any:  # noqa: ANN401
        arguments = []
        while not self._next(")"):
            arguments.append(self._either())
            if not self._next(","):
                self._expect(")")
                break
        function = _FUNCTIONS.get(name.lower())
        if function is None or UNKNOWN in arguments:
            return UNKNOWN
        try:
            return function(*arguments)
        except (TypeError, IndexError) as error:
            raise ValueError(name) from error

    def _expect(self, sign: str) -> None:
        if not self._next(sign):
            raise ValueError(sign)


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    place, end = 0, len(text.rstrip())
    while place < end:
        token = _TOKEN.match(text, place)
        if token is None or token.lastgroup is None:
            raise ValueError(text[place:])
        yield token.lastgroup, token[token.lastgroup]
        place = token.end()


def matrix_rows(matrix: object, context: ExpressionContext) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of a matrix in GitHub's order; one empty row where none is known."""
    mapping = matrix if isinstance(matrix, Mapping) else {}
    values = {key: _evaluate(value, context) for key, value in mapping.items()}
    axes = {
        str(key): [_fill(item, context) for item in value]
        for key, value in values.items()
        if key not in {"include", "exclude"} and isinstance(value, list)
    }
    rows = _list_rows(axes, [_fill(one, context) for one in _list_entries(values, "exclude")])
    added = []
    unknown = {
        str(key): UNKNOWN for key, value in values.items() if isinstance(value, str) and value
    }
    for one in _list_entries(values, "include"):
        more = _fill(one, context)
        own = {key: value for key, value in more.items() if key in axes}
        fitting = [row for row in rows if own.items() <= row.items()]
        for row in fitting if axes else ():
            row.update({key: value for key, value in more.items() if key not in axes})
        if not fitting or not axes:
            added.append(dict(more))
    every: tuple[Mapping[str, Any], ...] = (*rows, *added) or ({},)
    yield from ({**unknown, **row} for row in every[:_MOST_ROWS])


def _evaluate(value: Any, context: ExpressionContext) -> Any:  # noqa: ANN401 - YAML
    """A list that an expression gives; the text itself if that is not known."""
    inner = _EXPRESSION.fullmatch(value.strip()) if isinstance(value, str) else None
    result = context.value(inner[1]) if inner else value
    return value if result is UNKNOWN else result


def _list_rows(
    axes: Mapping[str, list[Any]], excluded: list[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    every = islice(product(*axes.values()), _MOST_ROWS) if axes else ()
    rows = [dict(zip(axes, values, strict=True)) for values in every]
    return [row for row in rows if not any(one.items() <= row.items() for one in excluded)]


def _list_entries(values: Mapping[Any, Any], key: str) -> list[Mapping[str, Any]]:
    value = values.get(key)
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def _fill(value: Any, context: ExpressionContext) -> Any:  # noqa: ANN401 - YAML
    if isinstance(value, Mapping):
        return {str(key): _fill(item, context) for key, item in value.items()}
    return context.filled(value) if isinstance(value, str) else value
