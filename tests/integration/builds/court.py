"""A change to a fixture project, made in a real repository and judged by the whole program."""

from __future__ import annotations

import json
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from fakes.history import Entry, History
from fakes.shell import SilentProgress
from integration.builds.sample import Sample, Tree
from integration.builds.toolbox import NETWORK_ENV, Toolbox
from prjury.app.request import ReviewRequest, RunEnvironment
from prjury.app.review import run
from prjury.git.open_snapshot import SnapshotRequest
from prjury.jury.judgment import Check, Judgment
from prjury.report.model import Report


@dataclass(frozen=True)
class Judged:
    """What came of it.

    Attributes:
        seconds: how long the whole review took.
    """

    report: Report
    seconds: float

    @property
    def build(self) -> Judgment:
        """The build judge's judgment."""
        ballots = [
            ballot
            for tier in self.report.tiers
            for ballot in (tier.attempt.verdict.ballots if tier.attempt.verdict else ())
        ]
        return next(ballot.judgment for ballot in ballots if ballot.judge == "build")

    @property
    def causes(self) -> list[Check]:
        """The checks that name what is wrong, the first cause first."""
        known = {"build-executed", "tests-passed"}
        return [check for check in self.build.failed_checks if check.name not in known]

    @property
    def places(self) -> list[str]:
        """Where they say that it is."""
        return [str(check.location) for check in self.causes if check.location]

    @property
    def states(self) -> set[str]:
        """The states of the failures that are no more than a part of the build giving up."""
        failures: list[dict[str, Any]] = list(self.build.metadata.get("failures", ()))
        return {failure["state"] for failure in failures if failure["kind"] != "goal"}


@dataclass
class Court:
    """Judges changes in repositories of its own.

    Attributes:
        place: where those are.
        environ: what differs in the operator's environment.
        level: that of the sandbox.
    """

    place: Path
    toolbox: Toolbox
    environ: dict[str, str] = field(default_factory=dict)
    progress: SilentProgress = field(default_factory=SilentProgress)
    level: str = "auto"

    @classmethod
    def at(cls, tmp_path: Path) -> Court:
        """One for a test, whose programs are fetched once for all tests of a session."""
        session = tmp_path.parent
        session = session.parent if session.name.startswith("popen-") else session
        return cls(tmp_path, Toolbox(session / "toolbox"))

    def needs(self, sample: Sample) -> None:
        """Skips the test where the sample cannot be built on this machine."""
        if missing := self.toolbox.lacks(sample):
            pytest.skip(missing)

    def judge(self, base: Tree, change: Tree, **options: Any) -> Judged:
        """Judges a change to a tree, with these options of the build judge in the base's policy."""
        return self.review(self.history(base, change, **options).path)

    def review(
        self,
        repository: Path,
        base: str = "main",
        head: str = "change",
        config: Path | None = None,
    ) -> Judged:
        """Judges what would bring one ref of a repository into the other."""
        started = time.monotonic()
        wanted = SnapshotRequest(repository, base=base, head=head)
        report = run(
            ReviewRequest(wanted, config=config, offline=True),
            RunEnvironment({**self.toolbox.environ, **self.environ}, self.progress),
        )
        return Judged(report, time.monotonic() - started)

    def history(self, base: Tree, change: Tree, **options: Any) -> History:
        """The repository with the branches ``main`` and ``change``."""
        number = len(list(self.place.iterdir())) if self.place.exists() else 0
        history = History(self.place / f"repository-{number}")
        policy = _policy(options, self.find_level(base))
        history.commit({**base, ".github/prjury.yml": policy}, "start")
        history.switch("change", create=True)
        history.commit(change, "change")
        return history

    def find_level(self, base: Tree) -> str:
        """The sandbox's level for a tree: Debian's Gradle mounts, which L2 forbids."""
        mounts = "build.gradle" in base and (self.toolbox.place / "debian-gradle/root").exists()
        return "L1" if mounts else self.level

    def locked(self, sample: Sample) -> Tree:
        """The sample's tree, with the lock file that its tool writes."""
        if not sample.lock:
            return sample.tree
        place = self.toolbox.place / f"locked-{sample.name}"
        write(place, sample.tree)
        done = subprocess.run(
            sample.lock, cwd=place, env=self.toolbox.environ, check=False, capture_output=True
        )
        assert done.returncode == 0, done.stderr.decode()
        return {**sample.tree, f"{sample.lock[0]}.lock": (place / "uv.lock").read_text()}


def write(place: Path, tree: Tree) -> None:
    """Writes a tree to the disk."""
    for path, content in tree.items():
        if content is None:
            continue
        file = place / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.content if isinstance(content, Entry) else content.encode())
        file.chmod(0o755 if isinstance(content, Entry) and content.mode == "100755" else 0o644)


def _policy(options: dict[str, Any], level: str) -> str:
    """The policy file as JSON, which is YAML as well."""
    build = {name.rstrip("_"): value for name, value in options.items()}
    return json.dumps(
        {
            "version": 1,
            "tiers": [
                {
                    "name": "build",
                    "policy": "final_tier",
                    "judges": ["merge", {"build": build}],
                }
            ],
            "sandbox": {"env": list(NETWORK_ENV), "level": level},
        }
    )
