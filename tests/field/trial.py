"""One case: what prjury says of it, and what the maintainers' own commands say."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from field.clones import Clone
from field.corpus import Case, Repository

Outcome = Literal["green", "told", "asks", "red", "not judged"]

#: What the first line of a green report says where all tests ran, though a setting of them changed.
_TOLD = "test settings that this change edits"

#: Reasons of an ABSTAIN that shows a human what the change does to the tests.
_ASKS = ("tests_vanished", "failures_ignored", "build_changed")


@dataclass(frozen=True)
class Ran:
    """How a command ended.

    Attributes:
        code: None where the time was up.
    """

    code: int | None
    seconds: float
    stdout: str
    tail: str


@dataclass(frozen=True)
class Result:
    """What came of one case.

    Attributes:
        outcome: "told" is green, with a word in the first line on the test settings that changed.
        own: the exit code of the maintainers' own commands on the head, None where they were not
            run or had no time.
        reason: why it is not plainly green or red, as the build judge has it in its metadata.
    """

    repository: str
    case: str
    head: str
    outcome: Outcome
    gate: str
    headline: str
    status: str
    reason: str
    reasoning: str
    command: str
    tests: Mapping[str, Any] | None
    seconds: float
    own: int | None = None
    own_seconds: float | None = None

    def json(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False)


def own_commands(repository: Repository, clone: Clone, commit: str, timeout: float) -> Ran:
    """The maintainers' own commands in a fresh checkout of a commit."""
    with tempfile.TemporaryDirectory(prefix="field-own-", ignore_cleanup_errors=True) as place:
        tree, scratch = Path(place, "tree"), Path(place, "scratch")
        scratch.mkdir()
        clone.check_out(commit, tree)
        env = {**os.environ, "SCRATCH": str(scratch), "CI": "true"}
        env.pop("VIRTUAL_ENV", None)
        return _run(["/bin/sh", "-ec", repository.own], tree, env, timeout)


def review(case: Case, clone: Clone, timeout: float) -> Result:
    """What prjury says, with its own defaults, no model and no token."""
    head, base = clone.commit(case), clone.base(case)
    command = [sys.executable, "-P", "-m", "prjury", "review", "--repo", str(clone.path), "--base",
               base, "--head", head, "--no-llm", "--format", "json"]  # fmt: skip
    env = {k: v for k, v in os.environ.items() if k not in {"GITHUB_TOKEN", "GH_TOKEN"}}
    env.pop("VIRTUAL_ENV", None)
    ran = _run(command, clone.path, env, timeout)
    try:
        report = json.loads(ran.stdout)
    except ValueError:
        report = {}
    return _result(case, head, ran, report)


def _result(case: Case, head: str, ran: Ran, report: Mapping[str, Any]) -> Result:
    verdict = report.get("verdict", {})
    judgments = [one for tier in report.get("tiers", ()) for one in tier.get("judgments", ())]
    build: Mapping[str, Any] = next((one for one in judgments if one["judge"] == "build"), {})
    known = build.get("metadata", {})
    gate, headline = verdict.get("gate", ""), verdict.get("headline", "") or ran.tail
    return Result(
        repository=case.repository.name,
        case=case.name,
        head=head,
        outcome=_outcome(gate, build.get("status", ""), known.get("reason", ""), headline),
        gate=gate,
        headline=headline,
        status=build.get("status", ""),
        reason=known.get("reason") or "",
        reasoning=build.get("reasoning", ""),
        command=known.get("command") or "",
        tests=known.get("tests"),
        seconds=ran.seconds,
    )


def _outcome(gate: str, status: str, reason: str | None, headline: str) -> Outcome:
    if gate == "success":
        return "told" if _TOLD in headline else "green"
    if gate == "failure" and status != "error":
        return "red"
    return "asks" if status == "abstain" and reason in _ASKS else "not judged"


def _run(command: Sequence[str], cwd: Path, env: Mapping[str, str], timeout: float) -> Ran:
    started = time.monotonic()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(
            command, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
            start_new_session=True,
        )  # fmt: skip
        try:
            code: int | None = process.wait(timeout)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        seconds = round(time.monotonic() - started, 1)
        out.seek(0)
        err.seek(0)
        printed, told = out.read().decode(errors="replace"), err.read().decode(errors="replace")
    return Ran(code, seconds, printed, (printed + told)[-400:])


def lacks(repository: Repository) -> str:
    """The first program that is needed and missing, empty if there is none."""
    return next((name for name in repository.needs if shutil.which(name) is None), "")
