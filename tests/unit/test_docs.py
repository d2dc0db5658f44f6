"""README and docs are true: links, anchors, commands, programs, policies, reasons, length."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

import words
from fakes import cascade_tables, voting_tables
from fakes.pages import Program, programs, renewed, tables
from prjury import CRITERIA, CRITERIA_GROUPS
from prjury.cli import make_app
from prjury.doctor.examination import read_workflows
from prjury.doctor.workflows import Level, Setup, examine_setup
from prjury.errors import ExitCode
from prjury.policy.load import parse_policy
from prjury.resources import DOCUMENTATION

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / ".github" / "docs"
README = ROOT / "README.md"
PROGRAM: Any = typer.main.get_command(make_app())
PAGES = words.pages()
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)[^)]*\)")


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def blocks(page: Path, language: str) -> list[str]:
    return [body for name, body in FENCE.findall(page.read_text("utf-8")) if name == language]


# Links and anchors


def anchors(page: Path) -> set[str]:
    """The anchors of a page, as GitHub makes them of its headings."""
    text = FENCE.sub("", page.read_text("utf-8"))
    headings = re.findall(r"^#+ (.*?)\s*$", text, re.MULTILINE)
    plain = [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading) for heading in headings]
    made = [re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in plain]
    return {*made, *re.findall(r'<a id="([^"]+)">', text)}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    prose = re.sub(r"`[^`\n]*`", "", FENCE.sub("", page.read_text("utf-8")))
    broken = []
    for link in LINK.findall(prose):
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        if "://" in link or link.startswith("mailto:"):
            continue
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    assert broken == []


@pytest.mark.parametrize("page", [DOCS / "decisions.md", DOCS.parent / "ARCHITECTURE.md"])
def test_code_that_is_named_exists(page: Path) -> None:
    named = re.findall(r"`((?:[a-z_]+/)+(?:[a-z_]+\.py)?)`", page.read_text("utf-8"))
    source = ROOT / "src" / "prjury"
    rooms = [path for path in named if (source / path.partition("/")[0]).is_dir()]
    assert [path for path in rooms if not (source / path).exists()] == []


# Commands


def commands() -> Iterator[str]:
    """The commands of all pages, a line each."""
    for page in PAGES:
        for body in blocks(page, "sh"):
            for line in body.replace("\\\n", " ").splitlines():
                command = re.sub(r"^(uv run |[A-Z_]+=\S+ )+", "", line.partition(" #")[0])
                if command.startswith("prjury "):
                    yield command.strip()


@pytest.mark.parametrize("line", list(dict.fromkeys(commands())))
def test_a_command_that_is_shown_has_these_options(line: str) -> None:
    words_of_line = shlex.split(line.partition(">")[0])[1:]
    if "--install-completion" in words_of_line:
        return
    command: Any = PROGRAM
    while isinstance(command, typer.core.TyperGroup):
        command = command.commands[words_of_line.pop(0)]
    assert command.make_context("prjury", words_of_line, resilient_parsing=False)


def test_every_command_is_shown_by_example() -> None:
    page = (DOCS / "command-line.md").read_text("utf-8")
    assert [name for name in PROGRAM.commands if f"\nprjury {name}" not in page] == []


def test_the_exit_codes_are_those_of_the_program() -> None:
    page = (DOCS / "command-line.md").read_text("utf-8")
    listed = {int(code) for code in re.findall(r"^\| (\d+) \|", page, re.MULTILINE)}
    assert listed == {int(code) for code in ExitCode}


# Policies and workflows


CONFIG_KEYS = (
    *("version", "tiers", "extend", "ignore", "per_file_ignores", "gate", "publish", "models"),
    *("limits", "sandbox", "build", "coverage", "paths", "suppressions", "fix", "pulls"),
    *("backport", "calibration", "review"),
)


def policies() -> Iterator[Any]:
    for page in PAGES:
        for number, body in enumerate(blocks(page, "yaml"), 1):
            keys = re.findall(r"^(\w+):", body, re.MULTILINE)
            if keys and {*keys} <= {*CONFIG_KEYS}:
                yield pytest.param(body, id=f"{name_of(page)}-{number}")


@pytest.mark.parametrize("example", list(policies()))
def test_an_example_is_a_policy(example: str) -> None:
    text = example if "version:" in example else f"version: 1\n{example}"
    assert parse_policy(text, "docs").config.version == 1


def test_the_workflow_to_paste_is_short_and_in_order(tmp_path: Path) -> None:
    (workflow,) = [body for body in blocks(README, "yaml") if body.startswith("name:")]
    assert len(workflow.splitlines()) <= 10
    parsed = yaml.safe_load(workflow)
    assert parsed["permissions"] == {
        "contents": "read",
        "pull-requests": "write",
        "checks": "write",
        "statuses": "read",
    }
    assert list(parsed["jobs"]) == ["prjury"]
    path = tmp_path / ".github" / "workflows" / "prjury.yml"
    path.parent.mkdir(parents=True)
    path.write_text(workflow)
    read, unread = read_workflows(tmp_path)
    assert unread == []
    found = examine_setup(Setup(tuple(read)))
    assert [one.sentence for one in found if one.level is not Level.FINE] == []


def test_the_repository_has_one_address() -> None:
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    (home,) = re.findall(r'^Homepage = "(.*)"$', project, re.MULTILINE)
    assert DOCUMENTATION.startswith(f"{home}/")


def test_the_test_command_is_the_one_that_ci_runs() -> None:
    command = 'run --locked pytest -n auto -m "not slow and not nightly"'
    assert command in README.read_text("utf-8")
    assert command in (ROOT / ".ci" / "run").read_text("utf-8")


# Programs and tables

LIBRARY: Mapping[str, Mapping[str, Callable[[], str]]] = {
    "voting.md": {
        "comparison": voting_tables.comparison,
        "errors": voting_tables.errors,
        "models": voting_tables.models,
        "tiers": cascade_tables.tiers,
        "gate": cascade_tables.merge_gate,
    },
    "library.md": {
        "criteria": lambda: "\n".join(
            [
                "| Name | Group | Question |",
                "| --- | --- | --- |",
                *(
                    f"| `{name}` | {group} | {CRITERIA[name].question} |"
                    for group, names in CRITERIA_GROUPS.items()
                    for name in names
                ),
            ]
        )
    },
}


def programs_of(page: str) -> list[Any]:
    found = programs((DOCS / page).read_text("utf-8"))
    return [pytest.param(program, id=f"{page}-{program.heading}") for program in found]


@pytest.mark.parametrize("page", LIBRARY)
def test_the_tables_are_what_the_library_does(page: str, tmp_path: Path) -> None:
    made, file = LIBRARY[page], DOCS / page
    if os.environ.get("PRJURY_UPDATE_GOLDEN"):
        file.write_text(renewed(file.read_text("utf-8"), made, tmp_path), "utf-8")
    assert tables(file.read_text("utf-8")) == {name: f"{make()}\n" for name, make in made.items()}


@pytest.mark.parametrize("program", [each for page in LIBRARY for each in programs_of(page)])
def test_a_program_prints_what_is_shown(program: Program, tmp_path: Path) -> None:
    # A busy machine takes a while to begin with a judge, whose time ends with the vote's.
    assert program.run(tmp_path).replace("within 0.9 s", "within 1 s") == program.output


# Reasons


def reasons() -> set[str]:
    """The reasons with which a judge of a pull request closes the gate."""
    source = ROOT / "src" / "prjury"
    rooms = [f"judges/{room}" for room in ("builds", "merge", "patterns", "quality", "findings")]
    texts = [file.read_text() for room in rooms for file in (source / room).rglob("*.py")]
    found = {
        reason
        for text in texts
        for reason in re.findall(r'(?m)(?:\breason=|^ +reason = )"(\w+)"', text)
    }
    return found - {"no_such_directory"}  # of a directory's build, which has no gate


def test_every_reason_says_how_to_open_the_gate() -> None:
    entries = anchors(DOCS / "gate.md")
    assert sorted(reasons() - entries) == []


# Length


def test_the_pages_keep_within_their_words() -> None:
    counted = words.count()
    assert counted.by_hand <= words.BY_HAND
    assert counted.total <= words.TOTAL


def test_the_readme_is_short() -> None:
    assert words.in_page(README) <= words.README
