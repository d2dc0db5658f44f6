"""Syntax errors, told by the parser of a file's language; runs in the parser's own process.

Python, JSON, TOML and YAML have exact parsers. A grammar of ast-grep is exact for those in `EXACT`
alone: it read 1,870 Java and 690 Go files without an error; of right C it reads three in five.
"""

from __future__ import annotations

import ast
import json
import re
import sys
import tomllib
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, TypeAlias

import yaml
from msgspec import Struct, convert, to_builtins

from prjury.code.languages import LANGUAGE_BY_SUFFIX

#: Line, from 1, and message.
Fault: TypeAlias = tuple[int | None, str]

#: Bytes; larger files are data.
LARGEST = 1024 * 1024
_LONGEST = 60
#: The grammar's name by the ending of a file's name, where a language has no parser for its rules.
_GRAMMARS: Mapping[str, str] = {
    suffix: grammar
    for grammar, suffixes in {
        "json": ".ipynb .webmanifest",
        "toml": ".toml",
        "ruby": ".rb .rake .gemspec",
        "php": ".php",
        "csharp": ".cs",
        "scala": ".scala",
        "swift": ".swift",
        "lua": ".lua",
        "c": ".c",
        "cpp": ".h .cc .cpp .cxx .hh .hpp .hxx",
        "": ".jsonc",
    }.items()
    for suffix in suffixes.split()
}
EXACT = frozenset({"java", "go"})
#: Files of JSON whose readers take no comments and no trailing commas.
_STRICT_JSON = frozenset({"package.json", "package-lock.json", "composer.json"})
_MACRO = re.compile(r"\b[A-Z][A-Z0-9_]{2,}\b|#|__\w")
#: What right code may hold around a place that the grammar does not understand.
_UNKNOWN: Mapping[str, re.Pattern[str]] = {
    "c": _MACRO,
    "cpp": _MACRO,
    "java": re.compile(r"\bimport\s+module\b|\b(?:super|this)\s*\("),
}
#: What every Python says, and its grammar does not see.
_INDENTED = re.compile(r"unindent|unexpected indent|expected (an indented block|'except')")
#: PHP in a page of HTML, which is no error.
_PAGE = re.compile(r"\A(?!<\?php)|\?>")
#: Jinja, Helm, ERB and the like, which make the file that is parsed in the end.
_TEMPLATE = re.compile(r"\{%.*%\}|<%.*%>|(?<!\$)\{\{")


_COMMENT_OR_STRING = r'(?s)"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/'
_TRAILING_COMMA = r'("(?:[^"\\\n]|\\.)*")|,(\s*[\]}])'
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


class SourceFile(Struct, frozen=True):
    """A file whose syntax is asked about, and the oldest Python that the project supports."""

    path: str
    content: bytes
    python: tuple[int, int] | None = None

    @property
    def grammar(self) -> str:
        suffix = PurePosixPath(self.path.lower()).suffix
        language = LANGUAGE_BY_SUFFIX.get(suffix)
        return _GRAMMARS.get(suffix, language.parser or "" if language else "")


class SyntaxFault(Struct, frozen=True):
    """The place where a file does not parse; ``dialect``: it is written for another tool."""

    line: int | None
    message: str
    certain: bool = True
    dialect: bool = False


def answer_syntax_job(job: Mapping[str, Any]) -> dict[str, Any]:
    return {"fault": to_builtins(find_first_syntax_fault(convert(job["syntax"], SourceFile)))}


