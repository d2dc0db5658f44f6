"""``prjury init``: writes the workflows that fit, and a policy with every key explained."""

from __future__ import annotations

import json
import re
import stat
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from prjury.cli import options
from prjury.cli.output import Terminal
from prjury.errors import ExitCode, SourceError, UsageError

if TYPE_CHECKING:
    from prjury.git.operator import OperatorRepository
    from prjury.judges.builds.detect import DetectedBuilds

WORKFLOWS = ".github/workflows"
POLICY = ".github/prjury.yml"
#: What stands in the templates where the action's repository and commit belong.
PLACEHOLDER = "OWNER/pr-jury@COMMIT"

_ALONE = ("prjury.yml",)
_APART = ("prjury-build.yml", "prjury-judge.yml", "prjury-override.yml")
_CONFLICTS = ("prjury-conflicts.yml",)
_QUEUE = ("prjury-queue.yml",)
_BACKPORT = ("prjury-backport.yml",)
_COMMENT = ("prjury-comment.yml",)
#: Those that build.
_BUILDING = ("prjury.yml", "prjury-build.yml", "prjury-queue.yml")
_ACTION = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,38}/[\w.-]{1,100}@[0-9a-f]{40}", re.ASCII)
#: What the template watches, and names that no pattern of branches takes for something else.
_USUAL = "branches: [main, master]"
_PLAIN = re.compile(r"[\w./-]+", re.ASCII)
#: Permissions for a build that is taken from the checks of the head, beside those of the templates.
_CHECKS = "      checks: write # to write the annotated check run\n"
_VERDICT = "      actions: read # to read the verdict of the pull request\n"
_READING = (_CHECKS, f"{_CHECKS}      actions: read # to read the checks that build the change\n")
_READING_IN_QUEUE = (_VERDICT, f"{_VERDICT}      checks: read # and the checks that build it\n")
_PINNED = r"[\w.-]+/[\w./-]+@[0-9a-f]{40}"


@dataclass(frozen=True)
class Situation:
    """What is special about the repository."""

    forks: Annotated[
        bool,
        typer.Option("--forks", help="For pull requests from forks: separate jobs."),
    ] = False
    queue: Annotated[bool, typer.Option("--queue", help="With a merge queue.")] = False
    backport: Annotated[
        bool, typer.Option("--backport", help="Propose backports after the merge.")
    ] = False
    commands: Annotated[
        bool, typer.Option("--commands", help="Answer commands in comments, such as /prjury help.")
    ] = False
    from_ci: Annotated[
        bool, typer.Option("--from-ci", help="Take the build from the checks that run already.")
    ] = False

    app: Annotated[
        bool,
        typer.Option("--app", help="With --forks: post as a GitHub App of your own."),
    ] = False

    @property
    def workflows(self) -> tuple[str, ...]:
        """The files that fit."""
        gate = _APART if self.forks else _ALONE
        more = _QUEUE * self.queue + _BACKPORT * self.backport + _COMMENT * self.commands
        return gate + _CONFLICTS + more


@options.expand
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
    from prjury.app.app_token import with_app_token
    from prjury.git.operator import open_repository

    terminal: Terminal = context.obj
    _refuse_contradictions(situation)
    wanted = _wanted(situation.workflows, action)
    repository = open_repository(repo)
    root = _work_tree(repository)
    built = "" if situation.from_ci else _build(root, terminal)
    wanted = by_checks(wanted) if situation.from_ci else _equipped(wanted, root, built)
    wanted = _watching(wanted, repository)
    if situation.app:
        wanted = {path: with_app_token(text) for path, text in wanted.items()}
    new = {path: text for path, text in wanted.items() if not _is_there(root / path, text)}
    _write(root, new, force=force)
    _tell(terminal, _lines(list(new), root, situation, action=action))
    if built:
        _tell(terminal, iter([_told_of(built)]))
    return ExitCode.OPEN


def _refuse_contradictions(situation: Situation) -> None:
    if situation.from_ci and situation.forks:
        raise UsageError(
            "--from-ci and --forks are two ways to keep the build away from the token",
            remedy="Leave out one of them",
        )
    if situation.app and (situation.queue or not situation.forks):
        raise UsageError(
            "--app goes with --forks, and without --queue",
            why="An app's key must not lie beside a build, and a queue's check is its job",
            remedy="Add --forks, or leave out --app",
        )


def _write(root: Path, new: Mapping[str, str], *, force: bool) -> None:
    """Write the new files; existing ones are overwritten by force alone."""
    from prjury.publishers.files import write_atomically

    differing = [path for path in new if (root / path).exists()]
    if differing and not force:
        raise UsageError(
            f"{_listed(differing)} would be overwritten",
            why="The existing files differ from the new ones",
            remedy="Nothing was written; compare them, then use --force",
        )
    for path, text in new.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        write_atomically(root / path, text)


def _wanted(workflows: tuple[str, ...], action: str | None) -> Mapping[str, str]:
    """The files by their paths in the repository.

    Raises:
        UsageError: for an action that is not pinned.
    """
    from prjury.resources import templates

    if action is not None and not _ACTION.fullmatch(action):
        raise UsageError(
            f"--action {action[:120]!r} is not OWNER/NAME@SHA",
            remedy="Pin the action by its full commit id",
        )
    place = templates()
    texts = {f"{WORKFLOWS}/{name}": (place / "workflows" / name) for name in workflows}
    files = {path: file.read_text(encoding="utf-8") for path, file in texts.items()}
    pinned = {
        path: text.replace(PLACEHOLDER, action or PLACEHOLDER) for path, text in files.items()
    }
    return {**pinned, POLICY: (place / "policy.yml").read_text(encoding="utf-8")}


