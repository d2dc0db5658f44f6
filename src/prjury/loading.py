"""Keeps what a run may still need, before a program runs that is not trusted.

A build runs as the same user and could write into our files, so nothing is read from them later.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import cache_from_source, find_spec, spec_from_file_location
from threading import Lock

from prjury.code.parser import await_standby, ensure_standby
from prjury.errors import ConfigError
from prjury.resources import pack_texts, program_version, read_published_text, template_texts

#: Packages whose modules are read beforehand; the clients of models are imported, by `ModelPanel`.
_HELD = ("prjury", "defusedxml", "email", "http", "jinja2", "packaging", "rich", "urllib", "xml")
#: What libraries, and functions of ours, import only when they are called.
_LATE = (
    "asyncio colorsys defusedxml.ElementTree encodings.idna encodings.unicode_escape html pickle "
    "re2 tomllib yaml"
).split()


class _HeldLoader(SourceFileLoader):
    """Imports a module from what its files held when they were read."""

    def __init__(self, name: str, path: str, held: _HeldModules) -> None:
        super().__init__(name, path)
        self._held = held

    def get_data(self, path: str) -> bytes:
        if path in self._held.contents:
            return self._held.contents[path]
        raise OSError(path)

    def path_stats(self, path: str) -> Mapping[str, float]:
        status = self._held.stats[path]
        return {"mtime": status.st_mtime, "size": status.st_size}

    def set_data(self, path: str, data: object, *, _mode: int = 0) -> None:
        """Writes nothing."""


class _HeldModules(MetaPathFinder):
    """Finds modules among the files that were read."""

    def __init__(self, packages: Sequence[str]) -> None:
        modules = dict(each for package in packages for each in _list_modules_and_paths(package))
        self.files = {name: file for name, file in modules.items() if name not in sys.modules}
        self.contents: dict[str, bytes] = {}
        self.stats: dict[str, os.stat_result] = {}
        for file in self.files.values():
            with suppress(OSError):  # such as an editor's link that leads nowhere
                self.stats[file] = os.stat(file)  # noqa: PTH116 - a faster start
                self._hold(file)
                self._hold(cache_from_source(file))

    def _hold(self, path: str) -> None:
        with open(path, "rb") as stream:  # noqa: PTH123 - as above
            self.contents[path] = stream.read()

    def find_spec(
        self, name: str, _path: object = None, _target: object = None, /
    ) -> ModuleSpec | None:
        if not (file := self.files.get(name)):
            return None
        return spec_from_file_location(name, file, loader=_HeldLoader(name, file, self))


def _list_modules_and_paths(package: str) -> Iterator[tuple[str, str]]:
    """Every module of a package by its name."""
    spec = find_spec(package)
    top = (spec.submodule_search_locations or [""])[0] if spec else ""
    for place, _, files in os.walk(top):
        parts = place.removeprefix(top).replace(os.sep, ".")
        for file in files:
            if file.endswith(".py"):
                name = f"{package}{parts}.{file.removesuffix('.py')}".removesuffix(".__init__")
                yield name, f"{place}{os.sep}{file}"


_loading = Lock()


def load_everything() -> None:
    """Read modules, templates, packs and data, and start the process that forks parsers; once."""
    with _loading:
        _preload_modules_and_data()


@cache
def _preload_modules_and_data() -> None:
    ensure_standby()
    sys.meta_path.insert(0, _HeldModules(_HELD))
    for name in _LATE:
        import_module(name)
    import_module("prjury.judges.builds.results.read")  # it reads the tables of tools and problems
    from prjury.rulepacks.find import load_provided  # noqa: PLC0415 - see above

    with suppress(ConfigError):  # raised again where the packs are needed
        load_provided()
    program_version()
    pack_texts()
    read_published_text()
    template_texts()
    await_standby()
