"""nektos/act, a runner of GitHub Actions that other people wrote, on this host without containers.

The version is pinned here. It is built once for all test runs, below the user's cache directory.
Permissions of tokens, rules for forks, OIDC and the artifact service are not modelled by it, and
the outputs of a job that was skipped are not empty: they are the expressions as they stand.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from runner.ran import Ran, Step
from runner.surroundings import alone, cache_directory, through

VERSION = "v0.2.87"

_SECONDS_TO_INSTALL = 420.0
_SECONDS_TO_RUN = 240.0
#: Other test processes of the same run do not try again what has just failed.
_SECONDS_OF_GIVING_UP = 900.0
_LABELS = ("ubuntu-latest", "ubuntu-24.04", "ubuntu-22.04")
#: What act would look for in a repository around its work directory, where there is none.
_NO_COMMIT = "0" * 40

Line: TypeAlias = Mapping[str, Any]


class NoRunnerError(Exception):
    """Act cannot be had here; the message says why."""


@dataclass(frozen=True)
class Installed:
    """The program, and how many seconds its installation took; None if it was there already."""

    program: Path
    seconds: float | None


def install() -> Installed:
    """Act of the pinned version, built from source if it is not there yet.

    Raises:
        NoRunnerError: when it cannot be built here.
    """
    place = cache_directory() / f"act-{VERSION}"
    program, refused = place / "act", place / "refused"
    with alone(place):
        if program.is_file():
            return Installed(program, None)
        if refused.is_file() and time.time() - refused.stat().st_mtime < _SECONDS_OF_GIVING_UP:
            raise NoRunnerError(refused.read_text())
        started = time.monotonic()
        try:
            _build(program)
        except NoRunnerError as error:
            refused.write_text(str(error))
            raise
        return Installed(program, time.monotonic() - started)


def _build(program: Path) -> None:
    go = shutil.which("go")
    if go is None:
        raise NoRunnerError("Go is not installed")
    with tempfile.TemporaryDirectory(dir=program.parent) as making:
        try:
            done = subprocess.run(
                [go, "install", f"github.com/nektos/act@{VERSION}"],
                cwd=making,
                env={**os.environ, "GOBIN": making, "GOFLAGS": "", "CGO_ENABLED": "0"},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                check=False,
                timeout=_SECONDS_TO_INSTALL,
            )
        except subprocess.TimeoutExpired:
            raise NoRunnerError(f"go install takes more than {_SECONDS_TO_INSTALL:g} s") from None
        if done.returncode:
            raise NoRunnerError(f"go install failed: {done.stderr.strip()[-300:]}")
        Path(making, "act").rename(program)


@dataclass(frozen=True)
class Act:
    """Runs workflows; nothing of this process's environment reaches them but what is named.

    Attributes:
        repositories: local directories in place of repositories, by ``owner/name@ref``.
        directory: for everything that a run leaves.
    """

    program: Path
    repositories: Mapping[str, Path]
    directory: Path

    name = f"act {VERSION} in host mode"

    def run(
        self,
        workflow: Path,
        event: str,
        payload: Mapping[str, Any],
        env: Mapping[str, str],
        secrets: Mapping[str, str],
    ) -> Ran:
        """One run of every job of the workflow.

        Args:
            env: what GitHub sets for a run, such as ``GITHUB_API_URL``.
        """
        place = Path(tempfile.mkdtemp(dir=self.directory))
        for name in ("home", "work", "cache", "temp"):
            (place / name).mkdir()
        (place / "event.json").write_text(json.dumps(payload))
        command: list[str | Path] = [
            self.program,
            *(event, "--json", "--no-cache-server", "--action-offline-mode", "--pull=false"),
            # What it hides in its log would be hidden from the tests as well.
            "--insecure-secrets",
            *("--workflows", workflow, "--eventpath", place / "event.json"),
            *("--directory", place / "work", "--action-cache-path", place / "cache"),
            *_options("--platform", dict.fromkeys(_LABELS, "-self-hosted")),
            *_options("--local-repository", {k: str(v) for k, v in self.repositories.items()}),
            *_options("--env", {"SHA_REF": _NO_COMMIT, **env}),
            *_options("--secret", secrets),
        ]
        done = subprocess.run(
            command,
            cwd=place / "work",
            env={
                **through(),
                "HOME": str(place / "home"),
                "TMPDIR": str(place / "temp"),
                "ACT_DISABLE_VERSION_CHECK": "1",
            },
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=_SECONDS_TO_RUN,
        )
        return told(done.returncode, (done.stdout + done.stderr).splitlines())


def _options(option: str, values: Mapping[str, str]) -> Iterator[str]:
    for name, value in values.items():
        yield option
        yield f"{name}={value}"


def told(code: int, lines: Iterable[str]) -> Ran:
    """What act's log in JSON tells of a run."""
    jobs: dict[str, str] = {}
    outputs: dict[tuple[str, tuple[str, ...]], dict[str, str]] = {}
    summaries: list[tuple[str, str]] = []
    steps, log = [], []
    for line in map(_read, lines):
        job, ids = line.get("jobID", ""), tuple(line.get("stepID", ()))
        log.append(f"{job}| {str(line.get('msg', '')).rstrip()}")
        if "jobResult" in line:
            jobs[job] = line["jobResult"]
        elif line.get("command") == "set-output":
            outputs.setdefault((job, ids), {})[line["name"]] = line["arg"]
        elif line.get("command") == "summary":
            said = (job, line["content"])
            if summaries[-1:] != [said]:  # told once more when the action ends
                summaries.append(said)
        elif "executionTime" in line and line["stage"] == "Main":
            steps.append((job, ids, line))
    ran = tuple(_step(job, ids, line, outputs.get((job, ids), {})) for job, ids, line in steps)
    return Ran(code, jobs, ran, "\n".join(log), tuple(summaries))


def _step(job: str, ids: tuple[str, ...], line: Line, outputs: dict[str, str]) -> Step:
    # The name stands between "… Success - Main " and " [2.5s]".
    name = line["msg"].partition(" Main ")[2].rpartition(" [")[0]
    return Step(job, ids, name, line["stepResult"], line["executionTime"] / 1e9, outputs)


def _read(line: str) -> Line:
    try:
        read = json.loads(line)
    except ValueError:
        return {"msg": line}
    return read if isinstance(read, dict) else {"msg": line}
