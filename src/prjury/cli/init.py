"""``prjury init``: writes the workflows that fit, and a policy that holds what differs."""

from __future__ import annotations

import difflib
import re
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from msgspec import Struct

from prjury.cli import options
from prjury.cli.output import Terminal
from prjury.errors import ExitCode, PrJuryError, SourceError, UsageError
from prjury.policy import POLICY_PATH

if TYPE_CHECKING:
    from prjury.git.operator import OperatorRepository
    from prjury.judges.builds.ci import BaseCi
    from prjury.judges.builds.plan import DetectedBuilds

WORKFLOWS = ".github/workflows"
#: The placeholder in the templates for the action's repository and commit.
PLACEHOLDER = "OWNER/pr-jury@COMMIT"

_ALONE = ("prjury.yml",)
_APART = ("prjury-build.yml", "prjury-judge.yml")
_QUEUE = ("prjury-queue.yml",)
_BACKPORT = ("prjury-backport.yml",)
_COMMENT = "prjury-comment.yml"
#: The part of that file that remains without commands in comments.
_CONFLICTS = "prjury-conflicts.yml"
#: Those that build.
_BUILDING = ("prjury.yml", "prjury-build.yml", "prjury-queue.yml")
_ACTION = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,38}/[\w.-]{1,100}@[0-9a-f]{40}", re.ASCII)
#: The branches that the template watches, and names that no pattern takes for something else.
_USUAL = "branches: [main, master]"
_PLAIN = re.compile(r"[\w./-]+", re.ASCII)
#: Permissions for a build that is taken from the checks of the head, beside those of the templates.
_CHECKS = "      checks: write # to write the annotated check run\n"
_VERDICT = "      actions: read # to read the verdict of the pull request\n"
_READING = (_CHECKS, f"{_CHECKS}      actions: read # to read the checks that build the change\n")
_READING_IN_QUEUE = (_VERDICT, f"{_VERDICT}      checks: read # and the checks that build it\n")
#: The line by which editors find the schema.
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
        return (*gate, beside, *_QUEUE * self.queue, *_BACKPORT * self.backport)


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
    from prjury.app.builds import find_ci, plan_directory
    from prjury.app.request import RunEnvironment
    from prjury.app.setup_steps import GitHubRunner
    from prjury.git.operator import open_repository

    terminal: Terminal = context.obj
    if situation.from_ci and (situation.forks or situation.build):
        other = "--forks" if situation.forks else "--build"
        raise UsageError(
            f"--from-ci and {other} contradict each other",
            why="One takes the build from your CI, the other builds here",
            remedy="Leave out one of them",
        )
    workflows = _read_templates(situation, action)
    repository = open_repository(repo)
    root = _require_work_tree(repository)
    around, runner = RunEnvironment(terminal.environ), GitHubRunner(terminal.environ)
    ci = find_ci(root, around, runner)
    reason = _explain_using_checks(situation, ci)
    built: DetectedBuilds | str = ""
    try:
        built = "" if reason else plan_directory(root, around, here=runner)
    except PrJuryError as error:
        built = str(error)
    workflows = (
        add_check_permissions(workflows) if reason else _set_up_builds(workflows, root, built, ci)
    )
    files = _restrict_to_default_branch(workflows, repository)
    files = {**files, POLICY_PATH: make_policy_text(action, from_checks=bool(reason))}
    new = {path: text for path, text in files.items() if not _holds_text(root / path, text)}
    _write_files(terminal, root, new, force=force)
    terminal.print_lines(_describe_result(list(new), root, situation, action=action))
    if reason:
        terminal.print_lines([f"The build is taken from your CI's checks: {reason}."])
    elif built:
        terminal.print_lines(_describe_build(built, situation, ci))
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
    from prjury.app.setup_steps import find_main_job, list_needs

    needs, job = list_needs(ci), find_main_job(ci)
    who = f"{job.path}, job {job.job}," if job else "the test of pull requests"
    return f"{who} needs {', '.join(needs[:3])}" if needs else ""


def make_policy_text(action: str | None, *, from_checks: bool) -> str:
    """The policy that is written: what differs from the defaults, with the line for editors."""
    place = (action or PLACEHOLDER).replace("@", "/")
    schema = f"https://raw.githubusercontent.com/{place}/.github/prjury.schema.json"
    build = "\nbuild: {from: checks} # the outcome of your CI's own checks\n" if from_checks else ""
    return (
        f"{_EDITORS}{schema}\n"
        "# The policy of PR Jury: what differs from the defaults; `prjury check-config` shows it.\n"
        "# The policy of the base commit is in force: no pull request relaxes it for itself.\n"
        f"version: 1\n{build}"
    )


def _write_files(terminal: Terminal, root: Path, new: Mapping[str, str], *, force: bool) -> None:
    from prjury.publishers.files import write_atomically

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


def _read_templates(situation: Situation, action: str | None) -> Mapping[str, str]:
    from prjury.resources import templates

    if action is not None and not _ACTION.fullmatch(action):
        raise UsageError(
            f"--action {action[:120]!r} is not OWNER/NAME@SHA",
            remedy="Pin the action by its full commit id",
        )
    texts = {}
    for name in situation.workflows:
        file = _COMMENT if name == _CONFLICTS else name
        text = (templates() / "workflows" / file).read_text(encoding="utf-8")
        text = remove_comment_job(text) if name == _CONFLICTS else text
        if situation.forks and file == _COMMENT:
            text = text.replace("PRJURY_GATE: job # or status,", "PRJURY_GATE: status #")
        texts[f"{WORKFLOWS}/{name}"] = text.replace(PLACEHOLDER, action or PLACEHOLDER)
    return texts


