"""A runner of our own for where act cannot be had: it does what our workflows need, step by step.

It runs jobs one after the other on this host, composite actions from local directories, and
refuses whatever else a workflow may hold.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

import yaml

from runner.expressions import filled, holds
from runner.ran import Ran, Step
from runner.surroundings import through

_SECONDS_TO_RUN = 240.0
_SHELL = ("bash", "--noprofile", "--norc", "-e", "-o", "pipefail")

Given = Mapping[str, Any]
#: An action in this process: from inputs and the job's variables to its exit code and outputs.
OwnAction: TypeAlias = Callable[[Mapping[str, str], Mapping[str, str]], tuple[int, dict[str, str]]]


def _unwatched(_job: str, _result: str | None) -> None:
    """Nobody looks on."""


@dataclass(frozen=True)
class Host:
    """Runs workflows as `runner.act.Act` does.

    Attributes:
        repositories: local directories in place of repositories, by ``owner/name@ref``.
        directory: for everything that a run leaves.
        actions: played in this process instead, by ``owner/name``.
        watch: hears when a job begins, then without a result, and how it has ended.
    """

    repositories: Mapping[str, Path]
    directory: Path
    actions: Mapping[str, OwnAction] = field(default_factory=dict)
    watch: Callable[[str, str | None], None] = _unwatched

    name = "our own harness for `run:` steps"

    def run(
        self,
        workflow: Path,
        event: str,
        payload: Mapping[str, Any],
        env: Mapping[str, str],
        secrets: Mapping[str, str],
    ) -> Ran:
        """One run of every job of the workflow."""
        place = Path(tempfile.mkdtemp(dir=self.directory))
        (place / "event.json").write_text(json.dumps(payload))
        document = yaml.safe_load(workflow.read_text())
        assert event in (document.get("on") or document[True]), "the workflow has no such event"
        github = {
            "event": payload,
            "event_name": event,
            "token": secrets.get("GITHUB_TOKEN", ""),
            "repository": env.get("GITHUB_REPOSITORY"),
        }
        run = _Run(self, place, event, {"github": github, "secrets": secrets}, env)
        waiting = dict(document["jobs"])
        while waiting:
            name = next(
                name for name, job in waiting.items() if set(_needs(job)) <= set(run.results)
            )
            run.job(name, waiting.pop(name))
        jobs = {name: result for name, result in run.results.items() if result != "skipped"}
        code = int("failure" in jobs.values())
        return Ran(code, jobs, tuple(run.steps), "\n".join(run.log), tuple(run.summaries))


def _needs(job: Given) -> list[str]:
    needs = job.get("needs", [])
    return [needs] if isinstance(needs, str) else list(needs)


@dataclass
class _Run:
    """One run of a workflow, as far as it has come."""

    host: Host
    place: Path
    event: str
    context: Given
    env: Mapping[str, str]
    results: dict[str, str] = field(default_factory=dict)
    outputs: dict[str, dict[str, str]] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    log: list[str] = field(default_factory=list)
    summaries: list[tuple[str, str]] = field(default_factory=list)

    def job(self, name: str, job: Given) -> None:
        needs = _needs(job)
        before = {one: {"outputs": self.outputs[one], "result": self.results[one]} for one in needs}
        failed = any(self.results[one] != "success" for one in needs)
        context = {**self.context, "needs": before}
        self.outputs[name] = {}
        if not holds(job.get("if"), context, failed=failed):
            self.results[name] = "skipped"
            return
        self.host.watch(name, None)
        home = self.place / name
        for directory in ("home", "temp", "work"):
            (home / directory).mkdir(parents=True)
        env = {**self.env, **_filled(job.get("env", {}), context)}
        run = _Job(self, name, home, env)
        context |= {"runner": {"temp": str(home / "temp")}}
        ends = run.sequence(job["steps"], context, env, ())
        self.results[name] = "failure" if ends.failed else "success"
        context |= {"steps": ends.steps}
        self.outputs[name] = _filled(job.get("outputs", {}), context)
        self.host.watch(name, self.results[name])


@dataclass
class _Ends:
    """How a sequence of steps ended."""

    failed: bool = False
    steps: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class _Job:
    """A job while it runs."""

    run: _Run
    name: str
    home: Path
    env: Mapping[str, str]

    def sequence(
        self, steps: list[Given], context: Given, env: Mapping[str, str], above: tuple[str, ...]
    ) -> _Ends:
        ends = _Ends()
        for number, step in enumerate(steps):
            around = {**context, "steps": ends.steps}
            if not holds(step.get("if"), around, failed=ends.failed):
                continue
            ids = (*above, step.get("id", str(number)))
            own = {**env, **_filled(step.get("env", {}), around)}
            done = self._step(step, around, own, ids)
            self.run.steps.append(done)
            ends.steps[ids[-1]] = {"outputs": done.outputs}
            failed = done.result == "failure"
            ends.failed = ends.failed or (failed and not step.get("continue-on-error"))
        return ends

    def _step(self, step: Given, context: Given, env: Mapping[str, str], ids: Any) -> Step:
        name = step.get("name") or step.get("run") or step["uses"]
        if "uses" not in step:
            return self._command(step["run"], name, env, ids)
        started = time.monotonic()
        if action := self.run.host.actions.get(step["uses"].partition("@")[0]):
            given = _filled(step.get("with", {}), context)
            code, outputs = action(given, {**self._github(), **env})
            result = "failure" if code else "success"
            return Step(self.name, ids, name, result, time.monotonic() - started, outputs)
        directory = self.run.host.repositories[step["uses"]]
        action = yaml.safe_load((directory / "action.yml").read_text())
        assert action["runs"]["using"] == "composite", "no other action is run here"
        given = _filled(step.get("with", {}), context)
        unknown = set(given) - set(action["inputs"])
        assert not unknown, f"{name} has no inputs {unknown}"
        inputs = {
            key: given.get(key, filled(one.get("default"), context))
            for key, one in action["inputs"].items()
        }
        inner = {**self.run.context, "runner": context["runner"], "inputs": inputs}
        own = {**env, "GITHUB_ACTION_PATH": str(directory)}
        ends = self.sequence(action["runs"]["steps"], inner, own, ids)
        outputs = {
            key: filled(one["value"], {**inner, "steps": ends.steps})
            for key, one in action.get("outputs", {}).items()
        }
        result = "failure" if ends.failed else "success"
        return Step(self.name, ids, name, result, time.monotonic() - started, outputs)

    def _command(self, text: str, name: str, env: Mapping[str, str], ids: Any) -> Step:
        files = Path(tempfile.mkdtemp(dir=self.home))
        written = {
            f"GITHUB_{kind}": files / kind for kind in ("OUTPUT", "STEP_SUMMARY", "ENV", "PATH")
        }
        for file in written.values():
            file.touch()
        assert "${{" not in text, "no script of ours holds an expression"
        (files / "script").write_text(text)
        started = time.monotonic()
        done = subprocess.run(
            [*_SHELL, files / "script"],
            cwd=self.home / "work",
            env={
                **through(),
                **self._github(),
                **env,
                **{variable: str(file) for variable, file in written.items()},
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=_SECONDS_TO_RUN,
        )
        for file in (written["GITHUB_ENV"], written["GITHUB_PATH"]):
            assert not file.read_text(), "no step of ours changes the environment of others"
        self.run.log += [f"{self.name}| {line}" for line in done.stdout.splitlines()]
        if summary := written["GITHUB_STEP_SUMMARY"].read_text():
            self.run.summaries.append((self.name, summary))
        result = "failure" if done.returncode else "success"
        step = Step(self.name, ids, name, result, time.monotonic() - started)
        return replace(step, outputs=dict(_outputs(written["GITHUB_OUTPUT"])))

    def _github(self) -> dict[str, str]:
        return {
            "CI": "true",
            "HOME": str(self.home / "home"),
            "TMPDIR": str(self.home / "temp"),
            "GITHUB_ACTIONS": "true",
            "GITHUB_EVENT_NAME": self.run.event,
            "GITHUB_EVENT_PATH": str(self.run.place / "event.json"),
            "GITHUB_JOB": self.name,
            "GITHUB_WORKSPACE": str(self.home / "work"),
            "RUNNER_OS": "Linux",
            "RUNNER_TEMP": str(self.home / "temp"),
        }


def _filled(values: Given, context: Given) -> dict[str, str]:
    return {name: filled(value, context) for name, value in values.items()}


def _outputs(file: Path) -> Iterator[tuple[str, str]]:
    """``name=value``, or ``name<<WORD`` and lines until that word."""
    lines = iter(file.read_text().split("\n"))
    for line in lines:
        name, sign, word = line.partition("<<")
        if sign and "=" not in name:
            yield name, "\n".join(iter(lambda word=word: next(lines), word))  # type: ignore[misc]
        elif line:
            name, _, value = line.partition("=")
            yield name, value
