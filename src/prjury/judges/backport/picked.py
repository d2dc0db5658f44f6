"""Checks 10 and 11: the picked change as a pull request onto the branch, judged like any other.

A pick is a change to the branch. So the judge of version patterns sees it against the branch's own
versions, and the judge of builds compares its tree with the branch's own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Protocol

from prjury.deadline import Deadline
from prjury.judges.context import PullRequestContext
from prjury.jury.guard import guarded, itself
from prjury.jury.judgment import Check, Judgment, Status
from prjury.jury.population import is_benign
from prjury.snapshot.model import FileKind, PullRequest, printable

#: So many findings are quoted.
_FEW = 5


class PickJudge(Protocol):
    """A judge that answers at once."""

    def judge(self, context: PullRequestContext, /) -> Judgment:
        """What it says of a pick."""
        ...


class PatternsPort(PickJudge, Protocol):
    """The judge of version patterns."""

    def concerned(self, pull: PullRequest) -> frozenset[str]:
        """The files whose added lines hold what some rule looks for, whichever versions hold."""
        ...


@dataclass(frozen=True)
class PickedJudges:
    """The judges of picked changes; None for those that nobody wants."""

    patterns: PatternsPort | None = None
    build: PickJudge | None = None

    def concerned(self, pull: PullRequest) -> frozenset[str]:
        """The files of the change that version patterns have something to say about."""
        return self.patterns.concerned(pull) if self.patterns else frozenset()

    def checks(
        self, concerned: AbstractSet[str], pull: Callable[[], PullRequest], deadline: Deadline
    ) -> Iterator[Check]:
        """What they say of a pick as one check each.

        Args:
            concerned: the files that version patterns are asked about.
            pull: takes the photograph of the pick, if one of them is asked at all.
        """
        if self.patterns and not concerned:
            told = "no version pattern is about what the change adds"
            yield Check("versions", passed=True, message=told, severity="hint")
        patterns = self.patterns if concerned else None
        picked = pull() if patterns or self.build else None
        if picked and patterns:
            yield _judged("versions", patterns, _within(picked, concerned), deadline)
        if picked and self.build:
            yield _judged("build", self.build, picked, deadline)


def _judged(name: str, judge: PickJudge, pull: PullRequest, deadline: Deadline) -> Check:
    goal = f"pick {printable(pull.head.ref)} onto {printable(pull.base.ref)}"
    context = PullRequestContext(goal, pull=pull, deadline=deadline)
    return _check(name, guarded(lambda: judge.judge(context), itself))


def _within(pull: PullRequest, concerned: AbstractSet[str]) -> PullRequest:
    """The pick with the files that are asked about, and with those that declare versions."""
    files = (
        file
        for file in pull.files
        if file.path in concerned or file.kind in {FileKind.CONFIG, FileKind.LOCK}
    )
    return replace(pull, files=tuple(files))


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
        evidence="\n".join(map(_line, failed[:_FEW])),
        fix="\n".join(fixes[:_FEW]) if fixes and len(fixes) == len(failed) else None,
    )


def _line(check: Check) -> str:
    return f"{check.location or ''} {check.name}: {check.message}".strip()
