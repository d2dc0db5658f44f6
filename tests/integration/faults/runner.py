"""A runner whose jobs are processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from fakes.github import FakeGitHub
from integration.faults.driver import write
from integration.faults.stage import Handed

TESTS = Path(__file__).resolve().parents[2]
DRIVER = Path(__file__).with_name("driver.py")


@dataclass
class Runner:
    """Where jobs are processes."""

    process: subprocess.Popen[str]
    directory: Path
    is_running: bool = False

    def start(
        self, fake: FakeGitHub, name: str, mode: str, case: str, run: int = 12, attempt: int = 1
    ) -> int:
        """A job's number as a process. A job that a failed test has left behind ends before."""
        if self.is_running:
            self.end()
        told = {
            "directory": str(self.directory / name),
            "url": fake.url,
            "mode": mode,
            "case": case,
            "run": run,
            "attempt": attempt,
        }
        assert self.process.stdin
        self.process.stdin.write(json.dumps(told) + "\n")
        self.process.stdin.flush()
        self.is_running = True
        number = self._number()
        assert number > 1  # signals to 0 and below reach whole groups, the tests' own among them
        return number

    def end(self) -> int:
        """How the job has ended: an exit code, or a signal's number below zero."""
        self.is_running = False
        return self._number()

    def _number(self) -> int:
        assert self.process.stdout
        return int(self.process.stdout.readline())


@contextmanager
def running_jobs(directory: Path, cases: Mapping[str, Handed]) -> Iterator[Runner]:
    """A runner that knows these verdicts by name."""
    for name, case in cases.items():
        write(directory / "judged", name, case)
    with subprocess.Popen(
        [sys.executable, str(DRIVER), str(directory / "judged")],
        env={"PYTHONPATH": str(TESTS), "PATH": os.environ["PATH"]},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield Runner(process, directory)
        assert process.stdin
        process.stdin.close()
