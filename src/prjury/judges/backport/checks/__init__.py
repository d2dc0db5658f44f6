"""The checks of a backport: one file a check, and `CHECKS` as the one list, in report order.

To add a check:

1. Write ``checks/NAME.py`` with a function that takes the `LookContext` and returns a `Check`, or
   None where it does not apply. The context has what is known of the change, the branch, its
   history and the trial; each part is found when it is first read. A `SourceError` is reported as
   "not checked" with the reason.
2. Add a row to `CHECKS`. Choose ``deep`` for what takes long: deep checks run only where they can
   change the verdict.
3. If a failure has to change the verdict, add the name to a set at the top of ``verdict.py``:
   `AGAINST`, `CAREFUL` or `TO_CHANGE`. Otherwise the message is one of the reasons.
4. Add a row to ``.github/docs/judges/backport.md`` and tests to
   ``tests/unit/judges/backport/checks/test_NAME.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from prjury.judges.backport.checks.api import api
from prjury.judges.backport.checks.asked_for import asked_for
from prjury.judges.backport.checks.branch import branch
from prjury.judges.backport.checks.dependencies import dependencies, unread_manifests
from prjury.judges.backport.checks.lines_and_files import lines_and_files
from prjury.judges.backport.checks.migrations import migrations
from prjury.judges.backport.checks.not_there_yet import not_there_yet
from prjury.judges.backport.checks.picked import build, versions
from prjury.judges.backport.checks.picks_cleanly import picks_cleanly
from prjury.judges.backport.checks.prerequisites import prerequisites
from prjury.judges.backport.checks.settings import settings
from prjury.judges.backport.checks.symbols import symbols
from prjury.jury.judgment import Check

if TYPE_CHECKING:
    from prjury.judges.backport.look import LookContext

#: ``first``: always run, and they may settle the verdict. ``cheap``: run for every open branch.
#: ``deep``: run only where they can change the verdict.
Stage = Literal["first", "cheap", "deep"]


@dataclass(frozen=True, slots=True)
class BackportCheck:
    """A row of the list.

    Attributes:
        name: of the check in reports.
        find: makes the check; None where it does not apply.
    """

    name: str
    find: Callable[[LookContext], Check | None]
    stage: Stage = "cheap"


CHECKS: tuple[BackportCheck, ...] = (
    BackportCheck("branch", branch, "first"),
    BackportCheck("not-there-yet", not_there_yet, "first"),
    BackportCheck("asked-for", asked_for),
    BackportCheck("picks-cleanly", picks_cleanly),
    BackportCheck("prerequisites", prerequisites, "deep"),
    BackportCheck("lines-and-files", lines_and_files),
    BackportCheck("api", api),
    BackportCheck("migrations", migrations),
    BackportCheck("settings", settings),
    BackportCheck("dependencies", dependencies),
    BackportCheck("dependencies", unread_manifests),
    BackportCheck("symbols", symbols, "deep"),
    BackportCheck("versions", versions, "deep"),
    BackportCheck("build", build, "deep"),
)
