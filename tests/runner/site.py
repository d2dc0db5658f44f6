"""What a test of a workflow works with: a shop, its GitHub, a runner, and what jobs hand over."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NoReturn, Protocol

import pytest

from fakes.github import FakeGitHub
from runner.ran import Ran
from runner.shop import Shop
from runner.surroundings import ROOT
from runner.tokens import tokens_for

_INSTALLATION = "Install PR Jury"
EXAMPLES = ROOT / ".github" / "workflows" / "examples"


def unavailable(why: str) -> NoReturn:
    """Skips the test on a developer's machine; in CI nothing may go untested unnoticed."""
    if os.environ.get("CI"):
        pytest.fail(why, pytrace=False)
    pytest.skip(why)


class Runner(Protocol):
    """Whatever runs a workflow."""

    name: str

    def run(
        self,
        workflow: Path,
        event: str,
        payload: Mapping[str, Any],
        env: Mapping[str, str],
        secrets: Mapping[str, str],
    ) -> Ran: ...


@dataclass(frozen=True)
class Artifact:
    """What a job has handed over."""

    id: int
    name: str
    digest: str
    content: bytes

    def file(self, name: str) -> bytes:
        """One file of a zipped artifact."""
        with zipfile.ZipFile(BytesIO(self.content)) as archive:
            return archive.read(name)


@dataclass(frozen=True)
class Site:
    """A shop at a GitHub, and somebody who runs its workflows.

    Attributes:
        store: where jobs leave what they hand over.
        note: tells how long the action took to install itself.
    """

    shop: Shop
    fake: FakeGitHub
    runner: Runner
    store: Path
    note: Callable[[float], None] = lambda seconds: None

    def run(
        self,
        workflow: str | Path,
        event: str,
        payload: Mapping[str, Any],
        *,
        corrupted: str = "",
        lost: str = "",
        no_quota: str = "",
        attempt: int = 1,
    ) -> Ran:
        """Runs an example, or any other workflow.

        A fork's code gets a token that only reads; what runs afterwards, on the default branch,
        gets what its permissions say.

        Args:
            corrupted: the artifact that changes while it is kept.
            lost: the artifact that the first one who asks does not get.
            no_quota: a pattern of the artifacts for which there is no room.
            attempt: a later one of the last run.
        """
        untrusted = event == "pull_request" and self.shop.fork is not None
        with TemporaryDirectory() as place:
            tokens = tokens_for(EXAMPLES / workflow, Path(place), read_only=untrusted)
            self.fake.accounts |= tokens.accounts
            self.shop.git.tokens = tokens.readers
            kept = {"ARTIFACTS": str(self.store), "CORRUPTED": corrupted, "LOST": lost}
            kept["NO_QUOTA"] = no_quota
            env = {**self.shop.env(attempt), **kept}
            ran = self.runner.run(tokens.workflow, event, payload, env, tokens.secrets)
        told = ran.log + ran.summary()
        leaked = [name for name, value in tokens.secrets.items() if value in told]
        assert leaked == [], ran.log
        for step in ran.steps:
            if step.name == _INSTALLATION and step.result == "failure":
                unavailable(f"the action cannot install itself: {ran.log[-1_000:]}")
            elif step.name == _INSTALLATION and step.seconds:
                self.note(step.seconds)
        return ran

    @property
    def artifacts(self) -> list[Artifact]:
        """What was handed over until now, oldest first."""
        return [_artifact(file) for file in sorted(self.store.glob("*.json"))]


def _artifact(file: Path) -> Artifact:
    told = json.loads(file.read_text())
    content = file.with_suffix(".content").read_bytes()
    return Artifact(told["id"], told["name"], told["digest"], content)
