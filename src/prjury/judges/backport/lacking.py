"""What the added lines use and the branch lacks: names that others define, and own modules.

A name is claimed only if the merge base defines it in a file of the same languages, the change
neither binds nor brings it, and it stands nowhere on the branch: not as code, not as prose.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Protocol, TypeAlias

from prjury.errors import SourceError
from prjury.exchange import WordPlaces
from prjury.judges.backport.names.bare import BareCode
from prjury.judges.backport.names.forms import definitions
from prjury.judges.backport.names.modules import Import, Tree, imports
from prjury.judges.backport.names.words import (
    ByFamily,
    code_files,
    family_of,
    references,
    uses,
    words_of,
)
from prjury.jury.judgment import Check, Location
from prjury.ports import Repository
from prjury.pull.kinds import REGULAR_MODES, kind_of
from prjury.pull.model import FileKind, PullRequest, visible

#: So many files are held in memory at a time.
_AT_ONCE = 250
#: What is told of; the rest is counted.
_SHOWN = 5

#: Blobs by path.
Files: TypeAlias = Mapping[str, str]


class Searching(Protocol):
    """Looks words up in a whole tree."""

    def with_words(self, tree: str, words: Sequence[str]) -> WordPlaces:
        """Every place of each word.

        Raises:
            SourceError: when it takes too long, or cannot be done.
        """
        ...


@dataclass(frozen=True)
class Lacking:
    """Something that the change uses and a branch lacks.

    Attributes:
        name: a name, or a module as the import spells it.
        used: where, at the head; the first places.
        defined: where it is on the merge base; without a line for a module.
    """

    name: str
    used: tuple[Location, ...]
    defined: Location

    def __str__(self) -> str:
        return f"{self.name} ({self.used[0]}; on the base in {self.defined})"


@dataclass(frozen=True)
class Lacked:
    """What a branch lacks of what the change uses.

    Attributes:
        unseen: what was not looked into and why; empty where everything was.
    """

    found: tuple[Lacking, ...] = ()
    unseen: str = ""


@dataclass(frozen=True)
class _Looked:
    """Names that were looked for in a file, and the lines of those that it may define."""

    words: frozenset[str] = frozenset()
    lines: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Needs:
    """What the change refers to; the same for every branch.

    Attributes:
        words: names that it neither binds nor brings.
        modules: imports of files that the merge base has.
        files: the code on the merge base.
        defined: what was looked for in blobs of the merge base.
    """

    pull: PullRequest
    words: ByFamily
    modules: tuple[tuple[Import, str], ...]
    files: Files
    defined: dict[str, _Looked] = field(default_factory=dict, repr=False)
    #: Several branches are looked at at a time.
    learning: Lock = field(default_factory=Lock, repr=False, compare=False)


def needs_of(pull: PullRequest, repository: Repository) -> Needs:
    """What the change refers to."""
    if not any(True for _ in code_files(pull)):
        return Needs(pull, {}, (), {})
    files = _code(repository, pull.merge_base)
    tree = Tree.of(tuple(files))
    modules = ((each, tree.standing_for(each)) for each in imports(pull))
    return Needs(pull, references(pull), tuple((i, path) for i, path in modules if path), files)


def _code(repository: Repository, commit: str) -> Files:
    entries = (entry for entry in repository.files(commit) if entry.mode in REGULAR_MODES)
    return {entry.path: entry.blob for entry in entries if family_of(entry.path)}


def lacking_on(needs: Needs, tip: str, repository: Repository, searching: Searching) -> Lacked:
    """What the change refers to and the branch with this tip lacks."""
    if not needs.words and not needs.modules:
        return Lacked()
    files = _code(repository, tip)
    modules = _modules(needs, files)
    suspects = _suspects(needs, files, repository)
    if not suspects:
        return Lacked(modules)
    try:
        found = searching.with_words(tip, sorted(suspects))
    except SourceError as error:
        return Lacked(modules, f"names that it may lack: {error}")
    left = {word: places for word, places in suspects.items() if word not in found.places}
    missing = [path for path in found.missing if family_of(path)]
    if missing and left:
        return Lacked(modules, f"names that may be in {len(missing)} files that this clone lacks")
    return Lacked((*modules, *_in_code(needs, left, repository)))


def _modules(needs: Needs, files: Files) -> tuple[Lacking, ...]:
    """Imports that stand for a file of the merge base and for none of the branch."""
    if not needs.modules:
        return ()
    tree = Tree.of(tuple(files))
    found: dict[tuple[str, str], list[Location]] = defaultdict(list)
    for wanted, path in needs.modules:
        if path not in files and not tree.standing_for(wanted):
            found[wanted.name, path].append(wanted.at)
    return tuple(Lacking(name, tuple(at), Location(p)) for (name, p), at in found.items())


def _suspects(
    needs: Needs, files: Files, repository: Repository
) -> dict[str, tuple[Location, ...]]:
    """Names whose every known definition is in files that are others, and lack it, on the branch.

    The value is where the merge base defines the name.
    """
    words = _not_there(needs, files, repository)
    differing = [path for path, blob in needs.files.items() if files.get(path) != blob]
    found: dict[str, list[Location]] = defaultdict(list)
    for family, wanted in words.items():
        paths = [path for path in differing if family_of(path) == family]
        with needs.learning:
            _look_up(needs, family, wanted, [needs.files[path] for path in paths], repository)
        for path in paths:
            lines = needs.defined.get(needs.files[path], _Looked()).lines
            for word in wanted & lines.keys():
                found[word].append(Location(path, lines[word]))
    return _not_in(found, files, repository)


def _not_there(needs: Needs, files: Files, repository: Repository) -> ByFamily:
    """The words without those in the branch's own version of the files that the change touches."""
    paths = {path for file in needs.pull.files for path in (file.path, file.old_path) if path}
    blobs = [files[path] for path in paths if path in files]
    held = set[str]().union(*map(words_of, _contents(blobs, repository).values()))
    return {family: words - held for family, words in needs.words.items()}


