"""Changed files that decide which tests run and what their results mean. Pure."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from prjury.snapshot.model import FileChange

#: Blobs by object name; None for those that a partial clone lacks.
ReadBlobs: TypeAlias = Callable[[Sequence[str]], Mapping[str, bytes | None]]

#: Nothing in these files but what is run and how.
_WHOLE = re.compile(
    r"""(?:^|/)(?:
      (?:conftest|noxfile|tasks|sitecustomize|usercustomize|pytest|unittest)\.py
    | (?:pytest|unittest)/__init__\.py
    | \.?pytest\.(?:ini|toml) | tox\.(?:ini|toml) | \.coveragerc
    | (?:jest|vitest|vite|karma|cypress|playwright|ava|babel)\.config\.[cm]?[jt]s
    | jest\.config\.json
    | \.mocharc(?:\.\w+)? | \.npmrc | \.yarnrc(?:\.yml)? | \.taprc | nx\.json | turbo\.json
    | (?:GNUm|[Mm])akefile | [^/]+\.mk | [Jj]ustfile | \.justfile | [Tt]askfile(?:\.dist)?\.ya?ml
    | maven\.config | jvm\.config | gradle\.properties | junit-platform\.properties
    | \.?cargo/config(?:\.toml)? | nextest\.toml | CTestCustom\.cmake
    | meson(?:_options\.txt|\.options)
    | tests?/(?:[^/.]+|(?:run|do|all|check)[\w-]*\.(?:sh|bash|pl|py)) # scripts that run tests
    | phpunit(?:\.dist)?\.xml(?:\.dist)? | \.rspec | Rakefile | go\.env
    )$""",
    re.VERBOSE,
)
#: Tables of TOML and keys of JSON, by the end of the path.
_TABLES: Mapping[str, tuple[str, ...]] = {
    "pyproject.toml": (
        "tool.pytest", "tool.tox", "tool.nox", "tool.coverage", "tool.hatch.envs",
        "tool.poe", "tool.pdm.scripts",
    ),
    "Cargo.toml": ("lib", "test", "bin", "package.autotests", "workspace.members", "features"),
    "package.json": ("scripts", "jest", "vitest", "mocha", "ava", "tap", "c8", "nyc"),
    "deno.json": ("tasks", "test"),
    "composer.json": ("scripts",),
}  # fmt: skip
#: Lines of other files, by the end of the path.
_LINES: Mapping[str, re.Pattern[str]] = {
    "setup.cfg": re.compile(
        r"\[tool:pytest\]|\[tox|addopts|testpaths|python_(?:files|classes|func)|norecurse"
    ),
    "pom.xml": re.compile(
        r"surefire|failsafe|[sS]kip|testFailureIgnore|<(?:test|include|exclude|groups|excludedGroups"
        r"|testSourceDirectory)\b|fail(?:IfNo|ure)"
    ),
    "build.gradle": re.compile(r"\btests?\b|useJUnit|ignoreFailures|exclude|filter|onlyIf|enabled"),
    "build.gradle.kts": re.compile(
        r"\btests?\b|useJUnit|ignoreFailures|exclude|filter|onlyIf|enabled"
    ),
    "CMakeLists.txt": re.compile(
        r"add_test|add_custom_target\s*\(\s*\w*(?:test|check)|enable_testing|ctest|discover_tests|WILL_FAIL|DISABLED"
        r"|(?:option|set)\s*\(\s*\w*TEST",
        re.IGNORECASE,
    ),
    "meson.build": re.compile(r"\btest\s*\(|should_fail|suite"),
}
_FOREIGN = re.compile(r"(?:^|/)(?:node_modules|vendor|third_party)/")


def changed_test_settings(files: Sequence[FileChange], read: ReadBlobs) -> tuple[str, ...]:
    """The paths of changed files that say which tests run, or how their results come about."""
    return tuple(sorted(set(_changed(files, read))))


def _changed(files: Sequence[FileChange], read: ReadBlobs) -> Iterator[str]:
    for file in files:
        for path in filter(None, (file.path, file.old_path)):
            if _FOREIGN.search(path):
                continue
            if _WHOLE.search(path) or ((look := _reader(path)) and _differs(file, look, read)):
                yield path


def _reader(path: str) -> Callable[[str], object] | None:
    """Takes the part that counts out of a file of this name, None where there is no such part."""
    name = path.rpartition("/")[2]
    if keys := _TABLES.get(name):
        parse = json.loads if name.endswith(".json") else tomllib.loads
        return lambda text: [_at(parse(text) if text else {}, key.split(".")) for key in keys]
    if pattern := _LINES.get(name):
        return lambda text: list(_lines(text, pattern))
    return None


def _lines(text: str, pattern: re.Pattern[str]) -> Iterator[str]:
    """The lines that fit, each with those below it up to the end of its brackets."""
    open_brackets = 0
    for line in text.splitlines():
        if open_brackets > 0 or pattern.search(line):
            yield line.strip()
            open_brackets = max(0, open_brackets + line.count("(") - line.count(")"))


def _differs(file: FileChange, look: Callable[[str], object], read: ReadBlobs) -> bool:
    blobs = [blob for blob in (file.old_blob, file.new_blob) if blob]
    contents = read(blobs)
    before, after = (
        (contents.get(blob) or b"").decode("utf-8", "replace") if blob else ""
        for blob in (file.old_blob, file.new_blob)
    )
    try:
        return bool(look(before) != look(after))
    except (ValueError, RecursionError):
        return before != after  # what cannot be parsed may say anything


def _at(data: Any, keys: Sequence[str]) -> object:  # noqa: ANN401 - parsed JSON or TOML
    for key in keys:
        data = data.get(key) if isinstance(data, dict) else None
    return data
