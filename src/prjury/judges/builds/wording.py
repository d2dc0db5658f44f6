"""What a build's judgment says in words. Pure."""

from __future__ import annotations

import signal
from collections.abc import Sequence

from prjury.judges.builds.build_result import BuildResult
from prjury.judges.builds.comparison import fixed
from prjury.judges.builds.failure import Failure
from prjury.judges.builds.outcome import PlanOutcome
from prjury.judges.builds.plan import BuildPlan
from prjury.judges.builds.vanished import Vanished
from prjury.ports.types import Completed
from prjury.snapshot.model import visible

_MOST_NAMED = 5
_LONGEST_QUOTED = 160
_LIMITS = {
    "output_limit": "printed more than 200 MiB and was stopped",
    "memory_limit": "used more than the memory that a build may have and was stopped",
    "process_limit": "started more processes than a build may have and was stopped",
}


def what_failed(outcome: PlanOutcome) -> str:
    """How the step that decided ended."""
    result = outcome.last
    which = f"{result.step.name}: " if len(outcome.results) > 1 else ""
    return which + _ending(result.completed, outcome.allowed)


def _ending(completed: Completed, allowed: float) -> str:
    stopped, code = completed.stopped, completed.exit_code
    if stopped == "timeout":
        return f"did not finish within {duration(allowed)}"
    if stopped:
        return _LIMITS.get(stopped, f"was stopped ({stopped})")
    if code < 0:
        return f"killed by {_signal_name(-code)}"
    if code:
        return f"failed with exit code {code}"
    return "ended with exit code 0, but its test reports hold failures"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def causes(failures: Sequence[Failure]) -> str:
    """The first cause and the number of the others, behind a colon; empty for none."""
    if not failures:
        return ""
    first = failures[0]
    where = f"{first.place}: " if first.place else f"{first.name}: " if first.name else ""
    others = sum(failure.kind != "goal" for failure in failures[1:])
    more = f" (and {others} more)" if others else ""
    return f": {where}{first.message}{more}"


def first_of(lost: Vanished) -> str:
    """An example of the tests that did not run; empty where no name is known."""
    return f", such as {clipped(lost.names[0])}" if lost.names else ""


def notes(case: BuildResult, *more: str) -> str:
    """What a reader should know besides, in brackets; empty for nothing."""
    unread = case.outcome.reports.problems
    notes = (*_scope(case.plan), *case.plan.notes, *unread[:3], *_fixed(case), *filter(None, more))
    if case.base_unknown:
        notes = (*notes, f"the base could not be compared with: {case.base_unknown}")
    return f" ({'; '.join(notes)})" if notes else ""


def clipped(text: str) -> str:
    """A line of a build's output, short enough for a sentence."""
    line = text.strip().rstrip(".")
    return line if len(line) <= _LONGEST_QUOTED else f"{line[:_LONGEST_QUOTED]}…"


def _scope(plan: BuildPlan) -> tuple[str, ...]:
    """What part was built, where parts are known at all."""
    modules, because = plan.scope.modules, plan.scope.because
    if modules:
        listed = ", ".join(modules[:_MOST_NAMED])
        more = f" and {len(modules) - _MOST_NAMED} more" if len(modules) > _MOST_NAMED else ""
        left = because.partition("; ")[2]  # what the way to find them leaves out
        besides = f"; {visible(left)}" if left else ""
        return (f"only what the change affects: {visible(listed)}{more}{besides}",)
    return (f"everything, because {because}",) if because else ()


def _fixed(case: BuildResult) -> tuple[str, ...]:
    if case.base is None or not (mended := fixed(case.outcome, case.base)):
        return ()
    named = mended[0].name or mended[0].id
    more = f" and {len(mended) - 1} more" if len(mended) > 1 else ""
    return (f"fixes {named}{more}, which the base fails",)


def duration(seconds: float) -> str:
    """Seconds up to a minute and a half, then minutes."""
    if seconds < 90:  # noqa: PLR2004 - one and a half minutes
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"  # noqa: PLR2004
    return f"{seconds / 60:.0f} min"
