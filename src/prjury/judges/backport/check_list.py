"""The checks of a backport, one file each in ``checks/``; `CHECKS` lists them as reports do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from prjury.errors import SourceError
from prjury.judges.backport.checks.api import check_public_names
from prjury.judges.backport.checks.asked_for import check_not_refused
from prjury.judges.backport.checks.dependencies import check_moved_versions, check_unread_files
from prjury.judges.backport.checks.lines_and_files import check_lines_and_files
from prjury.judges.backport.checks.migrations import check_migrations
from prjury.judges.backport.checks.not_there_yet import check_not_there_yet
from prjury.judges.backport.checks.picked import judge_pick, judge_versions
from prjury.judges.backport.checks.picks_cleanly import check_picks_cleanly
from prjury.judges.backport.checks.prerequisites import check_no_prerequisites
from prjury.judges.backport.checks.symbols import check_symbols
from prjury.judges.backport.context import BranchContext
from prjury.judges.backport.verdict import BranchFacts, is_open
from prjury.jury.judgment import Check
from prjury.report.wording import pluralize
from prjury.snapshot.model import printable


def _describe_branch(seen: BranchContext) -> Check:
    tip, history = seen.tip, seen.history
    where = f"{printable(tip.name)} is at {tip.sha[:7]}"
    if history.unchecked:
        message = f"{where}; its history was not read: {history.unchecked}"
        return Check("branch", passed=True, message=message, severity="hint")
    since = pluralize(len(history.earlier), "change")
    return Check("branch", passed=True, message=f"{where}, forked from the base {since} ago")


def _check_no_prerequisites_or_raise(seen: BranchContext) -> Check | None:
    if seen.gone or not seen.needs_more:
        return None
    if seen.prerequisites is None:
        raise SourceError("the history does not reach back to where the branches forked")
    if seen.prerequisites.unchecked:
        raise SourceError(seen.prerequisites.unchecked)
    return check_no_prerequisites(seen.prerequisites)


def _check_versions(seen: BranchContext) -> Check | None:
    judge = seen.tools.judges.patterns
    if judge is None or seen.final_tree is None:
        return None
    return judge_versions(judge, seen.pick, seen.change.concerned, seen.deadline)


def _check_build(seen: BranchContext) -> Check | None:
    judge = seen.tools.judges.build
    if judge is None or seen.final_tree is None:
        return None
    return judge_pick("build", judge, seen.pick, seen.deadline)


#: ``first``: always run, and they may settle the verdict. ``cheap``: run for every open branch.
#: ``deep``: run only where they can change the verdict.
Stage = Literal["first", "cheap", "deep"]


class BackportCheck(Struct, frozen=True):
    """A row of the list: the check's name in reports, and what makes it."""

    name: str
    find: Callable[[BranchContext], Check | None]
    stage: Stage = "cheap"


CHECKS: tuple[BackportCheck, ...] = (
    BackportCheck("branch", _describe_branch, "first"),
    BackportCheck(
        "not-there-yet",
        lambda seen: check_not_there_yet(*seen.applied_or_reason, seen.trial.empty, seen.tip.name),
        "first",
    ),
    BackportCheck("asked-for", lambda seen: check_not_refused(seen.change.requests, seen.requests)),
    BackportCheck("picks-cleanly", lambda seen: check_picks_cleanly(seen.trial, seen.tip)),
    BackportCheck("prerequisites", _check_no_prerequisites_or_raise, "deep"),
    BackportCheck("lines-and-files", lambda seen: check_lines_and_files(seen.touched)),
    BackportCheck("api", lambda seen: check_public_names(seen.interface)),
    BackportCheck("migrations", lambda seen: check_migrations(seen.interface.migrations)),
    BackportCheck("dependencies", lambda seen: check_moved_versions(seen.bumps, seen.tip.name)),
    BackportCheck("dependencies", lambda seen: check_unread_files(seen.change.bumps, seen.bumps)),
    BackportCheck("symbols", lambda seen: check_symbols(seen.missing, seen.tip.name), "deep"),
    BackportCheck("versions", _check_versions, "deep"),
    BackportCheck("build", _check_build, "deep"),
)


def check_branch_until_settled(seen: BranchContext) -> BranchFacts:
    """Run the checks of one branch as far as they can change the verdict."""
    applied, _ = seen.applied_or_reason
    first, hollow = _run_checks(seen, "first"), seen.trial.empty and not seen.pull.files
    facts = BranchFacts(seen.pull, seen.tip, seen.trial, applied, hollow=hollow, checks=first)
    if facts.settled:
        return facts
    facts = replace(
        facts,
        answer=seen.requests.answer,
        unnamed=seen.requests.unnamed,
        elsewhere=seen.requests.elsewhere,
        traits=seen.change.traits,
        reached=seen.reached,
        gone=seen.gone,
        newer=seen.has_newer_versions,
        raises=seen.raises_versions,
        checks=(*first, *_run_checks(seen, "cheap")),
        score=seen.score,
        default=seen.tools.config.default,
        parents=seen.change.parents,
    )
    if not (seen.thorough or is_open(facts)):
        return replace(facts, cut_short=True)
    seen.deepen()
    checks = (*first, *_run_checks(seen, "cheap", "deep"))
    return replace(facts, first=seen.prerequisites, checks=checks)


def _run_checks(seen: BranchContext, *stages: Stage) -> tuple[Check, ...]:
    """Run the checks of these stages; one that cannot be made neither passes nor fails a change."""
    checks: list[Check] = []
    for row in CHECKS:
        if row.stage in stages:
            try:
                check = row.find(seen)
            except SourceError as error:
                message = f"not checked: {error}"
                check = Check(row.name, passed=False, message=message, severity="hint")
            if check and check not in checks:
                checks.append(check)
    return tuple(checks)