def remove_comment_job(text: str) -> str:
    """The workflow for comments and conflicts, with the conflicts alone."""
    text = re.sub(r"  issue_comment:.*\n    types: \[created\]\n", "", text)
    text = re.sub(r"  comment:\n(?:    .*\n|\n)*?(?=  conflicts:)", "", text)
    text = text.replace("commands in comments (`/prjury help` lists them), and merges", "merges")
    text = text.replace(
        "${{ github.event.comment.id || github.event.after", "${{ github.event.after"
    )
    text = text.replace("one for each comment and each head", "one for each head")
    text = text.replace(
        "!github.event.comment && (!github.event.changes || ", "(!github.event.changes || "
    )
    return text.replace("name: PR Jury comment", "name: PR Jury conflicts").replace(
        "group: prjury-comment-", "group: prjury-conflicts-"
    )


def add_check_permissions(wanted: Mapping[str, str]) -> Mapping[str, str]:
    """The workflows, for a build that is taken from the checks of the head."""
    changed = {path: text.replace(*_READING) for path, text in wanted.items()}
    queue = f"{WORKFLOWS}/{_QUEUE[0]}"
    if queue in changed:
        changed[queue] = changed[queue].replace(*_READING_IN_QUEUE)
    return changed


def _require_work_tree(repository: OperatorRepository) -> Path:
    root = repository.work_tree
    if root is None:
        raise UsageError(
            f"{repository.name} is a bare repository, which has no files",
            remedy="Run it in a clone",
        )
    for directory in (root / ".github", root / WORKFLOWS):
        mode = _read_mode(directory)
        if mode is not None and not stat.S_ISDIR(mode):
            raise UsageError(
                f"{directory.relative_to(root)} is not a directory but a link or a file",
                why="Files are not written through links",
                remedy="Put a directory there",
            )
    return root


def _read_mode(path: Path) -> int | None:
    try:
        return path.lstat().st_mode
    except FileNotFoundError:
        return None


def _holds_text(path: Path, text: str) -> bool:
    """Tell whether the file holds this text; with the placeholder in it, any commit will do."""
    mode = _read_mode(path)
    if mode is None:
        return False
    if not stat.S_ISREG(mode):
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


def _describe_result(
    written: list[str], root: Path, situation: Situation, *, action: str | None
) -> Iterator[str]:
    yield f"wrote {', '.join(written)}" if written else "everything is already there"
    other = _ALONE if situation.forks else _APART
    names = (*other, _COMMENT if situation.no_comments else _CONFLICTS)
    superfluous = [f"{WORKFLOWS}/{name}" for name in names if (root / WORKFLOWS / name).exists()]
    if superfluous:
        yield f"Remove {', '.join(superfluous)}: a pull request has one gate."
    if action is None and any(path != POLICY_PATH for path in written):
        yield (
            f"Put the action's repository and commit in place of {PLACEHOLDER}, or run it again "
            "with --action OWNER/NAME@SHA --force."
        )
    yield (
        "When it is merged, require the check `prjury` in a ruleset, with GitHub Actions as its "
        "source; models need the secret OPENAI_API_KEY."
    )
    yield (
        "GitHub starts a release branch's own files: copy the workflows there as well if its pull "
        "requests should be judged."
    )
    yield (
        "Until then the base commit's policy stays in force; try this one now: "
        f"prjury review --config {POLICY_PATH}"
    )
    yield "Check the set-up: prjury doctor"


def _set_up_builds(
    workflows: Mapping[str, str], root: Path, built: DetectedBuilds | str, ci: BaseCi | None
) -> Mapping[str, str]:
    from prjury.app.setup_steps import add_setup_steps, list_ci_setup_steps, list_setup_steps
    from prjury.git.directory import TREE, open_directory

    if isinstance(built, str):
        return workflows
    files = frozenset(entry.path for entry in open_directory(root).files(TREE))
    steps = list_setup_steps(built.plans, files, list_ci_setup_steps(ci))
    places = {f"{WORKFLOWS}/{name}" for name in _BUILDING}
    return {
        path: add_setup_steps(text, steps) if path in places else text
        for path, text in workflows.items()
    }


def _restrict_to_default_branch(
    workflows: Mapping[str, str], repository: OperatorRepository
) -> Mapping[str, str]:
    from prjury.judges.backport.requests.branches import bare

    try:
        default = bare(repository.default_branch().ref)
    except SourceError:
        return workflows
    if not _PLAIN.fullmatch(default):
        return workflows
    watched = f'branches: ["{default}"]'
    return {path: text.replace(_USUAL, watched) for path, text in workflows.items()}


def _describe_build(
    built: DetectedBuilds | str, situation: Situation, ci: BaseCi | None
) -> Iterator[str]:
    from prjury.judges.builds.plan import summarise_plans

    line = built if isinstance(built, str) else summarise_plans(built)[0]
    yield f"What it would build: {line}. See prjury build --plan."
    if lacks := _describe_needs(ci):
        how = "" if situation.forks else ", or leave out --build"
        yield (
            f"{lacks}, which a build here does not have: name a command with "
            f"`build: {{command: …}}`{how}."
        )
