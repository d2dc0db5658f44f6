"""Where the branch is. That it exists and is not locked is tested before its checks run."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
