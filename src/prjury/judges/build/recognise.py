"""Which build system a tree has, by the files in its root. Pure.

Each system is one function from the root to a plan, or None; the first plan in `_SYSTEMS` that runs
tests wins, without any the first one, and the others become a note.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any

from prjury.judges.build.plan import BuildPlan, Step
from prjury.ports import TreeEntry
from prjury.pull.model import printable

_EXECUTABLE = "100755"
_REGULAR = frozenset({"100644", _EXECUTABLE})
_MAKE_TARGET = re.compile(r"^(test|check|all)\s*:(?!=)", re.MULTILINE)
_PLACEHOLDER = re.compile(r"echo .*no test specified", re.IGNORECASE)
_PYTEST_TABLE = re.compile(r"^\[tool[:.]pytest", re.MULTILINE)
_TEST_FILE = re.compile(r"(^|/)(test_[^/]*|[^/]*_test)\.py$")


@dataclass(frozen=True)
class Root:
    """A tree as recognition sees it: paths, modes, and the text of a few files of its root."""

    entries: Sequence[TreeEntry]
    read: Callable[[TreeEntry], str]

    @cached_property
    def files(self) -> dict[str, TreeEntry]:
        """The regular files by path; links are not followed and count as absent."""
        return {entry.path: entry for entry in self.entries if entry.mode in _REGULAR}

    def has(self, *paths: str) -> str | None:
        """The first of the paths that is a file."""
        return next((path for path in paths if path in self.files), None)

    def text(self, path: str) -> str:
        """The file's text, empty where there is no such file."""
        entry = self.files.get(path)
        return self.read(entry) if entry else ""


def recognise(root: Root) -> BuildPlan | None:
    """How to build and test the tree, or None if nothing in its root tells."""
    plans = [plan for system in _SYSTEMS if (plan := system(root))]
    if not plans:
        return None
    first = next((plan for plan in plans if plan.tests), plans[0])
    others = [plan for plan in plans if plan is not first]
    if not others:
        return first
    names = ", ".join(plan.system for plan in others)
    return replace(first, notes=(*first.notes, f"also found and not run: {names}"))


@dataclass(frozen=True)
class _Wrapper:
    """How to call a tool that may come with a wrapper script in the root."""

    argv: tuple[str, ...]
    reason: str


def _wrapper(root: Root, script: str, tool: str) -> _Wrapper:
    entry = root.files.get(script)
    if entry is None:
        return _Wrapper((tool,), f"no {script}, so the installed `{tool}` is used")
    if entry.mode == _EXECUTABLE:
        return _Wrapper((f"./{script}",), f"{script} is there")
    return _Wrapper(("sh", script), f"{script} is there but not executable, so `sh` runs it")


def _maven(root: Root) -> BuildPlan | None:
    if not root.has("pom.xml"):
        return None
    wrapper = _wrapper(root, "mvnw", "mvn")
    command = (*wrapper.argv, "-q", "-B", "-ntp", "--fail-at-end", "verify")
    return BuildPlan("maven", (Step("test", command),), ("pom.xml is there", wrapper.reason))


def _gradle(root: Root) -> BuildPlan | None:
    found = root.has("settings.gradle", "settings.gradle.kts", "build.gradle", "build.gradle.kts")
    if not found:
        return None
    wrapper = _wrapper(root, "gradlew", "gradle")
    command = (*wrapper.argv, "--no-daemon", "-q", "--continue", "build")
    return BuildPlan("gradle", (Step("test", command),), (f"{found} is there", wrapper.reason))


@dataclass(frozen=True)
class _NodeTool:
    name: str
    install: tuple[str, ...]
    reason: str


def _node(root: Root) -> BuildPlan | None:
    if not root.has("package.json"):
        return None
    package = _json(root.text("package.json"))
    tool = _node_tool(root, package)
    scripts = package.get("scripts")
    scripts = scripts if isinstance(scripts, dict) else {}
    steps = [Step("setup", tool.install)] if tool.install else []
    if scripts.get("build"):
        steps.append(Step("build", (tool.name, "run", "build")))
    if scripts.get("test") and not _PLACEHOLDER.search(str(scripts["test"])):
        steps.append(Step("test", (tool.name, "run", "test")))
    if all(step.name == "setup" for step in steps):
        return None
    return BuildPlan(tool.name, tuple(steps), ("package.json is there", tool.reason))


