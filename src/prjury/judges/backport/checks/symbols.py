"""Names and modules that the added lines use and the branch lacks.

A name is reported only if the merge base defines it in a file of the same languages, the change
neither defines nor imports it, and no file of the branch that may hold code contains it.
"""

from __future__ import annotations

import posixpath
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Protocol

from prjury.code.import_targets import TreePaths
from prjury.code.languages import kin_of
from prjury.code.references import ByKin, uses
from prjury.errors import SourceError
from prjury.judges.backport.references import (
    ChangeReferences,
    Files,
    FoundNames,
    code_of,
    held_in,
    look_up,
)
from prjury.jury.judgment import Check, Location
from prjury.ports import Repository
from prjury.ports.types import WordPlaces
from prjury.report.wording import counted
from prjury.snapshot.kinds import kind_of
from prjury.snapshot.model import FileKind, PullRequest, visible

#: So many names are listed; the rest is counted.
_SHOWN = 5
#: So many files beside the touched ones are read first: they have most of what a change uses.
_NEAR = 200
#: Git finds so many words in a tree quickly; of more, only those with known definitions are sought.
_FEW_WORDS = 40
#: So many places of a name are read.
_PLACES = 4


class Searching(Protocol):
    """Finds words in a whole tree."""

    def with_words(self, tree: str, words: Sequence[str]) -> WordPlaces:
        """Return every place of each word.

        Raises:
            SourceError: when it takes too long, or cannot be done.
        """
        ...


@dataclass(frozen=True)
class MissingSymbols:
    """Something that the change uses and a branch lacks.

    Attributes:
        name: a name, or a module as the import spells it.
        used: the first places at the head.
        defined: its place on the merge base; without a line for a module.
    """

    name: str
    used: tuple[Location, ...]
    defined: Location

    def __str__(self) -> str:
        return f"{self.name} ({self.used[0]}; on the base in {self.defined})"


@dataclass(frozen=True)
class MissingOnBranch:
    """What a branch lacks of what the change uses; what was not checked and why."""

    found: tuple[MissingSymbols, ...] = ()
    unchecked: str = ""

    def and_more(
        self, found: Iterable[MissingSymbols] = (), unchecked: str = ""
    ) -> MissingOnBranch:
        """Return this with more findings."""
        reasons = "; ".join(filter(None, [self.unchecked, unchecked]))
        return MissingOnBranch((*self.found, *found), reasons)


def missing_on(
    needs: ChangeReferences, tip: str, repository: Repository, searching: Searching
) -> MissingOnBranch:
    """Return what the change refers to and the branch with this tip lacks."""
    if not needs.words and not needs.modules:
        return MissingOnBranch()
    files = code_of(repository, tip)
    modules = _modules(needs, files)
    wanted = _not_near(needs, files, repository)
    words = frozenset[str]().union(*wanted.values())
    try:
        # Git finds few words quickly; of many, only suspects are sought.
        few = words and len(words) <= _FEW_WORDS
        found = searching.with_words(tip, sorted(words)) if few else WordPlaces({})
        absent = {kin: some - set(found.places) for kin, some in wanted.items()}
        left = _suspects(needs, absent, files, repository)
        if left and len(words) > _FEW_WORDS:
            found = searching.with_words(tip, sorted(left))
            left = {word: places for word, places in left.items() if word not in found.places}
    except SourceError as error:
        left = _suspects(needs, wanted, files, repository)
        return modules.and_more(unchecked=f"names that it may lack: {error}" if left else "")
    missing = [path for path in found.missing if kin_of(path)]
    if not left:
        return modules
    if missing:
        where = f"{counted(len(missing), 'file')} that this clone lacks"
        return modules.and_more(unchecked=f"names that may be in {where}")
    named = tuple(_filter_code(needs, left))  # which reads the files
    return modules.and_more(named, _unread(needs, left))


def _modules(needs: ChangeReferences, files: Files) -> MissingOnBranch:
    """Return imports of files that the merge base has and the branch lacks."""
    if not needs.modules:
        return MissingOnBranch()
    tree = TreePaths.of(tuple(files))
    found: dict[tuple[str, str], list[Location]] = defaultdict(list)
    for wanted, path in needs.modules:
        if path not in files and not tree.standing_for(wanted):
            found[wanted.name, path].append(wanted.at)
    heads = _heads(needs.pull)
    _strip(needs, [(at.path, heads[at.path]) for places in found.values() for at in places])
    lacking = []
    for (name, path), places in found.items():
        # Go's import paths are strings, which look like any text.
        used = [at for at in places if path.endswith(".go") or needs.bare.holds(heads[at.path], at)]
        if used:
            lacking.append(MissingSymbols(name, tuple(used), Location(path)))
    blobs = {heads[at.path] for places in found.values() for at in places}
    return MissingOnBranch(tuple(lacking), _not_read("imports", blobs & needs.bare.unread))


