"""The build systems that are known: most as data, those that need more as code, one file each.

How to add one, for example ``just``: write ``recipes/just.yml``, which says what makes a directory
a project and what is run there (the form is `Recipe` in ``judges/builds/recipe.py``, in which users
write their own), and add its name to `System` in ``policy/tiers.py``. Detection, the policy's
schema, the languages that count as built and the tables in ``.github/docs/judges/recipes.md``
follow. ``PRJURY_UPDATE_GOLDEN=1 pytest tests/unit/judges/builds/systems/test_systems.py`` writes
the tables.

A system that has to read more than names and lines is a module with a `BuildSystem`
(build_system.py) and a row in `_CODE` below; ``go.py`` is the shortest example.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

from prjury.judges.builds.systems import cargo, go, jvm, node, python
from prjury.judges.builds.systems.build_system import BuildSystem
from prjury.judges.builds.systems.recipes import read_shipped
from prjury.policy.tiers import System

_CODE: Mapping[str, BuildSystem] = {
    "maven": jvm.MAVEN,
    "gradle": jvm.GRADLE,
    "node": node.NODE,
    "python": python.PYTHON,
    "cargo": cargo.CARGO,
    "go": go.GO,
}
#: The build systems by the names that the policy uses, in the order in which the builds of one
#: directory are run.
SYSTEMS: Mapping[str, BuildSystem] = {
    name: _CODE.get(name) or read_shipped(name) for name in get_args(System)
}
