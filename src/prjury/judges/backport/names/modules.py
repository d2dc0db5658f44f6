"""Which of the repository's own files the imports of added lines stand for, as far as paths tell."""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from prjury.judges.backport.names import words
from prjury.jury.judgment import Location
from prjury.pull.model import PullRequest

_PYTHON_FROM = re.compile(r"\s*(?:from|cimport)\s+(\.*)([\w.]*)\s+c?import\s+\(?(.*)")
_PYTHON_IMPORT = re.compile(
    r"\s*import\s+([\w.]+(?:\s+as\s+\w+)?(?:\s*,\s*[\w.]+(?:\s+as\s+\w+)?)*)"
)
_JVM = re.compile(r"\s*import\s+(?:static\s+)?([\w.]+)(?:\.\*)?\s*(?:as \w+)?;?\s*$")
_SCRIPT = re.compile(r"""(?:\bfrom|\bimport|\brequire\(|\bimport\()\s*['"](\.[^'"]*)['"]""")
_RUST = re.compile(r"\s*(?:pub(?:\([\w ]+\))?\s+)?use\s+crate::([\w:]+)")
_PYTHON_ENDS = (".py", ".pyi", ".pyx", ".pxd", "/__init__.py", "/__init__.pyi", "/__init__.pxd")
_JVM_ENDS = (".java", ".kt", ".groovy", ".scala")
_SCRIPT_FORMS = (".ts", ".tsx", ".d.ts", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".vue")
_SCRIPT_ENDS = ("", *_SCRIPT_FORMS, *(f"/index{form}" for form in _SCRIPT_FORMS))
_RUST_ENDS = (".rs", "/mod.rs")
#: Where packages of one part stand in a repository.
_ROOTS = ("", "src/", "lib/")


@dataclass(frozen=True)
class Import:
    """An import of an added line.

    Attributes:
        name: as it is written there.
        paths: the files that it may stand for, from the root of the repository.
        ends: the same where nobody knows under which directory they are.
    """

    name: str
    at: Location
    paths: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()


@dataclass(frozen=True)
class Tree:
    """The paths of a tree.

    Attributes:
        named: the paths by their last part.
    """

    paths: frozenset[str]
    named: Mapping[str, Sequence[str]]

    @classmethod
    def of(cls, paths: Sequence[str]) -> Tree:
        """All of these."""
        named: dict[str, list[str]] = defaultdict(list)
        for path in paths:
            named[path.rpartition("/")[2]].append(path)
        return cls(frozenset(paths), named)

    def standing_for(self, wanted: Import) -> str | None:
        """A file that the import may stand for."""
        for path in wanted.paths:
            if path in self.paths:
                return path
        ends = ((end, self.named.get(end.rpartition("/")[2], ())) for end in wanted.ends)
        return next((path for end, some in ends for path in some if _ends(path, end)), None)


def _ends(path: str, end: str) -> bool:
    return path == end or path.endswith(f"/{end}")


def imports(pull: PullRequest) -> Iterator[Import]:
    """The imports of the change's added lines that paths can tell."""
    for file in words.code_files(pull):
        reader = _READERS.get(words.family_of(file.path) or "")
        if reader is None:
            continue
        for line in file.added_lines:
            if line.new and (
                "import" in line.text or "use " in line.text or "require" in line.text
            ):
                yield from reader(line.text, Location(file.path, line.new))


def _python(line: str, at: Location) -> Iterator[Import]:
    if found := _PYTHON_FROM.match(line):
        dots, module, names = found.groups()
        parts = [part for part in module.split(".") if part]
        if dots:
            folder = posixpath.dirname(at.path)
            for _ in dots[1:]:
                folder = posixpath.dirname(folder)
            stem = posixpath.join(folder, *parts)
            if parts:
                yield Import(dots + module, at, tuple(stem + end for end in _PYTHON_ENDS))
            return
        yield from _python_module(parts, at)
    elif found := _PYTHON_IMPORT.match(line):
        for name in found[1].split(","):
            yield from _python_module(name.split(" as ")[0].strip().split("."), at)


def _python_module(parts: Sequence[str], at: Location) -> Iterator[Import]:
    if not parts:
        return
    stem = "/".join(parts)
    files = tuple(stem + end for end in _PYTHON_ENDS)
    if len(parts) > 1:
        yield Import(".".join(parts), at, ends=files)
    else:
        yield Import(stem, at, tuple(root + file for root in _ROOTS for file in files))


def _jvm(line: str, at: Location) -> Iterator[Import]:
    found = _JVM.match(line)
    if not found:
        return
    parts = found[1].split(".")
    first = next((n for n, part in enumerate(parts) if part[:1].isupper()), None)
    if first:
        stem = "/".join(parts[: first + 1])
        yield Import(".".join(parts[: first + 1]), at, ends=tuple(stem + e for e in _JVM_ENDS))


def _script(line: str, at: Location) -> Iterator[Import]:
    for name in _SCRIPT.findall(line):
        stem = posixpath.normpath(posixpath.join(posixpath.dirname(at.path), name))
        plain = re.sub(r"\.[cm]?jsx?$", "", stem)
        stems = dict.fromkeys([stem, plain])
        yield Import(name, at, tuple(each + end for each in stems for end in _SCRIPT_ENDS))


def _rust(line: str, at: Location) -> Iterator[Import]:
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
        yield Import(f"crate::{'::'.join(modules)}", at, paths)


_READERS: Mapping[str, Callable[[str, Location], Iterator[Import]]] = {
    words.PYTHON: _python,
    words.JVM: _jvm,
    words.SCRIPT: _script,
    words.RUST: _rust,
}
