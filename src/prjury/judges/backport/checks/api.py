"""Which public names a change adds, changes and removes.

Removed names, and changes that break callers, need a major release; added names need a minor one.
Only signatures are compared, not what a function does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from prjury.code.languages import Language, language_of
from prjury.code.parser import NotParsed, Parser
from prjury.code.publics.difference import ChangeKind, NameChange, SourceText, changes
from prjury.code.publics.find import find_publics, is_offering
from prjury.code.publics.model import Publics
from prjury.code.source import Source, UnreadableError, decode
from prjury.deadline import Deadline
from prjury.judges.backport.checks.migrations import Migration, migrations_in
from prjury.judges.backport.checks.settings import SettingChange, is_settings, setting_changes
from prjury.judges.backport.checks.wording import MOST_LISTED, code_name, shortened
from prjury.judges.backport.places import (
    family_of,
    home_of,
    is_example,
    is_package,
    is_program,
    language_offered,
)
from prjury.jury.judgment import Check, Location
from prjury.ports import Repository
from prjury.report.wording import counted, listed
from prjury.snapshot.model import (
    BEYOND_LIMIT,
    MISSING,
    FileChange,
    FileStatus,
    PullRequest,
    printable,
    visible,
)

#: Why a file of a language without support is not checked.
NOT_KNOWN = "public names are not known in its language"
_MISSING = f"its content is {MISSING}"
_LONGEST_SIGNATURE = 300
_MOST_REASONS = 3

_UNKNOWN_TEXT = re.compile(
    r"\.(css|scss|less|html?|svg|ipynb|txt|po|pot|csv|sql|sh|bash|j2|tmpl|template|st|md|mdx|prompt"
    r"|py\.typed|pyi|map|ejs|hbs|ftl|vm)$"
)


@dataclass(frozen=True, slots=True)
class UncheckedFile:
    """A file that could not be checked, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Interface:
    """What a change does to public names (by path and line), migrations and settings."""

    names: tuple[NameChange, ...] = ()
    migrations: tuple[Migration, ...] = ()
    settings: tuple[SettingChange, ...] = ()
    unchecked: tuple[UncheckedFile, ...] = ()

    @property
    def breaking(self) -> tuple[NameChange, ...]:
        """Removed names and changes that break callers."""
        return tuple(each for each in self.names if not each.compatible)


@dataclass(frozen=True, slots=True)
class _Side:
    """One state of a file that may have public names."""

    file: FileChange
    path: str
    blob: str
    language: Language
    new: bool


def interface_of(
    pull: PullRequest, repository: Repository, parser: Parser, deadline: Deadline
) -> Interface:
    """Compare the old and new texts of the changed files."""
    within = [file for file in pull.files if not (file.unread or "").startswith(BEYOND_LIMIT)]
    sides = [side for file in within for side in _sides(file)]
    kept = [file for file in within if is_settings(file.path) and file.new_mode != "120000"]
    wanted = {side.blob for side in sides} | {
        blob for file in kept for blob in (_old_blob(file), file.new_blob) if blob
    }
    content = repository.read(sorted(wanted)) if wanted else {}
    texts, unchecked = _texts(sides, content, parser, deadline)
    settings: list[SettingChange] = []
    for file in kept:
        found, why = _settings(file, content)
        settings += found
        unchecked += [UncheckedFile(file.path, why)] if why else []
    names = changes([text for new, text in texts if not new], [text for new, text in texts if new])
    migrations = migrations_in(pull.files)
    unchecked += [*_list_unsupported(within), *_list_beyond_limits(pull.files)]
    return Interface(tuple(names), migrations, tuple(settings), tuple(unchecked))


def _list_beyond_limits(files: Sequence[FileChange]) -> Iterator[UncheckedFile]:
    """Yield the files beyond the limits of a pull request that may offer something."""
    for file in files:
        offers = is_settings(file.path) or language_offered(file.path)
        if file.unread and file.unread.startswith(BEYOND_LIMIT) and offers:
            yield UncheckedFile(file.path, file.unread)


def _old_blob(file: FileChange) -> str | None:
    return None if file.status is FileStatus.COPIED else file.old_blob


def _sides(file: FileChange) -> Iterator[_Side]:
    before = file.old_path or file.path
    states = ((before, _old_blob(file), file.old_mode), (file.path, file.new_blob, file.new_mode))
    for new, (path, blob, mode) in enumerate(states):
        regular = mode is None or mode.startswith("100")
        if blob and regular and (language := language_offered(path)):
            yield _Side(file, path, blob, language, bool(new))


def _texts(
    sides: Sequence[_Side],
    content: Mapping[str, bytes | None],
    parser: Parser,
    deadline: Deadline,
) -> tuple[list[tuple[bool, SourceText]], list[UncheckedFile]]:
    """Return the public names of files that are readable on both sides and declare other things."""
    refused: dict[str, str] = {}
    sources = _sources(sides, content, refused)
    states: dict[str, list[tuple[_Side, Publics]]] = {}
    replies = find_publics([source for _, source in sources], parser, deadline)
    for (side, _), reply in zip(sources, replies, strict=True):
        if isinstance(reply, NotParsed):
            refused[side.file.path] = str(reply)
        else:
            states.setdefault(side.file.path, []).append((side, reply))
    found = [
        (side, publics)
        for path, both in states.items()
        if path not in refused and not _declare_alike(both)
        for side, publics in both
    ]
    unchecked = [UncheckedFile(path, why) for path, why in refused.items()]
    for side, each in found:
        if each.broken is not None:
            when = "" if side.new else " as it was"
            unchecked.append(UncheckedFile(side.path, f"line {each.broken}{when} does not parse"))
    return [(side.new, _text(side, each)) for side, each in found], unchecked


