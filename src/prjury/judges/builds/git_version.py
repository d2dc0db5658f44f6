"""A repository of one commit for builds that ask git for their version. Pure.

An exported tree has no history. Where a project asks `git describe`, its tree becomes a repository
of its own, without a link to any other, with the nearest tag on its only commit. Backends of Python
get the version by variables instead (``systems/python_environment.py``).
"""

from __future__ import annotations

import re

from msgspec.structs import replace

from prjury.judges.builds.plan import BuildPlan, BuildStep
from prjury.judges.builds.systems.source_tree import SourceTree

_ASKING = ("Makefile", "GNUmakefile", "makefile", "CMakeLists.txt", "configure.ac", "meson.build",
           "setup.py", "build.gradle", "build.gradle.kts", "build.rs", "package.json",
           ".mvn/extensions.xml", "versioneer.py", "scripts/version", "version.sh",
           "GIT-VERSION-GEN", "build-aux/git-version-gen")  # fmt: skip
_ASKS = re.compile(r"\bgit\b[\"']?[,\s]+(?:[\w\"'.=/-]+[,\s]+){0,3}[\"']?describe\b|\bjgitver\b")
_TAG = "PRJURY_TAG"
#: Nothing of it stops the build, which may do without; a checkout stays as it is.
_COMMANDS = (
    "[ -e .git ] || { git init -q && git add -A -f && "
    "git -c user.name=prjury -c user.email=prjury@localhost commit -q -m tree && "
    f'{{ [ -z "${_TAG}" ] || git tag "${_TAG}"; }}; }} || true'
)


def with_repository(plan: BuildPlan, root: SourceTree) -> BuildPlan:
    """The plan with a repository around the tree, as the CI has one.

    A recipe's plan gets one where a file of its root asks for the version.
    """
    asking = None if plan.directory else next((p for p in _ASKING if _asks(root, p)), None)
    if not plan.steps or (asking is None and plan.source != "ci"):
        return plan
    steps = (BuildStep("setup", _COMMANDS), *plan.steps)
    because = () if plan.source == "ci" else (f"{asking} asks git for the version",)
    return replace(plan, steps=steps, reasons=(*plan.reasons, *because)).with_env({_TAG: "{tag}"})


def _asks(root: SourceTree, path: str) -> bool:
    return path in root.files and _ASKS.search(root.text(path)) is not None
