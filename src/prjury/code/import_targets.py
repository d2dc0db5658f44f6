"""The files of the repository that imports of added lines stand for, as far as paths tell."""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from prjury.code.languages import LANGUAGES, kin_of
from prjury.code.references import GO, JVM, LONGEST_LINE, PYTHON, RUST, SCRIPT, code_files
from prjury.jury.judgment import Location
from prjury.snapshot.model import PullRequest

_PYTHON_FROM = re.compile(r"\s*(?:from|cimport)\s+(\.*)([\w.]*)\s+c?import\b")
_PYTHON_IMPORT = re.compile(
    r"\s*import\s+([\w.]+(?:\s+as\s+\w+)?(?:\s*,\s*[\w.]+(?:\s+as\s+\w+)?)*)"
)
_JVM = re.compile(r"\s*import\s+(?:static\s+)?([\w.]+)(?:\.\*)?(?: as \w+)?[ ;\t]*$")
_SCRIPT = re.compile(r"""(?:\bfrom|\bimport|\brequire\(|\bimport\()\s*['"](\.[^'"]*)['"]""")
_RUST = re.compile(r"\s*(?:pub(?:\([\w ]+\))?\s+)?use\s+crate::([\w:]+)")
_GO = re.compile(r"""\s*(?:import\s+)?(?:[\w.]+\s+)?"([\w./~-]+)"\s*(?://.*)?""")
_GO_MODULE = re.compile(rb"^module\s+([^\s\"]+)", re.MULTILINE)
_IMPORTING = re.compile(r"import|use |require")
_PYTHON_ENDS = (".py", ".pyi", ".pyx", ".pxd", "/__init__.py", "/__init__.pyi", "/__init__.pxd")
_SUFFIXES = {
    kin: [suffix for each in LANGUAGES.values() if each.kin == kin for suffix in each.suffixes]
    for kin in (JVM, SCRIPT)
}
_JVM_ENDS = tuple(_SUFFIXES[JVM])
_SCRIPT_FORMS = (*_SUFFIXES[SCRIPT], ".d.ts")
_SCRIPT_ENDS = ("", *_SCRIPT_FORMS, *(f"/index{form}" for form in _SCRIPT_FORMS))
_RUST_ENDS = (".rs", "/mod.rs")
#: Where packages of one part stand in a repository.
_ROOTS = ("", "src/", "lib/")


@dataclass(frozen=True)
class ImportTarget:
    """An import of an added line.

    Attributes:
        name: as it is written there.
        paths: the files that it may stand for, from the root of the repository.
        ends: the same where the directory above them is not known.
        folder: the directory that it stands for, in Go.
    """

    name: str
    at: Location
    paths: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()
    folder: str = ""


@dataclass(frozen=True)
class TreePaths:
    """The paths of a tree.

    Attributes:
        named: the paths by their last part.
        folders: the first Go file of each directory that has any.
    """

    paths: frozenset[str]
    named: Mapping[str, Sequence[str]]
    folders: Mapping[str, str]

    @classmethod
    def of(cls, paths: Sequence[str]) -> TreePaths:
        """All of these."""
        named: dict[str, list[str]] = defaultdict(list)
        folders: dict[str, str] = {}
        for path in paths:
            folder, _, name = path.rpartition("/")
            named[name].append(path)
            if name.endswith(".go"):
                folders.setdefault(folder, path)
        return cls(frozenset(paths), named, folders)

    def standing_for(self, wanted: ImportTarget) -> str | None:
        """A file that the import may stand for."""
        for path in wanted.paths:
            if path in self.paths:
                return path
        if wanted.folder:
            return self.folders.get(wanted.folder)
        ends = ((end, self.named.get(end.rpartition("/")[2], ())) for end in wanted.ends)
        return next((path for end, some in ends for path in some if _ends(path, end)), None)


def _ends(path: str, end: str) -> bool:
    return path == end or path.endswith(f"/{end}")