def find_first_syntax_fault(file: SourceFile) -> SyntaxFault | None:
    """Ask the exact parser, and the grammar where that one is not content or there is none."""
    grammar = file.grammar
    lines = file.content.decode("utf-8", "replace").split("\n")
    exact: list[Fault] = []
    knows = grammar != "python" or (file.python or (3, 0)) <= sys.version_info[:2]
    if knows and (parser := _PARSERS.get(grammar)):
        fault = parser(file)
        if fault is None:
            return None
        exact = [fault]
    grammar_faults, dialect = _list_faults_and_is_dialect(file)
    doubts = [each for each in grammar_faults if _is_understood(file, each, lines)]
    if not exact and not doubts:
        return None
    at, message = (exact + doubts)[0]
    line = lines[at - 1] if at and at <= len(lines) else ""
    marks = _TEMPLATE.search(line if grammar == "python" else "\n".join(lines))
    certain = _is_certain(file, message, by_parser=bool(exact), by_tree=bool(doubts)) and not marks
    return SyntaxFault(at, message, certain, dialect or bool(marks))


def _check_python(file: SourceFile) -> Fault | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(file.content, feature_version=file.python)
    except SyntaxError as error:
        return error.lineno or 1, error.msg  # 0 for an encoding that is none
    return None


def _check_json_or_jsonc(file: SourceFile) -> Fault | None:
    """Parse JSON; what some tools read, such as comments and trailing commas, is right."""
    text = file.content.decode("utf-8-sig")
    try:
        json.loads(text, parse_int=str, parse_float=str)
    except json.JSONDecodeError as error:
        fault = (error.lineno, error.msg)
    else:
        return None
    if PurePosixPath(file.path).name in _STRICT_JSON or file.path.endswith(".ipynb"):
        return fault
    bare = re.sub(_COMMENT_OR_STRING, lambda each: each[0] if each[0][0] == '"' else " ", text)
    bare = re.sub(_TRAILING_COMMA, lambda each: each[1] or each[2], bare).lstrip()
    decoder = json.JSONDecoder(parse_int=str, parse_float=str)
    try:
        while bare:
            _, end = decoder.raw_decode(bare)
            bare = bare[end:].lstrip()
    except json.JSONDecodeError:
        return fault
    return None


def _check_toml(file: SourceFile) -> Fault | None:
    try:
        tomllib.loads(file.content.decode("utf-8-sig"), parse_float=str)
    except tomllib.TOMLDecodeError as error:
        place = re.search(r"at line (\d+)", str(error))
        return int(place[1]) if place else None, str(error).partition(" (at ")[0]
    return None


def _check_yaml(file: SourceFile) -> Fault | None:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        for _ in yaml.parse(file.content.decode("utf-8-sig"), Loader=loader):
            pass
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        return mark.line + 1 if mark else None, error.problem or "it is not YAML"
    except yaml.YAMLError as error:
        return None, str(error).splitlines()[0]
    return None


_PARSERS: Mapping[str, Callable[[SourceFile], Fault | None]] = {
    "python": _check_python,
    "json": _check_json_or_jsonc,
    "toml": _check_toml,
    "yaml": _check_yaml,
}


def _list_faults_and_is_dialect(file: SourceFile) -> tuple[list[Fault], bool]:
    """List what the grammar does not understand, and tell if it is of another dialect."""
    from ast_grep_py import SgRoot  # noqa: PLC0415 - native code, loaded where it is used

    language = file.grammar
    if language in {"", "toml"}:
        return [], False
    root = SgRoot(file.content.decode("utf-8-sig", "replace"), language).root()
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
    return sorted(faults), language == "javascript" and root.find(_DIALECT) is not None


def _is_understood(file: SourceFile, fault: tuple[int | None, str], lines: Sequence[str]) -> bool:
    if file.grammar == "php" and _PAGE.search("\n".join(lines)):
        return False
    unknown = _UNKNOWN.get(file.grammar)
    at = fault[0] or 1
    return not (unknown and unknown.search("\n".join(lines[max(0, at - 2) : at + 1])))


def _is_certain(file: SourceFile, message: str, *, by_parser: bool, by_tree: bool) -> bool:
    """YAML has two readings; Python without a declared version may be newer than the one here."""
    if file.grammar in {"json", "toml"}:
        return by_parser
    if file.grammar == "yaml":
        return by_parser and by_tree
    if file.grammar == "python":
        return by_parser and (by_tree or file.python is not None or bool(_INDENTED.match(message)))
    return file.grammar in EXACT
