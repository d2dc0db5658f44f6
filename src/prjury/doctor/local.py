"""Checks of this machine and of the work tree: git, Python, the policy, the workflow files."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from pathlib import Path

from prjury.app.builds import find_ci, plan_directory
from prjury.app.composition import builds
from prjury.app.request import RunEnvironment
from prjury.app.setup_steps import GitHubRunner, find_main_job, list_needs
from prjury.doctor.checked import check_policy, find_doubts
from prjury.doctor.finding import Diagnosis, fine, join_sentence, problem, unknown, warning
from prjury.doctor.setup import GATE, Setup
from prjury.errors import ConfigError, PrJuryError, SourceError
from prjury.git.command import ask
from prjury.git.operator import OperatorRepository
from prjury.judges.builds.plan import plan_summary
from prjury.manifests.workflow import LARGEST, Workflow, read_workflow
from prjury.policy.load import POLICY_PATH
from prjury.policy.yaml_reader import read_yaml

WORKFLOWS = ".github/workflows"
OLDEST_GIT = (2, 38)
_OUR_NAME = "PR Jury"


def machine() -> Iterator[Diagnosis]:
    """The programs that PR Jury is made of and needs."""
    output, _, _ = ask(Path("/"), "--version")
    yield check_git_version(output.decode("utf-8", "replace").strip())
    python = ".".join(map(str, sys.version_info[:3]))
    yield fine("", f"prjury {version('prjury')} on Python {python}")


def check_git_version(found: str) -> Diagnosis:
    """Tell whether git is new enough to merge without a work tree."""
    numbers = re.search(r"(\d+)\.(\d+)", found)
    oldest = ".".join(map(str, OLDEST_GIT))
    if not numbers:
        return unknown("git", f"its version is not known; {oldest} or newer is needed")
    if (int(numbers[1]), int(numbers[2])) < OLDEST_GIT:
        return problem("git", f"{numbers[0]} is too old; install {oldest} or newer")
    return fine("", f"git {numbers[0]}")


def check_own_policy(root: Path) -> Iterator[Diagnosis]:
    """Tell whether the policy in the work tree is valid, and whether all of it is obeyed."""
    file = root / POLICY_PATH
    if file.is_symlink():
        yield problem(POLICY_PATH, "it is a link, which is not followed; put the file itself there")
        return
    if not file.exists():
        yield fine("", "no policy, the default is in force")
        return
    try:
        checked = check_policy(_read_text(file, POLICY_PATH), POLICY_PATH, root)
    except ConfigError as error:
        yield problem("", join_sentence(error))
        return
    for doubt in find_doubts(checked.config):
        yield warning(POLICY_PATH, doubt.text)
    yield fine("", f"{POLICY_PATH} is valid")


def check_build(root: Path, environ: Mapping[str, str]) -> Iterator[Diagnosis]:
    """Tell whether the build is known and can run here, and what the CI needs besides."""
    if _takes_checks(root):
        yield fine("", "the build is taken from the checks of the head")
        return
    try:
        planned = plan_directory(root, RunEnvironment(environ))
    except PrJuryError as error:
        yield unknown("the build", join_sentence(error))
        return
    line, is_known = plan_summary(planned)
    yield fine("", f"the build is known: {line}") if is_known else warning("the build", line)
    left_out = [step for plan in planned.plans for step in plan.left_out]
    notes = [f"the CI's `{step.text}` is not run here: {step.why}" for step in left_out]
    for note in dict.fromkeys([*notes, *planned.notes]):
        yield warning("the build", f"{note}; see `prjury build --plan`")
    ci = find_ci(root, RunEnvironment(environ), GitHubRunner(environ))
    if needs := list_needs(ci):
        job = find_main_job(ci)
        yield warning(
            job.path if job else WORKFLOWS,
            f"the job `{job.job if job else 'that tests'}` needs {', '.join(needs[:3])}, which a "
            "build here does not have; take the build from its checks with "
            "`build: {from: checks}`",
        )


def _takes_checks(root: Path) -> bool:
    try:
        policy_here = check_policy(_read_text(root / POLICY_PATH, POLICY_PATH), POLICY_PATH, root)
    except ConfigError:
        return False
    sources = {one.from_ for one in builds(policy_here.config)}
    return sources == {"checks"}


def read_workflows(root: Path) -> tuple[list[Workflow], list[Diagnosis]]:
    """The workflows in the work tree, and what could not be read."""
    read: list[Workflow] = []
    unread: list[Diagnosis] = []
    directory = root / WORKFLOWS
    for file in sorted([*directory.glob("*.yml"), *directory.glob("*.yaml")]):
        try:
            read.append(_workflow(file, f"{WORKFLOWS}/{file.name}"))
        except ConfigError as error:
            tell = problem if file.name.startswith(GATE) else unknown
            unread.append(tell("", join_sentence(error)))
    return read, unread


def _workflow(file: Path, shown: str) -> Workflow:
    if file.is_symlink() or not file.is_file():
        raise ConfigError(f"{shown} is not a regular file", remedy="Put the file itself there")
    if file.stat().st_size > LARGEST:
        raise ConfigError(f"{shown} is larger than {LARGEST // 1024} KiB")
    return read_workflow(_read_text(file, shown), shown)


def _read_text(file: Path, shown: str) -> str:
    try:
        return file.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{shown} is not UTF-8 text") from error
    except OSError as error:
        raise ConfigError(f"{shown} cannot be read: {error.strerror}") from error


def setup(repository: OperatorRepository, root: Path, read: list[Workflow]) -> Setup:
    """The workflows with what git tells of the default branch."""
    branch, exists = _default(repository)
    return Setup(tuple(read), _is_home(root), branch, exists)


def _is_home(root: Path) -> bool:
    file = root / "action.yml"
    if not file.is_file() or file.stat().st_size > LARGEST:
        return False
    try:
        value = read_yaml(_read_text(file, "action.yml"), "action.yml", LARGEST).value
    except ConfigError:
        return False
    return isinstance(value, dict) and value.get("name") == _OUR_NAME


def _default(repository: OperatorRepository) -> tuple[str | None, frozenset[str] | None]:
    try:
        side = repository.default_branch()
        listed = repository.git(
            "ls-tree", "-r", "-z", "--name-only", "--full-tree", side.sha, "--", WORKFLOWS
        )
    except SourceError:
        return None, None
    paths = (path.decode("utf-8", "replace") for path in listed.split(b"\0") if path)
    return side.ref.removeprefix("origin/"), frozenset(paths)
