"""``prjury init``: writes the workflows that fit, and a policy that holds what differs."""

from __future__ import annotations

import difflib
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from msgspec import Struct

from prjury.app.builds import find_ci, plan_directory
from prjury.app.request import RunEnvironment
from prjury.app.setup_steps import (
    GitHubRunner,
    SetupStep,
    describe_ci_needs_unmet_here,
    find_main_job,
    list_setup_steps,
    map_ci_setup_steps_by_action,
)
from prjury.cli import options
from prjury.cli.output import Terminal
from prjury.errors import ExitCode, PrJuryError, SourceError, UsageError
from prjury.git.directory import TREE, list_directory
from prjury.git.operator import OperatorRepository, open_repository
from prjury.judges.backport.requests.branches import bare
from prjury.judges.builds.ci import BaseCi
from prjury.judges.builds.plan import DetectedBuilds, summarise_and_check_plans
from prjury.policy import POLICY_PATH
from prjury.publishers.files import write_atomically
from prjury.resources import templates

WORKFLOWS = ".github/workflows"
#: The placeholder in the templates for the action's repository and commit.
PLACEHOLDER = "OWNER/pr-jury@COMMIT"

_ALONE = ("prjury.yml",)
_APART = ("prjury-build.yml", "prjury-judge.yml")
_COMMENT = "prjury-comment.yml"
#: The part of it that remains without commands in comments.
_CONFLICTS = "prjury-conflicts.yml"
_ACTION = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,38}/[\w.-]{1,100}@[0-9a-f]{40}", re.ASCII)
_USUAL = "main, master"
#: Branches whose names no pattern takes for something else.
_PLAIN = re.compile(r"[\w./-]+", re.ASCII)
_EDITORS = "# yaml-language-server: $schema="
_PINNED = r"[\w.-]+/[\w./-]+@[0-9a-f]{40}"


class Situation(Struct, frozen=True):
    """The options for what is special about the repository."""

    forks: Annotated[
        bool, typer.Option("--forks", help="For pull requests from forks: separate jobs.")
    ] = False
    queue: Annotated[bool, typer.Option("--queue", help="With a merge queue.")] = False
    backport: Annotated[
        bool, typer.Option("--backport", help="Propose backports after the merge.")
    ] = False
    no_comments: Annotated[
        bool, typer.Option("--no-comments", help="Answer no commands in comments.")
    ] = False
    build: Annotated[bool, typer.Option("--build", help="Build here, whatever the CI needs.")] = (
        False
    )
    from_ci: Annotated[
        bool, typer.Option("--from-ci", help="Take the build from the checks that run already.")
    ] = False

    @property
    def workflows(self) -> tuple[str, ...]:
        gate = _APART if self.forks else _ALONE
        beside = _CONFLICTS if self.no_comments else _COMMENT
        others = {"prjury-queue.yml": self.queue, "prjury-backport.yml": self.backport}
        return (*gate, beside, *(name for name, is_used in others.items() if is_used))


@options.expand_option_groups
def init(
    context: typer.Context,
    *,
    repo: options.Repo = Path(),
    situation: Situation,
    action: Annotated[
        str | None,
        typer.Option(metavar="OWNER/NAME@SHA", help="The action, pinned by its full commit id."),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Overwrite existing files that differ.")
    ] = False,
) -> int:
    """Write workflows and a policy into a repository; nothing is overwritten without --force."""
    terminal: Terminal = context.obj
    if situation.from_ci and (situation.forks or situation.build):
        other = "--forks" if situation.forks else "--build"
        raise UsageError(
            f"--from-ci and {other} contradict each other",
            why="One takes the build from your CI, the other builds here",
            remedy="Leave out one of them",
        )
    if action is not None and not _ACTION.fullmatch(action):
        raise UsageError(
            f"--action {action[:120]!r} is not OWNER/NAME@SHA",
            remedy="Pin the action by its full commit id",
        )
    repository = open_repository(repo)
    root = _require_work_tree_without_links(repository)
    around, runner = RunEnvironment(terminal.environ), GitHubRunner(terminal.environ)
    ci = find_ci(root, around, runner)
    reason = _explain_using_checks(situation, ci)
    built: DetectedBuilds | str = ""
    try:
        built = "" if reason else plan_directory(root, around, toolchains=runner)
    except PrJuryError as error:
        built = str(error)
    steps = () if isinstance(built, str) else _list_needed_steps(root, built, ci)
    files = render_workflows_and_policy(
        situation,
        action=action or PLACEHOLDER,
        branches=_name_watched_branches(repository),
        from_checks=bool(reason),
        steps=steps,
    )
    new = {path: text for path, text in files.items() if not _equals_but_for_pin(root / path, text)}
    _diff_and_write(terminal, root, new, force=force)
    terminal.print_lines(_describe_written_files(list(new), root, situation, action))
    if reason:
        terminal.print_lines([f"The build is taken from your CI's checks: {reason}."])
    elif built:
        terminal.print_lines(_describe_build_and_lacks(built, situation, ci))
    return ExitCode.OPEN


def _explain_using_checks(situation: Situation, ci: BaseCi | None) -> str:
    """Return why the build is taken from the CI's checks; empty if it is built here."""
    if situation.from_ci:
        return "--from-ci"
    if situation.build or situation.forks:
        return ""
    lacks = _describe_needs(ci)
    return f"{lacks}; --build builds all the same" if lacks else ""


