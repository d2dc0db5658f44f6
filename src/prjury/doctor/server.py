"""Checks of the repository's settings on GitHub: is the gate required, and who may set it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

from msgspec import Struct, field

from prjury.doctor.finding import (
    Diagnosis,
    DoctorCheck,
    examine,
    fine,
    join_sentence,
    problem,
    unknown,
    warning,
)
from prjury.doctor.setup import GATE, Setup
from prjury.errors import SourceError
from prjury.github.settings import (
    BranchRules,
    RepoSettings,
    RepositoryFacts,
    RequiredCheck,
)

Answer = TypeVar("Answer")


class ServerState(Struct, frozen=True):
    """What GitHub said; a text in place of an answer is why there is none."""

    setup: Setup
    repo: str
    facts: RepositoryFacts
    rules: BranchRules | str = field(default_factory=BranchRules)
    protection: tuple[RequiredCheck, ...] | str = ()
    actions_app: int | None = None

    @property
    def branch(self) -> str:
        """The branch that is looked at."""
        return self.facts.default_branch

    @property
    def gate_names(self) -> list[str]:
        """The names of the gate here, or what it would be called."""
        return self.setup.gate_names or [GATE]

    @property
    def required(self) -> list[RequiredCheck]:
        """Every check that is known to be required."""
        ruled = () if isinstance(self.rules, str) else self.rules.checks
        protected = () if isinstance(self.protection, str) else self.protection
        return [*ruled, *protected]


def ask_server(rights: RepoSettings, setup: Setup) -> Iterator[Diagnosis]:
    """Find what is wrong with the settings on GitHub, and what could not be read there."""
    try:
        facts = rights.facts()
    except SourceError as error:
        tell = problem if error.reason in {"bad_credentials", "not_found"} else unknown
        yield tell("GitHub", join_sentence(error))
        return
    branch = facts.default_branch
    standing = ServerState(
        setup,
        rights.repo,
        facts,
        _or_why(lambda: rights.read_ruleset_checks(branch)),
        _or_why(lambda: rights.read_protection_checks(branch)),
        rights.actions_app,
    )
    yield from examine(standing, CHECKS)


def _or_why(call: Callable[[], Answer]) -> Answer | str:
    try:
        return call()
    except SourceError as error:
        return join_sentence(error)


def check_forks(standing: ServerState) -> Iterator[Diagnosis]:
    """Forks before a jury that has no secrets for them."""
    facts, setup = standing.facts, standing.setup
    alone = [one for one in setup.gates if one.on_pull_requests]
    if alone and not setup.of_modes("publish") and facts.forks and not facts.private:
        yield warning(
            alone[0].about,
            f"{standing.repo} is public and has forks, whose pull requests are judged without "
            "models and without a comment here; `prjury init --forks` writes the workflows that "
            "do both",
        )


def check_required(standing: ServerState) -> Iterator[Diagnosis]:
    """Tell whether the gate is required, and from whom."""
    about = f"the rules of `{standing.branch}`"
    own_checks = [check for check in standing.required if check.context in standing.gate_names]
    for check in own_checks:
        yield _of_source(standing, about, check)
    yield from _find_misnamed_checks(standing, about)
    if not own_checks:
        yield from _find_not_required(standing, about)


def _of_source(standing: ServerState, about: str, check: RequiredCheck) -> Diagnosis:
    sentence = f"`{check.context}` is required by {check.source}"
    if any(use.posts_as_app for use in standing.setup.of_modes("publish")):
        return fine(about, sentence)
    if check.app is None:
        return warning(
            about,
            f"{sentence} from any source, so that another app or a person can turn it green; "
            "choose GitHub Actions as its source",
        )
    if standing.actions_app and check.app != standing.actions_app:
        return problem(
            about,
            f"{sentence} from the app {check.app}, but it comes from GitHub Actions "
            f"({standing.actions_app}) and never comes; choose that as its source",
        )
    return fine(about, sentence)


def _find_misnamed_checks(standing: ServerState, about: str) -> Iterator[Diagnosis]:
    """The page of a pull request shows the workflow's name before the job's; a rule must not."""
    shown = {f"{one.workflow.name} / {one.job.name}" for one in standing.setup.uses}
    for check in standing.required:
        if check.context in shown:
            yield problem(
                about,
                f"`{check.context}` is required, a name that no check ever has; require "
                f"`{standing.gate_names[0]}`",
            )


def _find_not_required(standing: ServerState, about: str) -> Iterator[Diagnosis]:
    name = standing.gate_names[0]
    unread = [one for one in (standing.rules, standing.protection) if isinstance(one, str)]
    if not unread:
        yield problem(
            about,
            f"`{name}` is not required, so anything can be merged; require it in a ruleset "
            "with GitHub Actions as its source",
        )
    for why in unread:
        yield unknown(about, f"whether `{name}` is required cannot be read with this token: {why}")


def check_queue(standing: ServerState) -> Iterator[Diagnosis]:
    """A merge queue in which the gate never reports."""
    uses = standing.setup.uses
    if isinstance(standing.rules, str) or not (standing.rules.has_queue and uses):
        return
    if not any(one.in_queue for one in uses):
        yield problem(
            f"the rules of `{standing.branch}`",
            "there is a merge queue and no workflow of PR Jury on `merge_group`, so that a "
            f"required `{standing.gate_names[0]}` never comes; write it with "
            "`prjury init --queue`",
        )


CHECKS: tuple[DoctorCheck[ServerState], ...] = (
    DoctorCheck("pull requests from forks are judged with models and comments", check_forks),
    DoctorCheck("the gate is required", check_required),
    DoctorCheck("the merge queue asks PR Jury", check_queue),
)
