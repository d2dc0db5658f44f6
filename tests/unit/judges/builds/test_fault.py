"""A machine without the version that a project needs: not judged, and what to do about it."""

from __future__ import annotations

import pytest

from fakes.shell import Scripted, ScriptedShell, SilentProgress
from fakes.trees import TreeRepository, pull_context
from prjury.judges.builds.judge import make
from prjury.jury.judge import ask
from prjury.jury.judgment import Judgment, Status
from prjury.policy.schema import BuildOptions
from prjury.ports import Ports

TEST = "FAILED test_a.py::test_a - assert 1 == 2\n1 failed in 0.1s\n"


def judged(log: str, *more: Scripted, **options: str) -> tuple[Judgment, ScriptedShell]:
    shell = ScriptedShell([Scripted(1, log), *more])
    files = {"a.c": "", "test_a.py": ""}
    ports = Ports(TreeRepository({"merged": files, "base": files}), shell, SilentProgress())
    options_ = BuildOptions.model_validate({"command": "tool", **options})
    return ask(make(options_, ports), pull_context()), shell


@pytest.mark.parametrize(
    ("log", "remedy"),
    [
        ("error: release version 21 not supported", "JDK"),
        (
            (
                "[ERROR] Failed to execute goal org.apache.maven.plugins:maven-compiler-plugin:"
                "3.11.0:compile (default-compile) on project b: Fatal error compiling: error: "
                "release version 99 not supported -> [Help 1]"
            ),
            "JDK",
        ),
        ("> error: invalid source release: 21", "JDK"),
        (
            (
                "[ERROR] Failed to execute goal org.apache.maven.plugins:maven-enforcer-plugin:"
                "3.5.0:enforce (default) on project t: \n[ERROR] Rule 0: org.apache.maven.enforcer."
                "rules.version.RequireMavenVersion failed with message:\n[ERROR] Detected Maven "
                "Version: 3.8.7 is not in the allowed range [3.9,)."
            ),
            "Maven",
        ),
        (
            (
                "error: rustc 1.95.0 is not supported by the following packages:\n"
                "  grep@1.0 requires rustc 1.96\n"
            ),
            "rustup",
        ),
        ("go: go.mod requires go >= 1.99 (running go 1.26.8; GOTOOLCHAIN=local)", "Go"),
        ("ERROR: Package 'x' requires a different Python: 3.11.4 not in '>=3.13'", "Python"),
        ('error a@1.0.0: The engine "node" is incompatible with this module.', "Node"),
    ],
)
def test_a_version_that_the_machine_lacks(log: str, remedy: str) -> None:
    judgment, shell = judged(f"{log}\n")
    assert (judgment.status, judgment.metadata["reason"]) == (Status.ERROR, "environment")
    assert remedy in judgment.metadata["remedy"]
    assert remedy in judgment.reasoning
    assert judgment.metadata["failures"][0]["state"] == "environment"
    assert len(shell.commands) == 1  # the base says nothing more


def test_a_test_that_fails_is_no_matter_of_the_machine() -> None:
    log = f"error: release version 21 not supported\n{TEST}"
    judgment, _ = judged(log, Scripted(0))
    assert judgment.status is Status.FAIL
