"""Settings that a change adds, renames and removes, as metadata and schemas declare them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from prjury.code.source import UnreadableError, decode
from prjury.judges.backport.checks.wording import MOST_LISTED, code_name, shortened
from prjury.judges.backport.places import is_aside, is_example
from prjury.jury.judgment import Check, Location
from prjury.snapshot.kinds import kind_of
from prjury.snapshot.model import FileKind, printable, visible

#: Limits of a schema: the depth of its keys, and their number.
_DEEPEST, _MOST = 12, 20_000
#: So many keys stand in the message.
_FEW = 3

_SPRING = re.compile(r"(^|/)(additional-)?spring-configuration-metadata\.json$")
_SCHEMA = re.compile(r"(^|/)schemas?/[\w-]+\.json$|[\w-]+[.-](config[.-])?schema\.json$")
_TOOLS = re.compile(r"(^|/)(\.|tsconfig|package|eslint|jest|lerna|nx|turbo)[^/]*$|(^|/)\.[^/]+/")


@dataclass(frozen=True, slots=True)
class SettingChange:
    """A key that is ``added``, ``renamed`` or ``removed``."""

    change: str
    path: str
    key: str
    old_key: str | None = None


def is_settings(path: str) -> bool:
    """Return true if a file declares the settings of a program."""
    if kind_of(path) is not FileKind.CONFIG or is_aside(path) or is_example(path):
        return False
    return bool(_SPRING.search(path) or (_SCHEMA.search(path) and not _TOOLS.search(path)))


def setting_changes(
    path: str, old: bytes | None, new: bytes | None
) -> tuple[list[SettingChange], str | None]:
    """Return the changes of a file's keys, or why they cannot be read."""
    try:
        before, after = _read_keys(path, old or b""), _read_keys(path, new or b"")
    except (UnreadableError, ValueError, RecursionError) as error:
        return [], f"its keys cannot be read: {' '.join(str(error).split())[:200]}"
    gone = {key: value for key, value in before.items() if key not in after}
    come = {key: value for key, value in after.items() if key not in before}
    changes: list[SettingChange] = []
    for key, value in gone.items():
        others = [other for other in come if come[other] == value and _are_alike(key, other)]
        if len(others) == 1:
            del come[others[0]]
            changes.append(SettingChange("renamed", path, others[0], key))
        else:
            changes.append(SettingChange("removed", path, key))
    return changes + [SettingChange("added", path, key) for key in come], None


def _are_alike(old: str, new: str) -> bool:
    before, after = old.rpartition("."), new.rpartition(".")
    return before[0] == after[0] or before[2] == after[2]


def _read_keys(path: str, content: bytes) -> Mapping[str, str]:
    """Return the declared defaults by key; raises what `setting_changes` catches."""
    if not content.strip():
        return {}
    data = json.loads(decode(content).removeprefix("\ufeff"))
    keys: dict[str, str] = {}
    for key, value in _read_metadata(data) if _SPRING.search(path) else _read_schema(data, "", 0):
        keys[key] = value
        if len(keys) > _MOST:
            raise ValueError(f"more than {_MOST} keys")
    return keys


def _read_metadata(data: object) -> Iterator[tuple[str, str]]:
    rows = data.get("properties") if isinstance(data, dict) else None
    for row in rows if isinstance(rows, list) else []:
        if isinstance(row, dict) and isinstance(row.get("name"), str):
            yield row["name"], json.dumps(row.get("defaultValue"))


def _read_schema(data: object, prefix: str, depth: int) -> Iterator[tuple[str, str]]:
    properties = data.get("properties") if isinstance(data, dict) else None
    if not isinstance(properties, dict) or depth > _DEEPEST:
        return
    for name, value in properties.items():
        own = value if isinstance(value, dict) else {}
        yield f"{prefix}{name}", json.dumps([own.get("type"), own.get("default")])
        yield from _read_schema(value, f"{prefix}{name}.", depth + 1)


def settings_check(changes: Sequence[SettingChange]) -> Check | None:
    """Return the check ``settings``; None without changes."""
    if not changes:
        return None
    lost = [change for change in changes if change.change != "added"]
    added = [change for change in changes if change.change == "added"]
    return Check(
        "settings",
        passed=False,
        message=", ".join(_list_words(changes)),
        location=Location(printable((lost or added)[0].path)),
        severity="error" if lost else "warning",
        evidence="\n".join(map(_evidence_line, [*lost, *added][:MOST_LISTED])),
    )


def _list_words(changes: Sequence[SettingChange]) -> Iterator[str]:
    for kind, verb in (("removed", "removes"), ("renamed", "renames"), ("added", "adds")):
        keys = [_key_words(change) for change in changes if change.change == kind]
        left = len(keys) - _FEW
        if keys:
            more = f" and {left} more settings" if left > 0 else ""
            yield f"{verb} {', '.join(keys[:_FEW])}{more}"


def _key_words(change: SettingChange) -> str:
    new = code_name(change.key)
    return f"{code_name(change.old_key)} to {new}" if change.old_key else new


def _evidence_line(change: SettingChange) -> str:
    signs = {"added": "+", "removed": "-"}
    sign = signs.get(change.change, f"{visible(change.old_key or '')} ->")
    return f"{sign} {shortened(change.key)} ({visible(change.path)})"
