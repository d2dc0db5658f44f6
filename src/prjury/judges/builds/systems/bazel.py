"""Bazel, only if the policy names it: it downloads toolchains and starts a server. Pure."""

from __future__ import annotations

from prjury.judges.builds.plan import BuildPlan, BuildScope, BuildStep
from prjury.judges.builds.systems.build_system import ANY_LANGUAGE, SystemDocs, When
from prjury.judges.builds.systems.source_tree import EXECUTABLE, Changes, SourceTree

MANIFESTS = ("MODULE.bazel", "WORKSPACE.bazel", "WORKSPACE")
COVERS = {"bazel": ANY_LANGUAGE}
WHEN: When = "on_request"
DOCS = SystemDocs(
    (
        (
            "`MODULE.bazel`, `WORKSPACE`, if the policy names Bazel",
            "`bazel test --keep_going --build_tests_only //...`, or `./bazelw`, `./bazelisk`",
        ),
    ),
    tools="Bazel",
)

#: Bazel's exit code where everything was built and some tests failed.
_TESTS_FAILED = 3

#: Bazel keeps its reports behind a link that leads out of the tree, where none is followed.
_TEST = (
    "({} test --keep_going --build_tests_only //...; code=$?; "
    'if [ -d bazel-testlogs ]; then cp -RL bazel-testlogs/. "$PRJURY_REPORTS"; fi; exit "$code")'
)


def plans(root: SourceTree, changes: Changes | None) -> tuple[BuildPlan, ...]:
    """All tests of the workspace in the root; only Bazel knows what depends on what."""
    marker = root.has(*MANIFESTS)
    if not marker:
        return ()
    script = next((name for name in ("bazelw", "bazelisk") if _is_executable(root, name)), None)
    program, reason = (
        (f"./{script}", f"{script} is there") if script else ("bazel", "the installed one is used")
    )
    because = "only Bazel knows what depends on what" if changes else ""
    plan = BuildPlan(
        "bazel",
        (BuildStep("test", _TEST.format(program)),),
        (f"{marker} is there", reason),
        env={"PRJURY_REPORTS": "{reports}"},
        all_ran=_TESTS_FAILED,
        scope=BuildScope(because=because),
    )
    return (plan,)


def _is_executable(root: SourceTree, name: str) -> bool:
    entry = root.files.get(name)
    return entry is not None and entry.mode == EXECUTABLE
