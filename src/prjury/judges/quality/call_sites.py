"""Lines that a change leaves as they are: uses of what it alters, definitions of what it calls."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property

from prjury.code.languages import kin_of
from prjury.code.references import LONGEST_LINE, WORD, DefinitionFinder
from prjury.errors import PrJuryError
from prjury.judges.context import CallSite
from prjury.ports import SearchableRepository
from prjury.snapshot.kinds import kind_of
from prjury.snapshot.model import FileChange, FileKind, PullRequest, printable

#: Changed files, and altered names, that are looked at.
_MOST_FILES, _MOST_NAMES = 100, 60
#: Lines of one name that are listed, and of one whose body alone changes; of a name that stands on
#: more lines in all none is.
_MOST_LINES, _MOST_INSIDE, _COMMON = 10, 5, 60
#: Definitions of one name that are listed; of a name with more it is not known which is meant.
_MOST_DEFINITIONS = 3
#: Files in which altered names stand, and which are read.
_MOST_READ = 300
_GONE, _CHANGED, _INSIDE = range(3)

_DEFINES_BY_WORD = re.compile(
    r"\b(?:def|class|fn|func|fun|function|type|struct|enum|union|interface|trait|record|object"
    r"|module|namespace|typedef|annotation)\b|#\s*define\b|\b(?:self|this|exports|prototype)\."
)
_HOLDS_MEMBERS = re.compile(r"\b(?:class|struct|enum|interface|trait|record|object|impl|type)\b")
_CALL = re.compile(r"(?<![\w$])([A-Za-z_]\w{2,})\(")
_WRITTEN = re.compile(r"(?:^|/)(?:dist|build|out|target|third_party|node_modules)/")
_COMMENT = re.compile(r"\s*(?:#(?!define)|//|/?\*|--|;)")
_IMPORT = re.compile(r"(?:from|import|use|using|package)\b|#\s*include|.*\brequire\(")
#: A method or a member, where the heading of its type is not shown.
_MEMBER = re.compile(
    r"\s+(?:public|private|protected|static|final|pub|override|[\w<>\[\],?.]+ +\w+\()"
)
#: Constructors: whoever uses the type calls them.
_CONSTRUCTORS = frozenset({"__init__", "__new__", "constructor"})


@dataclass(frozen=True)
class _Side:
    """The lines of a hunk on one side, each with whether it changes."""

    kin: str
    rows: Sequence[tuple[str, bool]]

    @cached_property
    def _definitions(self) -> Mapping[int, str]:
        text = "\n".join(row[:LONGEST_LINE] for row, _ in self.rows)
        finder = DefinitionFinder(self.kin, sorted(set(re.findall(WORD, text))))
        names: dict[int, str] = {}
        for name, line in finder.within(text.encode()):
            if self._is_not_local(line - 1):
                names.setdefault(line - 1, name)
        return names

    def find_names(self) -> Iterator[tuple[str, bool]]:
        """Iterate over names with whether their very definition changes."""
        for at, (text, changes) in enumerate(self.rows):
            if not changes or not text.strip():
                continue
            owner = at if at in self._definitions else self._parent(at, self._definitions)
            if owner is None:
                continue
            name, definition = self._definitions[owner], owner == at
            if name in _CONSTRUCTORS:
                outer = self._parent(owner, self._definitions)
                name = self._definitions[outer] if outer is not None else name
            yield name, definition

    def _is_not_local(self, at: int) -> bool:
        """Tell a function, type, member or constant from a variable of a function."""
        text = self.rows[at][0]
        if not text[:1].isspace() or _DEFINES_BY_WORD.search(text):
            return True
        parent = self._parent(at)
        if parent is None:
            return _MEMBER.match(text) is not None
        return _HOLDS_MEMBERS.search(self.rows[parent][0]) is not None

    def _parent(self, at: int, among: Mapping[int, str] | None = None) -> int | None:
        """Return the nearest row above with less indentation; of those rows, if some are named."""
        indent = _measure_indent(self.rows[at][0])
        for above in range(at - 1, -1, -1):
            text = self.rows[above][0]
            if text.strip() and _measure_indent(text) < indent:
                if among is None or above in among:
                    return above
                indent = _measure_indent(text)
        return None


def _measure_indent(text: str) -> int:
    return len(text) - len(text.lstrip())


def find_altered_names(files: Sequence[FileChange]) -> dict[tuple[str, str], int]:
    """Return the names whose definition or body changes, by kin and name, and the gravest way."""
    names: dict[tuple[str, str], int] = {}
    brought = set()
    for file in files[:_MOST_FILES]:
        kin = kin_of(printable(file.path))
        if not kin or file.kind is not FileKind.SOURCE:
            continue
        for hunk in file.hunks:
            for sign in "-+":
                rows = [(x.text, x.sign == sign) for x in hunk.lines if x.sign in {" ", sign}]
                for name, definition in _Side(kin, rows).find_names():
                    way = (_GONE if sign == "-" else _CHANGED) if definition else _INSIDE
                    names[kin, name] = min(way, names.get((kin, name), way))
                    if definition and sign == "+":
                        brought.add((kin, name))
    return {key: _CHANGED if way == _GONE and key in brought else way for key, way in names.items()}


def _find_called_names(files: Sequence[FileChange]) -> Iterator[tuple[str, str]]:
    """Iterate over kin and name of what added lines call."""
    for file in files[:_MOST_FILES]:
        kin = kin_of(printable(file.path)) or ""
        for line in file.added_lines if kin and file.kind is FileKind.SOURCE else ():
            for name in _CALL.findall(line.text[:LONGEST_LINE]):
                yield kin, name


def find_call_sites(
    pull: PullRequest, files: Sequence[FileChange], repository: SearchableRepository
) -> tuple[CallSite, ...]:
    """Return unchanged lines that use what the change alters, and that define what it calls.

    Those of removed names come first. Of an altered name other definitions are listed as well.
    """
    names = find_altered_names(files)
    ranked = sorted(names, key=lambda key: (names[key], key))[:_MOST_NAMES]
    called = [key for key in dict.fromkeys(_find_called_names(files)) if key not in names]
    called = called[:_MOST_NAMES]
    tree = pull.merge.tree or pull.head.sha
    try:
        places = repository.with_words(tree, sorted({name for _, name in ranked})).places
        with suppress(PrJuryError):  # what everybody calls may take too long to find
            more = repository.with_words(tree, sorted({name for _, name in called})).places
            places = {**more, **places}
        blobs = {entry.path: entry.blob for entry in repository.files(tree)}
        spots_of = {
            key: sorted({spot for spot in places.get(key[1], ()) if kin_of(spot[0]) == key[0]})
            for key in (*ranked, *called)
        }
        rare = {key: spots for key, spots in spots_of.items() if len(spots) <= _COMMON}
        used = (blobs[path] for spots in rare.values() for path, _ in spots if path in blobs)
        contents = repository.read(list(dict.fromkeys(used))[:_MOST_READ])
    except PrJuryError:
        return ()
    shown: dict[str, set[str]] = defaultdict(set)
    for file in pull.files:
        shown[file.path].update(line.text for hunk in file.hunks for line in hunk.lines)
    sites, definitions = list[CallSite](), list[CallSite]()
    for (kin, name), spots in rare.items():
        uses, others = list[CallSite](), list[CallSite]()
        for path, line in spots:
            text = _line_at(contents.get(blobs.get(path, "")), line)
            if not text or text in shown.get(path, ()):
                continue
            site = CallSite(name, printable(path), line, text.strip())
            if not any(DefinitionFinder(kin, [name]).within(text.encode())):
                uses.append(site)
            elif not _is_aside(path):
                others.append(replace(site, verb="defines"))
        way = names.get((kin, name))
        if way is not None:
            sites += _choose_sites(uses, shown, _MOST_INSIDE if way == _INSIDE else _MOST_LINES)
        if way != _INSIDE and len(others) <= _MOST_DEFINITIONS:
            definitions += others
    return (*sites, *definitions)


def _choose_sites(
    sites: Sequence[CallSite], changed: Mapping[str, object], most: int
) -> list[CallSite]:
    """Return the first lines: those of other files, of changed ones, and then of tests."""
    users = {site.path for site in sites if not _IMPORT.match(site.text)}
    useful = [site for site in sites if not _IMPORT.match(site.text) or site.path not in users]
    useful.sort(key=lambda site: (_is_aside(site.path), site.path in changed))
    return useful[:most]


def _is_aside(path: str) -> bool:
    """Tell tests, and what tools have written, from source."""
    return kind_of(path) is not FileKind.SOURCE or _WRITTEN.search(path) is not None


def _line_at(content: bytes | None, line: int) -> str:
    """Return the text of a line; empty for a comment, or where it is not known."""
    rows = (content or b"").split(b"\n")
    text = rows[line - 1].decode("utf-8", "replace").rstrip("\r") if line <= len(rows) else ""
    return "" if _COMMENT.match(text) or len(text) > LONGEST_LINE else text
