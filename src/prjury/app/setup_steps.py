"""Steps of a workflow that set up what a repository's builds need, and what its CI needs. Pure.

Only what the repository declares, or what runners do not bring, is set up; each action is pinned.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct, field

from prjury.judges.builds.calls import SETUP_ACTIONS, WORDS
from prjury.judges.builds.ci import BaseCi, CiJob
from prjury.judges.builds.ci_steps import has_part
from prjury.judges.builds.plan import BuildPlan
from prjury.judges.builds.toolchains import Toolchains, WantedVersion
from prjury.manifests.spans import release
from prjury.snapshot.model import visible

#: Actions, each with the commit and the name of its version.
PINS: Mapping[str, str] = {
    "actions/checkout": "3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1",
    "actions/setup-java": "03ad4de0992f5dab5e18fcb136590ce7c4a0ac95 # v5.6.0",
    "actions/setup-node": "48b55a011bda9f5d6aeb4c2d9c7362e8dae4041e # v6.4.0",
    "actions/setup-python": "5fda3b95a4ea91299a34e894583c3862153e4b97 # v7.0.0",
    "actions/setup-go": "4a3601121dd01d1626a1e23e37211e3254c1c06c # v6.4.0",
    "actions/setup-dotnet": "a98b56852c35b8e3190ac28c8c2271da59106c68 # v6",
    "pnpm/action-setup": "8912a9102ac27614460f54aedde9e1e7f9aec20d # v6.0.5",
    "oven-sh/setup-bun": "0c5077e51419868618aeaa5fe8019c62421857d6 # v2",
    "astral-sh/setup-uv": "c771a70e6277c0a99b617c7a806ffedaca235ff9 # v9.0.0",
}
_CACHES = {"npm": "npm", "pnpm": "pnpm", "yarn": "yarn", "maven": "maven", "gradle": "gradle"}
#: Where lock files decide what a cache holds; without one the action that caches fails.
_LOCKED = {"npm": ("package-lock.json", "npm-shrinkwrap.json"), "yarn": ("yarn.lock",)}


class SetupStep(Struct, frozen=True):
    """A step that sets up a tool, by an action or by a command."""

    name: str
    action: str = ""
    inputs: Mapping[str, str] = field(default_factory=dict)
    #: The action's commit or tag; empty for the one that is pinned here.
    ref: str = ""
    command: str = ""

    @property
    def uses(self) -> str:
        return f"{self.action}@{PINS.get(self.action, self.ref)}"


def list_setup_steps(
    plans: Sequence[BuildPlan], files: frozenset[str], from_ci: Mapping[str, SetupStep] = {}
) -> tuple[SetupStep, ...]:
    """The steps that the builds need, each tool once; none where runners have all of it."""
    steps_by_action = {step.action: step for plan in plans for step in _list_setups(plan, files)}
    steps_by_action |= from_ci
    for tool in ("tox", "nox"):
        call = re.compile(rf"(?:\w+=\S*\s+)*{tool}(?:\s|$)")
        if any(call.match(step.text) for plan in plans for step in plan.steps):
            steps_by_action[tool] = SetupStep(f"Install {tool}", command=f"pipx install {tool}")
    if not steps_by_action:
        return ()
    checkout = SetupStep(
        "Check out, for the caches", "actions/checkout", {"persist-credentials": "false"}
    )
    return (checkout, *steps_by_action.values())


def _list_setups(plan: BuildPlan, files: frozenset[str]) -> Iterator[SetupStep]:
    wants = {one.tool: one for one in reversed(plan.wants)}
    if plan.system == "pnpm":
        version = {} if "pnpm" in wants else {"version": "10"}
        yield SetupStep("Set up pnpm", "pnpm/action-setup", version)
    if plan.system == "bun":
        yield SetupStep("Set up Bun", "oven-sh/setup-bun", _make_version_input("bun", wants))
    if plan.system == "uv":
        yield SetupStep("Set up uv", "astral-sh/setup-uv", {"enable-cache": "true"})
    cache = _choose_cache(plan, files)
    if java := _make_version_input("java", wants):
        vendor = {"distribution": "temurin"}
        yield SetupStep("Set up Java", "actions/setup-java", {**vendor, **java, **cache})
    node = _make_version_input("node", wants)
    if node or (cache and plan.system in {"npm", "pnpm", "yarn"}):
        inputs = {**(node or {"node-version": "lts/*"}), **cache}
        yield SetupStep("Set up Node", "actions/setup-node", inputs)
    if (python := _make_version_input("python", wants)) and plan.system != "uv":
        yield SetupStep("Set up Python", "actions/setup-python", python)
    if plan.system == "dotnet" and "global.json" in files:
        inputs = {"global-json-file": "global.json"}
        yield SetupStep("Set up .NET", "actions/setup-dotnet", inputs)
    if go := _make_version_input("go", wants):
        yield SetupStep("Set up Go", "actions/setup-go", go)


def _choose_cache(plan: BuildPlan, files: frozenset[str]) -> Mapping[str, str]:
    locks = _LOCKED.get(plan.system)
    place = f"{plan.directory}/" if plan.directory else ""
    if plan.system not in _CACHES or (locks and not any(f"{place}{one}" in files for one in locks)):
        return {}
    paths = {"cache-dependency-path": f"{place}{locks[0]}"} if place and locks else {}
    return {"cache": _CACHES[plan.system], **paths}


def _make_version_input(tool: str, wanted: Mapping[str, WantedVersion]) -> Mapping[str, str]:
    one = wanted.get(tool)
    if one is None:
        return {}
    version = one.version.removeprefix("==").removesuffix(".*")
    if one.kind == "range":
        low = one.span.low if one.span else release(one.version)
        least = ".".join(map(str, low[:1] if tool in {"java", "node"} else low[:2])) if low else ""
        version = least if tool in {"java", "go"} or not least else f">={least}"
    return {f"{tool}-version": visible(version)} if version else {}


#: Actions that set up a tool, or its caches, for a build of ours.
_TOOLS = {*SETUP_ACTIONS, "gradle/actions/setup-gradle", "swatinem/rust-cache"}
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


def describe_ci_needs_unmet_here(ci: BaseCi | None) -> tuple[str, ...]:
    """The needs of its main job beside the tree and its tools, one clause each."""
    job = find_main_job(ci)
    if job:
        return tuple(dict.fromkeys(_describe_unmet_needs(job)))
    if ci is None:
        return ()
    tests = [f"`{step.text}` ({step.why})" for step in ci.left_out if step.tests]
    return tuple(dict.fromkeys([*(f"the workflow {name}" for name in ci.external), *tests]))


def _describe_unmet_needs(job: CiJob) -> Iterator[str]:
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
    yield from _describe_custom_actions_and_setups(job)


def _read_line(origin: str) -> int:
    line = origin.rpartition(":")[2]
    return int(line) if line.isdecimal() else 0


def _describe_custom_actions_and_setups(job: CiJob) -> Iterator[str]:
    for action in (step.action for step in job.actions):
        if action.lower() not in _TOOLS and not has_part(action, WORDS["harmless_actions"]):
            yield f"`{action}`"
    for script in (step.script for step in job.steps):
        for line in script.splitlines():
            if _SERVER.search(line) or _SCRIPT.search(line):
                yield f"a set-up of its own (`{line.strip()}`)"


def map_ci_setup_steps_by_action(ci: BaseCi | None) -> Mapping[str, SetupStep]:
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
