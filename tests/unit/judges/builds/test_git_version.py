from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from fakes.roots import root_of
from prjury.judges.builds.git_version import with_repository
from prjury.judges.builds.plan import BuildPlan, BuildStep

PLAN = BuildPlan("make", (BuildStep("test", ("make", "test")),), ())


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("Makefile", "VERSION := $(shell git describe --tags --always)\n"),
        ("CMakeLists.txt", "execute_process(COMMAND git describe --tags OUTPUT_VARIABLE V)"),
        ("setup.py", "check_output(['git', 'describe', '--tags'])"),
        ("versioneer.py", 'runner(GITS, ["describe", "--tags"])  # git describe\n'),
        (".mvn/extensions.xml", "<artifactId>jgitver-maven-plugin</artifactId>"),
    ],
)
def test_a_project_that_asks_git_for_its_version(path: str, text: str) -> None:
    plan = with_repository(PLAN, root_of({path: text}))
    assert plan.steps[0].name == "setup"
    assert plan.reasons == (f"{path} asks git for the version",)
    assert plan.env == {"PRJURY_TAG": "{tag}"}


def test_others_get_none() -> None:
    assert with_repository(PLAN, root_of({"Makefile": "test:\n\tgit status; ./describe\n"})) == PLAN


@pytest.mark.parametrize(("tag", "told"), [("v1.4.2", "v1.4.2"), ("", "")])
def test_the_repository_knows_the_tag_and_nothing_else(tmp_path: Path, tag: str, told: str) -> None:
    (tmp_path / ".gitignore").write_text("a\n")
    (tmp_path / "a").write_text("1")
    plan = with_repository(PLAN, root_of({"Makefile": "git describe\n"}))
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PRJURY_TAG": tag}

    def printed(command: str) -> str:
        argv = ["/bin/sh", "-c", command]
        done = subprocess.run(argv, cwd=tmp_path, env=env, capture_output=True, check=False)
        return done.stdout.decode().strip()

    printed(plan.steps[0].text)
    printed(plan.steps[0].text)  # a second run leaves it as it is
    assert printed("git describe --tags --dirty") == told
    assert printed("git ls-files") == ".gitignore\na"
    assert printed("git rev-list --count HEAD") == "1"
    assert printed("git remote; cat .git/objects/info/alternates") == ""
