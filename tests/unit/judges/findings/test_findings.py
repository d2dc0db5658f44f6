"""Findings of other tools: which ones count, and reports that prove nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from fakes.repository import BASE, HEAD, MERGED, FakeRepository, pull_between
from fakes.shell import ScriptedShell, SilentProgress
from prjury.deadline import Deadline
from prjury.judges.builds.evidence import KeptReports
from prjury.judges.context import PullRequestContext
from prjury.judges.findings.judge import make
from prjury.jury.judgment import Judgment, Status
from prjury.policy.load import read_options
from prjury.policy.options import FindingsOptions
from prjury.ports import Ports

BEFORE = {"src/a.py": "one\ntwo\nthree\n", "src/b.py": "b\n"}
AFTER = {**BEFORE, "src/a.py": "one\nTWO\nthree\n", "src/new.py": "x = 1\n"}
#: The base has two lines more at the top of the file by now.
MOVED = {**BEFORE, "src/a.py": "a\nb\none\nTWO\nthree\n", "src/new.py": "x = 1\n"}


def judged(
    report: str | bytes | None,
    form: str = "sarif",
    *,
    merged: Mapping[str, str] = AFTER,
    **options: Any,
) -> Judgment:
    pull = pull_between(BEFORE, AFTER, tree=MERGED)
    repository = FakeRepository({BASE: BEFORE, HEAD: AFTER, MERGED: merged})
    ports = Ports(repository, ScriptedShell([]), SilentProgress())
    context = PullRequestContext("merge", pull=pull, deadline=Deadline.after(60))
    if report is not None:
        content = report.encode() if isinstance(report, str) else report
        KeptReports.of(context).files["out/report"] = content
    wanted = read_options({form: "out/*", **options}, FindingsOptions)
    return make(wanted, ports).judge(context)


def result(line: int | None, path: str = "src/a.py", **more: Any) -> dict[str, Any]:
    region = {"region": {"startLine": line}} if line else {}
    place = {"physicalLocation": {"artifactLocation": {"uri": path}, **region}}
    return {"ruleId": "R1", "message": {"text": "bad"}, "locations": [place], **more}


def log(*results: dict[str, Any], **run: Any) -> str:
    driver = {"name": "lint", "rules": [{"id": "R1", "defaultConfiguration": {"level": "error"}}]}
    found = {"tool": {"driver": driver}, "results": list(results), **run}
    return json.dumps({"version": "2.1.0", "runs": [found]})


def test_an_added_line() -> None:
    said = judged(log(result(2), result(1), result(3)))
    assert (said.status, said.reasoning) == (
        Status.FAIL,
        "src/a.py:2: bad (2 findings in other lines)",
    )
    assert [(c.name, str(c.location), c.severity) for c in said.checks] == [
        ("R1", "src/a.py:2", "error")
    ]


@pytest.mark.parametrize(
    "finding",
    [
        result(1),
        result(None, "src/b.py"),
        result(2, "lib/other.py"),
        result(2, level="note"),
        result(2, kind="pass"),
        result(2, baselineState="absent"),
        result(2, suppressions=[{"kind": "external"}]),
    ],
)
def test_what_is_no_finding_of_this_change(finding: dict[str, Any]) -> None:
    assert judged(log(finding)).status is Status.PASS


@pytest.mark.parametrize(
    "finding",
    [
        result(1, "src/new.py"),
        result(None, "src/new.py"),
        result(None),
        result(2, "./src/a.py"),
        result(2, "/app/src/a.py"),
        result(2, "file:///src/a.py"),
        {"message": {"text": "the whole project"}},
        result(2, suppressions=[{"kind": "inSource", "status": "rejected"}]),
        result(2, level="surprising"),
    ],
)
def test_what_is_one(finding: dict[str, Any]) -> None:
    assert judged(log(finding)).status is Status.FAIL


def test_lines_are_counted_in_the_merged_tree() -> None:
    assert judged(log(result(4)), merged=MOVED).status is Status.FAIL
    assert judged(log(result(2)), merged=MOVED).status is Status.PASS


def test_the_mildest_severity_that_fails() -> None:
    warning = log(result(2, level="warning"))
    assert judged(warning).status is Status.FAIL
    assert judged(warning, severity="error").status is Status.PASS
    assert judged(log(result(2, level="note")), severity="hint").status is Status.FAIL


CHECKSTYLE = """<?xml version="1.0"?>
<checkstyle version="10"><file name="src/a.py">
<error line="2" severity="warning" message="a &lt; b" source="S1"/>
<error line="3" severity="error" message="old" source="S2"/>
<error line="2" severity="ignore" message="x" source="S3"/>
</file></checkstyle>"""
JUNIT = """<testsuite name="lint" tests="2" failures="1">
<testcase name="a" classname="src/a.py" file="src/a.py" line="2">
<failure message="no good"/></testcase><testcase name="b"/></testsuite>"""


@pytest.mark.parametrize(
    ("form", "report", "words"),
    [("checkstyle", CHECKSTYLE, "src/a.py:2: a < b"), ("junit", JUNIT, "no good")],
)
def test_other_forms(form: str, report: str, words: str) -> None:
    said = judged(report, form)
    assert said.status is Status.FAIL
    assert words in said.reasoning
    assert len(said.checks) == 1


@pytest.mark.parametrize("form", ["sarif", "junit"])
def test_what_ruff_writes(tmp_path: Path, form: str) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "new.py").write_text("import os\n")
    command = [
        sys.executable,
        "-m",
        "ruff",
        "check",
        "--isolated",
        "--no-cache",
        "--output-format",
        form,
        "src",
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    said = judged(done.stdout.replace(f"{tmp_path}/", ""), form)
    assert said.status is Status.FAIL
    assert "`os` imported but unused" in said.reasoning


@pytest.mark.parametrize(
    ("form", "report", "reason"),
    [
        ("sarif", None, "report_missing"),
        ("sarif", b"", "report_invalid"),
        ("sarif", b"\xff\xfe", "report_invalid"),
        ("sarif", "[" * 100_000, "report_invalid"),
        ("sarif", '{"version": "2.1.0", "runs": []}', "report_invalid"),
        ("sarif", log() .replace('"results": []', '"results": null'), "report_invalid"),
        ("sarif", log(invocations=[{"executionSuccessful": False}]), "report_invalid"),
        ("sarif", log(result(2, message="text")), "report_invalid"),
        ("sarif", CHECKSTYLE, "report_invalid"),
        ("checkstyle", CHECKSTYLE[:-30], "report_invalid"),
        ("checkstyle", JUNIT, "report_invalid"),
        ("checkstyle", CHECKSTYLE.replace('"3"', '"three"'), "report_invalid"),
        ("checkstyle", '<!DOCTYPE a [<!ENTITY b "c">]><checkstyle>&b;</checkstyle>',
         "report_invalid"),
        ("junit", JUNIT[:-20], "report_invalid"),
        ("junit", "<testsuite name='lint'/>", "report_invalid"),
    ],
)  # fmt: skip
def test_a_report_that_proves_nothing(form: str, report: str | bytes | None, reason: str) -> None:
    said = judged(report, form)
    assert (said.status, said.metadata["reason"]) == (Status.ERROR, reason)


def test_without_a_merged_tree() -> None:
    pull = pull_between(BEFORE, AFTER, tree=None)
    context = PullRequestContext("merge", pull=replace(pull), deadline=Deadline.after(60))
    ports = Ports(FakeRepository({}), ScriptedShell([]), SilentProgress())
    options = read_options({"sarif": "out/report"}, FindingsOptions)
    assert make(options, ports).judge(context).label == "conflicts"
