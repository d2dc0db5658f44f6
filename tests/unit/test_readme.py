"""The README and the docs say what is true: inputs, outputs, exit codes, commands, links."""

from __future__ import annotations

import inspect
import os
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from prjury.cli import app
from prjury.cli.init import init
from prjury.errors import ExitCode
from prjury.policy.load import read_policy

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
COMMANDS = ROOT / ".github" / "docs" / "command-line.md"
PROGRAM: Any = typer.main.get_command(app)
PAGES = [
    README,
    *sorted((ROOT / ".github").glob("*.md")),
    *sorted((ROOT / ".github" / "docs").rglob("*.md")),
]
START, END = "<!-- inputs:start -->\n", "<!-- inputs:end -->"
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def text() -> str:
    return README.read_text()


def blocks(language: str) -> list[str]:
    return [body for name, body in FENCE.findall(text()) if name == language]


def table() -> str:
    action: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text())
    rows = ["| Input | Default | Meaning |", "|---|---|---|"]
    for name, entry in action["inputs"].items():
        default = f"`{entry['default']}`" if entry["default"] else "–"
        rows.append(f"| `{name}` | {default} | {entry['description']} |")
    rows += ["", "| Output | Meaning |", "|---|---|"]
    rows += [f"| `{name}` | {entry['description']} |" for name, entry in action["outputs"].items()]
    return "\n".join(rows) + "\n"


def test_the_inputs_and_outputs_are_those_of_the_action() -> None:
    before, _, rest = text().partition(START)
    inside, _, after = rest.partition(END)
    if os.environ.get("PRJURY_UPDATE_GOLDEN"):
        README.write_text(before + START + table() + END + after)
        inside = table()
    assert inside == table()


def test_the_exit_codes_are_those_of_the_program() -> None:
    page = COMMANDS.read_text()
    listed = {int(code) for code in re.findall(r"^\| (\d+) \|", page, re.MULTILINE)}
    assert listed == {int(code) for code in ExitCode}


def test_the_policy_that_is_shown_is_valid() -> None:
    (policy,) = [block for block in blocks("yaml") if block.startswith("version: 1")]
    assert [tier.name for tier in read_policy(policy, "README").config.tiers] == [
        "build",
        "version-patterns",
        "quality",
    ]


def test_every_way_that_init_knows_is_shown() -> None:
    for name in ("prjury", "prjury-build", "prjury-judge", "prjury-queue"):
        assert f"](.github/workflows/examples/{name}.yml)" in text()
    assert "prjury init --action OWNER/pr-jury@COMMIT" in text()
    told = inspect.signature(init).parameters
    assert {"forks", "queue", "action"} <= told.keys()
    assert [name for name in ("forks", "queue") if f"--{name}" not in text()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    prose = re.sub(r"`[^`\n]*`", "", FENCE.sub("", page.read_text()))
    links = re.findall(r"\]\(([^)#\s]+)[^)]*\)", prose)
    local = [link for link in links if "://" not in link]
    assert [link for link in local if not (page.parent / link).exists()] == []


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if page.stem == "ARCHITECTURE" or page.parent.name == "decisions"],
    ids=lambda page: page.stem,
)
def test_the_code_that_is_named_exists(page: Path) -> None:
    named = re.findall(r"`((?:[a-z_]+/)+(?:[a-z_]+\.py)?)`", page.read_text())
    source = ROOT / "src" / "prjury"
    rooms = [path for path in named if (source / path.partition("/")[0]).is_dir()]
    assert [path for path in rooms if not (source / path).exists()] == []


def commands() -> list[str]:
    found = FENCE.findall(text() + COMMANDS.read_text())
    lines = [
        line
        for name, body in found
        if name == "sh"
        for line in body.replace("\\\n", " ").splitlines()
    ]
    return [line.partition("#")[0] for line in lines if line.startswith("prjury ")]


def test_every_command_of_the_program_is_shown() -> None:
    assert {line.split()[1] for line in commands()} == set(PROGRAM.commands)


@pytest.mark.parametrize("line", dict.fromkeys(commands()))
def test_a_command_that_is_shown_has_these_options(line: str) -> None:
    words = shlex.split(line.partition(">")[0])[1:]
    command: Any = PROGRAM
    while isinstance(command, typer.core.TyperGroup):
        command = command.commands[words.pop(0)]
    assert command.make_context("prjury", words, resilient_parsing=False)


def test_the_test_command_is_the_one_that_ci_runs() -> None:
    assert "run --locked pytest -n auto" in text()
    assert "run --locked pytest -n auto" in (ROOT / ".ci" / "run").read_text()
