"""The judge `findings`: what another tool finds in the lines that a change adds."""

from __future__ import annotations

import json
import posixpath
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import unquote
from xml.etree.ElementTree import Element

from prjury.errors import CannotJudgeError
from prjury.judges.builds.kept_reports import KeptReports
from prjury.judges.builds.results.junit import parse_reports
from prjury.judges.builds.results.tree import TreeFiles
from prjury.judges.context import PullRequestContext
from prjury.judges.merged_tree.added_lines import merged_lines
from prjury.judges.merged_tree.tree import no_tree
from prjury.judges.workspace.files import answered
from prjury.judges.workspace.reports import invalid_report, report_elements
from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Check, Judgment, Location, Severity
from prjury.jury.score import BooleanScore
from prjury.policy.seats import FindingsOptions
from prjury.ports import Ports
from prjury.report.wording import counted
from prjury.snapshot.model import FileChange, FileStatus, PullRequest, visible

#: Of one report; a tool that finds more was not set up for this project.
_MOST_FINDINGS = 100_000
_MOST_PARTS = 4_000_000
_SEVERITIES: Mapping[str, Severity] = {
    "error": "error",
    "warning": "warning",
    "note": "hint",
    "none": "hint",
    "info": "hint",
}
#: Results that are no findings, by SARIF's ``kind``.
_NO_FINDINGS = frozenset({"pass", "notApplicable", "informational"})


@dataclass(frozen=True, slots=True)
class ToolFinding:
    """What a tool complains about.

    Attributes:
        path: as the tool names it; empty where it names no file.
        line: from 1; None where it names none.
    """

    rule: str
    message: str
    severity: Severity
    path: str = ""
    line: int | None = None
    end_line: int | None = None


#: Reads a report in a file; the other path is the one in the tree, for messages.
Reader: TypeAlias = Callable[[Path, str, TreeFiles], Iterator[ToolFinding]]


def sarif(file: Path, shown: str, tree: TreeFiles) -> Iterator[ToolFinding]:  # noqa: ARG001 - as the others
    """The results of all runs in a SARIF file.

    Raises:
        CannotJudgeError: ``report_invalid``, also where a tool says that it did not come to an end.
    """
    try:
        for run in _runs(file.read_text("utf-8-sig")):
            yield from _results(run)
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        raise invalid_report(Path(shown), f"It is not SARIF: {error}") from error


def _runs(content: str) -> list[Any]:
    if content.count("[") + content.count("{") > _MOST_PARTS:
        raise ValueError("it has too many parts")
    runs = _list(json.loads(content), "runs")
    if not runs:
        raise ValueError("it holds no run")
    return runs


def _list(value: Mapping[str, Any], key: str) -> list[Any]:
    found = value[key]
    if not isinstance(found, list):
        raise TypeError(f"{key} is not a list")
    return found


def _results(run: Mapping[str, Any]) -> Iterator[ToolFinding]:
    for invocation in run.get("invocations") or ():
        if invocation.get("executionSuccessful") is False:
            raise ValueError("the tool says that it failed")
    rules = [
        rule
        for part in (run["tool"]["driver"], *(run["tool"].get("extensions") or ()))
        for rule in part.get("rules") or ()
    ]
    by_id = {str(rule["id"]): rule for rule in rules}
    for result in _list(run, "results"):
        if _is_finding(result):
            name = str(result.get("ruleId") or (result.get("rule") or {}).get("id") or "")
            index = result.get("ruleIndex", -1)
            by_index = rules[index] if not name and 0 <= index < len(rules) else {}
            rule = by_id.get(name) or by_index
            yield _finding(run, result, name or str(rule.get("id", "")), rule)


def _is_finding(result: Mapping[str, Any]) -> bool:
    dismissed = any(
        one.get("status", "accepted") == "accepted" for one in result.get("suppressions") or ()
    )
    gone = result.get("baselineState") == "absent"
    return result.get("kind", "fail") not in _NO_FINDINGS and not (dismissed or gone)


