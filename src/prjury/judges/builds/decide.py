"""From what became of a build to the judgment. Pure."""

from __future__ import annotations

from dataclasses import replace

from prjury.judges.builds.build_result import BuildResult
from prjury.judges.builds.comparison import same_end, unproven, unseen
from prjury.judges.builds.custom_command import SYSTEM, broken_command
from prjury.judges.builds.evidence import checks_of, metadata_of
from prjury.judges.builds.failure import Failure
from prjury.judges.builds.outcome import PlanOutcome
from prjury.judges.builds.plan import BuildPlan
from prjury.judges.builds.toolchain import remedy_for
from prjury.judges.builds.vanished import Vanished
from prjury.judges.builds.wording import causes, clipped, duration, first_of, notes, what_failed
from prjury.jury.judgment import Judgment
from prjury.jury.score import BooleanScore
from prjury.report.wording import counted


def decide(case: BuildResult) -> Judgment:
    """What the case comes to.

    PASS; FAIL for what the change breaks, and where the base is as broken and may hide what it
    breaks; ERROR where exit code 0 stands alone though there should be reports with it.
    """
    if not case.outcome.failed and not case.outcome.failures:
        return _green(case)
    if cause := case.outcome.environment:
        return _not_here(case, cause)
    if case.base is None:
        return _red(case, causes(case.blocking or case.outcome.failures))
    if wrong := broken_command(case.plan, case.outcome, case.base):
        return not_tried(case.plan, *_misfit(case, wrong))
    return _beside_base(case, case.base)


def _not_here(case: BuildResult, cause: Failure) -> Judgment:
    """The ERROR of a build that this machine cannot do, whatever the change is like."""
    remedy = remedy_for(cause)
    return Judgment.errored(
        f"this machine cannot build it: {clipped(cause.message)}. To judge the change, {remedy}."
        f"{notes(case)}",
        checks=checks_of(case),
        metadata={**metadata_of(case), "reason": "environment", "remedy": remedy},
    )


def _beside_base(case: BuildResult, base: PlanOutcome) -> Judgment:
    """What fails, when it is known how the base fares."""
    alike = same_end(case.outcome, base)
    if alike and not case.outcome.failures:
        return _base_broken(case, "what went wrong could not be read")
    flaky = any(failure.state == "flaky" for failure in case.outcome.failures)
    if case.blocking or not (alike or flaky):
        return _red(case, causes(case.blocking or case.outcome.failures))
    if case.plan.thorough:
        return _base_broken(case, "there was no time to run it again without stopping at failures")
    lost = case.lost if case.vanished == "warn" else Vanished()
    doubt = unproven(case.plan, case.outcome, base, lost)
    return _base_broken(case, doubt) if doubt else _unless_vanished(case, _excused(case))


def _unless_vanished(case: BuildResult, passed: Judgment) -> Judgment:
    """The judgment, or the policy's answer where tests that ran on the base did not run here."""
    lost = case.lost
    if not lost.count:
        return passed
    words = f"{counted(lost.count, 'test')} that ran on the base did not run here{first_of(lost)}"
    if case.vanished == "warn":
        return replace(passed, reasoning=f"{words}; {passed.reasoning}")
    log = str(case.outcome.last.completed.log)
    metadata = {**passed.metadata, "log": log, "reason": "tests_vanished"}
    if case.vanished == "fail":
        failed = BooleanScore(value=False)
        return Judgment.failed(words, score=failed, checks=passed.checks, metadata=metadata)
    return Judgment.abstained(
        f"{words}. Look whether they were left out on purpose; everything that did run passed.",
        "tests_vanished",
        checks=passed.checks,
        metadata=metadata,
    )


def _excused(case: BuildResult) -> Judgment:
    """Everything that failed is the base's own, or a matter of luck that the policy lets pass."""
    failures = [failure for failure in case.outcome.failures if failure.kind != "goal"]
    old = sum(failure.state == "pre_existing" for failure in failures)
    lucky = len(failures) - old
    told = f"{counted(old, 'test')} failed as on the base" if old else ""
    luck = f"{counted(lucky, 'flaky test')} passed when run again" if lucky else ""
    words = " and ".join(filter(None, [told, luck]))
    note = unseen(case.plan, case.outcome)
    return Judgment.passed(
        f"{words}; every test of the base ran, and nothing else fails"
        f"{causes(case.outcome.failures)}{notes(case, note)}",
        score=BooleanScore(value=True),
        checks=checks_of(case),
        metadata={**metadata_of(case), "note": "pre_existing" if old else "flaky"},
    )


def _base_broken(case: BuildResult, doubt: str) -> Judgment:
    """The base fails in the same way, and that may hide what the change breaks."""
    hidden = (
        ", and so did the base, which may hide what this change breaks: "
        f"{clipped(doubt)}. Fix the base first.\n{causes(case.outcome.failures)[2:]}"
    )
    return _red(case, hidden, reason="base_broken")


def _misfit(case: BuildResult, wrong: str) -> tuple[str, str]:
    """What to do about a command that cannot work, and the word for it."""
    why = (
        f"`{case.outcome.last.step.text}` cannot work here, nor on the base: {clipped(wrong)}. "
        "Usually the command is misspelt, or its tool is not installed. Correct "
        "`build: {command: …}` in .github/prjury.yml, or install the tool."
    )
    return why, "tool_missing"


def _red(case: BuildResult, why: str, **more: str) -> Judgment:
    return Judgment.failed(
        f"{what_failed(case.outcome)}{why}{notes(case)}",
        score=BooleanScore(value=False),
        checks=checks_of(case),
        metadata=metadata_of(case) | more,
    )


def _green(case: BuildResult) -> Judgment:
    """Exit code 0 and no failing test that was read; whether all were read is the question."""
    reports = case.outcome.reports
    checks, metadata, told = checks_of(case), metadata_of(case), notes(case)
    if reports.problems:
        return Judgment.errored(
            f"the build ended with exit code 0, but not all of its test reports could be read, "
            f"so that failing tests may hide there{told}",
            checks=checks,
            metadata={**metadata, "reason": "report_invalid"},
        )
    own = case.plan.system == SYSTEM
    if reports.files and not (reports.tests or reports.counted) and (own or case.test_files):
        return Judgment.errored(
            f"the build ended with exit code 0, but its test reports hold no test{told}",
            checks=checks,
            metadata={**metadata, "reason": "report_invalid"},
        )
    if case.plan.reported and not reports.tests:
        return Judgment.errored(
            f"the build ended with exit code 0, but the test report that it was told to write is "
            f"missing or empty; probably something ended the tests before they ran{told}",
            checks=checks,
            metadata={**metadata, "reason": "report_missing"},
        )
    passed = Judgment.passed(
        f"passed in {duration(case.outcome.seconds)}{told}",
        score=BooleanScore(value=True),
        checks=checks,
        metadata={**metadata, "log": None},
    )
    return _unless_vanished(case, passed)


def not_tried(plan: BuildPlan, why: str, reason: str) -> Judgment:
    """The ERROR of a build about which nothing is known."""
    which = {"command": plan.text, "system": plan.system, "directory": plan.directory}
    return Judgment.errored(why, metadata={"reason": reason, **which})
