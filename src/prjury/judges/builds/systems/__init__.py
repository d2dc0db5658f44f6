"""The build systems that are known, one file each.

How to add one, for example ``just``:

1. Write ``just.py`` in this folder. The module has the form of `BuildSystem` (build_system.py):
   ``MANIFESTS``, ``COVERS``, ``WHEN``, ``DOCS`` and a function ``plans``. ``bazel.py`` is the
   shortest example. Use ``plans_of`` (projects.py) if a tree may have several such projects, and
   ``WorkspaceGraph`` (workspace_graph.py) if only the affected parts of a project can be built.
2. Add it to `SYSTEMS` below, and its name to `System` in ``prjury/policy/tiers.py``. Detection, the
   policy's schema, the languages that count as built and the tables in
   ``.github/docs/judges/build.md`` follow from it.
3. Test the plans in ``tests/unit/judges/builds/systems/test_just.py``, and write the tables with
   ``PRJURY_UPDATE_GOLDEN=1 pytest tests/unit/judges/builds/systems/test_systems.py``.
"""

from __future__ import annotations

from collections.abc import Mapping

from prjury.judges.builds.systems import (
    bazel,
    cargo,
    go,
    gradle,
    make,
    maven,
    node,
    python,
)
from prjury.judges.builds.systems.build_system import BuildSystem

#: The build systems by the names that the policy uses, in the order in which the builds of one
#: directory are run.
SYSTEMS: Mapping[str, BuildSystem] = {
    "maven": maven,
    "gradle": gradle,
    "node": node,
    "python": python,
    "cargo": cargo,
    "go": go,
    "make": make,
    "bazel": bazel,
}
