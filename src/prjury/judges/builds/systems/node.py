"""Node: npm, pnpm, yarn and bun, single packages and workspaces. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from prjury.judges.builds.plan import BuildPlan, BuildStep, StepName
from prjury.judges.builds.systems.build_system import JAVASCRIPT, DocsRows, When
from prjury.judges.builds.systems.projects import (
    FoundProject,
    is_below,
    match_members,
    names_outside,
    select_affected,
)
from prjury.judges.builds.systems.source_tree import Changes, SourceTree, outermost_first, path_in
from prjury.manifests.manifest import Manifest, ManifestError
from prjury.manifests.node import PackageJson, read_package_json, read_pnpm_workspace
from prjury.snapshot.model import visible

MANIFEST = "package.json"
MANIFESTS = (MANIFEST,)
COVERS = dict.fromkeys(("npm", "pnpm", "yarn", "bun"), JAVASCRIPT)
WHEN: When = "always"
DOCS: DocsRows = (
    (
        "`package.json` with a `build` or `test` script",
        "npm, pnpm, yarn or bun by the lock file: install, `run build`, `run test`",
    ),
)

#: The command that runs a script in all packages of a workspace.
_EVERY = {
    "npm": "npm run {} --workspaces --if-present",
    "pnpm": "pnpm -r --no-bail run --if-present {}",
    "yarn": "yarn workspaces foreach --all run {}",
    "yarn 1": "yarn workspaces run {}",
    "bun": "bun run --filter * {}",
}


def plans(root: SourceTree, changes: Changes | None) -> tuple[BuildPlan, ...]:
    """The packages and workspaces with something to run that the change affects."""
    projects: dict[str, FoundProject] = {}
    members: dict[str, frozenset[str]] = {}
    for directory in outermost_first(root.directories_with(MANIFEST)):
        owned = any(directory in members[place] for place in members if is_below(directory, place))
        manifest = root.readable(path_in(directory, MANIFEST), read_package_json)
        if owned or manifest is None or not root.may_hold_project(directory):
            continue
        part = root.below(directory)
        tool = find_tool(part, manifest)
        packages = _find_members(part, manifest, tool)
        members[directory] = frozenset(path_in(directory, place) for place in packages)
        if plan := _plan(part, manifest, tool, packages):
            leads_out = names_outside(part, ["", *packages], MANIFEST, read_package_json)
            projects[directory] = FoundProject((plan,), leads_out)
    return select_affected(projects, changes)


def list_unreadable(root: SourceTree) -> Mapping[str, str]:
    """Tell why packages whose manifest cannot be read are not built, by their directories."""
    reasons: dict[str, str] = {}
    for place in sorted(filter(root.may_hold_project, root.directories_with(MANIFEST))):
        path = path_in(place, MANIFEST)
        try:
            root.manifest(path, read_package_json)
        except ManifestError as error:
            reasons[place] = f"{visible(path)} cannot be read and is not built: {error}"
    return reasons


def _find_members(
    root: SourceTree, package: PackageJson, tool: NodeTool
) -> Mapping[str, PackageJson]:
    source: Manifest | None = package
    if tool.name == "pnpm":  # which has a file of its own for its members
        source = root.readable("pnpm-workspace.yaml", read_pnpm_workspace)
    places = [one for one in root.directories_with(MANIFEST) if one and "node_modules" not in one]
    members: dict[str, PackageJson] = {}
    for place in sorted(match_members(source.members if source else (), places)):
        if manifest := root.readable(path_in(place, MANIFEST), read_package_json):
            members[place] = manifest
    return members


def _plan(
    root: SourceTree, package: PackageJson, tool: NodeTool, members: Mapping[str, PackageJson]
) -> BuildPlan | None:
    steps = [BuildStep("setup", tool.install)] if tool.install else []
    scripts: tuple[StepName, ...] = ("build", "test")
    for name in scripts:
        inner = {
            place: script_of(one, name) for place, one in members.items() if name in one.scripts
        }
        if script_of(package, name):
            steps.append(BuildStep(name, (tool.name, "run", name)))
        elif inner and all(inner.values()):
            old = tool.name == "yarn" and "--immutable" not in tool.install
            form = _EVERY["yarn 1" if old else tool.name].format(name)
            steps.append(BuildStep(name, tuple(form.split()), tuple(inner), form))
    if not {"build", "test"} & {step.name for step in steps}:
        return None
    locks = (lock for lock, name in _LOCKS.items() if name != tool.name)
    return BuildPlan(
        tool.name,
        tuple(steps),
        (f"{MANIFEST} is there", tool.reason),
        tuple(f"{lock} is not used" for lock in locks if root.has(lock)),
    )


def script_of(package: PackageJson, name: str) -> str:
    """The text of a script; empty if there is none, or one that tests nothing.

    Such is that of ``npm init``, and one that only says where the tests are.
    """
    text = package.scripts.get(name, "")
    words = text.replace(";", " ; ").replace("&&", " && ").split()
    ends_so = words[-2:-1] == ["exit"] and words[-1] != "0"
    only_says = words[:1] == ["echo"] and ends_so and words.count("&&") + words.count(";") == 1
    return "" if only_says or "no test specified" in text.lower() else text


_LOCKS = {
    "package-lock.json": "npm",
    "npm-shrinkwrap.json": "npm",
    "pnpm-lock.yaml": "pnpm",
    "yarn.lock": "yarn",
    "bun.lock": "bun",
    "bun.lockb": "bun",
}


class NodeTool(Struct, frozen=True):
    """A package manager as a project uses it.

    Attributes:
        install: how dependencies are set up; empty where there are none.
        reason: what decided for it.
    """

    name: str
    install: tuple[str, ...]
    reason: str


def find_tool(root: SourceTree, package: PackageJson) -> NodeTool:
    """The package manager that has a lock file, of several the named one, or else the first.

    Without lock files it is the one in ``packageManager``, then npm.
    """
    manager, locks = package.manager, [lock for lock in _LOCKS if root.has(lock)]
    by_name = [lock for lock in locks if manager.startswith(f"{_LOCKS[lock]}@")]
    lock = next(iter([*by_name, *locks]), "")
    name = _LOCKS.get(lock) or manager.partition("@")[0]
    reason = f"{lock} is there" if lock else f"packageManager says {name}"
    if name == "npm" and lock:
        return NodeTool("npm", ("npm", "ci", "--no-audit", "--no-fund"), reason)
    if name == "yarn" and _is_modern_yarn(root, manager):
        return NodeTool("yarn", ("yarn", "install", "--immutable"), reason)
    if name in {"pnpm", "yarn", "bun"}:
        return NodeTool(name, (name, "install", "--frozen-lockfile"), reason)
    needs = package.own or package.members or package.unclear
    fresh = ("npm", "install", "--no-audit", "--no-fund")
    return NodeTool("npm", fresh if needs else (), "no lock file, so it is npm")


def _is_modern_yarn(root: SourceTree, manager: str) -> bool:
    major = manager.removeprefix("yarn@").partition(".")[0]
    is_named = manager.startswith("yarn@") and major.isdigit() and major != "1"
    return (
        is_named
        or root.has(".yarnrc.yml") is not None
        or "\n__metadata:" in root.text("yarn.lock")[:2_000]
    )
