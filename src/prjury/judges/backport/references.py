"""What a change refers to, and what was found out about it while looking at branches."""

from __future__ import annotations

import posixpath
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Lock
from typing import TypeAlias

from prjury.code.import_targets import ImportTarget, TreePaths, import_targets
from prjury.code.languages import kin_of, language_of
from prjury.code.parser import Parser
from prjury.code.references import (
    GO,
    ByKin,
    DefinitionFinder,
    code_files,
    find_referred,
    of_standard_library,
    references,
    words_of,
)
from prjury.code.source import MAX_BYTES, Source, UnreadableError, decode
from prjury.code.stripped import strip_lines
from prjury.deadline import Deadline
from prjury.jury.judgment import Location
from prjury.manifests.go import read_go_mod
from prjury.manifests.manifest import ManifestError
from prjury.ports import Repository
from prjury.snapshot.kinds import REGULAR_MODES
from prjury.snapshot.model import PullRequest

#: Seconds for all files of a branch together.
_SECONDS = 3.0


@dataclass(frozen=True)
class BareCode:
    """Files by blob, read as they are asked for: lines with blanks for comments and texts."""

    repository: Repository
    lines: dict[str, Sequence[str]] = field(default_factory=dict)
    unread: set[str] = field(default_factory=set)
    parser: Parser = field(default_factory=Parser)

    def read(self, files: Iterable[tuple[str, str]]) -> None:
        """Reads files, each a path and a blob."""
        seen = self.lines.keys() | self.unread
        wanted = {blob: path for path, blob in files if blob not in seen}
        if not wanted:
            return
        sources = self._sources(wanted)
        self.lines.update(strip_lines(sources, self.parser, Deadline.after(_SECONDS)))
        self.unread.update(wanted.keys() - self.lines.keys())

    def _sources(self, wanted: Mapping[str, str]) -> dict[str, Source]:
        found: dict[str, Source] = {}
        for blob, content in self.repository.read(list(wanted)).items():
            language = language_of(wanted[blob])
            if content is not None and language:
                with suppress(UnreadableError):
                    found[blob] = Source.of(decode(content), language)
        return found

    def holds(self, blob: str, at: Location) -> bool:
        """Return true if there is any code on the line."""
        return bool(self._line(blob, at).strip())

    def refers(self, blob: str, at: Location, word: str) -> bool:
        """Return true if the line refers to the word."""
        line = self._line(blob, at)
        return word in find_referred(line) and not of_standard_library(kin_of(at.path), line, word)

    def defines(self, blob: str, at: Location, word: str) -> bool:
        """Return true if the line may define the word."""
        found = DefinitionFinder(kin_of(at.path) or "", [word]).within(
            self._line(blob, at).encode()
        )
        return any(found)

    def _line(self, blob: str, at: Location) -> str:
        lines = self.lines.get(blob, ())
        return lines[at.line - 1] if at.line and at.line <= len(lines) else ""


#: So many files are held in memory at a time.
_AT_ONCE = 250

#: Blobs by path.
Files: TypeAlias = Mapping[str, str]


@dataclass(frozen=True)
class FoundNames:
    """Names that were looked for in a file, and those that it may define, with their lines."""

    words: frozenset[str] = frozenset()
    places: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class ChangeReferences:
    """What the change refers to; the same for every branch.

    Attributes:
        words: names that it neither binds nor brings.
        modules: imports of files that the merge base has.
        files: the code on the merge base.
        defined: what was looked for in blobs of the merge base.
        held: which of the words stand in blobs of branches, as far as they were read.
        bare: files without comments and texts.
        learning: held by who adds to these; several branches are looked at at a time.
    """

    pull: PullRequest
    words: ByKin
    modules: tuple[tuple[ImportTarget, str], ...]
    files: Files
    bare: BareCode
    defined: dict[str, FoundNames] = field(default_factory=dict, repr=False)
    held: dict[str, frozenset[str]] = field(default_factory=dict, repr=False)
    learning: Lock = field(default_factory=Lock, repr=False, compare=False)


def needs_of(pull: PullRequest, repository: Repository) -> ChangeReferences:
    """Collect what the change refers to."""
    if not any(True for _ in code_files(pull)):
        return ChangeReferences(pull, {}, (), {}, BareCode(repository))
    files = code_of(repository, pull.merge_base)
    tree = TreePaths.of(tuple(files))
    own = _go_modules(pull, repository) if GO in map(kin_of, files) else {}
    known = ((each, tree.standing_for(each)) for each in import_targets(pull, own))
    modules = tuple((each, path) for each, path in known if path)
    return ChangeReferences(pull, references(pull), modules, files, BareCode(repository))


def _go_modules(pull: PullRequest, repository: Repository) -> dict[str, str]:
    entries = repository.files(pull.merge_base)
    blobs = {each.path: each.blob for each in entries if f"/{each.path}".endswith("/go.mod")}
    read = contents(list(blobs.values()), repository)
    names: dict[str, str] = {}
    for path, blob in blobs.items():
        with suppress(ManifestError):
            names[read_go_mod(read.get(blob, b"")).name] = posixpath.dirname(path)
    return {name: folder for name, folder in names.items() if name}


def code_of(repository: Repository, commit: str) -> Files:
    """The code of a commit that is in a language whose names are known."""
    entries = (entry for entry in repository.files(commit) if entry.mode in REGULAR_MODES)
    return {entry.path: entry.blob for entry in entries if kin_of(entry.path)}


def look_up(
    needs: ChangeReferences,
    kin: str,
    words: frozenset[str],
    blobs: Sequence[str],
    repository: Repository,
) -> None:
    """Learns which of the words these blobs of the merge base define."""
    by_known: dict[frozenset[str], list[str]] = defaultdict(list)
    for blob in blobs:
        by_known[needs.defined.get(blob, FoundNames()).words].append(blob)
    for known, some in by_known.items():
        if not words - known:
            continue
        wanted, now = DefinitionFinder(kin, sorted(words - known)), words | known
        for start in range(0, len(some), _AT_ONCE):
            for blob, content in contents(some[start : start + _AT_ONCE], repository).items():
                before = needs.defined.get(blob, FoundNames()).places
                places = wanted.within(content) if len(content) <= MAX_BYTES else ()
                needs.defined[blob] = FoundNames(now, (*before, *places))


def held_in(
    needs: ChangeReferences, blobs: Sequence[str], repository: Repository
) -> Mapping[str, frozenset[str]]:
    """Which of the change's words stand in these blobs of a branch."""
    words = frozenset[str]().union(*needs.words.values())
    for blob, content in contents([b for b in blobs if b not in needs.held], repository).items():
        needs.held[blob] = words & words_of(content)
    return {blob: needs.held[blob] for blob in blobs if blob in needs.held}


def contents(blobs: Sequence[str], repository: Repository) -> Mapping[str, bytes]:
    """The blobs as far as they are here."""
    read = repository.read(list(dict.fromkeys(blobs))) if blobs else {}
    return {blob: content for blob, content in read.items() if content is not None}