def _describe_needs(ci: BaseCi | None) -> str:
    needs, job = describe_ci_needs_unmet_here(ci), find_main_job(ci)
    who = f"{job.path}, job {job.job}," if job else "the test of pull requests"
    return f"{who} needs {', '.join(needs[:3])}" if needs else ""


def render_workflows_and_policy(
    situation: Situation,
    *,
    action: str = PLACEHOLDER,
    branches: str = _USUAL,
    from_checks: bool = False,
    steps: Sequence[SetupStep] = (),
) -> Mapping[str, str]:
    """The workflows that the situation takes, and the policy, by their paths."""
    environment = _make_template_environment()
    facts = {
        "action": action,
        "branches": branches,
        "comments": not situation.no_comments,
        "condition": "",
        "forks": situation.forks,
        "from_checks": from_checks,
        "steps": steps,
    }
    names = {f"{WORKFLOWS}/{name}": name for name in situation.workflows}
    names[POLICY_PATH] = "policy.yml"
    return {
        path: environment.get_template(f"{name}.j2").render(facts) for path, name in names.items()
    }


def _make_template_environment() -> Environment:
    environment = Environment(  # noqa: S701 - YAML, in which GitHub's own expressions stand
        "<%",
        "%>",
        "<<",
        ">>",
        loader=FileSystemLoader(templates() / "workflows"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["quote"] = json.dumps
    return environment


def _diff_and_write(terminal: Terminal, root: Path, new: Mapping[str, str], *, force: bool) -> None:
    differing = [path for path in new if (root / path).exists()]
    for path in differing:
        lines = (root / path).read_bytes().decode("utf-8", "replace").splitlines()
        new_lines, name = new[path].splitlines(), f"{path} (new)"
        terminal.print_lines(difflib.unified_diff(lines, new_lines, path, name, lineterm="", n=1))
    if differing and not force:
        raise UsageError(
            f"{', '.join(differing)} would be overwritten",
            why="The existing files differ from the new ones, as shown",
            remedy="Nothing was written; use --force to take the new ones",
        )
    for path, text in new.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        write_atomically(root / path, text)


def _require_work_tree_without_links(repository: OperatorRepository) -> Path:
    root = repository.work_tree
    if root is None:
        raise UsageError(
            f"{repository.name} is a bare repository, which has no files",
            remedy="Run it in a clone",
        )
    for directory in (root / ".github", root / WORKFLOWS):
        if os.path.lexists(directory) and (directory.is_symlink() or not directory.is_dir()):
            raise UsageError(
                f"{directory.relative_to(root)} is not a directory but a link or a file",
                why="Files are not written through links",
                remedy="Put a directory there",
            )
    return root


def _equals_but_for_pin(path: Path, text: str) -> bool:
    """Tell whether the file holds this text; with the placeholder in it, any commit will do."""
    if not os.path.lexists(path):
        return False
    if path.is_symlink() or not path.is_file():
        raise UsageError(
            f"{path.name} is a link or a directory", remedy="Put a regular file there, or none"
        )
    existing = path.read_bytes().decode("utf-8", "replace").replace("\r\n", "\n")
    if text.startswith(_EDITORS) and existing.startswith(_EDITORS):
        text, existing = text.partition("\n")[2], existing.partition("\n")[2]
    pattern = re.escape(text).replace(
        re.escape(PLACEHOLDER), f"({re.escape(PLACEHOLDER)}|{_PINNED})"
    )
    return re.fullmatch(pattern, existing) is not None


def _describe_written_files(
    written: list[str], root: Path, situation: Situation, action: str | None
) -> Sequence[str]:
    other = _ALONE if situation.forks else _APART
    names = (*other, _COMMENT if situation.no_comments else _CONFLICTS)
    template = _make_template_environment().get_template("written.txt.j2")
    text = template.render(
        written=written,
        superfluous=[f"{WORKFLOWS}/{name}" for name in names if (root / WORKFLOWS / name).exists()],
        unpinned=action is None and any(path != POLICY_PATH for path in written),
        placeholder=PLACEHOLDER,
        policy=POLICY_PATH,
    )
    return text.splitlines()


def _list_needed_steps(root: Path, built: DetectedBuilds, ci: BaseCi | None) -> Sequence[SetupStep]:
    files = frozenset(entry.path for entry in list_directory(root).files(TREE))
    return list_setup_steps(built.plans, files, map_ci_setup_steps_by_action(ci))


def _name_watched_branches(repository: OperatorRepository) -> str:
    """Name the default branch, or where it is not known those that it usually is, as YAML."""
    try:
        default = bare(repository.default_branch().ref)
    except SourceError:
        return _USUAL
    return f'"{default}"' if _PLAIN.fullmatch(default) else _USUAL


def _describe_build_and_lacks(
    built: DetectedBuilds | str, situation: Situation, ci: BaseCi | None
) -> Iterator[str]:
    line = built if isinstance(built, str) else summarise_and_check_plans(built)[0]
    yield f"What it would build: {line}. See prjury build --plan."
    if lacks := _describe_needs(ci):
        how = "" if situation.forks else ", or leave out --build"
        yield (
            f"{lacks}, which a build here does not have: name a command with "
            f"`build: {{command: …}}`{how}."
        )
