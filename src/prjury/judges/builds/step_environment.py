"""Variables of steps: tools that are lent to a build, and what earlier steps hand to later ones.

Tools of Python and Node are lent where the machine has none of its own. Each is a script at the end
of PATH; ``PRJURY_UV`` names the uv of this installation. Go is told by one to name its tests.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from prjury.judges.builds.calls import WORDS
from prjury.judges.builds.plan import BuildPlan

#: The scripts that stand for tools: uv or venv and pip, a tool by uv, a manager by npx, Go itself.
_UV, _TOOL, _MANAGER, _GO = (
    (Path(__file__).parent / "lent" / name).read_text("utf-8")
    for name in ("uv.sh", "tool.sh", "manager.sh", "go.sh")
)
#: The version of each that is lent without a named one; newer ones of pnpm refuse Node 20.
_MANAGERS = {"pnpm": "@10", "yarn": "", "bun": ""}
#: The files that a step may write, as variables name them.
FILES = ("GITHUB_ENV", "GITHUB_PATH", "GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "GITHUB_STATE")
_LARGEST = 1024 * 1024
#: What no step sets for later ones: the run's own places, and what makes runners write reports.
_OURS = frozenset({"HOME", "TMPDIR", "NODE_OPTIONS", "PYTEST_ADDOPTS", "TOX_OVERRIDE", *FILES})


def words_of(plan: BuildPlan) -> frozenset[str]:
    """The words of its commands, among them the programs that they start, and Go behind others."""
    text = plan.text.translate(str.maketrans(";&|()", "     "))
    words = frozenset(word.rpartition("/")[2] for word in text.split())
    return words | {"go"} if any("GOFLAGS" in step.env for step in plan.steps) else words


def write_tool_wrappers(
    words: frozenset[str], place: Path, env: Mapping[str, str], versions: Mapping[str, str]
) -> Mapping[str, str]:
    """The variables with the tools at the end of PATH; before all a modern Yarn and Go."""
    scripts = dict[Path, str]()
    path = env.get("PATH", os.defpath)
    if go := shutil.which("go", path=path) if "go" in words else None:
        scripts[place / "first/go"] = _GO.replace("@go", go)
    for name in _MANAGERS.keys() & words:
        number = versions.get(name, "")
        version = f"@{number}" if number.replace(".", "").isdigit() else _MANAGERS[name]
        modern = name == "yarn" and version.partition(".")[0] not in {"", "@1"}
        package = f"{'@yarnpkg/cli-dist' if modern else name}{version}"
        script = _MANAGER.replace("@name", name).replace("@package", package)
        scripts[place / ("first" if modern else "") / name] = script
    tools = WORDS["lent"] & words
    for name in tools:
        tool = "" if name == "uvx" else name
        scripts[place / name] = _TOOL.replace("@name", name).replace("@tool", tool)
    if tools:
        scripts[place / "uv"] = _UV
    for file, text in scripts.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
        file.chmod(0o755)
    places = [str(place / "first"), path, str(place)]
    return {**env, "PATH": os.pathsep.join(places)} if scripts else env


def touch_and_read_env(env: Mapping[str, str]) -> Mapping[str, str]:
    """The variables of the next step, with what earlier steps have written into the files."""
    for name in FILES:
        if path := env.get(name):
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            Path(path).touch()
    written = dict(_read_variables(_read_lines(env.get("GITHUB_ENV", ""))))
    variables = {**env, **{name: text for name, text in written.items() if name not in _OURS}}
    places = [line for line in _read_lines(env.get("GITHUB_PATH", "")) if Path(line).is_absolute()]
    search = os.pathsep.join([*reversed(places), variables.get("PATH", os.defpath)])
    return {**variables, "PATH": search}


def _read_lines(path: str) -> list[str]:
    file = Path(path) if path else None
    if file is None or file.is_symlink() or not file.is_file() or file.stat().st_size > _LARGEST:
        return []
    text = file.read_text("utf-8", errors="replace").replace("\0", "")
    return [line for line in text.splitlines() if line.strip()]


def _read_variables(lines: list[str]) -> Iterator[tuple[str, str]]:
    """``NAME=value``, or ``NAME<<END`` with a text of several lines."""
    remaining = iter(lines)
    for line in remaining:
        name, sign, value = line.partition("=")
        block, mark, end = line.partition("<<")
        if mark and (not sign or len(block) < len(name)):
            text = []
            for inner in remaining:
                if inner == end:
                    break
                text.append(inner)
            name, sign, value = block, "=", "\n".join(text)
        if sign and name.isidentifier():
            yield name, value
