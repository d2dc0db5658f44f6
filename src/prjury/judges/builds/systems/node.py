"""Node: npm, pnpm, yarn and bun, single packages and workspaces. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from prjury.judges.builds.calls import TABLE
from prjury.judges.builds.plan import JAVASCRIPT, BuildPlan, BuildStep, BuildSystem, StepName
from prjury.judges.builds.source_tree import SourceTree, is_below, match_workspace_members, path_in
from prjury.manifests.manifest import Manifest
from prjury.manifests.node import PackageJson, read_package_json, read_pnpm_workspace

_MANIFEST = "package.json"
#: The command that runs a script in all packages of a workspace.
_EVERY: Mapping[str, str] = TABLE["node_workspaces"]
_LOCKS: Mapping[str, str] = TABLE["node_locks"]


def _plan_packages(root: SourceTree) -> tuple[BuildPlan, ...]:
    plans: dict[str, BuildPlan] = {}
    members: dict[str, frozenset[str]] = {}
    for directory in sorted(root.directories_with(_MANIFEST)):
        owned = any(directory in members[place] for place in members if is_below(directory, place))
        manifest = root.readable(path_in(directory, _MANIFEST), read_package_json)
        if owned or manifest is None or not root.may_hold_project(directory):
            continue
        part = root.below(directory)
        name, install, reason = choose_manager_install_and_reason(part, manifest)
        packages = _find_members(part, manifest, name)
        members[directory] = frozenset(path_in(directory, place) for place in packages)
        steps = _list_build_and_test_steps(manifest, name, install, packages)
        if {"build", "test"} & {step.name for step in steps}:
            plans[directory] = BuildPlan(
                name, tuple(steps), (f"{_MANIFEST} is there", reason), directory=directory
            )
    return tuple(plans.values())


def _find_members(root: SourceTree, package: PackageJson, tool: str) -> Mapping[str, PackageJson]:
    source: Manifest | None = package
    if tool == "pnpm":  # which has a file of its own for its members
        source = root.readable("pnpm-workspace.yaml", read_pnpm_workspace)
    places = [one for one in root.directories_with(_MANIFEST) if one and "node_modules" not in one]
    members: dict[str, PackageJson] = {}
    for place in sorted(match_workspace_members(source.members if source else (), places)):
        if manifest := root.readable(path_in(place, _MANIFEST), read_package_json):
            members[place] = manifest
    return members


def _list_build_and_test_steps(
    package: PackageJson, tool: str, install: tuple[str, ...], members: Mapping[str, PackageJson]
) -> list[BuildStep]:
    steps = [BuildStep("setup", install)] if install else []
    scripts: tuple[StepName, ...] = ("build", "test")
    for name in scripts:
        inner = {at: script_of(one, name) for at, one in members.items() if name in one.scripts}
        if script_of(package, name):
            steps.append(BuildStep(name, (tool, "run", name)))
        elif inner and all(inner.values()):
            old = tool == "yarn" and "--immutable" not in install
            form = _EVERY["yarn 1" if old else tool].format(name)
            steps.append(BuildStep(name, tuple(form.split()), tuple(inner)))
    return steps


def script_of(package: PackageJson, name: str) -> str:
    """The text of a script; empty if it tests nothing, as that of ``npm init``."""
    text = package.scripts.get(name, "")
    return "" if "no test specified" in text.lower() else text


def choose_manager_install_and_reason(
    root: SourceTree, package: PackageJson
) -> tuple[str, tuple[str, ...], str]:
    """The package manager, its command that installs, empty for none, and what decided for it."""
    manager, locks = package.manager, [lock for lock in _LOCKS if root.has(lock)]
    by_name = [lock for lock in locks if manager.startswith(f"{_LOCKS[lock]}@")]
    lock = next(iter([*by_name, *locks]), "")
    name = _LOCKS.get(lock) or manager.partition("@")[0]
    reason = f"{lock} is there" if lock else f"packageManager says {name}"
    if name == "npm" and lock:
        return "npm", ("npm", "ci", "--no-audit", "--no-fund"), reason
    if name == "yarn" and _is_modern_yarn(root, manager):
        return "yarn", ("yarn", "install", "--immutable"), reason
    if name in {"pnpm", "yarn", "bun"}:
        return name, (name, "install", "--frozen-lockfile"), reason
    needs = package.own or package.members or package.unclear
    fresh = ("npm", "install", "--no-audit", "--no-fund")
    return "npm", fresh if needs else (), "no lock file, so it is npm"


def _is_modern_yarn(root: SourceTree, manager: str) -> bool:
    major = manager.removeprefix("yarn@").partition(".")[0]
    by_name = manager.startswith("yarn@") and major.isdigit() and major != "1"
    by_lock = "\n__metadata:" in root.text("yarn.lock")[:2_000]
    return by_name or by_lock or root.has(".yarnrc.yml") is not None


NODE = BuildSystem((_MANIFEST,), dict.fromkeys(_LOCKS.values(), JAVASCRIPT), _plan_packages)