def _sources(
    sides: Sequence[_Side], content: Mapping[str, bytes | None], refused: dict[str, str]
) -> list[tuple[_Side, Source]]:
    """Return the texts of files that are readable on both sides; the others are refused."""
    sources: list[tuple[_Side, Source]] = []
    for side in sides:
        data = content.get(side.blob)
        if data is None:
            refused[side.file.path] = _MISSING
            continue
        try:
            sources.append((side, Source.of(decode(data), side.language)))
        except UnreadableError as error:
            refused[side.file.path] = str(error)
    return [(side, source) for side, source in sources if side.file.path not in refused]


def _declare_alike(states: Sequence[tuple[_Side, Publics]]) -> bool:
    if len(states) == 1:
        return False
    (before, old), (after, new) = states
    return before.path == after.path and old.is_like(new)


def _text(side: _Side, reply: Publics) -> SourceText:
    home = home_of(side.path, side.language, reply.package)
    if side.language.name == "python" and not is_package(side.path):
        reply = reply.drop_imports()
    return SourceText(side.path, home, family_of(side.language), reply)


def _settings(
    file: FileChange, content: Mapping[str, bytes | None]
) -> tuple[list[SettingChange], str | None]:
    blobs = [blob for blob in (_old_blob(file), file.new_blob) if blob]
    if any(content.get(blob) is None for blob in blobs):
        return [], _MISSING
    old, new = (content.get(blob or "") for blob in (_old_blob(file), file.new_blob))
    return setting_changes(file.path, old, new)


def _list_unsupported(files: Sequence[FileChange]) -> Iterator[UncheckedFile]:
    for file in files:
        if is_program(file.path) and not is_example(file.path):
            language = language_of(file.path)
            if not is_offering(language) and not _UNKNOWN_TEXT.search(file.path):
                yield UncheckedFile(file.path, NOT_KNOWN)


def names_check(interface: Interface) -> Check:
    """Return the check ``api`` for what a change does to public names."""
    words = list(_words(interface))
    unchecked = _unchecked_words(interface.unchecked)
    if not words:
        message = "; ".join(filter(None, ["no public name changes", unchecked]))
        return Check("api", passed=True, message=message)
    breaks = bool(interface.breaking)
    release = f"needs a {'major' if breaks else 'minor'} release"
    first = (interface.breaking or interface.names)[0]
    return Check(
        "api",
        passed=False,
        message="; ".join(filter(None, [f"{', '.join(words)}: {release}", unchecked])),
        # The head may lack the line of a removed name.
        location=Location(printable(first.path), first.symbol.line if first.new else None),
        severity="error" if breaks else "warning",
        evidence=_evidence(interface.names),
    )


def _words(interface: Interface) -> Iterator[str]:
    gone = [each for each in interface.breaking if each.kind is ChangeKind.REMOVED]
    changed = [each for each in interface.names if each.kind is ChangeKind.CHANGED]
    for verb, labels in (
        ("removes", [f"{_label(one)} ({visible(one.path)}:{one.symbol.line})" for one in gone]),
        ("changes", [_label(each) for each in changed if not each.compatible]),
        ("extends", [_label(each) for each in changed if each.compatible]),
    ):
        if labels:
            yield f"{verb} {listed(labels)}"
    if added := sum(each.kind is ChangeKind.ADDED for each in interface.names):
        yield f"adds {counted(added, 'public name')}"


def _label(change: NameChange) -> str:
    return code_name((change.old or change.symbol).label)


def _evidence(names: Sequence[NameChange]) -> str:
    """Return the old and new signatures as in a diff, breaking ones first."""
    ordered = sorted(names, key=lambda each: each.compatible)
    lines = [line for each in ordered[:MOST_LISTED] for line in _signatures(each)]
    left = len(names) - MOST_LISTED
    return "\n".join([*lines, f"and {left} more"] if left > 0 else lines)


def _signatures(change: NameChange) -> Iterator[str]:
    if change.old:
        unless = ""
        if change.kind is ChangeKind.REMOVED and change.unless:
            unless = f" (unless `{visible(change.unless)}` has it)"
        yield f"- {shortened(change.old.signature, _LONGEST_SIGNATURE)}{unless}"
    if change.new:
        yield f"+ {shortened(change.new.signature, _LONGEST_SIGNATURE)}"


def _unchecked_words(files: Sequence[UncheckedFile]) -> str:
    """Return ``not checked: a.py and 2 more (not UTF-8)``, or an empty text."""
    reasons: dict[str, list[str]] = {}
    for each in files:
        reasons.setdefault(each.reason, []).append(PurePosixPath(visible(each.path)).name)
    parts = [f"{listed(names, 1)} ({visible(reason)})" for reason, names in reasons.items()]
    left = len(parts) - _MOST_REASONS
    more = [f"{left} other reasons"] if left > 0 else []
    return f"not checked: {', '.join([*parts[:_MOST_REASONS], *more])}" if parts else ""
