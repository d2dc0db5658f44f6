"""What cannot be built, and what is odd about it: what the judge says, and what to do about it."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

from fakes.history import Entry, History, script
from integration.builds.clang import MAKE
from integration.builds.court import Court
from integration.builds.golang import GO
from integration.builds.jvm import GRADLE, MAVEN
from integration.builds.python import PYTEST
from integration.builds.sample import Sample, Tree
from prjury.errors import ConfigError
from prjury.jury.gate import Gate
from prjury.jury.judgment import Status

NOTHING: Tree = {"main.lua": "print('hello')\n"}
CHANGE: Tree = {"more.lua": "print('more')\n"}


@pytest.fixture
def court(tmp_path: Path) -> Court:
    return Court.at(tmp_path)


def test_no_build_system(court: Court) -> None:
    judged = court.judge(NOTHING, CHANGE)

    assert (judged.build.status, judged.build.label) == (Status.ABSTAIN, "no_build_system")
    assert judged.build.reasoning == (
        "no build system was recognised in the tree for more.lua. Add one line to "
        ".github/prjury.yml, with the command that builds and tests it: "
        "`build: {command: busted}`. Or pass --no-build if there is nothing to build."
    )
    assert judged.report.gate is Gate.ACTION_REQUIRED


def test_terraform_needs_no_build(court: Court) -> None:
    judged = court.judge({"main.tf": "variable {}\n"}, {"more.tf": "variable {}\n"})

    assert (judged.build.status, judged.build.label) == (Status.ABSTAIN, "not_applicable")
    assert judged.report.gate is Gate.SUCCESS


@pytest.mark.parametrize(
    ("sample", "program", "advice"),
    [
        pytest.param(MAVEN, "mvn", "install `mvn`", id="maven"),
        pytest.param(GRADLE, "gradle", "install `gradle`", id="gradle"),
        pytest.param(GO, "go", "install `go`", id="go"),
        pytest.param(MAKE, "make", "install `make`", id="make"),
    ],
)
def test_a_tool_is_missing(court: Court, sample: Sample, program: str, advice: str) -> None:
    court.environ["PATH"] = str(_with_only_a_shell(court.place / "bin"))
    tree = {path: content for path, content in sample.tree.items() if path != "mvnw"}
    judged = court.judge(tree, sample.harmless)

    assert judged.build.status is Status.ERROR
    assert judged.build.metadata["reason"] == "tool_missing"
    assert f"`{program}` is not installed" in judged.build.reasoning
    assert advice.lower() in judged.build.reasoning.lower()
    assert judged.report.gate is Gate.ACTION_REQUIRED


def _with_only_a_shell(place: Path) -> Path:
    place.mkdir()
    for program in ("sh", "git"):
        (place / program).symlink_to(shutil.which(program) or f"/bin/{program}")
    return place


@pytest.mark.slow
@pytest.mark.nightly
def test_a_wrapper_that_is_not_executable_is_run_by_sh(court: Court) -> None:
    court.needs(MAVEN)
    mvnw = MAVEN.tree["mvnw"]
    assert isinstance(mvnw, Entry)
    judged = court.judge({**MAVEN.tree, "mvnw": Entry(mvnw.content)}, MAVEN.harmless)

    assert judged.build.status is Status.PASS, judged.build.reasoning
    assert judged.build.metadata["command"].startswith("sh mvnw -q -B ")
    assert (
        "mvnw is there but not executable, so `sh` runs it"
        in judged.build.metadata["recognised_by"]
    )


@pytest.mark.slow
@pytest.mark.nightly
def test_a_wrapper_with_windows_line_ends_gives_way_to_the_installed_tool(court: Court) -> None:
    court.needs(MAVEN)
    judged = court.judge(
        {**MAVEN.tree, "mvnw": script('#!/bin/sh\r\nexec mvn "$@"\r\n')}, MAVEN.harmless
    )

    assert judged.build.status is Status.PASS, judged.build.reasoning
    assert judged.build.metadata["command"].startswith("mvn -q -B ")
    assert (
        "mvnw has Windows line ends, so the installed `mvn` is used"
        in judged.build.metadata["recognised_by"]
    )


def test_a_command_that_does_not_exist(court: Court) -> None:
    judged = court.judge(NOTHING, CHANGE, command="no-such-tool --now")

    assert judged.build.status is Status.ERROR
    assert judged.build.metadata["reason"] == "tool_missing"
    assert "`no-such-tool` is not installed here" in judged.build.reasoning


def test_a_command_that_is_no_shell_command(court: Court) -> None:
    judged = court.judge(NOTHING, CHANGE, command="if then")

    assert judged.build.status is Status.ERROR, judged.build.reasoning
    assert judged.report.gate is Gate.ACTION_REQUIRED


@pytest.mark.parametrize(("timeout", "shown"), [(0, "0"), (0.0, "0.0"), ("0s", '"0s"'), (-1, "-1")])
def test_a_timeout_of_nothing_is_refused(court: Court, timeout: object, shown: str) -> None:
    with pytest.raises(ConfigError) as caught:
        court.judge(NOTHING, CHANGE, command="true", timeout=timeout)

    assert str(caught.value) == (
        ".github/prjury.yml of main line 1: tiers[0].judges[1].build.timeout: a duration is more "
        f"than 0 seconds, such as 90s, 30m, 2h, not {shown}."
    )


def test_a_build_that_does_not_end(court: Court) -> None:
    judged = court.judge(NOTHING, CHANGE, command="echo begun; sleep 60", timeout="1s")

    assert judged.build.status is Status.FAIL
    assert judged.build.metadata["stopped"] == "timeout"
    # What there was is said: a slow start takes of the second.
    assert re.fullmatch(r"did not finish within (0\.\d|1\.0) s", judged.build.reasoning)
    assert judged.seconds < 20


ODD = "größe & maß/mit leer/日本"


def test_spaces_and_unicode_in_the_names_of_directories(court: Court) -> None:
    tree: Tree = {
        **PYTEST.tree,
        f"{ODD}/test_odd.py": "def test_odd():\n    assert 1 == 1\n",
    }
    court.needs(PYTEST)
    assert court.judge(tree, PYTEST.harmless).build.status is Status.PASS
    change: Tree = {f"{ODD}/test_odd.py": "def test_odd():\n    assert 1 == 2\n"}
    judged = court.judge(tree, change)
    assert judged.build.status is Status.FAIL
    assert judged.places == [f"{ODD}/test_odd.py:2"]
    assert judged.build.metadata["ran_again"] == 1


def _partial(court: Court, base: Tree, change: Tree) -> Path:
    """A clone without the content of files that are larger than a kilobyte."""
    history: History = court.history(base, change)
    clone = court.place / "clone"
    history.clone(clone, "--bare", "--filter=blob:limit=1k")
    return clone


LARGE = "x" * 5_000


@pytest.mark.parametrize(
    ("base", "change"),
    [
        pytest.param({"shop/data.py": f"X = '{LARGE}'\n"}, PYTEST.harmless, id="code"),
        pytest.param({"docs/logo.png": LARGE}, PYTEST.harmless, id="a-picture"),
    ],
)
def test_a_clone_without_a_file_s_content(court: Court, base: Tree, change: Tree) -> None:
    court.needs(PYTEST)
    clone = _partial(court, {**PYTEST.tree, **base}, change)
    judged = court.review(clone)

    assert judged.build.status is Status.ERROR, judged.build.reasoning
    assert judged.build.metadata["reason"] == "object_missing"
    assert "cannot be written. This partial clone lacks the content. " in judged.build.reasoning
    assert "git fetch --refetch --no-filter" in judged.build.reasoning
    assert judged.report.gate is Gate.ACTION_REQUIRED


def test_the_environment_of_the_operator_is_no_build_s_business(court: Court) -> None:
    court.environ["MY_TOKEN"] = "canary"
    judged = court.judge(NOTHING, CHANGE, command="env; exit 1", pre_existing="block")

    log = Path(judged.build.metadata["log"]).read_text()
    assert "canary" not in log
    assert f"HOME={os.environ['HOME']}\n" not in log
