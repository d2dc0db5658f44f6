"""Checks 10 and 11: the picked change as a pull request onto the branch, judged like any other.

A pick is a change to the branch. So the judge of version patterns sees it against the branch's own
versions, and the judge of builds compares its tree with the branch's own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from prjury.deadline import Deadline
from prjury.judges.context import PullRequestContext
from prjury.jury.asking import guarded, itself
from prjury.jury.judge import Judge
from prjury.jury.judgment import Check, Judgment, Status
from prjury.jury.population import is_benign
from prjury.pull.model import PullRequest, printable

#: So many findings are quoted.
_FEW = 5


@dataclass(frozen=True)
class Picked:
    """The judges of picked changes; None for those that nobody wants."""

    patterns: Judge[PullRequestContext] | None = None
    build: Judge[PullRequestContext] | None = None

    def checks(self, pull: PullRequest, deadline: Deadline) -> Iterator[Check]:
        """What they say of a pick as one check each."""
        goal = f"pick {printable(pull.head.ref)} onto {printable(pull.base.ref)}"
        context = PullRequestContext(goal, pull=pull, deadline=deadline)
        for name, judge in (("versions", self.patterns), ("build", self.build)):
            if judge is not None:
                judgment = guarded(lambda judge=judge: judge.judge(context), itself)  # type: ignore[misc] # bound now
                yield _check(name, judgment)


def _check(name: str, judgment: Judgment) -> Check:
    passed = judgment.status is Status.PASS or is_benign(judgment)
    if passed or judgment.status is not Status.FAIL:
        words = judgment.reasoning if passed else f"not looked into: {judgment.reasoning}"
        return Check(name, passed, words, severity="hint")
    failed = judgment.failed_checks
    first = failed[0] if failed else None
    fixes = [check.fix for check in failed if check.fix]
    return Check(
        name,
        passed=False,
        message=judgment.reasoning,
        location=first.location if first else None,
        evidence="\n".join(
            f"{c.location or ''} {c.name}: {c.message}".strip() for c in failed[:_FEW]
        ),
        fix="\n".join(fixes[:_FEW]) if fixes and len(fixes) == len(failed) else None,
    )
