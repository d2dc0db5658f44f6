"""Expressions of GitHub's workflows, and rows of matrices; what only a run tells is `UNKNOWN`."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial, reduce
from itertools import islice, product
from typing import Any, Final

from msgspec import Struct, field

from prjury.errors import ConfigError
from prjury.policy.yaml_reader import read_yaml

#: The most rows that GitHub runs.
_MOST_ROWS = 256
_LONGEST = 2_000
EXPRESSION = re.compile(r"\$\{\{(.*?)\}\}", re.DOTALL)
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
        try:
            if len(expression) >= _LONGEST:
                return UNKNOWN
            return _evaluate_or_refuse(_parse_expression(expression), self)
        except (ValueError, TypeError, IndexError, RecursionError):
            return UNKNOWN

    def holds(self, condition: str) -> bool | None:
        """Return true if an ``if:`` holds; None if that is not known."""
        inner = EXPRESSION.fullmatch(condition.strip())
        value = self.value(inner[1] if inner else condition) if condition.strip() else True
        return None if value is UNKNOWN else bool(value)

    def fill(self, text: str) -> str | None:
        """Return a text with its expressions replaced; None if one of them is not known."""
        values = [self.value(match[1]) for match in EXPRESSION.finditer(text)]
        if any(value is UNKNOWN or isinstance(value, dict | list) for value in values):
            return None
        remaining = iter(values)
        return EXPRESSION.sub(lambda _: _show(next(remaining)), text)

    def find_value(self, name: str) -> Any:  # noqa: ANN401 - what YAML holds, or UNKNOWN
        """Return the value of a name with dots; a part that is missing is empty, as on GitHub."""
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


def _write_lower(value: object) -> str:
    return _show(value).lower()


#: Comparisons; a number that is none (NaN) is on no side of another, and equals none.
_ORDERS: Mapping[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Lt: operator.lt, ast.Gt: operator.gt, ast.LtE: operator.le, ast.GtE: operator.ge,
    ast.Eq: operator.eq, ast.NotEq: operator.ne,
}  # fmt: skip
#: Signs that Python writes otherwise; its ``not`` would bind less than comparisons.
_SIGNS = {"&&": "and", "||": "or", "!": "~"}


def _as_number(value: object) -> float:
    try:
        return float(_show(value) or 0) if not isinstance(value, bool) else float(value)
    except ValueError:
        return float("nan")


def _read_json(text: str) -> Any:  # noqa: ANN401 - JSON
    try:
        return read_yaml(text, "fromJSON").value
    except ConfigError as error:
        raise ValueError(text) from error


_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "startswith": lambda text, start: _write_lower(text).startswith(_write_lower(start)),
    "endswith": lambda text, end: _write_lower(text).endswith(_write_lower(end)),
    "contains": lambda within, item: _write_lower(item) in (
        [_write_lower(one) for one in within] if isinstance(within, list) else _write_lower(within)
    ),
    "format": lambda form, *given: re.sub(r"\{(\d)\}", lambda at: _show(given[int(at[1])]), form),
    "fromjson": _read_json,
    "join": lambda items, sign=",": _show(sign).join(map(_show, items)),
    "success": lambda: True,
    "always": lambda: True,
    "failure": lambda: False,
    "cancelled": lambda: False,
}  # fmt: skip


def _parse_expression(text: str) -> ast.expr:
    """Parse an expression as Python's; names become calls of ``_``, functions begin with ``f_``."""
    parts = []
    place, end = 0, len(text.rstrip())
    while place < end:
        token = _TOKEN.match(text, place)
        if token is None:
            raise ValueError(text[place:])
        place = token.end()
        if (string := token["text"]) is not None:
            parts.append(repr(string[1:-1].replace("''", "'")))
        elif number := token["number"]:
            parts.append(f"({float(number) if '.' in number else int(number)})")
        elif (name := token["name"]) and text[place:].lstrip().startswith("("):
            parts.append(f"f_{name.lower()}")
        elif name:
            parts.append(f"_({name!r})")
        else:
            parts.append(_SIGNS.get(token["sign"], token["sign"]))
    try:
        return ast.parse(" ".join(parts), mode="eval").body
    except (SyntaxError, MemoryError) as error:
        raise ValueError(text) from error


def _evaluate_or_refuse(node: ast.expr, context: ExpressionContext) -> Any:  # noqa: ANN401, PLR0911 - what YAML holds, or UNKNOWN
    match node:
        case ast.Constant(value=value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
            return -number
        case ast.UnaryOp(op=ast.Invert(), operand=operand):
            value = _evaluate_or_refuse(operand, context)
            return UNKNOWN if value is UNKNOWN else not value
        case ast.BoolOp(op=word, values=parts):
            values = [_evaluate_or_refuse(part, context) for part in parts]
            return reduce(partial(_join, isinstance(word, ast.Or)), values)
        case ast.Compare(left=first, ops=signs, comparators=parts):
            result = _evaluate_or_refuse(first, context)
            for sign, part in zip(signs, parts, strict=True):
                result = _compare_values(result, type(sign), _evaluate_or_refuse(part, context))
            return result
        case ast.Call(func=ast.Name(id="_"), args=[ast.Constant(value=str() as name)]):
            words = {"true": True, "false": False, "null": None}
            return words[name] if name in words else context.find_value(name)
        case ast.Call(func=ast.Name(id=name), args=parts):
            arguments = [_evaluate_or_refuse(part, context) for part in parts]
            function = _FUNCTIONS.get(name.removeprefix("f_"))
            if function is None or UNKNOWN in arguments:
                return UNKNOWN
            return function(*arguments)
    raise ValueError(ast.dump(node))


def _join(is_or: bool, left: object, right: object) -> object:  # noqa: FBT001 - a sign
    if left is UNKNOWN:
        return right if right is not UNKNOWN and bool(right) is is_or else UNKNOWN
    return right if bool(left) is not is_or else left


def _compare_values(left: object, sign: type[ast.cmpop], right: object) -> object:
    if left is UNKNOWN or right is UNKNOWN:
        return UNKNOWN
    if isinstance(left, str) and isinstance(right, str):
        return _ORDERS[sign](left.lower(), right.lower())
    return _ORDERS[sign](_as_number(left), _as_number(right))  # of other types, as GitHub does


def list_matrix_rows(matrix: object, context: ExpressionContext) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of a matrix in GitHub's order; one empty row where none is known."""
    mapping = matrix if isinstance(matrix, Mapping) else {}
    values = {key: _evaluate(value, context) for key, value in mapping.items()}
    axes = {
        str(key): [_fill(item, context) for item in value]
        for key, value in values.items()
        if key not in {"include", "exclude"} and isinstance(value, list)
    }
    excluded = [_fill(one, context) for one in _list_entries(values, "exclude")]
    products = islice(product(*axes.values()), _MOST_ROWS) if axes else ()
    rows = [dict(zip(axes, each, strict=True)) for each in products]
    rows = [row for row in rows if not any(one.items() <= row.items() for one in excluded)]
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
    inner = EXPRESSION.fullmatch(value.strip()) if isinstance(value, str) else None
    result = context.value(inner[1]) if inner else value
    return value if result is UNKNOWN else result


def _list_entries(values: Mapping[Any, Any], key: str) -> list[Mapping[str, Any]]:
    value = values.get(key)
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def _fill(value: Any, context: ExpressionContext) -> Any:  # noqa: ANN401 - YAML
    if isinstance(value, Mapping):
        return {str(key): _fill(item, context) for key, item in value.items()}
    return context.fill(value) if isinstance(value, str) else value
