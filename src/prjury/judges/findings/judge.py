"""The judge `findings`: what another tool finds in the lines that a change adds."""

from __future__ import annotations

import json
import posixpath
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import unquote

from prjury.judges.builds.evidence import KeptReports
from prjury.judges.builds.results.junit import parse_reports
from prjury.judges.builds.results.tree import TreeFiles
from prjury.judges.context import PullRequestContext
from prjury.judges.merged_tree.tree import find_added_lines_in_merge, judge_tree, read_kept_reports
from prjury.judges.workspace.files import invalid_report, large_report, walk_elements
from prjury.jury.judge import FunctionJudge
from prjury.jury.judgment import Check, Judgment, Location, Severity
from prjury.jury.score import BooleanScore
from prjury.policy.options import FindingsOptions
from prjury.ports import Ports, Shell
from prjury.report.wording import pluralize
from prjury.snapshot.model import FileStatus, visible

#: Of one report; a tool that finds more was not set up for this project.
_MOST_FINDINGS, _MOST_PARTS = 100_000, 4_000_000
_MOST_LISTED = 200
_BY_SEVERITY: Sequence[Severity] = ("error", "warning", "hint")
_SEVERITIES: Mapping[str, Severity] = {
    "error": "error", "warning": "warning", "note": "hint", "none": "hint", "info": "hint",
}  # fmt: skip
#: Results that are no findings, by SARIF's ``kind``.
_NO_FINDINGS = frozenset({"pass", "notApplicable", "informational"})


_Reader: TypeAlias = Callable[[Path, TreeFiles], Iterator[Check]]


def read_sarif_findings(file: Path, _: TreeFiles) -> Iterator[Check]:
    """Read the results of all runs in a SARIF file; a tool that failed leaves none to be read."""
    content = file.read_text("utf-8-sig")
    if content.count("[") + content.count("{") > _MOST_PARTS:
        raise ValueError("it has too many parts")
    runs: list[Any] = json.loads(content)["runs"]
    if not runs:
        raise ValueError("it holds no run")
    for run in runs:
        if not isinstance(run["results"], list):
            raise TypeError("results is not a list")
        if any(call.get("executionSuccessful") is False for call in run.get("invocations") or ()):
            raise ValueError("the tool says that it failed")
    for run in runs:
        yield from _read_unsuppressed_results(run)


def _read_unsuppressed_results(run: Mapping[str, Any]) -> Iterator[Check]:
    parts = (run["tool"]["driver"], *(run["tool"].get("extensions") or ()))
    rules = [rule for part in parts for rule in part.get("rules") or ()]
    by_id = {str(rule["id"]): rule for rule in rules}
    for result in run["results"]:
        states = [each.get("status", "accepted") for each in result.get("suppressions") or ()]
        gone = "accepted" in states or result.get("baselineState") == "absent"
        if gone or result.get("kind", "fail") in _NO_FINDINGS:
            continue
        name = str(result.get("ruleId") or (result.get("rule") or {}).get("id") or "")
        index = result.get("ruleIndex", -1)
        by_index = rules[index] if not name and 0 <= index < len(rules) else {}
        rule = by_id.get(name) or by_index
        name = name or str(rule.get("id", "finding"))
        usual = (rule.get("defaultConfiguration") or {}).get("level", "warning")
        place = (result.get("locations") or [{}])[0].get("physicalLocation") or {}
        region = place.get("region") or {}
        message = str(result["message"].get("text") or "").strip() or name
        path = _read_path(run, place.get("artifactLocation") or {})
        lines = [region.get(key) for key in ("startLine", "endLine")]
        yield _make_check(name, message, str(result.get("level", usual)), path, *lines)


def _read_path(run: Mapping[str, Any], location: Mapping[str, Any]) -> str:
    if "uri" not in location and "index" in location:
        location = run["artifacts"][location["index"]]["location"]
    bases: Mapping[str, Any] = run.get("originalUriBaseIds") or {}
    base = bases.get(str(location.get("uriBaseId")), {}).get("uri", "")
    uri = posixpath.join(base, str(location.get("uri", "")))
    return unquote(uri.removeprefix("file://"))


def _make_check(rule: str, message: str, severity: str, path: str, *lines: object) -> Check:
    line, end = ([*map(_read_line, lines), None, None])[:2]
    last = end if line and end and end >= line else None
    place = Location(path, line, last) if path else None
    return Check.bad(rule, message, place, severity=_SEVERITIES.get(severity, "error"))


def _read_line(number: object) -> int | None:
    value = 0 if number is None else int(str(number))
    return value if value > 0 else None