def import_targets(pull: PullRequest, go_modules: Mapping[str, str]) -> Iterator[ImportTarget]:
    """The imports of the change's added lines that stand for paths.

    Args:
        go_modules: the directories of the repository's own Go modules, by name.
    """
    for file in code_files(pull):
        kin = kin_of(file.path) or ""
        for line in file.added_lines:
            if not line.new or len(line.text) > LONGEST_LINE:
                continue
            at = Location(file.path, line.new)
            if kin == GO:
                yield from _go(line.text, at, go_modules)
            elif (reader := _READERS.get(kin)) and _IMPORTING.search(line.text):
                yield from reader(line.text, at)


def go_modules(content: Mapping[str, bytes]) -> dict[str, str]:
    """The directories of Go modules by their names, from the ``go.mod`` files by path."""
    found = {path: _GO_MODULE.search(text) for path, text in content.items()}
    return {
        match[1].decode("utf-8", "replace"): posixpath.dirname(path)
        for path, match in found.items()
        if match
    }


def _go(line: str, at: Location, modules: Mapping[str, str]) -> Iterator[ImportTarget]:
    found = _GO.fullmatch(line)
    for name, folder in modules.items() if found else ():
        if found and found[1].startswith(f"{name}/"):
            inner = found[1].removeprefix(f"{name}/")
            yield ImportTarget(found[1], at, folder=posixpath.join(folder, inner))


def _python(line: str, at: Location) -> Iterator[ImportTarget]:
    if found := _PYTHON_FROM.match(line):
        dots, module = found[1], found[2]
        parts = [part for part in module.split(".") if part]
        if dots:
            folder = posixpath.dirname(at.path)
            for _ in dots[1:]:
                folder = posixpath.dirname(folder)
            stem = posixpath.join(folder, *parts)
            if parts:
                yield ImportTarget(dots + module, at, tuple(stem + end for end in _PYTHON_ENDS))
            return
        yield from _python_module(parts, at)
    elif found := _PYTHON_IMPORT.match(line):
        for name in found[1].split(","):
            yield from _python_module(name.split(" as ")[0].strip().split("."), at)


def _python_module(parts: Sequence[str], at: Location) -> Iterator[ImportTarget]:
    if not parts:
        return
    stem = "/".join(parts)
    files = tuple(stem + end for end in _PYTHON_ENDS)
    if len(parts) > 1:
        yield ImportTarget(".".join(parts), at, ends=files)
    else:
        yield ImportTarget(stem, at, tuple(root + file for root in _ROOTS for file in files))


def _jvm(line: str, at: Location) -> Iterator[ImportTarget]:
    found = _JVM.match(line)
    if not found:
        return
    parts = found[1].split(".")
    first = next((n for n, part in enumerate(parts) if part[:1].isupper()), None)
    if first:
        stem = "/".join(parts[: first + 1])
        yield ImportTarget(
            ".".join(parts[: first + 1]), at, ends=tuple(stem + e for e in _JVM_ENDS)
        )


def _script(line: str, at: Location) -> Iterator[ImportTarget]:
    for name in _SCRIPT.findall(line):
        stem = posixpath.normpath(posixpath.join(posixpath.dirname(at.path), name))
        plain = re.sub(r"\.[cm]?jsx?$", "", stem)
        stems = dict.fromkeys([stem, plain])
        yield ImportTarget(name, at, tuple(each + end for each in stems for end in _SCRIPT_ENDS))


def _rust(line: str, at: Location) -> Iterator[ImportTarget]:
    found = _RUST.match(line)
    root, src, _ = at.path.rpartition("/src/")
    if not found or not (src or at.path.startswith("src/")):
        return
    parts = [part for part in found[1].split("::") if part]
    base = f"{root}/src" if src else "src"
    modules = [part for part in parts if part == part.lower()]
    if modules:
        # The last part may be a function or a macro in the module before it.
        stems = [
            f"{base}/{'/'.join(modules[:count])}" for count in (len(modules), len(modules) - 1)
        ]
        paths = tuple(stem + end for stem in stems if stem != f"{base}/" for end in _RUST_ENDS)
        yield ImportTarget(f"crate::{'::'.join(modules)}", at, paths)


_READERS: Mapping[str, Callable[[str, Location], Iterator[ImportTarget]]] = {
    PYTHON: _python,
    JVM: _jvm,
    SCRIPT: _script,
    RUST: _rust,
}
