"""What a change leaves as it is: code around its hunks, uses of what it alters, and definitions."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import cached_property

from msgspec import structs

from prjury.code.hunk_context import has_definitions, list_definitions, widen_to_functions
from prjury.code.languages import Language, kin_of, language_of
from prjury.code.parser import Parser
from prjury.code.references import LONGEST_LINE, WORD, guess_def_lines
from prjury.code.source import Source, UnreadableError, decode_text
from prjury.deadline import Deadline
from prjury.errors import PrJuryError, SourceError
from prjury.judges.context import CallSite, PullRequestContext
from prjury.ports import Repository, SearchableRepository
from prjury.snapshot.kinds import kind_of
from prjury.snapshot.model import FileChange, FileKind, FileStatus, PullRequest, printable

#: What is looked at: so many files, and bytes of them together.
_FILES = 200
_BYTES = 8 * 1024 * 1024
#: Seconds for one text, and for all.
_SECONDS = 2.0
_ALL_SECONDS = 10.0

_KINDS = frozenset({FileKind.SOURCE, FileKind.TEST})
#: A new file is all there already, and of one that is gone nothing is left to show.
_STATUSES = frozenset({FileStatus.MODIFIED, FileStatus.RENAMED, FileStatus.COPIED})


def widen_hunks(
    files: Sequence[FileChange], repository: Repository, parser: Parser, deadline: Deadline
) -> tuple[FileChange, ...]:
    """Return the files in the same order, those of code with wider hunks where that can be had."""
    until = deadline.within(_ALL_SECONDS)
    texts = list(_read_texts_small_first(files, repository, until))
    quick = structs.replace(parser, seconds=min(parser.seconds, _SECONDS))
    scopes_of = list_definitions([source for _, _, source in texts], quick, until)
    wider = {}
    for (file, text, _), scopes in zip(texts, scopes_of, strict=True):
        if until.remaining and scopes:
            hunks = widen_to_functions(file.hunks, text, scopes)
            wider[file.path] = structs.replace(file, hunks=hunks)
    return tuple(wider.get(file.path, file) for file in files)


def _read_texts_small_first(
    files: Sequence[FileChange], repository: Repository, deadline: Deadline
) -> Iterator[tuple[FileChange, str, Source]]:
    """Iterate over the texts that may get more context, small ones first, up to the limits."""
    languages = [(file, language) for file in files if (language := _find_language(file))][:_FILES]
    if not languages or not deadline.remaining:
        return
    try:
        contents = repository.read(sorted({file.new_blob or "" for file, _ in languages}))
    except SourceError:
        return
    sizes = {file.path: len(contents.get(file.new_blob or "") or b"") for file, _ in languages}
    total = 0
    for file, language in sorted(languages, key=lambda each: sizes[each[0].path]):
        total += sizes[file.path]
        if total > _BYTES:
            return
        with suppress(UnreadableError):
            text = decode_text(contents.get(file.new_blob or "") or b"")
            if text:
                yield file, text, Source.of(text, language)


def _find_language(file: FileChange) -> Language | None:
    is_eligible = file.kind in _KINDS and file.status in _STATUSES and file.hunks and file.new_blob
    language = language_of(printable(file.path)) if is_eligible else None
    return language if language and has_definitions(language) else None


def widen_hunks_once(
    context: PullRequestContext, repository: Repository, deadline: Deadline
) -> tuple[FileChange, ...]:
    """Return the changed files with their surroundings, made once for all judges."""
    files = context.pull.files
    return context.once.get(
        "surroundings", lambda: widen_hunks(files, repository, Parser(), deadline)
    )


#: Changed files, and altered names, that are looked at.
_MOST_FILES, _MOST_NAMES = 100, 60
#: Lines of one name that are listed, and of one whose body alone changes; of a name that stands on
#: more lines in all none is.
_MOST_LINES, _MOST_INSIDE, _COMMON = 10, 5, 60
#: Definitions of one name that are listed; of a name with more it is not known which is meant.
_MOST_DEFINITIONS = 3
#: Files in which altered names stand, and which are read.
_MOST_READ = 300
Alteration = IntEnum("Alteration", "GONE CHANGED INSIDE", start=0)
_GONE, _CHANGED, _INSIDE = Alteration

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
        words = sorted(set(re.findall(WORD, text)))
        names: dict[int, str] = {}
        for name, line in guess_def_lines(self.kin, words, text.encode()):
            if self._is_not_local(line - 1):
                names.setdefault(line - 1, name)
        return names

    def find_changed_names_and_is_definition(self) -> Iterator[tuple[str, bool]]:
        """Iterate over names with whether their very definition changes."""
        for at, (text, changes) in enumerate(self.rows):
            if not changes or not text.strip():
                continue
            owner = at if at in self._definitions else self._find_parent_row(at, self._definitions)
            if owner is None:
                continue
            name, definition = self._definitions[owner], owner == at
            if name in _CONSTRUCTORS:
                outer = self._find_parent_row(owner, self._definitions)
                name = self._definitions[outer] if outer is not None else name
            yield name, definition

    def _is_not_local(self, row: int) -> bool:
        """Tell a function, type, member or constant from a variable of a function."""
        text = self.rows[row][0]
        if not text[:1].isspace() or _DEFINES_BY_WORD.search(text):
            return True
        parent = self._find_parent_row(row)
        if parent is None:
            return _MEMBER.match(text) is not None
        return _HOLDS_MEMBERS.search(self.rows[parent][0]) is not None

    def _find_parent_row(self, row: int, among: Mapping[int, str] | None = None) -> int | None:
        """Return the nearest row above with less indentation; of those rows, if some are named."""
        indent = len(self.rows[row][0]) + 1
        for above in range(row, -1, -1):
            text = self.rows[above][0]
            if text.strip() and (depth := len(text) - len(text.lstrip())) < indent:
                if above < row and (among is None or above in among):
                    return above
                indent = depth
        return None


def find_altered_names(files: Sequence[FileChange]) -> dict[tuple[str, str], Alteration]:
    """Return the names whose definition or body changes, by kin and name, and the gravest way."""
    names: dict[tuple[str, str], Alteration] = {}
    brought = set()
    for file in files[:_MOST_FILES]:
        kin = kin_of(printable(file.path))
        if not kin or file.kind is not FileKind.SOURCE:
            continue
        for hunk in file.hunks:
            for sign in "-+":
                rows = [(x.text, x.sign == sign) for x in hunk.lines if x.sign in {" ", sign}]
                for name, definition in _Side(kin, rows).find_changed_names_and_is_definition():
                    way = (_GONE if sign == "-" else _CHANGED) if definition else _INSIDE
                    names[kin, name] = min(way, names.get((kin, name), way))
                    if definition and sign == "+":
                        brought.add((kin, name))
    return {key: _CHANGED if way == _GONE and key in brought else way for key, way in names.items()}


def _find_called_names(files: Sequence[FileChange]) -> Iterator[tuple[str, str]]:
    for file in files[:_MOST_FILES]:
        kin = kin_of(printable(file.path)) or ""
        for line in file.added_lines if kin and file.kind is FileKind.SOURCE else ():
            for name in _CALL.findall(line.text[:LONGEST_LINE]):
                yield kin, name


def find_call_sites_and_definitions(
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
            if not any(guess_def_lines(kin, [name], text.encode())):
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
    return kind_of(path) is not FileKind.SOURCE or _WRITTEN.search(path) is not None


def _line_at(content: bytes | None, line: int) -> str:
    rows = (content or b"").split(b"\n")
    text = rows[line - 1].decode("utf-8", "replace").rstrip("\r") if line <= len(rows) else ""
    return "" if _COMMENT.match(text) or len(text) > LONGEST_LINE else text