def _finding(
    run: Mapping[str, Any], result: Mapping[str, Any], name: str, rule: Mapping[str, Any]
) -> ToolFinding:
    usual = (rule.get("defaultConfiguration") or {}).get("level", "warning")
    level = result.get("level", usual)
    message = result["message"]
    templates: Mapping[str, Any] = rule.get("messageStrings") or {}
    template: Mapping[str, Any] = templates.get(str(message.get("id"))) or {}
    text = message.get("text") or template.get("text") or name
    locations: list[Any] = result.get("locations") or [{}]
    place: Mapping[str, Any] = locations[0].get("physicalLocation") or {}
    region = place.get("region") or {}
    return ToolFinding(
        name or "finding",
        str(text).strip() or name,
        _SEVERITIES.get(str(level), "error"),
        _path(run, place.get("artifactLocation") or {}),
        _line(region.get("startLine")),
        _line(region.get("endLine")),
    )


def _path(run: Mapping[str, Any], location: Mapping[str, Any]) -> str:
    """The file of a location, with the base that it is relative to."""
    if "uri" not in location and "index" in location:
        location = run["artifacts"][location["index"]]["location"]
    bases: Mapping[str, Any] = run.get("originalUriBaseIds") or {}
    base = bases.get(str(location.get("uriBaseId")), {}).get("uri", "")
    uri = posixpath.join(base, str(location.get("uri", "")))
    return unquote(uri.removeprefix("file://"))


def _line(number: object) -> int | None:
    if number is None:
        return None
    value = int(str(number))
    return value if value > 0 else None


def checkstyle(file: Path, shown: str, tree: TreeFiles) -> Iterator[ToolFinding]:  # noqa: ARG001 - as the others
    """The errors in a report of Checkstyle, whose form many linters write.

    Raises:
        CannotJudgeError: ``report_invalid``.
    """
    path, root = "", ""
    for event, element in report_elements(file):
        root = root or element.tag
        if root != "checkstyle":
            raise invalid_report(Path(shown), f"Its root is {root!r}, not 'checkstyle'")
        if element.tag == "file" and event == "start":
            path = element.get("name", "")
        elif element.tag == "error" and event == "start" and element.get("severity") != "ignore":
            yield _error(element, path, shown)


def _error(element: Element, path: str, shown: str) -> ToolFinding:
    rule = element.get("source") or "finding"
    severity = _SEVERITIES.get(element.get("severity", "error"), "error")
    try:
        line = _line(element.get("line"))
    except ValueError as error:
        raise invalid_report(Path(shown), f"A line has no number: {error}") from error
    return ToolFinding(rule, element.get("message") or rule, severity, path, line)


def junit(file: Path, shown: str, tree: TreeFiles) -> Iterator[ToolFinding]:
    """The failing cases of a JUnit report, whose lines are those of tests, or none.

    Raises:
        CannotJudgeError: ``report_invalid``, also for a report that holds no case.
    """
    reports = parse_reports([(shown, file.read_bytes())], [], tree, str)
    if reports.problems or not reports.tests:
        why = "; ".join(reports.problems) or "it holds no test"
        raise CannotJudgeError(
            f"the report {shown} cannot be understood", why=why, reason="report_invalid"
        )
    for one in reports.failures:
        rule = one.name or "test"
        yield ToolFinding(rule, f"{rule}: {one.message}", "error", one.path or "")


READERS: Mapping[str, Reader] = {"sarif": sarif, "checkstyle": checkstyle, "junit": junit}


def read_report(form: str, file: Path, shown: str, tree: TreeFiles) -> list[ToolFinding]:
    """All findings of a report.

    Args:
        form: a key of `READERS`.
        shown: the report's path in the tree, for messages.

    Raises:
        CannotJudgeError: ``report_invalid``, ``too_large``.
    """
    findings: list[ToolFinding] = []
    for finding in READERS[form](file, shown, tree):
        findings.append(finding)
        if len(findings) > _MOST_FINDINGS:
            raise CannotJudgeError(
                f"the report {shown} holds more than {_MOST_FINDINGS:,} findings",
                remedy="Set the tool up for this project first",
                reason="too_large",
            )
    return findings


_MOST_LISTED = 200
_BY_SEVERITY = ("error", "warning", "hint")


def make(options: FindingsOptions, ports: Ports) -> ToolFindings:
    """The judge with these options and ports."""
    return ToolFindings(options, ports)


