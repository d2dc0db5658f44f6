"""The programs that builds find on their PATH, some of them fetched from registries for the tests.

What is missing is a reason to skip, and a registry that does not answer is one as well: neither
says anything about this project.
"""

from __future__ import annotations

import fcntl
import functools
import os
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from integration.builds.debian_gradle import unpacked_gradle
from integration.builds.sample import Sample

_ROOT = Path(__file__).resolve().parents[3]

#: What machines without a way to the web tell Maven; the rest is handed on by default.
NETWORK_ENV = ("MAVEN_OPTS",)

#: What is not part of a developer's machine: how it is had, and where its programs are then.
_FETCHED = {
    "pnpm": ("npm install --silent --no-audit --no-fund --prefix . pnpm@10.34.9", "node_modules"),
    "tox": ("{uv} venv --quiet env && {uv} pip install --quiet --python env tox==4.67.13", "env"),
}


@dataclass(frozen=True)
class Toolbox:
    """A directory of programs, shared by all processes that run the tests."""

    place: Path

    @property
    def environ(self) -> Mapping[str, str]:
        """The operator's environment, with these programs first on the PATH.

        ``python3`` is the Python that runs the tests, which has pytest: the virtual environment
        itself is kept off the PATH of builds.
        """
        bin_ = self.place / "bin"
        kept = {name: value for name, value in os.environ.items() if name != "VIRTUAL_ENV"}
        path = f"{bin_}{os.pathsep}{os.environ['PATH']}"
        return {**kept, "PATH": path}

    def lacks(self, sample: Sample) -> str | None:
        """Why the sample cannot be built here, if so."""
        for program in sample.needs:
            if not self.has(program):
                return f"not installed: {program}"
        if sample.registry and not answers(sample.registry):
            return f"does not answer: {sample.registry}"
        return None

    def has(self, program: str) -> bool:
        """Whether there is such a program, fetched if need be."""
        bin_ = self.place / "bin"
        with _alone(self.place):
            bin_.mkdir(exist_ok=True)
            if not (bin_ / program).exists():
                self._provide(program, bin_ / program)
            if program == "go" and not (self.place / "library").exists():
                self._compile_library()
        return shutil.which(program, path=self.environ["PATH"]) is not None

    def _provide(self, program: str, link: Path) -> None:
        if program == "python3":
            link.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
            link.chmod(0o755)
        elif program == "uv" and (uv := _uv()):
            link.symlink_to(uv)
        elif program == "gradle" and shutil.which(program) is None:
            if unpacked := unpacked_gradle(self.place / "debian-gradle"):
                link.symlink_to(unpacked)
        elif program in _FETCHED and shutil.which(program) is None and _uv():
            self._fetch(program, link)

    def _compile_library(self) -> None:
        """Let Go compile its library into the operator's cache; no build's layer is kept."""
        place = self.place / "library"
        place.mkdir()
        (place / "go.mod").write_text("module library\n\ngo 1.21\n")
        (place / "library_test.go").write_text(
            'package library\n\nimport (\n\t"errors"\n\t"fmt"\n\t"os"\n\t"testing"\n)\n\n'
            "func TestOne(t *testing.T) {\n\tfmt.Fprintln(os.Stderr, errors.New(t.Name()))\n}\n"
        )
        for command in (["go", "build", "std"], ["go", "test", "./..."]):
            subprocess.run(command, cwd=place, env=self.environ, check=False, capture_output=True)

    def _fetch(self, program: str, link: Path) -> None:
        command, below = _FETCHED[program]
        place = self.place / program
        place.mkdir(exist_ok=True)
        line = command.format(uv=_uv())
        done = subprocess.run(["/bin/sh", "-c", line], cwd=place, check=False, capture_output=True)
        found = [place / below / bin_ / program for bin_ in (".bin", "bin")]
        if done.returncode == 0:
            link.symlink_to(next(path for path in found if path.exists()))


@contextmanager
def _alone(place: Path) -> Iterator[None]:
    """One process at a time."""
    place.mkdir(parents=True, exist_ok=True)
    with (place / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _uv() -> str | None:
    """uv, which need not be on the PATH of those who run the tests by it."""
    own = _ROOT / ".uv" / "bin" / "uv"
    found = os.environ.get("UV") or shutil.which("uv")
    return found or (str(own) if own.exists() else None)


@functools.cache
def answers(address: str) -> bool:
    """Whether a registry can be reached; asked three times, for it may only be busy."""
    for pause in (1, 3, 0):
        try:
            with urllib.request.urlopen(address, timeout=10):  # noqa: S310 - our own addresses
                return True
        except (urllib.error.URLError, OSError):
            time.sleep(pause)
    return False
