"""The build systems that are known: most as data, those that need more as code, one file each.

To add one, write ``recipes/NAME.yml`` in the form of `Recipe` (``recipes.py``), or a module such as
``go.py`` and its row in `_CODE`, and add the name to `System` in ``policy/tiers.py``.
``PRJURY_UPDATE_GOLDEN=1 pytest tests/unit/judges/builds/systems/test_systems.py`` writes the page.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

from prjury.judges.builds.plan import BuildSystem
from prjury.judges.builds.systems import cargo, go, jvm, node, python
from prjury.judges.builds.systems.recipes import read_shipped
from prjury.policy.tiers import System

_CODE: Mapping[str, BuildSystem] = {
    "maven": jvm.MAVEN, "gradle": jvm.GRADLE, "node": node.NODE, "python": python.PYTHON,
    "cargo": cargo.CARGO, "go": go.GO,
}  # fmt: skip
#: The build systems by the names that the policy uses, in the order in which the builds of one
#: directory are run.
SYSTEMS: Mapping[str, BuildSystem] = {
    name: _CODE.get(name) or read_shipped(name) for name in get_args(System)
}