def _look_up(
    needs: Needs, family: str, words: frozenset[str], blobs: Sequence[str], repository: Repository
) -> None:
    """Learns which of the words these blobs of the merge base define."""
    by_known: dict[frozenset[str], list[str]] = defaultdict(list)
    for blob in blobs:
        by_known[needs.defined.get(blob, _Looked()).words].append(blob)
    for known, some in by_known.items():
        if not words - known:
            continue
        wanted, now = definitions(family, sorted(words - known)), words | known
        for start in range(0, len(some), _AT_ONCE):
            for blob, content in _contents(some[start : start + _AT_ONCE], repository).items():
                before = needs.defined.get(blob, _Looked()).lines
                needs.defined[blob] = _Looked(now, {**before, **dict(wanted.within(content))})


def _contents(blobs: Sequence[str], repository: Repository) -> Mapping[str, bytes]:
    """The blobs as far as they are here."""
    read = repository.read(list(dict.fromkeys(blobs))) if blobs else {}
    return {blob: content for blob, content in read.items() if content is not None}


def _not_in(
    found: Mapping[str, Sequence[Location]], files: Files, repository: Repository
) -> dict[str, tuple[Location, ...]]:
    """The names that do not stand in the branch's version of any file that defines them."""
    blobs = {
        at.path: files[at.path] for places in found.values() for at in places if at.path in files
    }
    read = {
        blob: words_of(content)
        for blob, content in _contents(list(blobs.values()), repository).items()
    }
    return {
        word: tuple(places)
        for word, places in found.items()
        if not any(word in read.get(blobs.get(at.path, ""), ()) for at in places)
    }


def _in_code(
    needs: Needs, suspects: Mapping[str, Sequence[Location]], repository: Repository
) -> Iterator[Lacking]:
    """Those that are used and defined in code, rather than in a comment or a text."""
    if not suspects:
        return
    bare = BareCode(repository)
    heads = {file.path: file.new_blob for file in needs.pull.files if file.new_blob}
    places = uses(needs.pull, suspects)
    bare.read([(at.path, heads[at.path]) for some in places.values() for at in some])
    bare.read([(at.path, needs.files[at.path]) for some in suspects.values() for at in some])
    for word, defined in suspects.items():
        used = tuple(at for at in places[word] if bare.refers(heads[at.path], at, word))
        known = [at for at in defined if bare.defines(needs.files[at.path], at, word)]
        # Nothing but a test uses what a test defines.
        if not any(_is_test(at) for at in used):
            known = [at for at in known if not _is_test(at)]
        if used and known:
            yield Lacking(word, used, known[0])


def _is_test(at: Location) -> bool:
    return kind_of(at.path) is FileKind.TEST


def check_of(lacked: Lacked, branch: str) -> Check:
    """What a report says of it."""
    if lacked.found:
        told = "; ".join(visible(str(each)) for each in lacked.found[:_SHOWN])
        more = f" and {len(lacked.found) - _SHOWN} more" if len(lacked.found) > _SHOWN else ""
        first = lacked.found[0]
        return Check(
            "symbols",
            passed=False,
            message=f"{visible(branch)} lacks what the change uses: {told}{more}",
            location=first.used[0],
            severity="error",
            evidence=first.name,
        )
    if lacked.unseen:
        return Check(
            "symbols", passed=False, message=f"not looked into: {lacked.unseen}", severity="hint"
        )
    return Check("symbols", passed=True, message=f"{visible(branch)} has what the change uses")