def _json(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _node_tool(root: Root, package: dict[str, Any]) -> _NodeTool:
    """The package manager: the lock file decides, then ``packageManager``, then it is npm."""
    named = str(package.get("packageManager", ""))
    if lock := root.has("package-lock.json", "npm-shrinkwrap.json"):
        return _NodeTool("npm", ("npm", "ci", "--no-audit", "--no-fund"), f"{lock} is there")
    if root.has("pnpm-lock.yaml") or named.startswith("pnpm@"):
        install = ("pnpm", "install", "--frozen-lockfile")
        return _NodeTool("pnpm", install, "pnpm-lock.yaml or packageManager says pnpm")
    if root.has("yarn.lock") or named.startswith("yarn@"):
        modern = root.has(".yarnrc.yml") or re.match(r"yarn@[2-9]", named)
        flag = "--immutable" if modern else "--frozen-lockfile"
        return _NodeTool("yarn", ("yarn", "install", flag), "yarn.lock or packageManager says yarn")
    if root.has("bun.lock", "bun.lockb"):
        return _NodeTool("bun", ("bun", "install", "--frozen-lockfile"), "bun's lock file is there")
    needs = any(package.get(key) for key in ("dependencies", "devDependencies", "workspaces"))
    fresh = ("npm", "install", "--no-audit", "--no-fund")
    return _NodeTool("npm", fresh if needs else (), "no lock file, so it is npm")


#: Test reports with file and line (the older family is the one that holds them), and no stopping
#: at a failure. These come after the tree's own ``addopts``, so that they outweigh them.
_PYTEST_ENV = {
    "PYTEST_ADDOPTS": "--junitxml={reports}/pytest.xml -o junit_family=xunit1 --maxfail=0"
}
#: pytest's exit code where all tests ran and some failed.
_PYTEST_FAILED = 1


def _python(root: Root) -> BuildPlan | None:
    marker = root.has(
        "uv.lock", "tox.ini", "pyproject.toml", "setup.py", "setup.cfg", "pytest.ini",
        "requirements.txt",
    )  # fmt: skip
    if not marker and not any(_in_root(path) and path.endswith(".py") for path in root.files):
        return None
    reason = f"{marker} is there" if marker else "there are Python files in the root"
    tests = _python_tests(root)
    if root.has("uv.lock"):
        return _uv(root, tests)
    if re.search(r"^\[(tox|testenv)", root.text("tox.ini"), re.MULTILINE):
        return BuildPlan("tox", (Step("test", ("tox",)),), ("tox.ini is there",), (), _PYTEST_ENV)
    if tests:
        step = Step("test", ("python3", "-m", "pytest", "-q"))
        return _pytest("pytest", step, (reason, tests))
    step = Step("build", ("python3", "-m", "compileall", "-q", "."))
    return BuildPlan("python", (step,), (reason, "no tests were found, so it is only compiled"))


def _uv(root: Root, tests: str | None) -> BuildPlan:
    if not tests:
        steps = (
            Step("setup", ("uv", "sync", "--frozen")),
            Step("build", ("python3", "-m", "compileall", "-q", "-x", r"/\.venv/", ".")),
        )
        return BuildPlan("uv", steps, ("uv.lock is there", "no tests were found"))
    locked = 'name = "pytest"' in root.text("uv.lock")
    extra = () if locked else ("--with", "pytest")
    step = Step("test", ("uv", "run", "--frozen", *extra, "pytest", "-q"))
    return _pytest("uv", step, ("uv.lock is there", tests))


def _pytest(system: str, step: Step, reasons: tuple[str, ...]) -> BuildPlan:
    return BuildPlan(
        system, (step,), reasons, env=_PYTEST_ENV, reported=True, all_ran=_PYTEST_FAILED
    )


def _python_tests(root: Root) -> str | None:
    """What tells that there are tests for pytest, or None."""
    if root.has("pytest.ini"):
        return "pytest.ini is there"
    for path in ("pyproject.toml", "setup.cfg"):
        if _PYTEST_TABLE.search(root.text(path)):
            return f"{path} configures pytest"
    found = next((path for path in root.files if _TEST_FILE.search(path)), None)
    return f"{printable(found)} is a test" if found else None


def _cargo(root: Root) -> BuildPlan | None:
    if not root.has("Cargo.toml"):
        return None
    step = Step("test", ("cargo", "test", "-q", "--no-fail-fast"))
    return BuildPlan("cargo", (step,), ("Cargo.toml is there",))


def _go(root: Root) -> BuildPlan | None:
    if not root.has("go.mod"):
        return None
    steps = (Step("build", ("go", "build", "./...")), Step("test", ("go", "test", "./...")))
    return BuildPlan("go", steps, ("go.mod is there",))


def _make(root: Root) -> BuildPlan | None:
    file = root.has("GNUmakefile", "makefile", "Makefile")
    targets = set(_MAKE_TARGET.findall(root.text(file))) if file else set()
    target = next((name for name in ("test", "check", "all") if name in targets), None)
    if not file or not target:
        return None
    step = Step("build" if target == "all" else "test", ("make", target))
    return BuildPlan("make", (step,), (f"{file} has the target {target}",))


def _in_root(path: str) -> bool:
    return len(PurePosixPath(path).parts) == 1


_SYSTEMS = (_maven, _gradle, _node, _python, _cargo, _go, _make)
