"""Trees for the recognition of build systems, made of dictionaries."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from fakes.trees import TreeRepository
from prjury.judges.builds.failure import Failure
from prjury.judges.builds.plan import BuildPlan
from prjury.judges.builds.planner import detect_builds
from prjury.judges.builds.source_tree import SourceTree


def root_of(files: Mapping[str, str], executable: str = "") -> SourceTree:
    repository = TreeRepository({"t": files}, frozenset(executable.split()))
    texts = {entry.blob: files[entry.path] for entry in repository.files("t")}
    return SourceTree(
        repository.files("t"), lambda entries: {one.blob: texts[one.blob] for one in entries}
    )


def touching(*paths: str) -> frozenset[str]:
    return frozenset(paths)


def package(name: str = "", *needs: str, **more: Any) -> str:
    """A ``package.json``; by default with a test script and nothing else."""
    scripts = more.pop("scripts", {"test": "node --test"})
    wanted = {"dependencies": dict.fromkeys(needs, "*")} if needs else {}
    named = {"name": name} if name else {}
    return json.dumps({**named, "scripts": scripts, **wanted, **more})


def failing(name: str | None, path: str | None = None, suite: str | None = None) -> Failure:
    return Failure("test", "it failed", path=path, name=name, suite=suite)


def plans_of(
    system: str, root: SourceTree, changes: frozenset[str] | None = None
) -> tuple[BuildPlan, ...]:
    """The builds of one system that a change affects."""
    return detect_builds(root, changes, [system]).plans


def texts(plans: Sequence[BuildPlan]) -> list[str]:
    return [plan.text for plan in plans]
