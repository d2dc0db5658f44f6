"""Names and modules that the added lines use and the branch lacks.

A name is reported only if the merge base defines it in a file of the same languages, the change
neither defines nor imports it, and no file of the branch that may hold code contains it.
"""

from __future__ import annotations

import posixpath
from collections import defaultdict
from collections.abc import Mapping, Sequence

from msgspec import Struct

from prjury.code.languages import kin_of
from prjury.code.references import NamesByKin, TreePaths, find_added_uses
from prjury.errors import SourceError
from prjury.judges.backport.references import Files, UsedNames, code_of
from prjury.jury.judgment import Check, Location
from prjury.ports import SearchableRepository
from prjury.ports.types import WordPlaces
from prjury.report.wording import pluralize
from prjury.snapshot.kinds import kind_of
from prjury.snapshot.model import FileKind, visible

#: So many names are listed; the rest is counted.
_SHOWN = 5
#: So many files beside the touched ones are read first: they have most of what a change uses.
_NEAR = 200
#: Git finds so many words in a tree quickly; of more, only those with known definitions are sought.
_FEW_WORDS = 40
#: So many places of a name are read.
_PLACES = 4


class MissingSymbols(Struct, frozen=True):
    """A name or module that the change uses, and its place on the merge base."""

    name: str
    used: tuple[Location, ...]
    defined: Location

    def __str__(self) -> str:
        return f"{self.name} ({self.used[0]}; on the base in {self.defined})"


class MissingOnBranch(Struct, frozen=True):
    """What a branch lacks of what the change uses; what was not checked and why."""

    symbols: tuple[MissingSymbols, ...] = ()
    unchecked: str = ""


def find_missing_symbols(
    uses: UsedNames, tip: str, repository: SearchableRepository
) -> MissingOnBranch:
    if not uses.words and not uses.modules:
        return MissingOnBranch()
    files = code_of(uses.repository, tip)
    modules = _find_missing_modules(uses, files)
    names = _find_missing_names(uses, files, tip, repository)
    unchecked = "; ".join(filter(None, [modules.unchecked, names.unchecked]))
    return MissingOnBranch((*modules.symbols, *names.symbols), unchecked)


def _find_missing_modules(uses: UsedNames, files: Files) -> MissingOnBranch:
    tree = TreePaths.of(tuple(files))
    targets: dict[tuple[str, str], list[Location]] = defaultdict(list)
    for target, path in uses.modules:
        if path not in files and not tree.find_file(target):
            targets[target.name, path].append(target.at)
    places = [at for some in targets.values() for at in some]
    heads = uses.heads
    uses.strip_and_remember_code(heads, places)
    missing: list[MissingSymbols] = []
    for (name, path), some in targets.items():
        # Go's import paths are strings, which look like any text.
        go = path.endswith(".go")
        used = tuple(at for at in some if go or uses.code_at(heads, at).strip())
        if used:
            missing.append(MissingSymbols(name, used, Location(path)))
    unread = _describe_unread("imports", uses, {heads[at.path] for at in places})
    return MissingOnBranch(tuple(missing), unread)


def _find_missing_names(
    uses: UsedNames, files: Files, tip: str, repository: SearchableRepository
) -> MissingOnBranch:
    words_by_kin = _not_near(uses, files)
    words = frozenset[str]().union(*words_by_kin.values())
    try:
        # Git finds few words quickly; of many, only suspects are sought.
        few = words and len(words) <= _FEW_WORDS
        places = repository.with_words(tip, sorted(words)) if few else WordPlaces({})
        absent = {kin: some - set(places.places) for kin, some in words_by_kin.items()}
        suspects = _map_suspects_to_definitions(uses, absent, files)
        if suspects and len(words) > _FEW_WORDS:
            places = repository.with_words(tip, sorted(suspects))
            suspects = {word: at for word, at in suspects.items() if word not in places.places}
    except SourceError as error:
        suspects = _map_suspects_to_definitions(uses, words_by_kin, files)
        unchecked = f"names that it may lack: {error}" if suspects else ""
        return MissingOnBranch(unchecked=unchecked)
    if not suspects:
        return MissingOnBranch()
    if missing := [path for path in places.missing if kin_of(path)]:
        place = pluralize(len(missing), "file")
        return MissingOnBranch(unchecked=f"names that may be in {place} that this clone lacks")
    return _keep_used_and_defined(uses, suspects)


