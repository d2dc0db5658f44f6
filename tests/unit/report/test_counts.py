"""Every face of the report shows the same number of findings: those of the verdict."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakes import reports as fake
from fakes.render import to_comment, to_feedback, to_html, to_summary
from prjury.jury.judgment import Check, Judgment, Location, Status
from prjury.publishers.check_run import CheckRunTexts
from prjury.publishers.terminal import render_report
from prjury.report.annotations import annotate, to_sarif
from prjury.report.model import Report
from prjury.report.sanitise import Redactor
from prjury.snapshot.model import FileChange, FileKind, FileStatus, Hunk, Line

PATHS = ("a.py", "m2.py", "m10.py")
LINES = 12
MORE = re.compile(
    r"(?:^|\n)[^\n]*?… and ([\d,]+) more(?! (?:places|checks|commits|conflicts|notes))"
)
TITLES = re.compile(r"(?:Must fix|Should look at|not blocking)\D{0,24}\((\d+)")


@st.composite
def checks(draw: st.DrawFn) -> Check:
    place = st.builds(Location, st.sampled_from(PATHS), st.integers(1, LINES))
    return Check(
        draw(st.sampled_from(["one/rule", "two/rule", "build"])),
        passed=draw(st.sampled_from([False, False, False, True])),
        message=draw(st.sampled_from(["gone", "moved"])),
        location=draw(st.none() | place),
        severity=draw(st.sampled_from(["error", "warning", "hint"])),
        evidence=draw(st.sampled_from([None, "x = 1"])),
        fix=draw(st.sampled_from([None, "x = 2"])),
    )


@st.composite
def reports(draw: st.DrawFn) -> Report:
    """A few judges in three tiers, with few or very many checks."""
    most = draw(st.sampled_from([4, 4, 60]))
    judgments = st.builds(
        lambda make, found: make("because", checks=found),
        st.sampled_from([Judgment.failed, Judgment.failed, Judgment.passed, Judgment.abstained]),
        st.lists(checks(), max_size=most),
    )
    benches = draw(st.lists(st.lists(judgments, min_size=1, max_size=2), min_size=1, max_size=3))
    attempts = [
        fake.tier(
            f"t{at}",
            *(fake.ballot(f"j{n}", said) for n, said in enumerate(bench)),
            advisory=draw(st.booleans()),
        )
        for at, bench in enumerate(benches)
    ]
    lines = tuple(Line("+", None, n, "x = 1") for n in range(1, LINES + 1))
    files = [
        FileChange(
            path,
            FileStatus.MODIFIED,
            FileKind.SOURCE,
            additions=LINES,
            hunks=(Hunk(1, 0, 1, LINES, "", lines),),
        )
        for path in PATHS
    ]
    return fake.report(*attempts, pull_request=fake.pull(files))


def total(report: Report) -> int:
    """The failed checks of the verdict, and a judge's own word where it rejects without any."""
    found = 0
    for attempt in report.verdict.attempts:
        rejects = not attempt.advisory and attempt.status is Status.FAIL
        for judgment in attempt.verdict.individual if attempt.verdict else ():
            failed = len(judgment.failed_checks)
            found += failed or int(rejects and judgment.status is Status.FAIL)
    return found


def entries(text: str, mark: str) -> int:
    """How many findings a text lists: a line with a count is as many as it says."""
    found = sum(int(count) - 1 for count in re.findall(r"<summary>(\d+) places<", text))
    for line in re.findall(mark, text, re.MULTILINE):
        several = re.search(r"(\d+) places", line)
        found += int(several[1]) if several else 1
    return found


def more(text: str) -> int:
    return sum(int(number.replace(",", "")) for number in MORE.findall(text))


def section(text: str) -> str:
    """The findings of a comment, without the folds that tell of judges."""
    return text.split("<summary>What each judge", maxsplit=1)[0].split(
        "<summary>Not checked", maxsplit=1
    )[0]


def printed(report: Report) -> str:
    return render_report(report, io.StringIO(), width=10_000)


def of_titles(text: str) -> int:
    return sum(int(number) for number in TITLES.findall(text))


@pytest.mark.slow
@settings(deadline=None)
@given(reports())
def test_every_face_shows_as_many_findings_as_the_verdict_has(report: Report) -> None:
    expected = total(report)
    for text in (to_comment(report), to_summary(report)):
        part = section(text)
        # What was unfolded is not "more": the fold's own title says how many follow in it.
        assert entries(part, r"^(?:\d+\.|-) .*\*\*.*$") + more(part) == expected
        assert of_titles(part) == expected
    screen = printed(report)
    assert entries(screen, r"^ *\d+\. .*$") + more(screen) == of_titles(screen) == expected
    assert of_titles(to_html(report).replace('<span class="count">', "")) == expected
    summary = CheckRunTexts.of(report, "", Redactor(())).summary
    assert sum(map(int, re.findall(r"(?:fix|at): (\d+)", summary))) == expected


@settings(deadline=None)
@given(reports())
def test_the_feedback_tells_of_each_finding(report: Report) -> None:
    text = to_feedback(report)
    told = re.search(r"^(\d+) to fix", text, re.MULTILINE)
    assert (int(told[1]) if told else 0) + of_titles(text) == total(report)


@settings(deadline=None)
@given(reports())
def test_what_is_sent_and_what_is_left_out_add_up(report: Report) -> None:
    expected = total(report)
    annotations = annotate(report, most=5)
    assert len(annotations.entries) + annotations.left_out == expected
    assert numbers([annotations.note]) == annotations.left_out
    run = to_sarif(report, most_results=5)["runs"][0]
    notes = [
        note["message"]["text"] for note in run["invocations"][0]["toolExecutionNotifications"]
    ]
    left = [note for note in notes if note.startswith("In the report only: ")]
    assert len(run["results"]) + len(notes) - len(left) + numbers(left) == expected


def numbers(texts: Sequence[str]) -> int:
    found = (re.search(r"([\d,]+) (?:more )?findings?", text) for text in texts)
    return sum(int(match[1].replace(",", "")) for match in found if match)