def _heads(pull: PullRequest) -> Files:
    return {file.path: file.new_blob for file in pull.files if file.new_blob}


def _strip(needs: ChangeReferences, files: Sequence[tuple[str, str]]) -> None:
    with needs.learning:
        needs.bare.read(files)


def _suspects(
    needs: ChangeReferences, words: ByKin, files: Files, repository: Repository
) -> dict[str, tuple[Location, ...]]:
    """Return names whose known definitions are all in files that lack them on the branch.

    The value is the places on the merge base that define the name.
    """
    differing = [path for path, blob in needs.files.items() if files.get(path) != blob]
    found: dict[str, list[Location]] = defaultdict(list)
    for kin, wanted in words.items():
        if not wanted:
            continue
        paths = [path for path in differing if kin_of(path) == kin]
        with needs.learning:
            look_up(needs, kin, wanted, [needs.files[path] for path in paths], repository)
        for path in paths:
            places = needs.defined.get(needs.files[path], FoundNames()).places
            for word, line in sorted(places, key=itemgetter(1)):
                if word in wanted:
                    found[word].append(Location(path, line))
    return _not_in(needs, found, files, repository)


def _not_near(needs: ChangeReferences, files: Files, repository: Repository) -> ByKin:
    """Return the words that neither the touched files on the branch nor some near them contain."""
    paths = {path for file in needs.pull.files for path in (file.path, file.old_path) if path}
    folders = {posixpath.dirname(path) for path in paths}
    near = [path for path in files if posixpath.dirname(path) in folders and path not in paths]
    blobs = [files[path] for path in (*paths, *near[:_NEAR]) if path in files]
    held = frozenset[str]().union(*held_in(needs, blobs, repository).values())
    return {kin: words - held for kin, words in needs.words.items()}


def _not_in(
    needs: ChangeReferences,
    found: Mapping[str, Sequence[Location]],
    files: Files,
    repository: Repository,
) -> dict[str, tuple[Location, ...]]:
    """Return the names that no defining file contains in the branch's version."""
    paths = {at.path for places in found.values() for at in places if at.path in files}
    held = held_in(needs, [files[path] for path in paths], repository)
    return {
        word: tuple(places[:_PLACES])
        for word, places in found.items()
        if not any(word in held.get(files.get(at.path, ""), ()) for at in places)
    }


def _filter_code(
    needs: ChangeReferences, suspects: Mapping[str, Sequence[Location]]
) -> Iterator[MissingSymbols]:
    """Yield the names that are used and defined in code, not in comments or strings."""
    heads = _heads(needs.pull)
    places = {word: some[:_PLACES] for word, some in uses(needs.pull, suspects).items()}
    _strip(needs, [(at.path, heads[at.path]) for some in places.values() for at in some])
    _strip(needs, [(at.path, needs.files[at.path]) for some in suspects.values() for at in some])
    for word, defined in suspects.items():
        used = tuple(at for at in places[word] if needs.bare.refers(heads[at.path], at, word))
        known = [at for at in defined if needs.bare.defines(needs.files[at.path], at, word)]
        # Only tests use what a test defines.
        if not any(_is_test(at) for at in used):
            known = [at for at in known if not _is_test(at)]
        if used and known:
            yield MissingSymbols(word, used, known[0])


def _unread(needs: ChangeReferences, suspects: Mapping[str, Sequence[Location]]) -> str:
    """Return which files could not be read, so that code cannot be distinguished from text."""
    heads = _heads(needs.pull)
    blobs = {needs.files[at.path] for some in suspects.values() for at in some}
    blobs |= {heads[at.path] for some in uses(needs.pull, suspects).values() for at in some}
    return _not_read("names", blobs & needs.bare.unread)


def _not_read(what: str, blobs: set[str]) -> str:
    return f"{what} in {counted(len(blobs), 'file')} that could not be read" if blobs else ""


def _is_test(at: Location) -> bool:
    return kind_of(at.path) is FileKind.TEST


def symbols_check(missing: MissingOnBranch, branch: str) -> Check:
    """Return the check ``symbols``."""
    unchecked = f"not checked: {missing.unchecked}" if missing.unchecked else ""
    if not missing.found:
        message = unchecked or f"{visible(branch)} has what the change uses"
        return Check("symbols", not unchecked, message, severity="hint" if unchecked else "error")
    named = "; ".join(visible(str(each)) for each in missing.found[:_SHOWN])
    left = len(missing.found) - _SHOWN
    more = f" and {left} more" if left > 0 else ""
    lacks = f"{visible(branch)} lacks what the change uses: {named}{more}"
    message, first = "; ".join(filter(None, [lacks, unchecked])), missing.found[0]
    return Check("symbols", False, message, first.used[0], evidence=first.name)  # noqa: FBT003