def _not_near(uses: UsedNames, files: Files) -> NamesByKin:
    """Return the words that neither the touched files on the branch nor some near them contain."""
    paths = {path for file in uses.pull.files for path in (file.path, file.old_path) if path}
    folders = {posixpath.dirname(path) for path in paths}
    near = [path for path in files if posixpath.dirname(path) in folders and path not in paths]
    held = uses.find_change_words(files[path] for path in (*paths, *near[:_NEAR]) if path in files)
    return {kin: words - held for kin, words in uses.words.items()}


def _map_suspects_to_definitions(
    uses: UsedNames, words: NamesByKin, files: Files
) -> dict[str, tuple[Location, ...]]:
    """Return names whose known definitions are all in files that lack them on the branch.

    The value is the places on the merge base that define the name.
    """
    differing = [path for path, blob in uses.files.items() if files.get(path) != blob]
    places: dict[str, list[Location]] = defaultdict(list)
    for kin, some_words in words.items():
        paths = [path for path in differing if kin_of(path) == kin]
        for word, at in uses.guess_base_definitions(kin, some_words, paths) if some_words else ():
            places[word].append(at)
    return {
        word: tuple(some[:_PLACES])
        for word, some in places.items()
        if word not in uses.find_change_words(files[at.path] for at in some if at.path in files)
    }


def _keep_used_and_defined(
    uses: UsedNames, suspects: Mapping[str, Sequence[Location]]
) -> MissingOnBranch:
    heads = uses.heads
    places = {word: some[:_PLACES] for word, some in find_added_uses(uses.pull, suspects).items()}
    used_at = [at for some in places.values() for at in some]
    defined_at = [at for some in suspects.values() for at in some]
    uses.strip_and_remember_code(heads, used_at)
    uses.strip_and_remember_code(uses.files, defined_at)
    missing: list[MissingSymbols] = []
    for word, definitions in suspects.items():
        used = tuple(at for at in places[word] if uses.refers(at, word))
        defined = [at for at in definitions if uses.defines(at, word)]
        # Only tests use what a test defines.
        if not any(map(_is_test, used)):
            defined = [at for at in defined if not _is_test(at)]
        if used and defined:
            missing.append(MissingSymbols(word, used, defined[0]))
    blobs = {heads[at.path] for at in used_at} | {uses.files[at.path] for at in defined_at}
    return MissingOnBranch(tuple(missing), _describe_unread("names", uses, blobs))


def _describe_unread(what: str, uses: UsedNames, blobs: set[str]) -> str:
    unread = [blob for blob in blobs if uses.stripped.get(blob) is None]
    return f"{what} in {pluralize(len(unread), 'file')} that could not be read" if unread else ""


def _is_test(at: Location) -> bool:
    return kind_of(at.path) is FileKind.TEST


def check_symbols(missing: MissingOnBranch, branch: str) -> Check:
    unchecked = f"not checked: {missing.unchecked}" if missing.unchecked else ""
    if not missing.symbols:
        message = unchecked or f"{visible(branch)} has what the change uses"
        return Check("symbols", not unchecked, message, severity="hint" if unchecked else "error")
    quoted = "; ".join(visible(str(each)) for each in missing.symbols[:_SHOWN])
    rest = len(missing.symbols) - _SHOWN
    more = f" and {rest} more" if rest > 0 else ""
    lacks = f"{visible(branch)} lacks what the change uses: {quoted}{more}"
    message, first = "; ".join(filter(None, [lacks, unchecked])), missing.symbols[0]
    return Check("symbols", False, message, first.used[0], evidence=first.name)  # noqa: FBT003
