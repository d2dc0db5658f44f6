"""What one verdict leaves for the next: read from our own comment, compared by fingerprint."""

from __future__ import annotations

from dataclasses import replace

import pytest
from msgspec import structs

from fakes import reports
from fakes.render import to_comment, to_html
from fakes.reports import ballot, report, tier
from prjury.jury.judgment import Check, Judgment, Location
from prjury.report.codec import report_to_json
from prjury.report.continuity import PastVerdict, compare_findings, read_dismissals, write_dismissal
from prjury.report.findings import findings
from prjury.report.model import Dismissal, Report, Since
from prjury.snapshot.model import Side

FIRST, SECOND, THIRD = "1" * 40, "2" * 40, "3" * 40


def found(head: str, *messages: str) -> Report:
    checks = [Check("rule", False, one, Location("a.py", 3)) for one in messages]
    said = Judgment.failed("no", checks=checks) if checks else Judgment.passed("yes")
    made = report(tier("t", ballot("patterns", said)))
    return replace(made, pull=structs.replace(made.pull, head=Side("cart", head)))


def after(told: Report, now: Report) -> Since | None:
    read = PastVerdict.of(to_comment(told, run="12.1"))
    assert read is not None
    return compare_findings(now.verdict, now.pull.head.sha, read)


def test_findings_are_fixed_open_and_new_whatever_their_lines() -> None:
    told = after(found(FIRST, "a", "b", "b"), found(SECOND, "b", "c"))
    assert told is not None
    assert (told.head, told.fixed, told.open, told.new) == (FIRST, 2, 1, 1)


def test_a_second_run_on_the_same_head_compares_with_the_head_before() -> None:
    second = found(SECOND, "b", "c")
    second = replace(second, since=after(found(FIRST, "a", "b"), second))
    again = after(second, found(SECOND, "b"))
    assert again is not None
    assert (again.head, again.fixed, again.open, again.new) == (FIRST, 1, 1, 0)
    third = after(second, found(THIRD))
    assert third is not None
    assert (third.head, third.fixed, third.open, third.new) == (SECOND, 2, 0, 0)


def test_a_first_verdict_is_compared_with_nothing() -> None:
    assert after(found(FIRST, "a"), found(FIRST, "a")) is None
    assert compare_findings(found(FIRST).verdict, FIRST, None) is None


def test_what_a_judge_did_not_come_to_is_not_called_fixed() -> None:
    erred = report(tier("t", ballot("patterns", Judgment.errored("no answer"))))
    told = after(found(FIRST, "a"), erred)
    assert told is not None
    assert (told.fixed, told.not_judged) == (0, 1)
    assert "not judged again 1" in to_comment(replace(erred, since=told))


def test_each_finding_is_decided_by_the_judge_that_found_it() -> None:
    """A repaired build is fixed, though no key lets the model judge answer."""
    broken = Judgment.failed("no", checks=[Check("compile", False, "a", Location("a.py", 3))])
    quality = reports.quality_tier(reports.NO_MODEL)
    before = report(tier("build", ballot("build", broken)), quality)
    mended = report(tier("build", ballot("build", Judgment.passed("yes"))), quality)
    now = replace(mended, pull=structs.replace(mended.pull, head=Side("cart", SECOND)))

    told = after(before, now)

    assert told is not None
    assert (told.fixed, told.open, told.new, told.not_judged) == (1, 0, 0, 0)


def test_the_comment_says_it_and_the_report_counts_it() -> None:
    now = found(SECOND, "b")
    first = findings(now.verdict)[0].check.fingerprint
    said = Dismissal(first, "octocat", "it *is* so")
    now = replace(now, since=after(found(FIRST, "a", "b", "c"), now), dismissals=(said,))
    text = to_comment(now)
    assert "Since the last verdict on `1111111`: fixed 2" in text
    assert "open 1, new 0" in text
    assert "(dismissed by octocat: it \\*is\\* so)" in text
    shown = to_html(now)
    assert "Since the last verdict on" in shown
    assert "(dismissed by octocat: it *is* so)" in shown
    written = report_to_json(now)
    assert written["since"] == {
        "head": FIRST,
        "fixed": 2,
        "open": 1,
        "new": 0,
        "not_judged": 0,
        "before": [*now.since.before] if now.since else [],
    }
    assert written["dismissals"] == [
        {"finding": said.finding, "by": "octocat", "reason": "it *is* so"}
    ]


@pytest.mark.parametrize("many", [501, 700])
def test_too_many_to_be_kept_are_not_compared(many: int) -> None:
    assert after(found(FIRST, *map(str, range(many))), found(SECOND, "1")) is None


def test_numbers_are_those_of_the_comment() -> None:
    told = PastVerdict.of(to_comment(reports.broken_build(), run="9.1"))
    assert told is not None
    assert ([len(group) for group in told.groups], told.run) == ([2, 1, 1], 9)


@pytest.mark.parametrize(
    "values",
    ["dismissed=xyz by=o why=YQ==", "dismissed=" + "a" * 16 + " by=a<b why=YQ==",
     "dismissed=" + "a" * 16 + " by=o why=!", "dismissed=" + "a" * 16 + " by=o"],
)  # fmt: skip
def test_a_damaged_dismissal_is_none(values: str) -> None:
    assert read_dismissals(f"<!-- prjury:v1 id=answer.1 {values} -->\n") == ()


def test_a_dismissal_is_read_as_it_was_written() -> None:
    values = write_dismissal(["a" * 16, "b" * 16], FIRST, "octocat", "--> ünd \u202e so")
    found = read_dismissals(f"<!-- prjury:v1 id=answer.1 {values} -->\n")
    assert [(one.finding[0], one.by, one.reason) for one in found] == [
        ("a", "octocat", "--> ünd \u202e so"),
        ("b", "octocat", "--> ünd \u202e so"),
    ]
