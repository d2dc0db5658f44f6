"""Tell tests of the tree from those of another copy of its packages, which Python finds first."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import msgspec

from prjury.errors import CannotJudgeError
from prjury.judges.builds import probe
from prjury.judges.builds.systems.source_tree import parent_of, parents_of
from prjury.snapshot.model import visible

_PROBE = Path(probe.__file__).read_text("utf-8")  # read before a build could change it
#: The systems whose own environments hold nothing but the tree, so that they need no help.
_SELF_CONTAINED = frozenset({"uv", "tox", "nox"})
#: Directories and modules that are rarely what a project is about, and those of others.
_BESIDE = frozenset(
    "test tests testing doc docs example examples sample samples script scripts tool tools "
    "benchmark benchmarks build dist ci utils vendor _vendor third_party node_modules setup "
    "conftest noxfile tasks fabfile manage versioneer conf".split()
)
#: Where single modules lie: the top, a src layout, and what mixed projects use.
_SOURCES = frozenset({"", "src", "lib", "python"})
#: Sources of extension modules, which are only there once the project is installed.
_COMPILED = (".c", ".cc", ".cpp", ".pyx", ".rs", ".f90")
#: Where installed packages lie, also in an environment inside of the tree.
_INSTALLED = frozenset({"site-packages", "dist-packages"})
_LARGEST = 256 * 1024


@dataclass(frozen=True)
class ImportedCode:
    """Asks the Pythons of a run where packages are; `place` is the run's own, beside the tree."""

    place: Path
    tree: Path
    directory: str
    paths: frozenset[str]

    def environment(self, system: str, env: Mapping[str, str]) -> Mapping[str, str]:
        """The variables of a run besides its own; none if there is no package."""
        prefix = f"{self.directory}/" if self.directory else ""
        below = [path.removeprefix(prefix) for path in self.paths if path.startswith(prefix)]
        names = sorted(find_import_names(below))
        if not names or system in _SELF_CONTAINED:
            return {}
        self.place.mkdir(exist_ok=True)
        for old in self.place.glob("seen-*.json"):
            old.unlink()
        (self.place / "sitecustomize.py").write_text(_PROBE, "utf-8")
        (self.place / "names.json").write_text(json.dumps(names), "utf-8")
        source = [path.removeprefix("src/") for path in below if path.startswith("src/")]
        compiled = any(path.endswith(_COMPILED) for path in source)
        paths = [str(self.place), env.get("PYTHONPATH", "")]
        if find_import_names(source) and not compiled:
            paths.insert(1, str(self.tree / self.directory / "src"))
        return {"PYTHONPATH": os.pathsep.join(filter(None, paths))}

    def refuse_elsewhere(self) -> None:
        """Nothing that tests of other code say counts."""
        seen: dict[str, list[str]] = {}
        for file in self.place.glob("seen-*.json") if self.place.is_dir() else ():
            for name, origins in _read_seen(file).items():
                seen.setdefault(name, []).extend(origins)
        for name, origins in sorted(seen.items()):
            if origins and not any(map(self._is_of_this_run, origins)):
                raise CannotJudgeError(
                    f"the tests ran against another copy of `{visible(name)}`, in "
                    f"`{visible(str(Path(origins[0]).parent))}`, not against this tree",
                    why="it is installed there, and Python found it first",
                    remedy="run the tests in an environment without it, install the tree itself "
                    "in a `setup` step, or set pytest's `pythonpath` to where the package is",
                    reason="tested_elsewhere",
                )

    def _is_of_this_run(self, origin: str) -> bool:
        """True if it lies in the tree, or was copied or installed from it."""
        own, path = (self.place.parent.resolve(), self.tree.resolve()), Path(origin).resolve()
        inside = [path.relative_to(place) for place in own if path.is_relative_to(place)]
        if any(_INSTALLED.isdisjoint(below.parts) for below in inside):
            return True
        site = path.parent.parent if path.name == "__init__.py" else path.parent
        sources = (_read_source(file) for file in site.glob("*.dist-info/direct_url.json"))
        return any(source and any(map(source.is_relative_to, own)) for source in sources)


def find_import_names(paths: Collection[str]) -> set[str]:
    """The topmost packages of a project, at any depth, or its modules where it has none."""
    packages, modules = set[str](), set[str]()
    homes = {path.removesuffix("/__init__.py") for path in paths if path.endswith("/__init__.py")}
    for home in homes:
        if homes.isdisjoint(parents_of(home)) and _is_of_project(home):
            packages.add(home.rpartition("/")[2])
    for path in paths:
        stem, place = path.removesuffix(".py"), parent_of(path)
        is_source = place.rpartition("/")[2] in _SOURCES
        if is_source and stem != path and _is_of_project(stem):
            modules.add(stem.rpartition("/")[2])
    return packages or modules


def _is_of_project(path: str) -> bool:
    name = path.rpartition("/")[2]
    others = name in sys.stdlib_module_names or name.startswith("test_")
    return name.isidentifier() and not others and _BESIDE.isdisjoint(path.lower().split("/"))


def _read_seen(file: Path) -> Mapping[str, list[str]]:
    with suppress(OSError, RecursionError, msgspec.MsgspecError):
        if not file.is_symlink() and file.stat().st_size <= _LARGEST:
            return msgspec.json.decode(file.read_bytes(), type=dict[str, list[str]])
    return {}


def _read_source(direct_url: Path) -> Path | None:
    """Return the directory from which a distribution was installed (PEP 610)."""
    with suppress(OSError, ValueError, RecursionError, msgspec.MsgspecError):
        content = direct_url.read_bytes()[:_LARGEST]
        url = urlsplit(str(msgspec.json.decode(content, type=dict[str, Any]).get("url", "")))
        return Path(unquote(url.path)).resolve() if url.scheme == "file" else None
    return None
