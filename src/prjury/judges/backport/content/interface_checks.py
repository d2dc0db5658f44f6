"""What a change does to what others depend on, as checks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import PurePosixPath

from prjury.code.publics.difference import ChangeKind, NameChange
from prjury.judges.backport.content.interface import Interface, Migration, Unlooked
from prjury.judges.backport.content.settings import SettingChange
from prjury.jury.judgment import Check, Location, Severity
from prjury.snapshot.model import FileStatus, printable, visible

#: So many names stand in a sentence, and so many signatures in the evidence.
_FEW, _LISTED = 3, 20
#: Characters of a name or signature that are shown.
_LONGEST_NAME, _LONGEST_SIGNATURE = 80, 300

_RELEASE = {
    "major": "a major release's business",
    "minor": "a minor release's business",
    "patch": "fits a patch release",
    "none": "fits any release",
}


def interface_checks(interface: Interface) -> tuple[Check, ...]:
    """The check on public names, and those on migrations and settings where there are any."""
    checks = [_names(interface)]
    if interface.migrations:
        checks.append(_migrations(interface.migrations))
    if interface.settings:
        checks.append(_settings(interface.settings))
    return tuple(checks)


def _names(interface: Interface) -> Check:
    told = [*_broken(interface.breaking), *_gained(interface)]
    left = _left(interface.unlooked)
    if not told:
        return Check(
            "api", passed=True, message="; ".join(filter(None, ["no public name changes", left]))
        )
    worst: Severity = "error" if interface.breaking else "warning"
    release = _RELEASE["major" if interface.breaking else "minor"]
    first = (interface.breaking or interface.names)[0]
    return Check(
        "api",
        passed=False,
        message="; ".join(filter(None, [f"{', '.join(told)}: {release}", left])),
        location=_location(first),
        severity=worst,
        evidence=_evidence(interface.names),
    )


def _broken(names: Sequence[NameChange]) -> Iterator[str]:
    gone = [each for each in names if each.kind is ChangeKind.REMOVED]
    changed = [each for each in names if each.kind is ChangeKind.CHANGED]
    if gone:
        yield f"removes {_few(gone, _removed)}"
    if changed:
        yield f"changes {_few(changed, _before)}"


def _gained(interface: Interface) -> Iterator[str]:
    added = interface.of(ChangeKind.ADDED)
    extended = [each for each in interface.of(ChangeKind.CHANGED) if each.compatible]
    if extended:
        yield f"extends {_few(extended, _before)}"
    if added:
        yield f"adds {_counted(len(added), 'public name')}"


def _few(names: Sequence[NameChange], word: Callable[[NameChange], str]) -> str:
    left = len(names) - _FEW
    more = f" and {left} more" if left > 0 else ""
    return ", ".join(map(word, names[:_FEW])) + more


def _removed(change: NameChange) -> str:
    return f"{_before(change)} ({visible(change.path)}:{change.symbol.line})"


def _before(change: NameChange) -> str:
    return f"`{_shortened((change.old or change.symbol).label, _LONGEST_NAME)}`"


def _shortened(text: str, longest: int) -> str:
    text = visible(text).replace("`", "'")
    return text if len(text) <= longest else f"{text[:longest]}…"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"


def _location(change: NameChange) -> Location:
    """Where the name is; a removed one has a file, of which the head may lack the line."""
    line = change.symbol.line if change.new else None
    return Location(printable(change.path), line)


def _evidence(names: Sequence[NameChange]) -> str:
    """The old and new signatures, those that break something first, as in a diff."""
    ordered = sorted(names, key=lambda each: each.compatible)
    lines = [line for each in ordered[:_LISTED] for line in _signatures(each)]
    left = len(names) - _LISTED
    return "\n".join([*lines, f"and {left} more"] if left > 0 else lines)


def _signatures(change: NameChange) -> Iterator[str]:
    if change.old:
        unless = ""
        if change.kind is ChangeKind.REMOVED and change.unless:
            unless = f" (unless `{visible(change.unless)}` has it)"
        yield f"- {_shortened(change.old.signature, _LONGEST_SIGNATURE)}{unless}"
    if change.new:
        yield f"+ {_shortened(change.new.signature, _LONGEST_SIGNATURE)}"


def _left(unlooked: Sequence[Unlooked]) -> str:
    """``not looked into: a.py (not UTF-8) and 2 more``."""
    if not unlooked:
        return ""
    kinds: dict[str, list[str]] = {}
    for each in unlooked:
        kinds.setdefault(each.reason, []).append(PurePosixPath(visible(each.path)).name)
    told = [
        f"{names[0]}{f' and {len(names) - 1} more' if len(names) > 1 else ''} ({visible(reason)})"
        for reason, names in kinds.items()
    ]
    left = len(told) - _FEW
    more = [f"{left} other reasons"] if left > 0 else []
    return f"not looked into: {', '.join([*told[:_FEW], *more])}"


def _migrations(migrations: Sequence[Migration]) -> Check:
    words = {FileStatus.ADDED: "adds", FileStatus.DELETED: "removes"}
    parts: dict[str, list[Migration]] = {}
    for each in migrations:
        parts.setdefault(words.get(each.status, "changes"), []).append(each)
    told = [
        f"{word} {_counted(len(found), 'migration')} ({', '.join(sorted({m.tool for m in found}))})"
        for word, found in parts.items()
    ]
    first = migrations[0]
    severity: Severity = "warning" if set(parts) == {"adds"} else "error"
    return Check(
        "migrations",
        passed=False,
        message=", ".join(told),
        location=Location(printable(first.path)),
        severity=severity,
        evidence="\n".join(visible(each.path) for each in migrations[:_LISTED]),
    )


def _settings(settings: Sequence[SettingChange]) -> Check:
    by_change: dict[str, list[SettingChange]] = {}
    for each in settings:
        by_change.setdefault(each.change, []).append(each)
    words = (("removed", "removes"), ("renamed", "renames"), ("added", "adds"))
    told = [_told(word, by_change[change]) for change, word in words if change in by_change]
    lost = [each for each in settings if each.change != "added"]
    severity: Severity = "error" if any(each.declared for each in lost) else "warning"
    return Check(
        "settings",
        passed=False,
        message=", ".join(told),
        location=Location(printable((lost or settings)[0].path)),
        severity=severity,
        evidence="\n".join(map(_line, [*lost, *by_change.get("added", ())][:_LISTED])),
    )


def _told(word: str, found: Sequence[SettingChange]) -> str:
    named = ", ".join(_key(each) for each in found[:_FEW])
    left = len(found) - _FEW
    return f"{word} {named}{f' and {left} more settings' if left > 0 else ''}"


def _key(each: SettingChange) -> str:
    new = f"`{_shortened(each.key, _LONGEST_NAME)}`"
    return f"`{_shortened(each.old_key, _LONGEST_NAME)}` to {new}" if each.old_key else new


def _line(each: SettingChange) -> str:
    sign = {"added": "+", "removed": "-"}.get(each.change, f"{visible(each.old_key or '')} ->")
    return f"{sign} {_shortened(each.key, _LONGEST_NAME)} ({visible(each.path)})"
