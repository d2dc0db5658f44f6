"""A repository of one commit for builds that ask git for something. Pure.

An exported tree has no history, and a checkout of a CI has one. Backends of Python get the version
by variables instead (``systems/python_environment.py``).
"""

from __future__ import annotations

from msgspec.structs import replace

from prjury.judges.builds.plan import BuildPlan, BuildStep

#: Words of git outside of a repository.
MISSING = "not a git repository"
_TAG = "PRJURY_TAG"
#: Nothing of it stops the build, which may do without; a checkout stays as it is.
_COMMANDS = (
    "[ -e .git ] || { git init -q && git add -A -f && "
    "git -c user.name=prjury -c user.email=prjury@localhost commit -q -m tree && "
    f'{{ [ -z "${_TAG}" ] || git tag "${_TAG}"; }}; }} || true'
)


def with_repository(plan: BuildPlan) -> BuildPlan:
    """The plan with a repository around the tree, with the nearest tag on its only commit.

    It has no link to any other repository.
    """
    steps = (BuildStep("setup", _COMMANDS), *plan.steps)
    return replace(plan, steps=steps).with_env({_TAG: "{tag}"})
