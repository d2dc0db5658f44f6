"""Which settings a change adds, renames and removes: keys of shipped defaults and schemas.

Build files, CI and the configuration of development tools are not settings.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from configparser import Error as ConfigParserError
from configparser import RawConfigParser
from dataclasses import dataclass
from pathlib import PurePosixPath

from prjury.code.source import UnreadableError, decode
from prjury.judges.backport.checks.wording import MOST_LISTED, code_name, shortened
from prjury.judges.backport.places import is_aside, is_example
from prjury.jury.judgment import Check, Location
from prjury.manifests.syntax import toml_of
from prjury.snapshot.kinds import kind_of
from prjury.snapshot.model import FileKind, printable, visible

#: Limits of a file: the depth of its keys, and their number.
_DEEPEST, _MOST = 12, 20_000
#: Limits of a YAML file: levels and events.
_NESTED, _EVENTS = 100, 200_000
#: So many keys stand in the message.
_FEW = 3

_RESOURCES = re.compile(r"(^|/)src/main/resources/")
_OTHER_RESOURCES = re.compile(
    r"/(META-INF|i18n|lang|locale|messages|static|public|templates|db)/|/(log4j|logback|logging"
    r"|messages|ehcache|banner|ValidationMessages)[^/]*$|_[a-z]{2}(_[A-Z]{2})?\.properties$"
)
_SPRING = re.compile(r"(^|/)(additional-)?spring-configuration-metadata\.json$")
_SCHEMA = re.compile(r"(^|/)schemas?/[\w-]+\.json$|[\w-]+[.-](config[.-])?schema\.json$")
_DEFAULTS = re.compile(
    r".+/(config/base|(default|defaults|settings|configuration|config)([-_.][\w.-]+)?)"
    r"\.(toml|ini|cfg|ya?ml|json|properties)$"
)
_WRITTEN = re.compile(r"\.(toml|ini|cfg|conf|ya?ml|properties)$")
_TOOLS = re.compile(
    r"(^|/)(\.|tsconfig|package|pom\.xml|pyproject|setup\.cfg|tox\.ini|pytest\.ini|mypy|ruff"
    r"|eslint|prettier|babel|jest|webpack|docker|compose|Chart|values|lerna|nx|turbo)[^/]*$"
    r"|(^|/)(\.[^/]+|helm|charts?|k8s|deploy|docker)/"
)
_PROPERTY = re.compile(r"((?:\\.|[^\\:=\s])+)\s*[:=\s]\s*(.*)")

#: Values by dotted key.
Keys = Mapping[str, str]


class _UnknownError(Exception):
    """A file whose keys cannot be read."""


@dataclass(frozen=True, slots=True)
class SettingChange:
    """A key that is ``added``, ``renamed`` or ``removed``.

    Attributes:
        declared: whether a schema declares it rather than a file of defaults.
    """

    change: str
    path: str
    key: str
    old_key: str | None = None
    declared: bool = False


def is_settings(path: str) -> bool:
    """Whether a file has the keys of a program's settings."""
    if kind_of(path) is not FileKind.CONFIG or is_aside(path) or is_example(path):
        return False
    if _SPRING.search(path) or (_SCHEMA.search(path) and not _TOOLS.search(path)):
        return True
    if _TOOLS.search(path):
        return False
    if _RESOURCES.search(path):
        return bool(_WRITTEN.search(path)) and not _OTHER_RESOURCES.search(path)
    return _DEFAULTS.search(path) is not None


def setting_changes(
    path: str, old: bytes | None, new: bytes | None
) -> tuple[list[SettingChange], str | None]:
    """Return the changes of a file's keys, or why they cannot be read."""
    try:
        before, after = keys_of(path, old or b""), keys_of(path, new or b"")
    except (_UnknownError, UnreadableError, ValueError, RecursionError, ConfigParserError) as error:
        return [], f"its keys cannot be read: {' '.join(str(error).split())[:200]}"
    gone = {key: value for key, value in before.items() if key not in after}
    come = {key: value for key, value in after.items() if key not in before}
    declared = bool(_SPRING.search(path) or _SCHEMA.search(path))
    found: list[SettingChange] = []
    for key, value in gone.items():
        others = [other for other in come if come[other] == value and _alike(key, other)]
        if len(others) == 1:
            del come[others[0]]
            found.append(SettingChange("renamed", path, others[0], key, declared))
        else:
            found.append(SettingChange("removed", path, key, None, declared))
    found += (SettingChange("added", path, key, None, declared) for key in come)
    return found, None


def _alike(old: str, new: str) -> bool:
    before, after = old.rpartition("."), new.rpartition(".")
    return before[0] == after[0] or before[2] == after[2]


def keys_of(path: str, content: bytes) -> Keys:
    """Return the values of a settings file by key; raises what `setting_changes` catches."""
    if not content.strip():
        return {}
    text = decode(content).removeprefix("\ufeff")
    if _SPRING.search(path):
        return _spring(json.loads(text))
    if _SCHEMA.search(path):
        return dict(_limited(_schema(json.loads(text), "", 0)))
    return dict(_limited(_FORMATS[PurePosixPath(path).suffix.lower()](text)))


