"""Changed files that decide which tests run and what their results mean. Pure."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, TypeAlias

from prjury.snapshot.model import FileChange

#: Blobs by object name; None for those that a partial clone lacks.
ReadBlobs: TypeAlias = Callable[[Sequence[str]], Mapping[str, bytes | None]]

TABLE = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
#: Names of files in which nothing stands but what is run and how.
_FILES = frozenset(TABLE["files"].split())
#: Tables of TOML and keys of JSON, by the name of the file.
_TABLES: Mapping[str, list[str]] = TABLE["tables"]
#: Signs in lines of other files, in small letters, by the name of the file.
_LINES: Mapping[str, list[str]] = TABLE["lines"]
_PARTLY = _TABLES.keys() | _LINES.keys()
_FOREIGN = frozenset({"node_modules", "vendor", "third_party"})


def find_changed_test_settings(files: Sequence[FileChange], read: ReadBlobs) -> tuple[str, ...]:
    """The paths of changed files that say which tests run, or how their results come about."""
    changes = [(path, file) for file in files for path in (file.path, file.old_path) if path]
    own = [(path, it) for path, it in changes if _FOREIGN.isdisjoint(path.split("/")[:-1])]
    sides = [(path, (file.old_blob or "", file.new_blob or "")) for path, file in own]
    partly = {blob for path, blobs in sides if path.rpartition("/")[2] in _PARTLY for blob in blobs}
    contents = read(sorted(partly - {""})) if partly else {}
    pairs = ((path, [contents.get(blob) or b"" for blob in blobs]) for path, blobs in sides)
    return tuple(sorted({path for path, pair in pairs if changes_test_settings(path, *pair)}))


def changes_test_settings(path: str, before: bytes, after: bytes) -> bool:
    """Tell whether a changed file says which tests run, or how their results come about."""
    *folders, name = path.split("/")
    if not _FOREIGN.isdisjoint(folders):
        return False
    if name not in _PARTLY:
        return _is_test_setting(path)
    old, new = (content.decode("utf-8", "replace") for content in (before, after))
    with suppress(ValueError, RecursionError):
        return _extract_settings(name, old) != _extract_settings(name, new)
    return old != new  # what cannot be parsed may say anything


def _is_test_setting(path: str) -> bool:
    *folders, name = path.split("/")
    stem, dot, suffix = name.rpartition(".")
    by_name = name in _FILES or any(fnmatchcase(name, one) for one in TABLE["patterns"].split())
    if by_name or f"/{path}".endswith(tuple(TABLE["paths"].split())):
        return True
    runs = stem.startswith(("run", "do", "all", "check")) and suffix in {"sh", "bash", "pl", "py"}
    return folders[-1:] in (["test"], ["tests"]) and (not dot or runs)  # scripts that run tests


def _extract_settings(name: str, text: str) -> list[object]:
    """The tables, or the lines that fit, each with those below it up to its closing bracket."""
    if keys := _TABLES.get(name):
        parse = json.loads if name.endswith(".json") else tomllib.loads
        document = parse(text) if text else {}
        return [_find_key(document, key.split(".")) for key in keys]
    lines: list[object] = []
    open_brackets = 0
    for line in text.splitlines():
        if open_brackets > 0 or any(mark in line.lower() for mark in _LINES[name]):
            lines.append(line.strip())
            open_brackets = max(0, open_brackets + line.count("(") - line.count(")"))
    return lines


def _find_key(data: Any, keys: Sequence[str]) -> object:  # noqa: ANN401 - parsed JSON or TOML
    for key in keys:
        data = data.get(key) if isinstance(data, dict) else None
    return data
