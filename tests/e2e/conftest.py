"""Fixtures of the end-to-end tests: the real program in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest


@dataclass(frozen=True)
class Run:
    """What became of one call of the program."""

    code: int
    out: str
    err: str

    @property
    def report(self) -> dict[str, Any]:
        loaded: dict[str, Any] = json.loads(self.out)
        return loaded

    def judgment(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = next(
            judgment
            for tier in self.report["tiers"]
            for judgment in tier["judgments"]
            if judgment["judge"] == name
        )
        return found

    @property
    def complaint(self) -> str:
        """The one line that an unsuccessful run ends with."""
        assert "Traceback" not in self.err
        lines = self.err.strip().splitlines()
        assert lines, "an unsuccessful run says why"
        return lines[-1]


Prjury = Callable[..., Run]


@pytest.fixture
def prjury(tmp_path: Path) -> Prjury:
    """Runs ``prjury`` with these arguments, without keys, away from any repository."""

    def call(*args: str | Path, cwd: Path | None = None, env: Mapping[str, str] = {}) -> Run:
        keys = ("_API_KEY", "_TOKEN", "OPENAI_BASE_URL", "GIT_")
        clean = {k: v for k, v in os.environ.items() if not any(word in k for word in keys)}
        done = subprocess.run(
            [sys.executable, "-m", "prjury", *map(str, args)],
            cwd=cwd or tmp_path,
            env={**clean, "XDG_STATE_HOME": str(tmp_path / "state"), **env},
            capture_output=True,
            check=False,
            timeout=300,
        )
        return Run(done.returncode, done.stdout.decode(), done.stderr.decode())

    return call


@contextmanager
def started(
    *args: str, cwd: Path | None = None, env: Mapping[str, str] = {}
) -> Iterator[subprocess.Popen[str]]:
    """``prjury`` with these arguments, while it runs; it does not outlive the test."""
    with subprocess.Popen(
        [sys.executable, "-m", "prjury", *args],
        cwd=cwd,
        env={**os.environ, **env},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.terminate()


def wait_until(condition: Callable[[], bool], seconds: float = 60.0) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "it does not come about"
        time.sleep(0.05)
