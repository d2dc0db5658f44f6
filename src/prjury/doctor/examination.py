"""``prjury doctor``: this machine, the work tree (policy, build, workflows), and then GitHub."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TypeVar

from msgspec import Struct, field

from prjury.app.builds import find_ci, plan_directory
from prjury.app.composition import list_build_options
from prjury.app.request import RunEnvironment
from prjury.app.setup_steps import GitHubRunner, describe_ci_needs_unmet_here, find_main_job
from prjury.doctor.checked import check_policy, find_unlikely_settings
from prjury.doctor.workflows import (
    GATE,
    Diagnosis,
    Level,
    Setup,
    examine,
    examine_setup,
    fine,
    join_sentence,
    problem,
    unknown,
    warning,
)
from prjury.errors import ConfigError, PrJuryError, SourceError
from prjury.git.command import ask
from prjury.git.operator import OperatorRepository, open_repository
from prjury.github.settings import (
    BranchRules,
    RepoSettings,
    RepositoryFacts,
    RequiredCheck,
    make_settings_or_reason,
)
from prjury.judges.builds.plan import summarise_and_check_plans
from prjury.manifests.workflow import LARGEST, Workflow, read_workflow
from prjury.policy import POLICY_PATH
from prjury.resources import program_version

WORKFLOWS = ".github/workflows"
OLDEST_GIT = (2, 38)

Answer = TypeVar("Answer")


def run_examination(
    path: Path, environ: Mapping[str, str], *, offline: bool = False
) -> Iterator[Diagnosis]:
    """Find what is wrong with the set-up of the repository that holds ``path``."""
    repository = open_repository(path)
    rights = make_settings_or_reason(repository.remote_url, environ, offline=offline)
    output, _, _ = ask(Path("/"), "--version")
    yield check_git_version(output.decode("utf-8", "replace").strip())
    python = ".".join(map(str, sys.version_info[:3]))
    yield fine("", f"prjury {program_version()} on Python {python}")
    setup, root = Setup(()), repository.work_tree
    if root is None:
        yield unknown("", "the repository is bare; run it in a checkout to look at workflows")
    else:
        yield from check_own_policy(root)
        read, unread = read_workflows(root)
        yield from check_build_and_ci_needs(root, environ)
        yield from unread
        setup = Setup(tuple(read), _is_home(root), *_read_default_branch_and_workflows(repository))
        complete = all(one.level is not Level.PROBLEM for one in unread)
        yield from examine_setup(setup, complete=complete)
    if isinstance(rights, str):
        yield unknown("GitHub", f"the token, the required checks and the settings: {rights}")
        return
    with rights:
        yield fine("", f"asked about {rights.repo}")
        yield from check_github_settings(rights, setup)


def check_git_version(found: str) -> Diagnosis:
    numbers = re.search(r"(\d+)\.(\d+)", found)
    oldest = ".".join(map(str, OLDEST_GIT))
    if numbers and (int(numbers[1]), int(numbers[2])) < OLDEST_GIT:
        return problem("git", f"{numbers[0]} is too old; install {oldest} or newer")
    return fine("", f"git {numbers[0] if numbers else 'of an unknown version'}")


def check_own_policy(root: Path) -> Iterator[Diagnosis]:
    """Tell whether the policy in the work tree is valid, and whether all of it is obeyed."""
    file = root / POLICY_PATH
    if not (file.is_symlink() or file.exists()):
        yield fine("", "no policy, the default is in force")
        return
    try:
        checked = check_policy(_read_plain_file(file, POLICY_PATH), POLICY_PATH, root)
    except ConfigError as error:
        yield problem("", join_sentence(error))
        return
    for doubt in find_unlikely_settings(checked.config):
        yield warning(POLICY_PATH, doubt.text)
    yield fine("", f"{POLICY_PATH} is valid")


def check_build_and_ci_needs(root: Path, environ: Mapping[str, str]) -> Iterator[Diagnosis]:
    """Tell whether the build is known and can run here, and what the CI needs besides."""
    environment = RunEnvironment(environ)
    try:
        policy = check_policy(_read_plain_file(root / POLICY_PATH, POLICY_PATH), POLICY_PATH, root)
        if {build.from_ for build in list_build_options(policy.config)} == {"checks"}:
            yield fine("", "the build is taken from the checks of the head")
            return
    except ConfigError:
        pass  # check_own_policy tells
    try:
        planned = plan_directory(root, environment)
    except PrJuryError as error:
        yield unknown("the build", join_sentence(error))
        return
    line, is_known = summarise_and_check_plans(planned)
    yield fine("", f"the build is known: {line}") if is_known else warning("the build", line)
    left_out = [step for plan in planned.plans for step in plan.left_out]
    notes = [f"the CI's `{step.text}` is not run here: {step.why}" for step in left_out]
    for note in dict.fromkeys([*notes, *planned.notes]):
        yield warning("the build", f"{note}; see `prjury build --plan`")
    ci = find_ci(root, environment, GitHubRunner(environ))
    if needs := describe_ci_needs_unmet_here(ci):
        job = find_main_job(ci)
        yield warning(
            job.path if job else WORKFLOWS,
            f"the job `{job.job if job else 'that tests'}` needs {', '.join(needs[:3])}, which a "
            "build here does not have; take the build from its checks with "
            "`build: {from: checks}`",
        )


def read_workflows(root: Path) -> tuple[list[Workflow], list[Diagnosis]]:
    """The workflows in the work tree, and what could not be read."""
    read: list[Workflow] = []
    unread: list[Diagnosis] = []
    directory = root / WORKFLOWS
    for file in sorted([*directory.glob("*.yml"), *directory.glob("*.yaml")]):
        shown_name = f"{WORKFLOWS}/{file.name}"
        try:
            read.append(read_workflow(_read_plain_file(file, shown_name), shown_name))
        except ConfigError as error:
            tell = problem if file.name.startswith(GATE) else unknown
            unread.append(tell("", join_sentence(error)))
    return read, unread


def _read_plain_file(file: Path, shown_name: str) -> str:
    if file.is_symlink() or not file.is_file():
        raise ConfigError(f"{shown_name} is not a regular file", remedy="Put the file itself there")
    if file.stat().st_size > LARGEST:
        raise ConfigError(f"{shown_name} is larger than {LARGEST // 1024} KiB")
    try:
        return file.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{shown_name} is not UTF-8 text") from error
    except OSError as error:
        raise ConfigError(f"{shown_name} cannot be read: {error.strerror}") from error


def _is_home(root: Path) -> bool:
    try:
        return "name: PR Jury" in _read_plain_file(root / "action.yml", "action.yml").splitlines()
    except ConfigError:
        return False


def _read_default_branch_and_workflows(
    repository: OperatorRepository,
) -> tuple[str | None, frozenset[str] | None]:
    try:
        side = repository.default_branch()
        listed = repository.git(
            "ls-tree", "-r", "-z", "--name-only", "--full-tree", side.sha, "--", WORKFLOWS
        )
    except SourceError:
        return None, None
    paths = (path.decode("utf-8", "replace") for path in listed.split(b"\0") if path)
    return side.ref.removeprefix("origin/"), frozenset(paths)


class ServerState(Struct, frozen=True):
    """What GitHub said; a text in place of an answer is why there is none."""

    setup: Setup
    repo: str
    facts: RepositoryFacts
    rules: BranchRules | str = field(default_factory=BranchRules)
    protection: tuple[RequiredCheck, ...] | str = ()
    actions_app: int | None = None

    @property
    def about(self) -> str:
        return f"the rules of `{self.facts.default_branch}`"

    @property
    def gate_names(self) -> list[str]:
        """The names of the gate here, or what it would be called."""
        return self.setup.gate_names or [GATE]


def check_github_settings(rights: RepoSettings, setup: Setup) -> Iterator[Diagnosis]:
    """Find what is wrong with the settings on GitHub, and what could not be read there."""
    try:
        facts = rights.facts()
    except SourceError as error:
        tell = problem if error.reason in {"bad_credentials", "not_found"} else unknown
        yield tell("GitHub", join_sentence(error))
        return
    branch = facts.default_branch
    rules = _or_why(lambda: rights.read_branch_rules(branch))
    protection = _or_why(lambda: rights.read_protection_checks(branch))
    state = ServerState(setup, rights.repo, facts, rules, protection, rights.actions_app)
    yield from examine(state, CHECKS)


def _or_why(call: Callable[[], Answer]) -> Answer | str:
    try:
        return call()
    except SourceError as error:
        return join_sentence(error)


def check_forks_get_models(state: ServerState) -> Iterator[Diagnosis]:
    facts, setup = state.facts, state.setup
    alone = [gate for gate in setup.gates if gate.on_pull_requests]
    if alone and not setup.of_modes("publish") and facts.forks and not facts.private:
        what = (
            f"{state.repo} is public and has forks, whose pull requests are judged without models"
        )
        fix = "`prjury init --forks` writes the workflows that do both"
        yield warning(alone[0].about, f"{what} and without a comment here; {fix}")


def check_required_checks(state: ServerState) -> Iterator[Diagnosis]:
    about, name = state.about, state.gate_names[0]
    answers = (state.rules, state.protection)
    required = [] if isinstance(state.rules, str) else [*state.rules.checks]
    required += () if isinstance(state.protection, str) else state.protection
    own_checks = [check for check in required if check.context in state.gate_names]
    for check in own_checks:
        yield _check_required_source(state, check)
    # The page of a pull request shows the workflow's name before the job's; a rule must not.
    shown = {f"{use.workflow.name} / {use.job.name}" for use in state.setup.uses}
    for check in required:
        if check.context in shown:
            text = f"`{check.context}` is required, a name that no check ever has"
            yield problem(about, f"{text}; require `{name}`")
    if own_checks:
        return
    for why in (answer for answer in answers if isinstance(answer, str)):
        yield unknown(about, f"whether `{name}` is required cannot be read with this token: {why}")
    if not any(isinstance(answer, str) for answer in answers):
        fix = "require it in a ruleset with GitHub Actions as its source"
        yield problem(about, f"`{name}` is not required, so anything can be merged; {fix}")


def _check_required_source(state: ServerState, check: RequiredCheck) -> Diagnosis:
    sentence = f"`{check.context}` is required by {check.source}"
    if any(use.posts_as_app for use in state.setup.of_modes("publish")):
        return fine(state.about, sentence)
    if check.app is None:
        what = f"{sentence} from any source, so that another app or a person can turn it green"
        return warning(state.about, f"{what}; choose GitHub Actions as its source")
    if state.actions_app and check.app != state.actions_app:
        what = f"{sentence} from the app {check.app}, but it comes from GitHub Actions"
        fix = f"({state.actions_app}) and never comes; choose that as its source"
        return problem(state.about, f"{what} {fix}")
    return fine(state.about, sentence)


def check_queue(state: ServerState) -> Iterator[Diagnosis]:
    uses = state.setup.uses
    has_queue = not isinstance(state.rules, str) and state.rules.has_queue
    if has_queue and uses and not any(use.in_queue for use in uses):
        what = "there is a merge queue and no workflow of PR Jury on `merge_group`, so a required"
        fix = "write it with `prjury init --queue`"
        yield problem(state.about, f"{what} `{state.gate_names[0]}` never comes; {fix}")


CHECKS = {
    "pull requests from forks are judged with models and comments": check_forks_get_models,
    "the gate is required": check_required_checks,
    "the merge queue asks PR Jury": check_queue,
}
