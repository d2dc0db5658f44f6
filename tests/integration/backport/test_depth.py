"""How much is looked into beside a review that asks for no backport: processes, not seconds."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from fakes.history import ENVIRONMENT, History
from integration.backport.bench import lines

#: Git processes of a review without release branches, those for each branch beside it, and our
#: modules that are loaded for branches alone.
MOST_GITS, MOST_FOR_A_BRANCH, MOST_MODULES = 40, 20, 30
_COUNTING = '#!/bin/sh\necho "$*" >> "{log}"\nexec "{git}" "$@"\n'
_POLICY = "version: 1\nbackport: {branches: []}\n"
NEW = {f"new{number}.py": f"def new{number}():\n    pass\n" for number in range(9)}
PATHS = ("a.py", *(f"part{number}.py" for number in range(14)))


@dataclass(frozen=True)
class Run:
    """A review: its exit code, its report, and what git was asked."""

    code: int
    report: dict[str, Any]
    gits: list[str]
    modules: set[str]


@dataclass(frozen=True)
class Place:
    """A repository with two release branches that conflict with its unlikely change."""

    history: History
    directory: Path

    def review(self, *args: str) -> Run:
        """Review the change in a process of its own, with a git that counts."""
        log = self.directory / "git.log"
        log.unlink(missing_ok=True)
        env = ENVIRONMENT | {"PATH": f"{self.directory / 'bin'}:{ENVIRONMENT['PATH']}"}
        sides = ["--repo", str(self.history.path), "--base", "main", "--head", "change"]
        argv = ["review", *sides, "--no-build", "--no-llm", "--format", "json", *args]
        run = [sys.executable, "-X", "importtime", "-m", "prjury", *argv]
        done = subprocess.run(
            run, env=env, cwd=self.directory, capture_output=True, text=True, check=False
        )
        modules = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
        return Run(done.returncode, json.loads(done.stdout), log.read_text().splitlines(), modules)

    def without_branches(self) -> Run:
        """The same by a policy that tries no backport."""
        policy = self.directory / "none.yml"
        policy.write_text(_POLICY)
        return self.review("--config", str(policy))


@pytest.fixture
def place(tmp_path: Path) -> Place:
    binaries = tmp_path / "bin"
    binaries.mkdir()
    git = binaries / "git"
    git.write_text(_COUNTING.format(log=tmp_path / "git.log", git=shutil.which("git")))
    git.chmod(0o755)
    history = History(tmp_path / "repo")
    history.commit({path: lines() for path in PATHS}, "start")
    history.branch("1.x", "main")
    history.branch("2.x", "main")
    for number in range(5, 20):
        files = {path: lines({number: f"new{number}"}) for path in PATHS}
        history.extend("main", [(files, f"Add step {number}")])
    for branch in ("1.x", "2.x"):
        files = {path: lines({19: branch, 20: branch}) for path in PATHS}
        history.extend(branch, [(files, "On the branch")])
    change = {path: lines({19: "total(b)", 20: "x"}) for path in PATHS}
    history.branch("change", "main")
    history.extend("change", [({**change, **NEW}, "Refactor and drop the deprecated typing")])
    history.checkout()
    return Place(history, tmp_path)


def searches(run: Run) -> list[str]:
    """What is asked only to find missing names and prerequisites."""
    return [line for line in run.gits if " blame " in line or " grep " in line]


def test_release_branches_that_nobody_asked_for_cost_few_processes(place: Place) -> None:
    alone, beside = place.without_branches(), place.review()
    named = place.review("--onto", "1.x", "--onto", "2.x")

    assert [one["band"] for one in beside.report["backports"]] == ["unlikely", "unlikely"]
    left_out = "not checked, because the verdict is clear: names that 1.x lacks, prerequisites"
    assert left_out in beside.report["backports"][1]["reasons"]
    assert not searches(beside)
    assert len(alone.gits) <= MOST_GITS
    assert len(beside.gits) - len(alone.gits) <= 2 * MOST_FOR_A_BRANCH
    assert searches(named)
    assert left_out not in named.report["backports"][1]["reasons"]
    more = {name for name in beside.modules - alone.modules if name.startswith("prjury.")}
    assert len(more) <= MOST_MODULES


def test_nothing_is_tried_beside_a_rejected_change_but_what_is_named(place: Place) -> None:
    place.history.extend("main", [({"a.py": lines({19: "mine"})}, "Collide")])
    place.history.checkout()

    beside = place.review("--onto", "1.x")

    assert (beside.code, beside.report["verdict"]["status"]) == (1, "fail")
    named, other = beside.report["backports"]
    assert (named["branch"], named["applies"]) == ("1.x", False)
    assert (other["branch"], other["verdict"], other["applies"]) == ("2.x", "not_applicable", None)
    assert other["reasons"] == ["not tried: the change is rejected"]
    assert not any("2.x" in line and "merge-tree" in line for line in beside.gits)
