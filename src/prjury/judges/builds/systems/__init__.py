"""The build systems that are known: most as data, those that need more as code, one file each.

How to add one, for example ``just``: write ``recipes/just.yml``, which says what makes a directory
a project and what is run there (the form is `Recipe` in ``judges/builds/recipe.py``, in which users
write their own), and add its name to `System` in ``policy/tiers.py``. Detection, the policy's
schema, the languages that count as built and the tables in ``.github/docs/judges/build.md`` follow.
``PRJURY_UPDATE_GOLDEN=1 pytest tests/unit/judges/builds/systems/test_systems.py`` writes the
tables.

A system that has to read more than names and lines is a module of the form `BuildSystem`
(build_system.py), with a row in `_CODE` below; ``go.py`` is the shortest example. Use
``select_affected`` (projects.py) if a tree may have several such projects.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

from prjury.judges.builds.systems import cargo, go, gradle, maven, node, python
from prjury.judges.builds.systems.build_system import BuildSystem
from prjury.judges.builds.systems.recipes import read_shipped
from prjury.policy.tiers import System

_CODE: Mapping[str, BuildSystem] = {
    "maven": maven,
    "gradle": gradle,
    "node": node,
    "python": python,
    "cargo": cargo,
    "go": go,
}
#: The build systems by the names that the policy uses, in the order in which the builds of one
#: directory are run.
SYSTEMS: Mapping[str, BuildSystem] = {
    name: _CODE.get(name) or read_shipped(name) for name in get_args(System)
}
