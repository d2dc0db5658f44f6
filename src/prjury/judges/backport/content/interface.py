"""Check 7: what a change does to what others depend on, and which release may bring it.

A public name that goes away, or that its users can no longer use as they do, is a major release's
business; a name, a setting or a migration that comes is a minor one's. Only signatures are looked
at: whether a function still does the same, nobody can tell from them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from prjury.code.languages import Language, language_of
from prjury.code.parser import NotParsed, Parser
from prjury.code.publics import Publics, is_offering, publics
from prjury.code.publics.difference import ChangeKind, NameChange, SourceText, changes
from prjury.code.publics.inside import Changed, changes_no_name
from prjury.code.source import Source, UnreadableError, decode
from prjury.deadline import Deadline
from prjury.judges.backport.content.migrations import migration_tool
from prjury.judges.backport.content.places import (
    family_of,
    home_of,
    is_aside,
    is_example,
    is_package,
    is_program,
    language_offered,
)
from prjury.judges.backport.content.settings import SettingChange, is_settings, setting_changes
from prjury.ports import Repository
from prjury.snapshot.model import BEYOND_LIMIT, FileChange, FileStatus, PullRequest

Level: TypeAlias = Literal["major", "minor", "patch", "none"]

#: Why a file is not looked into that is written in a language without support.
NOT_KNOWN = "public names are not known in its language"
#: States of a file that is changed.
_SIDES = 2

_UNKNOWN_TEXT = re.compile(
    r"\.(css|scss|less|html?|svg|ipynb|txt|po|pot|csv|sql|sh|bash|j2|tmpl|template|st|md|mdx|prompt"
    r"|py\.typed|pyi|map|ejs|hbs|ftl|vm)$"
)


@dataclass(frozen=True, slots=True)
class Migration:
    """A migration that is added, changed or removed."""

    path: str
    tool: str
    status: FileStatus


@dataclass(frozen=True, slots=True)
class Unlooked:
    """What could not be looked into, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Interface:
    """What a change does to what others depend on.

    Attributes:
        names: public names that come, change or go, by path and line.
        level: which release may bring the change; `unlooked` may hide that it is a greater one.
    """

    names: tuple[NameChange, ...] = ()
    migrations: tuple[Migration, ...] = ()
    settings: tuple[SettingChange, ...] = ()
    unlooked: tuple[Unlooked, ...] = ()
    level: Level = "none"

    def of(self, kind: ChangeKind) -> tuple[NameChange, ...]:
        """The names to which this happens."""
        return tuple(each for each in self.names if each.kind is kind)

    @property
    def breaking(self) -> tuple[NameChange, ...]:
        """Names that go, or that their users can no longer use as they do."""
        return tuple(each for each in self.names if not each.compatible)


@dataclass(frozen=True, slots=True)
class _Side:
    """One state of a file that may offer names."""

    file: FileChange
    path: str
    blob: str
    language: Language
    new: bool


def interface_of(
    pull: PullRequest, repository: Repository, parser: Parser, deadline: Deadline
) -> Interface:
    """What the change does, from the texts of the files in it, old and new.

    Raises:
        SourceError: when the repository cannot be read.
    """
    within = [file for file in pull.files if file.unread != BEYOND_LIMIT]
    sides = [side for file in within for side in _sides(file)]
    kept = [file for file in within if is_settings(file.path) and file.new_mode != "120000"]
    wanted = {side.blob for side in sides} | {
        blob for file in kept for blob in (_old_blob(file), file.new_blob) if blob
    }
    content = repository.read(sorted(wanted)) if wanted else {}
    texts, unlooked = _texts(sides, content, parser, deadline)
    settings: list[SettingChange] = []
    for file in kept:
        found, why = _settings(file, content)
        settings += found
        unlooked += [Unlooked(file.path, why)] if why else []
    names = changes([text for new, text in texts if not new], [text for new, text in texts if new])
    migrations = tuple(
        Migration(file.path, tool, file.status)
        for file in pull.files
        if (tool := migration_tool(file.path))
    )
    unlooked += _without_support(within)
    unlooked += _beyond(pull.files)
    level = _level(pull.files, names, migrations, settings)
    return Interface(tuple(names), migrations, tuple(settings), tuple(unlooked), level)