def _limited(pairs: Iterator[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    for number, pair in enumerate(pairs):
        if number == _MOST:
            raise _UnknownError(f"more than {_MOST} keys")
        yield pair


def _spring(data: object) -> Keys:
    listed = data.get("properties") if isinstance(data, dict) else None
    rows = listed if isinstance(listed, list) else []
    named = (row for row in rows if isinstance(row, dict) and isinstance(row.get("name"), str))
    return {row["name"]: json.dumps(row.get("defaultValue")) for row in named}


def _schema(data: object, prefix: str, depth: int) -> Iterator[tuple[str, str]]:
    properties = data.get("properties") if isinstance(data, dict) else None
    if not isinstance(properties, dict) or depth > _DEEPEST:
        return
    for name, value in properties.items():
        own = value if isinstance(value, dict) else {}
        yield f"{prefix}{name}", json.dumps([own.get("type"), own.get("default")])
        yield from _schema(value, f"{prefix}{name}.", depth + 1)


def _flat(data: object, prefix: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    """Yield the dotted keys; a described option is one key, and so is a list."""
    if isinstance(data, dict) and data and depth < _DEEPEST and not _is_option(data):
        for name, value in data.items():
            yield from _flat(value, f"{prefix}.{name}" if prefix else str(name), depth + 1)
    elif prefix:
        yield prefix, str(data)[:1_000]


def _is_option(data: Mapping[object, object]) -> bool:
    return "description" in data and bool(data.keys() & {"default", "type", "name"})


def _yaml(text: str) -> Iterator[tuple[str, str]]:
    import yaml  # noqa: PLC0415 - loaded where there is such a file

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        # Composing recurses in C without a limit, parsing does not: so events are counted first.
        _refuse_deep(type(event).__name__ for event in yaml.parse(text, Loader=loader))
        visits = iter(range(_EVENTS))
        for document in yaml.compose_all(text, Loader=loader):
            yield from _nodes(document, "", 0, visits)
    except yaml.YAMLError as error:
        raise _UnknownError(str(error)) from error


def _refuse_deep(events: Iterator[str]) -> None:
    depth = 0
    for number, name in enumerate(events):
        depth += name.endswith("StartEvent") - name.endswith("EndEvent")
        if depth > _NESTED or number > _EVENTS:
            raise _UnknownError("it is too deep or too large")


def _nodes(
    node: object, prefix: str, depth: int, visits: Iterator[int]
) -> Iterator[tuple[str, str]]:
    """Yield the dotted keys; visits are limited, because aliases can multiply them."""
    if next(visits, None) is None:
        raise _UnknownError("its aliases make it too large")
    pairs = getattr(node, "value", None)
    if getattr(node, "id", "") != "mapping" or depth >= _DEEPEST or not pairs:
        if prefix:
            yield prefix, str(pairs)[:1_000] if isinstance(pairs, str) else ""
        return
    named = [(str(key.value), value) for key, value in pairs if isinstance(key.value, str)]
    if prefix and _is_option(dict(named)):
        yield prefix, ""
        return
    for name, value in named:
        yield from _nodes(value, f"{prefix}.{name}" if prefix else name, depth + 1, visits)


def _ini(text: str) -> Iterator[tuple[str, str]]:
    parser = RawConfigParser(strict=False, allow_no_value=True)
    parser.read_string(text)
    for section in parser.sections():
        for name, value in parser.items(section):
            yield f"{section}.{name}", value or ""


def _properties(text: str) -> Iterator[tuple[str, str]]:
    lines = re.sub(r"(?<!\\)((?:\\\\)*)\\\r?\n[ \t]*", r"\1", text).split("\n")
    for line in map(str.strip, lines):
        if line and line[0] not in "#!":
            match = _PROPERTY.match(line)
            yield (match[1], match[2]) if match else (line, "")


_FORMATS: Mapping[str, Callable[[str], Iterator[tuple[str, str]]]] = {
    ".properties": _properties,
    ".yml": _yaml,
    ".yaml": _yaml,
    ".toml": lambda text: _flat(toml_of(text)),
    ".json": lambda text: _flat(json.loads(text)),
    ".ini": _ini,
    ".cfg": _ini,
    ".conf": _properties,
}


def settings_check(found: Sequence[SettingChange]) -> Check | None:
    """Return the check ``settings``; None without changes."""
    if not found:
        return None
    lost = [each for each in found if each.change != "added"]
    added = [each for each in found if each.change == "added"]
    return Check(
        "settings",
        passed=False,
        message=", ".join(_words(found)),
        location=Location(printable((lost or found)[0].path)),
        severity="error" if any(each.declared for each in lost) else "warning",
        evidence="\n".join(map(_line, [*lost, *added][:MOST_LISTED])),
    )


def _words(found: Sequence[SettingChange]) -> Iterator[str]:
    for change, verb in (("removed", "removes"), ("renamed", "renames"), ("added", "adds")):
        keys = [_key(each) for each in found if each.change == change]
        left = len(keys) - _FEW
        if keys:
            more = f" and {left} more settings" if left > 0 else ""
            yield f"{verb} {', '.join(keys[:_FEW])}{more}"


def _key(each: SettingChange) -> str:
    new = code_name(each.key)
    return f"{code_name(each.old_key)} to {new}" if each.old_key else new


def _line(each: SettingChange) -> str:
    sign = {"added": "+", "removed": "-"}.get(each.change, f"{visible(each.old_key or '')} ->")
    return f"{sign} {shortened(each.key)} ({visible(each.path)})"
