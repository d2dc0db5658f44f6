"""What the job of a repository's own CI that tests pull requests needs beside the tree. Pure.

It decides whether a build of ours could stand for that job, and how its tools are set up.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from prjury.app.setup_steps import SetupStep
from prjury.judges.builds.calls import WORDS
from prjury.judges.builds.ci import BaseCi, CiJob
from prjury.judges.builds.ci_steps import has_part
from prjury.judges.builds.toolchains import Toolchains
from prjury.manifests.spans import release

#: Actions that set up a tool that a build of ours can use as they are.
_TOOLS = frozenset(
    (
        "actions/setup-java actions/setup-node actions/setup-python actions/setup-go "
        "actions/setup-dotnet actions-rust-lang/setup-rust-toolchain astral-sh/setup-uv "
        "denoland/setup-deno dtolnay/rust-toolchain erlef/setup-beam gradle/actions/setup-gradle "
        "oven-sh/setup-bun pdm-project/setup-pdm pnpm/action-setup ruby/setup-ruby "
        "shivammathur/setup-php swatinem/rust-cache"
    ).split()
)
#: Actions that set nothing up, beside the words of the builds.
_HARMLESS = frozenset({"actions/checkout", "actions/cache", "actions/upload-artifact"})
_SERVER = re.compile(r"(?<![&|>])&\s*$|(?:^|\s)nohup\s")
_SCRIPT = re.compile(
    r"(?:^|[\s;&|])(?:(?:bash|sh)\s+|\./)[\w./-]*(?:setup|start|prepare|before|install|up)[\w.-]*"
    r"|\bcp\s+\.env"
)


class GitHubRunner(Toolchains, frozen=True, dict=True):
    """A runner on which the CI's own steps set up the tools.

    Every program is there, and the newest version is the nearest.
    """

    def has(self, program: str) -> bool:  # noqa: ARG002 - whatever it is
        """True."""
        return True

    def distance(self, tool: str, wanted: str) -> float:  # noqa: ARG002 - of whatever tool
        """The distance of a version: the smaller, the newer it is."""
        numbers = release(wanted)
        if not numbers:
            return 1.0
        major, minor = (*numbers, 0)[:2]
        return 1 / (2 + major * 1_000 + minor)


def find_main_job(ci: BaseCi | None) -> CiJob | None:
    """The job that a build of ours would stand for."""
    return ci.jobs[0] if ci and ci.jobs else None


def list_needs(ci: BaseCi | None) -> tuple[str, ...]:
    """The needs of its main job beside the tree and its tools, one clause each."""
    job = find_main_job(ci)
    if job:
        return tuple(dict.fromkeys(_list_needs(job)))
    if ci is None:
        return ()
    tests = [f"`{step.text}` ({step.why})" for step in ci.left_out if step.tests]
    return tuple(dict.fromkeys([*(f"the workflow {name}" for name in ci.external), *tests]))


def _list_needs(job: CiJob) -> Iterator[str]:
    if job.services:
        yield f"the service {' and '.join(job.services)}"
    if has_part(job.machine, WORDS["other_machines"]):
        yield f"the machine {job.machine}"
    last_line = max((_read_line(step.origin) for step in job.steps), default=0)
    for step in job.left_out:
        is_behind = _read_line(step.origin) > last_line and not step.tests
        if step.kind == "packages":
            yield f"system packages (`{step.text}`)"
        elif step.kind == "services" and not step.text.startswith("services:"):
            yield f"containers (`{step.text}`)"
        elif step.kind == "elsewhere" and not is_behind:
            yield f"`{step.text}` ({step.why})"
    yield from _list_needs_of_steps(job)


def _read_line(origin: str) -> int:
    line = origin.rpartition(":")[2]
    return int(line) if line.isdecimal() else 0


def _list_needs_of_steps(job: CiJob) -> Iterator[str]:
    for action in (step.action for step in job.actions):
        is_known = action.lower() in _TOOLS or has_part(action, WORDS["harmless_actions"])
        if not is_known and action not in _HARMLESS:
            yield f"`{action}`"
    for script in (step.script for step in job.steps):
        for line in script.splitlines():
            if _SERVER.search(line) or _SCRIPT.search(line):
                yield f"a set-up of its own (`{line.strip()}`)"


def list_setup(ci: BaseCi | None) -> Mapping[str, SetupStep]:
    """The steps that set up the tools of its jobs, as they stand there, by their actions."""
    steps: dict[str, SetupStep] = {}
    actions = [step for job in (ci.jobs if ci else ()) for step in job.actions]
    for step in reversed(actions):  # the main job has the last word
        if step.action.lower() not in _TOOLS:
            continue
        inputs = {key: text for key, text in step.inputs.items() if text}
        if step.action == "dtolnay/rust-toolchain" and step.uses.endswith("@master"):
            inputs = {"toolchain": "stable", **inputs}
        name = step.action.rpartition("/")[2].removeprefix("setup-").removeprefix("action-")
        name = step.action.partition("/")[0] if name == "setup" else name
        ref = step.uses.partition("@")[2]
        steps[step.action] = SetupStep(f"Set up {name}", step.action, inputs, ref)
    return dict(reversed(steps.items()))
