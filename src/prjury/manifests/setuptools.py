"""Reads requirements (PEP 508, pip), ``setup.cfg``, and ``setup.py``, which is never run."""

from __future__ import annotations

import ast
import configparser
import re
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from prjury.manifests.manifest import Coordinate, Manifest, ManifestError, Role, runtime
from prjury.manifests.syntax import text_of

_CONTINUED = re.compile(r"\\[ \t]*\n")
_COMMENT = re.compile(r"(?:^|\s)#.*")
_OPTION = re.compile(r"\s--?[a-zA-Z][\w-]*(?:[ =].*)?$")
_INCLUDE = re.compile(r"(?:-r|--requirement|-c|--constraint)(?:\s*=\s*|\s+|(?=[^\s-]))(\S+)")
_EDITABLE = re.compile(r"(?:-e|--editable)\s+(\S+)")
_EGG = re.compile(r"[#&]egg=([A-Za-z0-9][\w.-]*)")
_NAME = re.compile(r"\s*([A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?)\s*(?=$|[\[<>=!~;(@])")
_LONGEST = 2_000
_MAX_NUMBER = 5_000


def normalise_name(name: str) -> str:
    """A package's name as the index compares it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def parse_requirement(text: str, role: Role, lines: tuple[int, ...] = ()) -> Coordinate | None:
    """Read a requirement, or its name where no more can be read; None for no package."""
    from packaging.requirements import (  # noqa: PLC0415 - only Python projects need it
        InvalidRequirement,
        Requirement,
    )

    try:
        read = Requirement(text[:_LONGEST])
    except (InvalidRequirement, RecursionError):
        name = normalise_name(match[1]) if (match := _NAME.match(text)) else ""
        return Coordinate("", name, None, role, lines, "pypi") if name else None
    version = None if read.url else str(read.specifier) or None
    return Coordinate("", normalise_name(read.name), version, role, lines, "pypi")


def list_entries(
    main: Iterable[Coordinate], optional: Iterable[Coordinate]
) -> tuple[Coordinate, ...]:
    """List what a project asks for, and then, as optional, what its extras and groups ask for."""
    return (*main, *(replace(each, optional=True) for each in optional))


def read_requirements(content: bytes, role: Role = Role.DEPENDENCY) -> Manifest:
    """Read what a ``requirements.txt`` asks for, and the files that it includes."""
    coordinates: list[Coordinate] = []
    includes: list[str] = []
    for count, (number, line) in enumerate(_logical_lines(text_of(content))):
        if count >= _MAX_NUMBER:
            raise ManifestError(f"more than {_MAX_NUMBER} requirements")
        if include := _INCLUDE.match(line):
            includes.append(include[1])
        elif coordinate := _parse_requirement_line(line, role, number):
            coordinates.append(coordinate)
    return Manifest(coordinates=tuple(coordinates), includes=tuple(includes))


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    number = 1
    for line in re.split(r"(?<!\\)\n", re.sub(r"\\[ \t]+\n", r"\\\n", text)):
        code = _COMMENT.sub("", _CONTINUED.sub(" ", line)).strip()
        if code:
            yield number, code
        number += line.count("\n") + 1


def _parse_requirement_line(line: str, role: Role, number: int) -> Coordinate | None:
    editable = _EDITABLE.match(line)
    if editable or "://" in line.partition("@")[0]:
        egg = _EGG.search(line)
        return parse_requirement(egg[1], role, (number,)) if egg else None
    if line.startswith(("-", ".", "/")):
        return None
    return parse_requirement(_OPTION.sub("", line), role, (number,))


_MAX_LENGTH = 256 * 1024
_MAX_DEPTH = 50

#: What Python's own literals are built of.
Names: TypeAlias = Mapping[str, ast.expr]


def package(name: str, version: str | None) -> Coordinate:
    return Coordinate("", normalise_name(name), version, Role.SELF, (), "pypi")


def read_setup_cfg(content: bytes) -> Manifest:
    text = text_of(content)
    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(text)
    except configparser.Error as error:
        raise ManifestError(f"not a configuration file: {str(error).splitlines()[0]}") from error
    numbers = {line.strip(): n for n, line in enumerate(text.split("\n"), start=1)}
    section = "options.extras_require"
    lists = {"": parser.get("options", "install_requires", fallback="")}
    lists |= parser.items(section) if parser.has_section(section) else {}
    for key in ("setup_requires", "tests_require"):
        lists[key] = parser.get("options", key, fallback="")
    entries = [
        replace(each, scope=scope, optional=bool(scope))
        for scope, listed in lists.items()
        for each in _requirements(
            (line.strip(), numbers.get(line.strip())) for line in listed.split("\n")
        )
    ]
    return _make_manifest(
        parser.get("metadata", "name", fallback=None),
        parser.get("metadata", "version", fallback=None),
        parser.get("options", "python_requires", fallback=None),
        entries,
    )


def read_setup_py(content: bytes) -> Manifest:
    """Read the literals in the call of ``setup``, and names that are bound once to literals."""
    text = text_of(content)
    if len(text) > _MAX_LENGTH:
        raise ManifestError(f"larger than {_MAX_LENGTH // 1024} KiB")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
        call = next(filter(_is_setup, ast.walk(tree)), tree)
        return _read_setup_call(call, _find_names_assigned_once(tree))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        first_line = (str(error).splitlines() or [type(error).__name__])[0]
        raise ManifestError(f"not Python: {first_line}") from error


def _is_setup(node: ast.AST) -> bool:
    function = node.func if isinstance(node, ast.Call) else None
    return "setup" in {getattr(function, "id", None), getattr(function, "attr", None)}


def _find_names_assigned_once(tree: ast.Module) -> Names:
    stored = Counter(
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    )
    return {
        target.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name) and stored[target.id] == 1
    }


def _read_setup_call(call: ast.AST, names: Names) -> Manifest:
    values = {key: _locate_strings(value, names) for key, value in _list_arguments(call, names)}
    extras = values.get("extras_require")
    main = _requirements(_strings(values.get("install_requires")))
    groups = extras.values() if isinstance(extras, dict) else ()
    optional = (each for group in groups for each in _requirements(_strings(group)))
    texts = {key: value[0] for key, value in values.items() if isinstance(value, tuple)}
    return _make_manifest(
        texts.get("name"),
        texts.get("version"),
        texts.get("python_requires"),
        list_entries(main, optional),
    )


def _list_arguments(call: ast.AST, names: Names) -> Iterator[tuple[str, ast.expr]]:
    match call:
        case ast.Name(id=name) if name in names:
            yield from _list_arguments(names[name], names)
        case ast.Dict(keys=keys, values=values):
            for key, value in zip(keys, values, strict=True):
                if isinstance(key, ast.Constant) and isinstance(key.value, str):
                    yield key.value, value
        case ast.Call(keywords=keywords):
            for keyword in keywords:
                if keyword.arg:
                    yield keyword.arg, keyword.value
                else:
                    yield from _list_arguments(keyword.value, names)


def _locate_strings(node: ast.expr, names: Names, depth: int = 0) -> Any:  # noqa: ANN401 - a literal
    """Strings as pairs with their lines, lists and dictionaries of them; None for all else."""
    if depth > _MAX_DEPTH:
        return None
    match node:
        case ast.Constant(value=str() as text):
            return text, node.lineno
        case ast.Name(id=name) if name in names:
            return _locate_strings(names[name], names, depth + 1)
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return [_locate_strings(item, names, depth + 1) for item in items]
        case ast.Dict(values=values):
            items = [_locate_strings(value, names, depth + 1) for value in values]
            return dict(enumerate(items))
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            parts = [_locate_strings(side, names, depth + 1) for side in (left, right)]
            return [item for part in parts if isinstance(part, list) for item in part]
    return None


def _strings(value: object) -> Iterator[tuple[str, int]]:
    if isinstance(value, tuple):
        text, line = value
        yield from ((part, line) for part in text.split("\n"))
    for item in value if isinstance(value, list) else ():
        if isinstance(item, tuple):
            yield item


def _requirements(found: Iterator[tuple[str, int | None]]) -> Iterator[Coordinate]:
    for text, line in found:
        written = text.strip() and not text.startswith("#")
        if written and (read := parse_requirement(text, Role.DEPENDENCY, (line,) if line else ())):
            yield read


def _make_manifest(
    name: str | None,
    version: str | None,
    python: str | None,
    dependencies: Iterable[Coordinate],
) -> Manifest:
    # A version such as `attr: package.__version__` is read elsewhere, or by running code.
    number = version if version and version[:1].isdigit() else None
    more = [package(name, number)] if name else []
    more += [runtime("python", python)] if python else []
    return Manifest(
        name=name or "",
        version=number,
        coordinates=(*more, *dependencies),
        own_version=number,
    )
