"""What a change refers to, and what was read of files while looking at branches."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from threading import RLock
from typing import TypeAlias

from prjury.code.languages import kin_of, language_of
from prjury.code.parser import Parser
from prjury.code.references import (
    ImportTarget,
    NamesByKin,
    TreePaths,
    code_files,
    find_referred_words,
    find_unbound_added_names,
    guess_def_lines,
    is_from_stdlib,
    list_import_targets,
    words_of,
)
from prjury.code.source import MAX_BYTES, Source, UnreadableError, decode_text, strip_to_code
from prjury.deadline import Deadline
from prjury.jury.judgment import Location
from prjury.manifests.go import read_go_mod_or_work
from prjury.manifests.manifest import ManifestError
from prjury.ports import Repository
from prjury.snapshot.kinds import REGULAR_MODES
from prjury.snapshot.model import PullRequest

#: Seconds to parse all files of a branch together.
_SECONDS = 3.0
#: So many files are held in memory at a time.
_AT_ONCE = 250

#: Blobs by path.
Files: TypeAlias = Mapping[str, str]


@dataclass(frozen=True)
class UsedNames:
    """What the change refers to: names that it does not bring, and imports of files of the base.

    ``stripped`` are lines by blob with blanks for comments and strings; None if unreadable.
    """

    pull: PullRequest
    repository: Repository
    words: NamesByKin = field(default_factory=dict)
    modules: tuple[tuple[ImportTarget, str], ...] = ()
    files: Files = field(default_factory=dict)
    stripped: dict[str, Sequence[str] | None] = field(default_factory=dict, repr=False)
    _defined: dict[tuple[str, frozenset[str]], tuple[tuple[str, int], ...]] = field(
        default_factory=dict, repr=False
    )
    _words: dict[str, frozenset[str]] = field(default_factory=dict, repr=False)
    # Several branches are looked at at a time.
    _lock: RLock = field(default_factory=RLock, repr=False, compare=False)

    @property
    def heads(self) -> Files:
        """The changed files at the head."""
        return {file.path: file.new_blob for file in self.pull.files if file.new_blob}

    def find_change_words(self, blobs: Iterable[str]) -> frozenset[str]:
        """Return which of the change's words stand in any of these blobs."""
        words = frozenset[str]().union(*self.words.values())
        distinct = list(dict.fromkeys(blobs))
        with self._lock:
            unread = [blob for blob in distinct if blob not in self._words]
            for blob, content in self._read(unread):
                self._words[blob] = words & words_of(content)
            return frozenset[str]().union(*(self._words.get(blob, ()) for blob in distinct))

    def guess_base_definitions(
        self, kin: str, words: frozenset[str], paths: Sequence[str]
    ) -> Iterator[tuple[str, Location]]:
        """Yield where these files of the merge base seem to define the words."""
        terms = sorted(words)
        with self._lock:
            unread = [blob for p in paths if ((blob := self.files[p]), words) not in self._defined]
            for blob, content in self._read(unread):
                places = guess_def_lines(kin, terms, content) if len(content) <= MAX_BYTES else ()
                self._defined[blob, words] = tuple(places)
        for path in paths:
            defined = self._defined.get((self.files[path], words), ())
            for word, line in sorted(defined, key=lambda place: place[1]):
                yield word, Location(path, line)

    def _read(self, blobs: Sequence[str]) -> Iterator[tuple[str, bytes]]:
        for start in range(0, len(blobs), _AT_ONCE):
            contents = self.repository.read(list(dict.fromkeys(blobs[start : start + _AT_ONCE])))
            for blob, content in contents.items():
                if content is not None:
                    yield blob, content

    def strip_and_remember_code(self, files: Files, places: Iterable[Location]) -> None:
        """Read the files of these places without comments and strings."""
        paths = {files[at.path]: at.path for at in places}
        with self._lock:
            unread = [blob for blob in paths if blob not in self.stripped]
            self.stripped.update(dict.fromkeys(unread))
            sources: dict[str, Source] = {}
            for blob, content in self._read(unread):
                language = language_of(paths[blob])
                if language:
                    with suppress(UnreadableError):
                        sources[blob] = Source.of(decode_text(content), language)
            if sources:
                self.stripped.update(strip_to_code(sources, Parser(), Deadline.after(_SECONDS)))

    def code_at(self, files: Files, at: Location) -> str:
        """Return the code of a line of a file that was stripped."""
        lines = self.stripped.get(files[at.path]) or ()
        return lines[at.line - 1] if at.line and at.line <= len(lines) else ""

    def refers(self, at: Location, word: str) -> bool:
        line = self.code_at(self.heads, at)
        return word in find_referred_words(line) and not is_from_stdlib(kin_of(at.path), line, word)

    def defines(self, at: Location, word: str) -> bool:
        line = self.code_at(self.files, at).encode()
        return any(guess_def_lines(kin_of(at.path) or "", [word], line))


def find_used_names_and_modules(pull: PullRequest, repository: Repository) -> UsedNames:
    if not any(True for _ in code_files(pull)):
        return UsedNames(pull, repository)
    files = code_of(repository, pull.merge_base)
    tree = TreePaths.of(tuple(files))
    own = _map_go_modules_to_folders(pull, repository) if "go" in map(kin_of, files) else {}
    targets = [(target, tree.find_file(target)) for target in list_import_targets(pull, own)]
    modules = tuple((target, path) for target, path in targets if path)
    return UsedNames(pull, repository, find_unbound_added_names(pull), modules, files)


def _map_go_modules_to_folders(pull: PullRequest, repository: Repository) -> dict[str, str]:
    entries = repository.files(pull.merge_base)
    blobs = {each.path: each.blob for each in entries if f"/{each.path}".endswith("/go.mod")}
    contents = repository.read(list(blobs.values())) if blobs else {}
    names: dict[str, str] = {}
    for path, blob in blobs.items():
        with suppress(ManifestError):
            names[read_go_mod_or_work(contents.get(blob) or b"").name] = posixpath.dirname(path)
    return {name: folder for name, folder in names.items() if name}


def code_of(repository: Repository, commit: str) -> Files:
    """Return the code of a commit that is in a language whose names are known."""
    entries = (entry for entry in repository.files(commit) if entry.mode in REGULAR_MODES)
    return {entry.path: entry.blob for entry in entries if kin_of(entry.path)}