def _beyond(files: Sequence[FileChange]) -> Iterator[Unlooked]:
    """Yield the files beyond the limits of a pull request that may offer something."""
    for file in files:
        offers = is_settings(file.path) or language_offered(file.path)
        if file.unread == BEYOND_LIMIT and offers:
            yield Unlooked(file.path, BEYOND_LIMIT)


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
) -> tuple[list[tuple[bool, SourceText]], list[Unlooked]]:
    """What each readable file offers on both sides; one that is unreadable on one has neither."""
    refused: dict[str, str] = {}
    sources = _sources(sides, content, refused)
    replies = publics([source for _, source in sources], parser, deadline)
    texts: list[tuple[_Side, SourceText]] = []
    broken: list[Unlooked] = []
    for (side, _), reply in zip(sources, replies, strict=True):
        if isinstance(reply, NotParsed):
            refused[side.file.path] = str(reply)
            continue
        texts.append((side, _text(side, reply)))
        if reply.broken is not None:
            when = "" if side.new else " as it was"
            broken.append(Unlooked(side.path, f"line {reply.broken}{when} does not parse"))
    told = [Unlooked(path, why) for path, why in refused.items()]
    kept = [(side.new, text) for side, text in texts if side.file.path not in refused]
    return kept, [*told, *broken]


def _sources(
    sides: Sequence[_Side], content: Mapping[str, bytes | None], refused: dict[str, str]
) -> list[tuple[_Side, Source]]:
    """The texts in which names may change; those of files that cannot be read are refused."""
    decoded: dict[str, list[tuple[_Side, str]]] = {}
    for side in sides:
        try:
            decoded.setdefault(side.file.path, []).append((side, _decoded(content.get(side.blob))))
        except UnreadableError as error:
            refused[side.file.path] = str(error)
    sources: list[tuple[_Side, Source]] = []
    for path, states in decoded.items():
        if path in refused or _is_spared(states[0][0].file, states):
            continue
        try:
            sources += [(side, Source.of(text, side.language)) for side, text in states]
        except UnreadableError as error:
            refused[path] = str(error)
    return sources


def _decoded(content: bytes | None) -> str:
    if content is None:
        raise UnreadableError("its content is missing from this clone")
    return decode(content)


def _is_spared(file: FileChange, states: Sequence[tuple[_Side, str]]) -> bool:
    """Whether its changed lines tell that no name changes."""
    if len(states) != _SIDES or file.unread or not file.hunks or file.old_path:
        return False
    blocks = _blocks(file)
    old, new = (
        Changed(text.replace("\r\n", "\n").split("\n"), each)
        for (_, text), each in zip(states, blocks, strict=True)
    )
    family = family_of(states[0][0].language)
    return changes_no_name(family, old, new, package=is_package(file.path))


def _blocks(file: FileChange) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """The runs of removed lines and of added ones, by their numbers."""
    sides: tuple[list[tuple[int, int]], list[tuple[int, int]]] = ([], [])
    for hunk in file.hunks:
        for line in hunk.lines:
            number = line.old if line.sign == "-" else line.new
            if line.sign == " " or number is None:
                continue
            blocks = sides[line.sign == "+"]
            if blocks and blocks[-1][1] == number - 1:
                blocks[-1] = blocks[-1][0], number
            else:
                blocks.append((number, number))
    return sides


def _text(side: _Side, reply: Publics) -> SourceText:
    home = home_of(side.path, side.language, reply.package)
    if side.language.name == "python" and not is_package(side.path):
        reply = reply.without_imports()
    return SourceText(side.path, home, family_of(side.language), reply)


def _settings(
    file: FileChange, content: Mapping[str, bytes | None]
) -> tuple[list[SettingChange], str | None]:
    blobs = [blob for blob in (_old_blob(file), file.new_blob) if blob]
    if any(content.get(blob) is None for blob in blobs):
        return [], "its content is missing from this clone"
    old, new = (content.get(blob or "") for blob in (_old_blob(file), file.new_blob))
    return setting_changes(file.path, old, new)


def _without_support(files: Sequence[FileChange]) -> Iterator[Unlooked]:
    for file in files:
        if is_program(file.path) and not is_example(file.path):
            language = language_of(file.path)
            if not is_offering(language) and not _UNKNOWN_TEXT.search(file.path):
                yield Unlooked(file.path, NOT_KNOWN)


def _level(
    files: Sequence[FileChange],
    names: Sequence[NameChange],
    migrations: Sequence[Migration],
    settings: Sequence[SettingChange],
) -> Level:
    lost = any(each.declared and each.change != "added" for each in settings)
    if lost or any(not each.compatible for each in names):
        return "major"
    if names or settings or any(each.status is FileStatus.ADDED for each in migrations):
        return "minor"
    return "none" if all(is_aside(file.path) for file in files) else "patch"
