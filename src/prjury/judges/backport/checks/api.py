"""Public names that a change adds, changes and removes.

Removed names, and changes that break callers, need a major release; added names need a minor one.
Only signatures are compared, not what a function does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import PurePosixPath

from msgspec import Struct

from prjury.code.languages import Language, language_of
from prjury.code.names import has_names
from prjury.code.parser import NotParsed, Parser
from prjury.code.publics.difference import ChangeKind, NameChange, SourceText, changes, find_publics
from prjury.code.publics.model import Publics
from prjury.code.source import Source, UnreadableError, decode_text
from prjury.deadline import Deadline
from prjury.judges.backport.checks.migrations import Migration, migration_tool, migrations_in
from prjury.jury.judgment import Check, Location
from prjury.ports import Repository
from prjury.report.wording import join_words, pluralize
from prjury.snapshot.kinds import kind_of
from prjury.snapshot.model import (
    BEYOND_LIMIT,
    MISSING,
    FileChange,
    FileKind,
    FileStatus,
    PullRequest,
    printable,
    visible,
)

_MISSING = f"its content is {MISSING}"
#: Characters of a name and of a signature; signatures, and reasons why files are not checked.
_LONGEST_NAME, _LONGEST_SIGNATURE = 80, 300
_MOST_LISTED, _MOST_REASONS = 20, 3
#: Languages that share names, because one may be rewritten in the other.
_FAMILIES = {"javascript": "typescript", "tsx": "typescript"}
_ASIDE = re.compile(
    r"(^|/)(examples?|samples?|demos?|benchmarks?|asv_bench|fixtures|testdata|__mocks__|buildSrc"
    r"|mocks?|test-?(utils?|support|fixtures|kit)|[\w-]*[-_]tests?|[\w-]*[-_]examples?|tests?[-_][\w-]+)/"
    r"|^(scripts?|tools?|ci|docs?|doc|hacking|utils?|build|build[-_]tools|buildutils|\.[^/]+)/"
    r"|(^|/)(static|assets|public|vendors?|third[-_]party|bower_components|dist)/.*\.[cm]?[jt]sx?$"
    r"|(^|/)(bootstrap|jquery|popper|htmx|d3|chart)[-.\w]*\.[cm]?js$"
    r"|\.(stories|bench|config)\.[cm]?[jt]sx?$|\.config/|(^|/)(webpack|rollup|babel|jest|gulp)[^/]*\.[cm]?js$"
    r"|(^|/)meson(\.build|_options\.txt|\.options)$|(^|/)\.[^/]+$|(^|/)(package-info|module-info)\.java$|(^|/)build\.rs$|/src/main\.rs$|/src/bin/"
    r"|(^|/)(setup|noxfile|tasks|fabfile|manage|dodo|conf|versioneer|__main__)\.py$"
    r"|\.kts$|\.pyi$"
)
_INTERNAL = {
    "java": re.compile(r"/internal/"),
    "kotlin": re.compile(r"/internal/"),
    "go": re.compile(r"(^|/)internal/"),
    "python": re.compile(r"(^|/)_(?!_init__\.py$)"),
}
_SOURCE_ROOT = re.compile(r"^(?:.*/)?(?:src|lib)/")
_SCRIPT_ROOT = re.compile(r"^(.*?/|)(?:src|lib)/")


class UncheckedFile(Struct, frozen=True):
    """A file that could not be checked, and why."""

    path: str
    reason: str


class Interface(Struct, frozen=True):
    """What a change does to public names (by path and line), and its migrations."""

    names: tuple[NameChange, ...] = ()
    migrations: tuple[Migration, ...] = ()
    unchecked: tuple[UncheckedFile, ...] = ()

    @property
    def breaking(self) -> tuple[NameChange, ...]:
        """Removed names and changes that break callers."""
        return tuple(each for each in self.names if not each.compatible)


class _Side(Struct, frozen=True):
    """One state of a file that may have public names."""

    file: FileChange
    path: str
    blob: str
    language: Language
    new: bool


def compare_public_names(
    pull: PullRequest, repository: Repository, parser: Parser, deadline: Deadline
) -> Interface:
    """Compare the public names of the changed files before and after."""
    files = [file for file in pull.files if not (file.unread or "").startswith(BEYOND_LIMIT)]
    sides = [side for file in files for side in _list_api_sides(file)]
    blobs = sorted({side.blob for side in sides})
    contents = repository.read(blobs) if blobs else {}
    refused: dict[str, str] = {}
    sources = _read_sources_or_refuse_files(sides, contents, refused)
    replies = find_publics([source for _, source in sources], parser, deadline)
    states: dict[str, list[tuple[_Side, Publics]]] = {}
    for (side, _), reply in zip(sources, replies, strict=True):
        if isinstance(reply, NotParsed):
            refused[side.file.path] = str(reply)
        else:
            states.setdefault(side.file.path, []).append((side, reply))
    differing = [
        (side, publics)
        for path, both in states.items()
        if path not in refused and not _declare_alike(both)
        for side, publics in both
    ]
    old, new = (
        [_text_of(side, publics) for side, publics in differing if side.new is when]
        for when in (False, True)
    )
    unchecked = [UncheckedFile(path, reason) for path, reason in refused.items()]
    for side, publics in differing:
        if publics.broken is not None:
            line = f"line {publics.broken}{'' if side.new else ' as it was'} does not parse"
            unchecked.append(UncheckedFile(side.path, line))
    unchecked += (
        UncheckedFile(file.path, file.unread or "")
        for file in pull.files
        if file not in files and find_api_language(file.path)
    )
    return Interface(tuple(changes(old, new)), migrations_in(pull.files), tuple(unchecked))


@lru_cache(maxsize=100_000)  # of one path before and after a change, and on each branch
def find_api_language(path: str) -> Language | None:
    language = language_of(path)
    if not language or not has_names(language.parser) or kind_of(path) is not FileKind.SOURCE:
        return None
    internal = _INTERNAL.get(language.name)
    if _ASIDE.search(path) or migration_tool(path) or (internal and internal.search(path)):
        return None
    return language


def find_qualifier(path: str, language: Language, package: str | None) -> str:
    """Return the package, module or directory that qualifies a file's names; JavaScript's root."""
    if package is not None:
        return package
    place = PurePosixPath(path)
    if language.name == "python":
        module = _SOURCE_ROOT.sub("", path).removesuffix(".py").removesuffix("/__init__")
        return module.replace("/", ".")
    if language.name == "rust":
        stem = "" if place.stem in {"mod", "lib"} else f"/{place.stem}"
        return f"{place.parent}{stem}"
    if language.name == "go":
        return str(place.parent)
    root = _SCRIPT_ROOT.match(path)
    return root[1] if root else str(place.parent)


def _list_api_sides(file: FileChange) -> Iterator[_Side]:
    before = None if file.status is FileStatus.COPIED else file.old_blob
    old_path = file.old_path or file.path
    states = ((old_path, before, file.old_mode), (file.path, file.new_blob, file.new_mode))
    for new, (path, blob, mode) in enumerate(states):
        regular = mode is None or mode.startswith("100")
        if blob and regular and (language := find_api_language(path)):
            yield _Side(file, path, blob, language, bool(new))


def _read_sources_or_refuse_files(
    sides: Sequence[_Side], contents: Mapping[str, bytes | None], refused: dict[str, str]
) -> list[tuple[_Side, Source]]:
    sources: list[tuple[_Side, Source]] = []
    for side in sides:
        content = contents.get(side.blob)
        if content is None:
            refused[side.file.path] = _MISSING
            continue
        try:
            sources.append((side, Source.of(decode_text(content), side.language)))
        except UnreadableError as error:
            refused[side.file.path] = str(error)
    return [(side, source) for side, source in sources if side.file.path not in refused]


def _declare_alike(states: Sequence[tuple[_Side, Publics]]) -> bool:
    if len(states) == 1:
        return False
    (before, old), (after, new) = states
    return before.path == after.path and old.is_like(new)


def _text_of(side: _Side, publics: Publics) -> SourceText:
    name = side.language.name
    home = find_qualifier(side.path, side.language, publics.package)
    # Of Python's modules, packages alone offer what they import.
    if name == "python" and PurePosixPath(side.path).name != "__init__.py":
        publics = publics.drop_imports()
    return SourceText(side.path, home, _FAMILIES.get(name, name), publics)


def check_public_names(interface: Interface) -> Check:
    words = ", ".join(_list_message_parts(interface))
    unchecked = _list_unchecked(interface.unchecked)
    if not words:
        message = "; ".join(filter(None, ["no known public name changes", unchecked]))
        return Check("api", passed=True, message=message)
    breaks = bool(interface.breaking)
    release = f"needs a {'major' if breaks else 'minor'} release"
    first = (interface.breaking or interface.names)[0]
    return Check(
        "api",
        passed=False,
        message="; ".join(filter(None, [f"{words}: {release}", unchecked])),
        # The head may lack the line of a removed name.
        location=Location(printable(first.path), first.symbol.line if first.new else None),
        severity="error" if breaks else "warning",
        evidence=_format_signature_changes(interface.names),
    )


def _list_message_parts(interface: Interface) -> Iterator[str]:
    gone = [each for each in interface.breaking if each.kind is ChangeKind.REMOVED]
    changed = [each for each in interface.names if each.kind is ChangeKind.CHANGED]
    for verb, labels in (
        ("removes", [f"{_label(one)} ({visible(one.path)}:{one.symbol.line})" for one in gone]),
        ("changes", [_label(each) for each in changed if not each.compatible]),
        ("extends", [_label(each) for each in changed if each.compatible]),
    ):
        if labels:
            yield f"{verb} {join_words(labels)}"
    if added := sum(each.kind is ChangeKind.ADDED for each in interface.names):
        yield f"adds {pluralize(added, 'public name')}"


def _label(change: NameChange) -> str:
    return f"`{_shorten((change.old or change.symbol).label, _LONGEST_NAME)}`"


def _shorten(text: str, longest: int) -> str:
    """Return the text for a line of Markdown, without backticks and cut to a length."""
    text = visible(text).replace("`", "'")
    return text if len(text) <= longest else f"{text[:longest]}…"


def _format_signature_changes(names: Sequence[NameChange]) -> str:
    lines: list[str] = []
    for change in sorted(names, key=lambda each: each.compatible)[:_MOST_LISTED]:
        if change.old:
            lines.append(f"- {_shorten(change.old.signature, _LONGEST_SIGNATURE)}")
        if change.new:
            lines.append(f"+ {_shorten(change.new.signature, _LONGEST_SIGNATURE)}")
    more = len(names) - _MOST_LISTED
    return "\n".join([*lines, f"and {more} more"] if more > 0 else lines)


def _list_unchecked(files: Sequence[UncheckedFile]) -> str:
    """Return ``not checked: a.py (not UTF-8) and 2 more``, or an empty text."""
    parts = [f"{PurePosixPath(one.path).name} ({one.reason})" for one in files]
    return f"not checked: {visible(join_words(parts, _MOST_REASONS))}" if parts else ""