def by_checks(wanted: Mapping[str, str]) -> Mapping[str, str]:
    """The files, for a build that is taken from the checks of the head."""
    changed = {path: text.replace(*_READING) for path, text in wanted.items()}
    queue = f"{WORKFLOWS}/{_QUEUE[0]}"
    if queue in changed:
        changed[queue] = changed[queue].replace(*_READING_IN_QUEUE)
    own, checks = "          from: run # or checks,", "          from: checks # or run,"
    return {**changed, POLICY: changed[POLICY].replace(own, checks)}


def _work_tree(repository: OperatorRepository) -> Path:
    """Where files are written.

    Raises:
        UsageError: in a bare repository, or where a link would lead the files elsewhere.
    """
    root = repository.work_tree
    if root is None:
        raise UsageError(
            f"{repository.name} is a bare repository, which has no files",
            remedy="Run it in a clone",
        )
    for directory in (root / ".github", root / WORKFLOWS):
        mode = _mode(directory)
        if mode is not None and not stat.S_ISDIR(mode):
            raise UsageError(
                f"{directory.relative_to(root)} is not a directory but a link or a file",
                why="Files are not written through links",
                remedy="Put a directory there",
            )
    return root


def _mode(path: Path) -> int | None:
    try:
        return path.lstat().st_mode
    except FileNotFoundError:
        return None


def _is_there(path: Path, text: str) -> bool:
    """Whether the file holds this text; with the placeholder in it, any commit will do.

    Raises:
        UsageError: when something else than a file stands there.
    """
    mode = _mode(path)
    if mode is None:
        return False
    if not stat.S_ISREG(mode):
        raise UsageError(
            f"{path.name} is a link or a directory", remedy="Put a regular file there, or none"
        )
    there = path.read_bytes().decode("utf-8", "replace").replace("\r\n", "\n")
    pattern = re.escape(text).replace(
        re.escape(PLACEHOLDER), f"({re.escape(PLACEHOLDER)}|{_PINNED})"
    )
    return re.fullmatch(pattern, there) is not None


def _lines(
    written: list[str], root: Path, situation: Situation, *, action: str | None
) -> Iterator[str]:
    """What was written, and what is to be done next."""
    yield f"wrote {_listed(written)}" if written else "everything is already there"
    other = _ALONE if situation.forks else _APART
    superfluous = [f"{WORKFLOWS}/{name}" for name in other if (root / WORKFLOWS / name).exists()]
    if superfluous:
        yield f"Remove {_listed(superfluous)}: a pull request has one gate."
    if action is None and any(path != POLICY for path in written):
        yield (
            f"Put the action's repository and commit in place of {PLACEHOLDER}, or run it again "
            "with --action OWNER/NAME@SHA --force."
        )
    if situation.app:
        from prjury.app.app_token import CLIENT_ID, KEY

        yield f"Set the variable {CLIENT_ID} and the secret {KEY} of the app."
    source = "the app" if situation.app else "GitHub Actions"
    yield (
        f"When it is merged, require the check `prjury` in a ruleset, with {source} as its "
        "source; models need the secret OPENAI_API_KEY."
    )
    yield (
        "Until then the base commit's policy stays in force; try this one now: "
        f"prjury review --config {POLICY}"
    )
    yield "Check the set-up: prjury doctor"


def _build(root: Path, terminal: Terminal) -> DetectedBuilds | str:
    """What would be built, or why that cannot be known."""
    from prjury.app.request import RunEnvironment
    from prjury.app.stages.plan import plan_directory
    from prjury.errors import PrJuryError

    try:
        return plan_directory(root, RunEnvironment(terminal.environ))
    except PrJuryError as error:
        return str(error)


def _equipped(
    wanted: Mapping[str, str], root: Path, built: DetectedBuilds | str
) -> Mapping[str, str]:
    """The files, with steps that set up the tools that the builds need."""
    from prjury.app.setup_steps import setup_steps, with_setup
    from prjury.git.directory import TREE, open_directory

    if isinstance(built, str):
        return wanted
    files = frozenset(entry.path for entry in open_directory(root).files(TREE))
    steps = setup_steps(built.plans, files)
    places = {f"{WORKFLOWS}/{name}" for name in _BUILDING}
    return {
        path: with_setup(text, steps) if path in places else text for path, text in wanted.items()
    }


def _watching(wanted: Mapping[str, str], repository: OperatorRepository) -> Mapping[str, str]:
    """The files, with a look at conflicts after a push to the default or a release branch.

    Where the default branch is not known, or has an odd name, the usual ones are watched.
    """
    from prjury.judges.backport.requests.branches import bare, release_branches
    from prjury.policy.schema import BackportConfig

    try:
        default = bare(repository.default_branch().ref)
    except SourceError:
        return wanted
    releases = release_branches(repository.branches(), default, BackportConfig()).names
    watched = json.dumps([default, *releases])
    place = f"{WORKFLOWS}/{_CONFLICTS[0]}"
    if not _PLAIN.fullmatch(default):
        return wanted
    return {**wanted, place: wanted[place].replace(_USUAL, f"branches: {watched}")}


def _told_of(built: DetectedBuilds | str) -> str:
    from prjury.judges.builds.plan_view import plan_summary

    line = built if isinstance(built, str) else plan_summary(built)[0]
    return f"What it would build: {line}. See prjury build --plan."


def _tell(terminal: Terminal, lines: Iterator[str]) -> None:
    from prjury.publishers.terminal import printable_line

    for line in lines:
        print(printable_line(line, sys.stdout, terminal.redact))


def _listed(paths: list[str]) -> str:
    return ", ".join(paths)