@dataclass(frozen=True)
class ToolFindings:
    """FAIL where a tool finds something of the named severity in an added line, else PASS.

    What it finds elsewhere is counted. A finding without a line counts where its file changes,
    one without a file always.
    ERROR ``report_missing``, ``report_invalid`` or ``too_large``.
    """

    options: FindingsOptions
    ports: Ports
    name: str = "findings"
    description: str = "another tool finds nothing in the added lines"
    type: JudgeType = JudgeType.DETERMINISTIC

    def judge(self, context: PullRequestContext, /) -> Judgment:
        """Read the reports that a build or a command has left behind."""
        if context.pull.merge.tree is None:
            return no_tree(context.pull)
        return answered(lambda: self._judged(context))

    def _judged(self, context: PullRequestContext) -> Judgment:
        pull, form = context.pull, next(each for each in READERS if getattr(self.options, each))
        blobs = {e.path: e.blob for e in self.ports.repository.files(pull.merge.tree or "")}
        tree = TreeFiles(frozenset(blobs))
        with self.ports.shell.scratch() as around:
            reports = KeptReports.of(context).write(self.options.report, around)
            found = [
                one for path, file in reports.items() for one in read_report(form, file, path, tree)
            ]
        added = AddedLines(pull, blobs, self.ports)
        ours = [placed for one in found if (placed := added.place(one, tree))]
        return self._decide(ours, len(found) - len(ours))

    def _decide(self, ours: Sequence[ToolFinding], elsewhere: int) -> Judgment:
        ordered = sorted(ours, key=lambda one: _BY_SEVERITY.index(one.severity))
        worst = _BY_SEVERITY.index(self.options.severity)
        failing = [one for one in ordered if _BY_SEVERITY.index(one.severity) <= worst]
        checks = [_check(one) for one in ordered[:_MOST_LISTED]]
        if left := len(ordered) - len(checks):
            checks.append(Check("more-findings", passed=False, message=f"{left} more"))
        besides = f" ({counted(elsewhere, 'finding')} in other lines)" if elsewhere else ""
        metadata = {"found": len(ours), "elsewhere": elsewhere}
        if not failing:
            mild = f" but {counted(len(ours), 'milder finding')}" if ours else ""
            words = f"nothing in the added lines{mild}{besides}"
            score = BooleanScore(value=True)
            return Judgment.passed(words, score=score, checks=checks, metadata=metadata)
        first = failing[0]
        where = f"{visible(first.path)}:{first.line}: " if first.path and first.line else ""
        more = f" and {len(failing) - 1} more" if len(failing) > 1 else ""
        words = f"{where}{visible(first.message)}{more}{besides}"
        score = BooleanScore(value=False)
        return Judgment.failed(words, score=score, checks=checks, metadata=metadata)


def _check(finding: ToolFinding) -> Check:
    place = Location(finding.path, finding.line) if finding.path else None
    return Check.bad(finding.rule, finding.message, place, severity=finding.severity)


@dataclass(frozen=True)
class AddedLines:
    """The lines that a change adds, as they are numbered in the merged tree.

    Attributes:
        blobs: the files of the merged tree, each with its object name.
    """

    pull: PullRequest
    blobs: Mapping[str, str]
    ports: Ports

    def place(self, finding: ToolFinding, tree: TreeFiles) -> ToolFinding | None:
        """The finding with its path in the tree; None where it is about other lines."""
        path = _in_tree(finding.path, tree) if finding.path else None
        if path is None:
            # Generated and installed files are not the change's; a finding without a place may be.
            return None if finding.path else finding
        file = next((one for one in self.pull.files if one.path == path), None)
        if file is None or not self._concerns(file, finding):
            return None
        values = (finding.rule, finding.message, finding.severity)
        return ToolFinding(*values, path, finding.line, finding.end_line)

    def _concerns(self, file: FileChange, finding: ToolFinding) -> bool:
        if file.unread or file.status is FileStatus.ADDED or finding.line is None:
            return True
        last = max(finding.line, finding.end_line or 0)
        numbers = merged_lines(file, self.blobs, self.ports.repository)
        return any(finding.line <= number <= last for number in numbers)


def _in_tree(path: str, tree: TreeFiles) -> str | None:
    """The file that is meant; for a path from another root, a container's, its longest end."""
    if not path.startswith("/"):
        return tree.find(path)
    parts = path.split("/")[1:]
    ends = ("/".join(parts[at:]) for at in range(len(parts)))
    return next((end for end in ends if end in tree.known), None)
