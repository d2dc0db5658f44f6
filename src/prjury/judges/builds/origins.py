"""Tell tests of the tree that is judged from those of another copy of its packages.

Python takes a package from wherever it finds it first. An installed release, or an editable install
of another checkout, would be tested in place of the tree, and every result would be about that. So
may what comes with pytest in an environment in which the tree itself is not installed.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from prjury.errors import CannotJudgeError
from prjury.judges.builds import probe
from prjury.judges.builds.systems.source_tree import parents_of
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
#: Where single modules lie: a src layout, and what mixed projects use.
_SOURCES = frozenset({"src", "lib", "python"})
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
        """The variables of a run besides its own; none if there is no package."""
        below = self._below()
        names = sorted(find_packages(below))
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
        if find_packages(source) and not compiled:
            paths.insert(1, str(self.tree / self.directory / "src"))
        return {"PYTHONPATH": os.pathsep.join(filter(None, paths))}

    def _below(self) -> list[str]:
        """The paths of the tree as seen from where the run takes place."""
        prefix = f"{self.directory}/" if self.directory else ""
        return [path.removeprefix(prefix) for path in self.known if path.startswith(prefix)]

    def refuse_elsewhere(self) -> None:
        """Nothing that tests of other code say counts."""
        seen: dict[str, list[str]] = {}
        for file in self.place.glob("seen-*.json") if self.place.is_dir() else ():
            for name, origins in _read(file):
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


def find_packages(paths: list[str]) -> set[str]:
    """The packages that a project may be about, or its modules where it has no package."""
    packages, modules = set[str](), set[str]()
    homes = {path.removesuffix("/__init__.py") for path in paths if path.endswith("/__init__.py")}
    for path in paths:
        place, _, file = path.rpartition("/")
        name, dot, suffix = file.rpartition(".")
        if place in homes and not homes.isdisjoint(parents_of(place)):
            continue  # below another package
        if file == "__init__.py" and place and _is_of_project(place):
            packages.add(place.rpartition("/")[2])
        elif (dot, suffix) == (".", "py") and place.rpartition("/")[2] in _SOURCES | {""}:
            modules.update({name} if _is_of_project(path.removesuffix(".py")) else ())
    return packages or modules


def _is_of_project(path: str) -> bool:
    parts = path.lower().split("/")
    name = path.rpartition("/")[2]
    owners = name in sys.stdlib_module_names or name.startswith("test_")
    return name.isidentifier() and not owners and _BESIDE.isdisjoint(parts)


def _read(file: Path) -> Iterator[tuple[str, list[str]]]:
    """The notes of one Python; anything else is passed over."""
    with suppress(OSError, ValueError, RecursionError):
        if file.is_symlink() or file.stat().st_size > _LARGEST:
            return
        value = json.loads(file.read_text("utf-8"))
        for name, origins in value.items() if isinstance(value, dict) else ():
            listed = origins if isinstance(origins, list) else []
            yield name, [one for one in listed if isinstance(one, str)]


def _read_source(direct_url: Path) -> Path | None:
    """The directory from which a distribution was installed (PEP 610)."""
    with suppress(OSError, ValueError, AttributeError, RecursionError):
        url = urlsplit(json.loads(direct_url.read_text("utf-8")[:_LARGEST]).get("url", ""))
        return Path(unquote(url.path)).resolve() if url.scheme == "file" else None
    return None
