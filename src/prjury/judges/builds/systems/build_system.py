"""The form of a build system's module, and the file suffixes of languages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Protocol, TypeAlias

from prjury.judges.builds.plan import BuildPlan
from prjury.judges.builds.systems.source_tree import Changes, SourceTree

JVM = frozenset(".java .kt .kts .scala .groovy".split())
JAVASCRIPT = frozenset(".js .jsx .mjs .cjs .ts .tsx .mts .cts .vue .svelte".split())
PYTHON = frozenset(".py .pyi .pyx".split())
#: What bindings and extensions are written in.
NATIVE = frozenset(".c .cc .cpp .cxx .h .hh .hpp .s .asm".split())
#: For builds that may run anything, so that every source counts as built.
ANY_LANGUAGE = frozenset({"*"})

#: When the builds of a system are run: always; only where nothing better is found; likewise, but
#: only builds without tests; only if the policy names the system.
When: TypeAlias = Literal["always", "last_resort", "last_resort_if_untested", "on_request"]


#: What is found, and what is run for it: the rows of a system in the page about recipes.
DocsRows: TypeAlias = tuple[tuple[str, str], ...]


class BuildSystem(Protocol):
    """A build system: one of the modules in `SYSTEMS`, or any object of their form."""

    @property
    def MANIFESTS(self) -> tuple[str, ...]:  # noqa: N802 - a constant of a module
        """The names of the files that make a directory a project."""
        ...

    @property
    def COVERS(self) -> Mapping[str, frozenset[str]]:  # noqa: N802
        """The suffixes of the sources that are compiled or tested, by the name of the build."""
        ...

    @property
    def WHEN(self) -> When:  # noqa: N802
        """When its builds are run."""
        ...

    @property
    def DOCS(self) -> DocsRows:  # noqa: N802
        """Its rows in the documentation."""
        ...

    def plans(self, root: SourceTree, changes: Changes | None, /) -> tuple[BuildPlan, ...]:
        """The builds of the tree that the change affects; all builds for None."""
        ...
