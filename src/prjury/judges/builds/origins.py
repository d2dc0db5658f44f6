"""Whether tests ran against the tree that is judged, or against another copy of its packages.

Python takes a package from wherever it finds it first. An installed release, or an editable install
of another checkout, would be tested in place of the tree, and every result would be about that.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from prjury.errors import CannotJudgeError
from prjury.judges.builds import probe
from prjury.judges.builds.systems.source_tree import joined
from prjury.snapshot.model import visible

_PROBE = Path(probe.__file__).read_text("utf-8")  # read before a build could change it
#: The systems whose own environments hold nothing but the tree, so that they need no help.
_SELF_CONTAINED = frozenset({"uv", "tox"})
#: Directories with an ``__init__.py`` that are rarely what a project is about.
_BESIDE = frozenset(
    "test tests testing doc docs example examples sample samples script scripts tool tools "
    "benchmark benchmarks build dist ci utils".split()
)
#: Where packages begin within a project: a src layout, and what mixed projects use.
_SOURCES = ("src", "lib", "python")
#: Directories that hold one project each, and how deep such a project lies.
_MEMBERS = frozenset({"packages", "libs"})
_MEMBER_DEPTH = 2
_MANIFESTS = frozenset({"pyproject.toml", "setup.py", "setup.cfg"})
#: Modules that a tool loads by their names.
_SET_UP = frozenset("setup conftest noxfile tasks fabfile manage versioneer conf".split())
#: Sources of extension modules, which are only there once the project is installed.
_COMPILED = (".c", ".cc", ".cpp", ".pyx", ".rs", ".f90")
#: Where installed packages lie, also in an environment inside of the tree.
_INSTALLED = frozenset({"site-packages", "dist-packages"})
_LARGEST = 256 * 1024


@dataclass(frozen=True)
class ImportedCode:
    """Asks the Pythons of a run where they took the project's packages from.

    Attributes:
        place: a directory beside the tree, in one that was made for this run alone.
        tree: the root of the tree, in that directory if it was exported.
        directory: where the run takes place, below that root.
        known: the paths of the tree.
    """

    place: Path
    tree: Path
    directory: str
    known: frozenset[str]

    def environment(self, system: str, env: Mapping[str, str]) -> Mapping[str, str]:
        """What a run gets beside its own variables; nothing where there is no package.

        In a src layout the tree's own packages come first. A project with extension modules has to
        be installed, and what was installed is then looked at.
        """
        names = sorted(self._names())
        if not names:
            return {}
        self.place.mkdir(exist_ok=True)
        for old in self.place.glob("seen-*.json"):
            old.unlink()
        (self.place / "sitecustomize.py").write_text(_PROBE, "utf-8")
        (self.place / "names.json").write_text(json.dumps(names), "utf-8")
        paths = [str(self.place)]
        source = joined(self.directory, "src") or ""
        compiled = any(path.endswith(_COMPILED) for path in self._below(source))
        if set(_top_level(self._below(source))) and not compiled and system not in _SELF_CONTAINED:
            paths.append(str(self.tree / source))
        return {"PYTHONPATH": os.pathsep.join([*paths, *filter(None, [env.get("PYTHONPATH")])])}

    def _names(self) -> set[str]:
        """The packages and modules of the project, from every place where one may begin."""
        below = [*self._below(self.directory)]
        found = {
            name
            for root in _roots(below)
            for name in _top_level(_paths_in(root, below), modules=bool(root))
            if name.lower() not in _BESIDE
        }
        names = found or set(_top_level(below))
        return {name for name in names if _is_the_projects(name)}

    def _below(self, directory: str) -> Iterator[str]:
        return _paths_in(directory, self.known)

    def refuse_elsewhere(self) -> None:
        """Nothing that tests of other code say counts.

        Raises:
            CannotJudgeError: when a package was only ever loaded from outside of the tree.
        """
        seen: dict[str, list[str]] = {}
        for file in self.place.glob("seen-*.json") if self.place.is_dir() else ():
            for name, origins in _read(file):
                seen.setdefault(name, []).extend(origins)
        for name, origins in sorted(seen.items()):
            if origins and not any(map(self._is_ours, origins)):
                raise CannotJudgeError(
                    f"the tests ran against another copy of `{visible(name)}`, in "
                    f"`{visible(str(Path(origins[0]).parent))}`, not against this tree",
                    why="it is installed there, and Python found it first",
                    remedy="run the tests in an environment without it, install the tree itself "
                    "in a `setup` step, or set pytest's `pythonpath` to where the package is",
                    reason="tested_elsewhere",
                )

    def _is_ours(self, origin: str) -> bool:
        ours, path = (self.place.parent.resolve(), self.tree.resolve()), Path(origin).resolve()
        inside = [path.relative_to(place) for place in ours if path.is_relative_to(place)]
        if any(_INSTALLED.isdisjoint(below.parts) for below in inside):
            return True
        site = path.parent.parent if path.name == "__init__.py" else path.parent
        sources = (_source_of(file) for file in site.glob("*.dist-info/direct_url.json"))
        return any(source and any(map(source.is_relative_to, ours)) for source in sources)


def _roots(paths: Iterable[str]) -> set[str]:
    """Directories where packages may begin: by custom, and beside each Python manifest."""
    projects = {""}
    for path in paths:
        directory, _, name = path.rpartition("/")
        if name in _MANIFESTS:
            projects.add(directory)
        parts = path.split("/")
        if parts[0] in _MEMBERS and len(parts) > _MEMBER_DEPTH:
            projects.add("/".join(parts[:_MEMBER_DEPTH]))
    ours = {one for one in projects if _BESIDE.isdisjoint(one.lower().split("/"))}
    return ours | {f"{one}/{below}".lstrip("/") for one in ours for below in _SOURCES}


def _paths_in(directory: str, paths: Iterable[str]) -> Iterator[str]:
    """The paths below the directory, as seen from it."""
    prefix = f"{directory}/" if directory else ""
    return (path.removeprefix(prefix) for path in paths if path.startswith(prefix))


def _is_the_projects(name: str) -> bool:
    known = name in sys.stdlib_module_names or name in _SET_UP or name.lower() in _BESIDE
    return name.isidentifier() and not known and not name.startswith("test_")


def _top_level(paths: Iterable[str], *, modules: bool = True) -> Iterator[str]:
    """The packages and modules that these paths make importable from where they begin."""
    for path in paths:
        name, slash, rest = path.partition("/")
        if rest == "__init__.py":
            yield name
        elif modules and not slash and name.endswith(".py"):
            yield name.removesuffix(".py")


def _read(file: Path) -> Iterator[tuple[str, list[str]]]:
    """What one Python has noted; what is no such note says nothing."""
    with suppress(OSError, ValueError, RecursionError):
        if file.is_symlink() or file.stat().st_size > _LARGEST:
            return
        value = json.loads(file.read_text("utf-8"))
        for name, origins in value.items() if isinstance(value, dict) else ():
            listed = origins if isinstance(origins, list) else []
            yield name, [one for one in listed if isinstance(one, str)]


def _source_of(direct_url: Path) -> Path | None:
    """The directory from which a distribution was installed (PEP 610)."""
    with suppress(OSError, ValueError, AttributeError, RecursionError):
        url = urlsplit(json.loads(direct_url.read_text("utf-8")[:_LARGEST]).get("url", ""))
        return Path(unquote(url.path)).resolve() if url.scheme == "file" else None
    return None
