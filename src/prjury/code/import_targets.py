"""The files of the repository that imports of added lines stand for, as far as paths tell."""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

from msgspec import Struct

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
_SCRIPT_FORMS = (*(s for x in LANGUAGES.values() if x.kin == SCRIPT for s in x.suffixes), ".d.ts")
#: The endings of files that a module may be, by kin.
_ENDS: Mapping[str, Sequence[str]] = {
    PYTHON: (".py", ".pyi", ".pyx", ".pxd", "/__init__.py", "/__init__.pyi", "/__init__.pxd"),
    JVM: [suffix for each in LANGUAGES.values() if each.kin == JVM for suffix in each.suffixes],
    SCRIPT: ("", *_SCRIPT_FORMS, *(f"/index{form}" for form in _SCRIPT_FORMS)),
    GO: ("/*.go",),
    RUST: (".rs", "/mod.rs"),
}
#: Where packages of one part stand in a repository.
_ROOTS = ("", "src/", "lib/")

#: A module's name, its paths but for their endings, and whether these may stand in any directory.
_Module: TypeAlias = tuple[str, Sequence[str], bool]
#: Directories by the names of modules.
_GoModules: TypeAlias = Mapping[str, str]


class ImportTarget(Struct, frozen=True):
    """An import as it is written, and files that it may stand for: ``a/*.go`` is any of Go."""

    name: str
    at: Location
    paths: tuple[str, ...]
    anywhere: bool = False


class TreePaths(Struct, frozen=True):
    """The paths of a tree, and by the last part of each."""

    paths: Mapping[str, str]
    by_name: Mapping[str, Sequence[str]]

    @classmethod
    def of(cls, paths: Sequence[str]) -> TreePaths:
        """All of these."""
        whole = {path: path for path in paths}
        by_name: dict[str, list[str]] = defaultdict(list)
        for path in paths:
            folder, _, name = path.rpartition("/")
            by_name[name].append(path)
            if name.endswith(".go"):
                whole.setdefault(f"{folder}/*.go", path)
        return cls(whole, by_name)

    def find_file(self, wanted: ImportTarget) -> str | None:
        """A file that the import may stand for."""
        for end in wanted.paths:
            if not wanted.anywhere and end in self.paths:
                return self.paths[end]
            for path in self.by_name.get(end.rpartition("/")[2], ()) if wanted.anywhere else ():
                if f"/{path}".endswith(f"/{end}"):
                    return path
        return None


def import_targets(pull: PullRequest, go_modules: _GoModules) -> Iterator[ImportTarget]:
    """The imports of the change's added lines that stand for paths, by Go modules' directories."""
    for file in code_files(pull):
        kin = kin_of(file.path) or ""
        for line in file.added_lines if kin in _READERS else ():
            if line.new and len(line.text) <= LONGEST_LINE:
                at = Location(file.path, line.new)
                for name, stems, anywhere in _READERS[kin](line.text, file.path, go_modules):
                    paths = tuple(stem + end for stem in stems for end in _ENDS[kin])
                    yield ImportTarget(name, at, paths, anywhere)


def _read_go(line: str, _path: str, modules: _GoModules) -> Iterator[_Module]:
    if match := _GO.fullmatch(line):
        for name, folder in modules.items():
            if match[1].startswith(f"{name}/"):
                inner = match[1].removeprefix(f"{name}/")
                yield match[1], [posixpath.join(folder, inner)], False


def _read_python(line: str, path: str, _modules: _GoModules) -> Iterator[_Module]:
    if (match := _PYTHON_FROM.match(line)) and match[1]:
        dots, module = match[1], match[2]
        if parts := [part for part in module.split(".") if part]:
            up = [".."] * (len(dots) - 1)
            yield dots + module, [_resolve(path, *up, *parts)], False
        return
    imported = None if match else _PYTHON_IMPORT.match(line)
    names = [match[2]] if match else imported[1].split(",") if imported else []
    for name in names:
        parts = [part for part in name.split(" as ")[0].strip().split(".") if part]
        if len(parts) > 1:
            yield ".".join(parts), ["/".join(parts)], True
        elif parts:
            yield parts[0], [root + parts[0] for root in _ROOTS], False


def _resolve(path: str, *parts: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), *parts))


def _read_jvm(line: str, _path: str, _modules: _GoModules) -> Iterator[_Module]:
    match = _JVM.match(line)
    parts = match[1].split(".") if match else []
    first = next((n for n, part in enumerate(parts) if part[:1].isupper()), None)
    if first:
        yield ".".join(parts[: first + 1]), ["/".join(parts[: first + 1])], True


def _read_script(line: str, path: str, _modules: _GoModules) -> Iterator[_Module]:
    for name in _SCRIPT.findall(line):
        stem = _resolve(path, name)
        yield name, list(dict.fromkeys([stem, re.sub(r"\.[cm]?jsx?$", "", stem)])), False


def _read_rust(line: str, path: str, _modules: _GoModules) -> Iterator[_Module]:
    match = _RUST.match(line)
    root, src, _ = f"/{path}".rpartition("/src/")
    parts = match[1].split("::") if match and src else []
    modules = [part for part in parts if part and part == part.lower()]
    base = f"{root}/src".removeprefix("/")
    # The last part may be a function or a macro in the module before it.
    stems = ["/".join([base, *some]) for some in (modules, modules[:-1]) if some]
    if stems:
        yield f"crate::{'::'.join(modules)}", stems, False


_READERS: Mapping[str, Callable[[str, str, _GoModules], Iterator[_Module]]] = {
    GO: _read_go,
    PYTHON: _read_python,
    JVM: _read_jvm,
    SCRIPT: _read_script,
    RUST: _read_rust,
}
