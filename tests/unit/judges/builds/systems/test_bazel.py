from __future__ import annotations

import pytest

from fakes.roots import root_of, touching
from prjury.judges.builds.plan import BuildScope
from prjury.judges.builds.systems.bazel import plans

COMMAND = (
    "({} test --keep_going --build_tests_only //...; code=$?; "
    'if [ -d bazel-testlogs ]; then cp -RL bazel-testlogs/. "$PRJURY_REPORTS"; fi; exit "$code")'
)


@pytest.mark.parametrize("marker", ["MODULE.bazel", "WORKSPACE", "WORKSPACE.bazel"])
def test_all_tests(marker: str) -> None:
    (plan,) = plans(root_of({marker: "", "bazelw": ""}), None)
    assert (plan.system, plan.text) == ("bazel", COMMAND.format("bazel"))
    assert plan.reasons == (f"{marker} is there", "the installed one is used")
    assert (plan.env, plan.all_ran, plan.scope) == (
        {"PRJURY_REPORTS": "{reports}"},
        3,
        BuildScope(),
    )


def test_a_wrapper_is_used_where_it_can_be_run() -> None:
    (plan,) = plans(root_of({"WORKSPACE": "", "bazelisk": ""}, "bazelisk"), touching("a"))
    assert plan.text == COMMAND.format("./bazelisk")
    assert plan.reasons == ("WORKSPACE is there", "bazelisk is there")
    assert plan.scope == BuildScope(because="only Bazel knows what depends on what")


def test_nothing_without_a_workspace_in_the_root() -> None:
    assert plans(root_of({"a/MODULE.bazel": "", "BUILD": ""}), None) == ()
