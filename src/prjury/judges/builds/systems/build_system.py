"""The form of a build system, and the file suffixes of languages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, TypeAlias

from msgspec import Struct

from prjury.judges.builds.plan import BuildPlan
from prjury.judges.builds.systems.source_tree import SourceTree

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


class BuildSystem(Struct, frozen=True):
    """A build system; the policy's own one, or one that travels with the program.

    Attributes:
        manifests: the names of the files that make a directory a project, globs among them.
        covers: the suffixes of the sources that are compiled or tested, by the names of its builds.
        family: of several builds of one family in a directory one is run.
        tools: the programs that a CI calls for it; a wrapper script last.
    """

    manifests: tuple[str, ...]
    covers: Mapping[str, frozenset[str]]
    plans: Callable[[SourceTree], tuple[BuildPlan, ...]]
    when: When = "always"
    family: str = ""
    tools: tuple[str, ...] = ()
    is_recipe: bool = False
    own: bool = False
