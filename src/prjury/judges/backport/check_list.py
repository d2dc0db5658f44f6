"""The checks of a backport: one file a check in ``checks/``, and `CHECKS` as the one list.

It is in the order of reports.

To add a check:

1. Write ``checks/NAME.py`` with a function that returns a `Check`, or None where it does not apply.
2. Add a row to `CHECKS`, which hands it what it needs of the `LookContext`: that has what is known
   of the change, the branch, its history and the trial; each part is found when it is first read.
   A `SourceError` is reported as "not checked" with the reason. Choose ``deep`` for what takes
   long: deep checks run only where they can change the verdict.
3. If a failure has to change the verdict, add the name to a set at the top of ``verdict.py``:
   `AGAINST`, `CAREFUL` or `TO_CHANGE`. Otherwise the message is one of the reasons.
4. Add a row to ``.github/docs/judges/backport.md`` and tests to
   ``tests/unit/judges/backport/checks/test_NAME.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from prjury.judges.backport.checks.api import names_check
from prjury.judges.backport.checks.asked_for import asked_for_check
from prjury.judges.backport.checks.dependencies import moves_check, unread_manifests
from prjury.judges.backport.checks.lines_and_files import overlap_check
from prjury.judges.backport.checks.migrations import migrations_check
from prjury.judges.backport.checks.not_there_yet import not_there_yet_check
from prjury.judges.backport.checks.picked import build, versions
from prjury.judges.backport.checks.picks_cleanly import picks_cleanly
from prjury.judges.backport.checks.prerequisites import prerequisites
from prjury.judges.backport.checks.settings import settings_check
from prjury.judges.backport.checks.symbols import symbols_check
from prjury.jury.judgment import Check
from prjury.report.wording import counted
from prjury.snapshot.model import printable

if TYPE_CHECKING:
    from prjury.judges.backport.look import LookContext


def branch(context: LookContext) -> Check:
    """Return the check ``branch``, which always passes and says how far the branch is behind."""
    tip, history = context.tip, context.history
    where = f"{printable(tip.name)} is at {tip.sha[:7]}"
    if history.unchecked:
        message = f"{where}; its history was not read: {history.unchecked}"
        return Check("branch", passed=True, message=message, severity="hint")
    since = counted(len(history.earlier), "change")
    return Check("branch", passed=True, message=f"{where}, forked from the base {since} ago")


#: ``first``: always run, and they may settle the verdict. ``cheap``: run for every open branch.
#: ``deep``: run only where they can change the verdict.
Stage = Literal["first", "cheap", "deep"]


@dataclass(frozen=True, slots=True)
class BackportCheck:
    """A row of the list: the check's name in reports, and what makes it."""

    name: str
    find: Callable[[LookContext], Check | None]
    stage: Stage = "cheap"


CHECKS: tuple[BackportCheck, ...] = (
    BackportCheck("branch", branch, "first"),
    BackportCheck(
        "not-there-yet",
        lambda seen: not_there_yet_check(*seen.applied, seen.has_no_effect, seen.tip.name),
        "first",
    ),
    BackportCheck("asked-for", lambda seen: asked_for_check(seen.change.requests, seen.requests)),
    BackportCheck("picks-cleanly", picks_cleanly),
    BackportCheck("prerequisites", prerequisites, "deep"),
    BackportCheck("lines-and-files", lambda seen: overlap_check(seen.overlap)),
    BackportCheck("api", lambda seen: names_check(seen.interface)),
    BackportCheck("migrations", lambda seen: migrations_check(seen.interface.migrations)),
    BackportCheck("settings", lambda seen: settings_check(seen.interface.settings)),
    BackportCheck("dependencies", lambda seen: moves_check(seen.bumps, seen.tip.name)),
    BackportCheck("dependencies", unread_manifests),
    BackportCheck("symbols", lambda seen: symbols_check(seen.missing, seen.tip.name), "deep"),
    BackportCheck("versions", versions, "deep"),
    BackportCheck("build", build, "deep"),
)
