"""The job of a repository's own CI that tests pull requests: its set-up, and what it needs. Pure.

What it needs beside the tree and its tools decides whether a build of ours could stand for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from prjury.app.setup_steps import SetupStep
from prjury.manifests.matrix import ExpressionContext, matrix_rows
from prjury.manifests.workflow import Workflow, WorkflowJob, WorkflowStep

#: Actions that set up a tool that a build of ours can use as they are.
_TOOLS = frozenset(
    (
        "actions/setup-java actions/setup-node actions/setup-python actions/setup-go "
        "actions/setup-dotnet actions-rust-lang/setup-rust-toolchain astral-sh/setup-uv "
        "denoland/setup-deno dtolnay/rust-toolchain gradle/actions/setup-gradle oven-sh/setup-bun "
        "pdm-project/setup-pdm pnpm/action-setup ruby/setup-ruby shivammathur/setup-php "
        "swatinem/rust-cache"
    ).split()
)
#: Actions that set nothing up.
_HARMLESS = frozenset({"actions/checkout", "actions/cache", "actions/upload-artifact"})
_TEST = re.compile(
    r"(?<![\w.-])(?:pytest|tox|nox|unittest|ctest|rspec|rake|phpunit|prove|bats|gotestsum)\b"
    r"|(?<![\w-])(?:tests?|spec|verify|nextest)(?![\w/.])|\bmake\s+(?:check|ci)\b",
    re.IGNORECASE,
)
_ASIDE = re.compile(r"lint|docs?\b|bench|fuzz|cover|release|publish|deploy|e2e|type", re.IGNORECASE)
_SECRET = re.compile(r"\bsecrets\s*\.\s*(?!GITHUB_TOKEN\b)(\w+)", re.IGNORECASE)
_PACKAGES = re.compile(
    r"(?:^|[\s;&|(])(?:sudo\s+)?(?:apt|apt-get|yum|dnf|apk|brew|choco)\s+(?:-\S+\s+)*install\b"
)
_CONTAINERS = re.compile(r"(?:^|[\s;&|(])(?:docker|docker-compose|podman)\s")
_SERVER = re.compile(r"(?<![&|>])&\s*$|(?:^|\s)(?:nohup|systemctl\s+start|service\s+\S+\s+start)\s")
_SCRIPT = re.compile(
    r"(?:^|[\s;&|])(?:(?:bash|sh)\s+|\./)[\w./-]*(?:setup|start|prepare|before|install|up)[\w.-]*"
    r"|\bcp\s+\.env",
    re.MULTILINE,
)
_LINUX = re.compile(r"windows|macos", re.IGNORECASE)


@dataclass(frozen=True)
class TestJob:
    """A job that runs the tests.

    Attributes:
        path: of its workflow.
        setup: the steps that set up its tools, as they stand there.
        needs: what it needs besides, one clause each.
    """

    path: str
    job: str
    setup: tuple[SetupStep, ...] = ()
    needs: tuple[str, ...] = ()


def find_test_job(workflows: Iterable[Workflow]) -> TestJob | None:
    """The job that tests pull requests; of several the one that needs least, the main one first."""
    ranked = []
    for workflow in workflows:
        if not {"pull_request", "push"} & workflow.triggers.keys():
            continue
        for job in workflow.jobs:
            tests = [index for index, step in enumerate(job.steps) if _TEST.search(step.run)]
            if tests and not any("pr-jury" in step.action for step in job.steps):
                test_job = _read_job(workflow, job, tests[-1])
                aside = _ASIDE.search(f"{workflow.path.rpartition('/')[2]} {job.id}") is not None
                rank = (aside, bool(test_job.needs), "pull_request" not in workflow.triggers)
                ranked.append((rank, test_job))
    return min(ranked, key=lambda one: one[0])[1] if ranked else None


def _read_job(workflow: Workflow, job: WorkflowJob, last: int) -> TestJob:
    context = _context_of(workflow, job)
    steps = [step for step in job.steps[: last + 1] if context.holds(step.condition) is not False]
    needs = dict.fromkeys([*_needs_of_job(job, context), *_needs_of_steps(steps)])
    return TestJob(workflow.path, job.id, tuple(_setup(steps, context)), tuple(needs))


def _context_of(workflow: Workflow, job: WorkflowJob) -> ExpressionContext:
    known = {
        "github": {"event_name": "pull_request", "workspace": "."},
        "runner": {"os": "Linux"},
        "env": {**workflow.env, **job.env},
    }
    rows = list(matrix_rows(job.strategy.get("matrix"), ExpressionContext(known)))
    contexts = [ExpressionContext({**known, "matrix": row}) for row in rows]
    linux = [one for one in contexts if not _LINUX.search(_machine(job, one))]
    return [*contexts, *linux][-1] if contexts else ExpressionContext(known)


def _machine(job: WorkflowJob, context: ExpressionContext) -> str:
    return " ".join(context.filled(label) or "" for label in job.runs_on)


def _needs_of_job(job: WorkflowJob, context: ExpressionContext) -> Iterator[str]:
    if job.services:
        yield f"the service {' and '.join(job.services)}"
    machine = _machine(job, context)
    if _LINUX.search(machine):
        yield f"the machine {machine}"


def _needs_of_steps(steps: Iterable[WorkflowStep]) -> Iterator[str]:
    for step in steps:
        action = step.action.lower()
        if action and action not in _TOOLS | _HARMLESS:
            yield f"`{step.action}`"
        texts = " ".join((step.run, *step.env.values(), *step.inputs.values()))
        if secret := _SECRET.search(texts):
            yield f"the secret {secret[1]}"
        for line in step.run.splitlines():
            if _PACKAGES.search(line):
                yield f"system packages (`{line.strip()}`)"
            elif _CONTAINERS.search(line):
                yield f"containers (`{line.strip()}`)"
            elif _SERVER.search(line) or _SCRIPT.search(line):
                yield f"a set-up of its own (`{line.strip()}`)"


def _setup(steps: Iterable[WorkflowStep], context: ExpressionContext) -> Iterator[SetupStep]:
    for step in steps:
        if step.action.lower() not in _TOOLS:
            continue
        inputs = {key: context.filled(text) for key, text in step.inputs.items()}
        known = {key: text for key, text in inputs.items() if text}
        name = step.action.rpartition("/")[2].removeprefix("setup-").removeprefix("action-")
        yield SetupStep(f"Set up {name}", step.action, known, step.uses.partition("@")[2])
