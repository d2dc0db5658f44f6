"""The files of the repository that imports of added lines stand for, as far as paths tell."""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence

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


def import_targets(pull: PullRequest, go_modules: Mapping[str, str]) -> Iterator[ImportTarget]:
    """The imports of the change's added lines that stand for paths, by Go modules' directories."""
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


def _go(line: str, at: Location, modules: Mapping[str, str]) -> Iterator[ImportTarget]:
    match = _GO.fullmatch(line)
    for name, folder in modules.items() if match else ():
        if match and match[1].startswith(f"{name}/"):
            inner = posixpath.join(folder, match[1].removeprefix(f"{name}/"))
            yield ImportTarget(match[1], at, (f"{inner}/*.go",))


def _read_python_line(line: str, at: Location) -> Iterator[ImportTarget]:
    if match := _PYTHON_FROM.match(line):
        dots, module = match[1], match[2]
        if not dots:
            yield from _python_module(module, at)
        elif parts := [part for part in module.split(".") if part]:
            up = [".."] * (len(dots) - 1)
            stem = posixpath.normpath(posixpath.join(posixpath.dirname(at.path), *up, *parts))
            yield ImportTarget(dots + module, at, tuple(stem + end for end in _PYTHON_ENDS))
    elif match := _PYTHON_IMPORT.match(line):
        for name in match[1].split(","):
            yield from _python_module(name.split(" as ")[0].strip(), at)


def _python_module(name: str, at: Location) -> Iterator[ImportTarget]:
    parts = [part for part in name.split(".") if part]
    files = tuple("/".join(parts) + end for end in _PYTHON_ENDS)
    if len(parts) > 1:
        yield ImportTarget(".".join(parts), at, files, anywhere=True)
    elif parts:
        yield ImportTarget(parts[0], at, tuple(root + file for root in _ROOTS for file in files))


def _read_jvm_line(line: str, at: Location) -> Iterator[ImportTarget]:
    match = _JVM.match(line)
    parts = match[1].split(".") if match else []
    first = next((n for n, part in enumerate(parts) if part[:1].isupper()), None)
    if first:
        parts = parts[: first + 1]
        paths = tuple("/".join(parts) + end for end in _JVM_ENDS)
        yield ImportTarget(".".join(parts), at, paths, anywhere=True)


def _read_script(line: str, at: Location) -> Iterator[ImportTarget]:
    for name in _SCRIPT.findall(line):
        stem = posixpath.normpath(posixpath.join(posixpath.dirname(at.path), name))
        plain = re.sub(r"\.[cm]?jsx?$", "", stem)
        stems = dict.fromkeys([stem, plain])
        yield ImportTarget(name, at, tuple(each + end for each in stems for end in _SCRIPT_ENDS))


def _read_rust_line(line: str, at: Location) -> Iterator[ImportTarget]:
    match = _RUST.match(line)
    root, src, _ = f"/{at.path}".rpartition("/src/")
    if not match or not src:
        return
    parts = [part for part in match[1].split("::") if part]
    modules = [part for part in parts if part == part.lower()]
    base = f"{root}/src".removeprefix("/")
    # The last part may be a function or a macro in the module before it.
    stems = [some for some in (modules, modules[:-1]) if some]
    paths = tuple("/".join([base, *some]) + end for some in stems for end in _RUST_ENDS)
    if paths:
        yield ImportTarget(f"crate::{'::'.join(modules)}", at, paths)


_READERS: Mapping[str, Callable[[str, Location], Iterator[ImportTarget]]] = {
    PYTHON: _read_python_line,
    JVM: _read_jvm_line,
    SCRIPT: _read_script,
    RUST: _read_rust_line,
}