def read_checkstyle_errors(file: Path, _: TreeFiles) -> Iterator[Check]:
    """Read the errors in a report of Checkstyle, whose form many linters write."""
    for element, above in walk_elements(file, "checkstyle"):
        if element.tag == "error" and element.get("severity") != "ignore":
            path = above[-1].get("name", "") if above else ""
            rule = element.get("source") or "finding"
            message, severity = element.get("message") or rule, element.get("severity", "error")
            yield _make_check(rule, message, severity, path, element.get("line"))


def read_junit_failures(file: Path, tree: TreeFiles) -> Iterator[Check]:
    """Read the failing cases of a JUnit report, whose lines are those of tests, or none."""
    reports = parse_reports([(file.name, file.read_bytes())], [], tree, str)
    if reports.problems or not reports.tests:
        raise invalid_report(file, "; ".join(reports.problems) or "It holds no test")
    for failure in reports.failures:
        rule = failure.name or "test"
        yield _make_check(rule, f"{rule}: {failure.message}", "error", failure.path or "")


READERS: Mapping[str, _Reader] = {
    "sarif": read_sarif_findings,
    "checkstyle": read_checkstyle_errors,
    "junit": read_junit_failures,
}


def make(options: FindingsOptions, ports: Ports) -> FunctionJudge[PullRequestContext]:
    """Make the judge: FAIL if the tool finds something that severe in an added line, else PASS."""

    def judge(context: PullRequestContext) -> Judgment:
        return judge_tree(context, lambda it: _judge_findings_in_diff(options, ports, it, context))

    return FunctionJudge(judge, "findings", "another tool finds nothing in the added lines")


def _judge_findings_in_diff(
    options: FindingsOptions, ports: Ports, merged: str, context: PullRequestContext
) -> Judgment:
    pull, repository = context.pull, ports.repository
    blobs = {entry.path: entry.blob for entry in repository.files(merged)}
    tree = TreeFiles(frozenset(blobs))
    findings = _read_findings_of_tree(options, ports.shell, KeptReports.of(context), tree)
    files = {file.path: file for file in pull.files}
    added: dict[str, Mapping[int, str]] = {}
    relevant = []
    for finding in findings:
        place = finding.location
        if place is None:  # it may be the change's; generated and installed files are not
            relevant.append(finding)
            continue
        find = partial(tree.find_in_package, "") if place.path.startswith("/") else tree.find
        file = files.get(find(place.path) or "")  # of another root's path its longest end
        if file is None:
            continue
        whole = file.unread or file.status is FileStatus.ADDED or place.line is None
        if not whole and file.path not in added:
            added[file.path] = find_added_lines_in_merge(file, blobs, repository)
        lines = range(place.line or 0, (place.end_line or place.line or 0) + 1)
        if whole or any(number in lines for number in added[file.path]):
            relevant.append(replace(finding, location=Location(file.path, place.line)))
    return _judge_findings(options, relevant, len(findings) - len(relevant))


def _read_findings_of_tree(
    options: FindingsOptions, shell: Shell, kept: KeptReports, tree: TreeFiles
) -> Sequence[Check]:
    [form] = [form for form in READERS if getattr(options, form)]

    def read_findings(file: Path) -> list[Check]:
        try:
            findings = list(islice(READERS[form](file, tree), _MOST_FINDINGS + 1))
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
            raise invalid_report(file, f"It is no report of {form}: {error}") from error
        if len(findings) > _MOST_FINDINGS:
            raise large_report(file, f"holds more than {_MOST_FINDINGS:,} findings")
        return findings

    reports = read_kept_reports(kept, options.report, shell, read_findings)
    return [finding for findings in reports.values() for finding in findings]


def _judge_findings(
    options: FindingsOptions, findings: Sequence[Check], count_elsewhere: int
) -> Judgment:
    ordered = sorted(findings, key=lambda finding: _BY_SEVERITY.index(finding.severity))
    worst = _BY_SEVERITY[: _BY_SEVERITY.index(options.severity) + 1]
    failing = [finding for finding in ordered if finding.severity in worst]
    checks = ordered[:_MOST_LISTED]
    if rest := len(ordered) - len(checks):
        checks.append(Check.bad("more-findings", f"{rest} more"))
    words = "nothing in the added lines"
    if failing:
        first, place = failing[0], failing[0].location
        where = f"{visible(str(place))}: " if place and place.line else ""
        more = f" and {len(failing) - 1} more" if len(failing) > 1 else ""
        words = f"{where}{visible(first.message)}{more}"
    elif ordered:
        words += f" but {pluralize(len(ordered), 'milder finding')}"
    if count_elsewhere:
        words += f" ({pluralize(count_elsewhere, 'finding')} in other lines)"
    make = Judgment.failed if failing else Judgment.passed
    metadata = {"found": len(ordered), "elsewhere": count_elsewhere}
    return make(words, score=BooleanScore(not failing), checks=checks, metadata=metadata)
