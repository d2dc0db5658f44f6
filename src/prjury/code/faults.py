"""The parsers that tell whether a text parses; runs in the parser's own process (`worker`)."""

from __future__ import annotations

import ast
import json
import re
import tomllib
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import yaml

#: Line, from 1, and message.
Fault = tuple[int | None, str]

_LONGEST = 60
_LINE = re.compile(r"at line (\d+)")
_COMMENT_OR_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
_TRAILING_COMMA = re.compile(r'("(?:[^"\\\n]|\\.)*")|,(\s*[\]}])')
#: Syntax that only compilers of other dialects of JavaScript know.
_DIALECT: Any = {
    "rule": {
        "any": [
            {"kind": "comment", "regex": "@flow"},
            {"kind": "jsx_element"},
            {"kind": "jsx_self_closing_element"},
            {"kind": "jsx_opening_element"},
            {"kind": "decorator"},
        ]
    }
}


class LenientJsonError(Exception):
    """JSON with comments, trailing commas, or several values: some tools read it."""


def check_syntax(job: Mapping[str, Any]) -> dict[str, Any]:
    """Ask the exact parser, and the grammar where that one is not content or there is none."""
    content = job["text"].encode("latin-1")
    reply: dict[str, Any] = {"exact": None, "grammar": None}
    parser = _PARSERS.get(job["exact"])
    if parser:
        try:
            reply["exact"] = parser(content, tuple(job["python"] or ()) or None)
        except LenientJsonError as error:
            reply.update(exact=list(error.args), lenient=True)
        if reply["exact"] is None:
            return reply
    if job["language"]:
        reply.update(_find_grammar_faults(content.decode("utf-8-sig", "replace"), job["language"]))
    return reply


def _check_python(content: bytes, version: tuple[int, int] | None) -> Fault | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(content, feature_version=version)
    except SyntaxError as error:
        return error.lineno or 1, error.msg  # 0 for an encoding that is none
    return None


def _check_json(content: bytes, _version: object) -> Fault | None:
    text = content.decode("utf-8-sig")
    try:
        json.loads(text, parse_int=str, parse_float=str)
    except json.JSONDecodeError as error:
        fault = (error.lineno, error.msg)
    else:
        return None
    bare = _COMMENT_OR_STRING.sub(lambda each: each[0] if each[0][0] == '"' else " ", text)
    bare = _TRAILING_COMMA.sub(lambda each: each[1] or each[2], bare).lstrip()
    decoder = json.JSONDecoder(parse_int=str, parse_float=str)
    try:
        while bare:
            _, end = decoder.raw_decode(bare)
            bare = bare[end:].lstrip()
    except json.JSONDecodeError:
        return fault
    raise LenientJsonError(*fault)


def _check_toml(content: bytes, _version: object) -> Fault | None:
    try:
        tomllib.loads(content.decode("utf-8-sig"), parse_float=str)
    except tomllib.TOMLDecodeError as error:
        place = _LINE.search(str(error))
        return int(place[1]) if place else None, str(error).partition(" (at ")[0]
    return None


def _check_yaml(content: bytes, _version: object) -> Fault | None:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        for _ in yaml.parse(content.decode("utf-8-sig"), Loader=loader):
            pass
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        return mark.line + 1 if mark else None, error.problem or "it is not YAML"
    except yaml.YAMLError as error:
        return None, str(error).splitlines()[0]
    return None


_PARSERS: Mapping[str, Callable[[bytes, tuple[int, int] | None], Fault | None]] = {
    "python": _check_python,
    "json": _check_json,
    "toml": _check_toml,
    "yaml": _check_yaml,
}


def _find_grammar_faults(text: str, language: str) -> dict[str, Any]:
    from ast_grep_py import SgRoot  # noqa: PLC0415 - native code, loaded where it is used

    root = SgRoot(text, language).root()
    faults: list[Fault] = []
    for node in root.find_all(kind="ERROR"):
        line = " ".join(node.text().split())
        shown = line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"
        faults.append((node.range().start.line + 1, f"unexpected {shown!r}"))
    if not faults or language in {"c", "cpp"}:
        faults += [
            (node.range().start.line + 1, f"{node.kind()} is missing")
            for node in root.find_all(regex="^$")  # the parser has made it up, or it is content
            if not node.children() and "content" not in node.kind()
        ]
    reply: dict[str, Any] = {"grammar": sorted(faults)}
    if language == "javascript":
        reply["dialect"] = root.find(_DIALECT) is not None
    return reply
