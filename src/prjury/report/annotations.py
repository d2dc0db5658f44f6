"""Findings at lines, as GitHub takes them: annotations, the remarks of a review, SARIF 2.1.0.

Every remark begins with a hidden marker that names its finding, so that a later run knows what has
been said. Fingerprints do not hold line numbers and survive a rebase. GitHub refuses SARIF with a
result that has no place in a file of the head; such a finding becomes a notification of the run.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, TypeAlias
from urllib.parse import quote

from msgspec import Struct

from prjury.jury.gate import Gate
from prjury.jury.judgment import Location
from prjury.report.finding_view import FindingView, View, rule_url
from prjury.report.findings import Weight, explain_how_to_suppress
from prjury.report.model import Report
from prjury.report.sanitise import BY_SHAPE, Redact, clean, fence_text, join_lines, plain, prose
from prjury.report.view import page
from prjury.report.wording import pluralize
from prjury.snapshot.model import Line, PullRequest

#: More would take minutes to send, and nobody reads them.
MOST = 500

_LONGEST_TITLE = 200
#: Characters; GitHub takes 64 KiB, and a character is four bytes at most.
_LONGEST_TEXT = 15_000
_LEVELS = {Weight.MUST_FIX: "failure", Weight.SHOULD_LOOK: "warning", Weight.NIT: "notice"}


#: Words at lines of a file, as GitHub takes them; the lines count from 1 and are inclusive.
Annotation: TypeAlias = Mapping[str, Any]


def identify(annotation: Any) -> tuple[str, ...]:  # noqa: ANN401 - ours, or one that GitHub lists
    """Return what is the same in an annotation that was sent and in the one that GitHub lists."""
    place = (annotation[name] for name in ("path", "start_line", "end_line", "annotation_level"))
    words = (" ".join((annotation[name] or "").split()) for name in ("title", "message"))
    return (*map(str, place), *words)


class Annotations(Struct, frozen=True):
    """The heaviest findings at their lines, and how many more findings there are."""

    entries: tuple[Annotation, ...] = ()
    left_out: int = 0

    @property
    def note(self) -> str:
        count = pluralize(self.left_out, "finding")
        return f"Not annotated, but in the report: {count}." if self.left_out else ""


def annotate(report: Report, redact: Redact = BY_SHAPE, most: int = MOST) -> Annotations:
    findings = page(report, redact).findings
    placed = [finding for finding in findings if finding.place and is_sendable(finding.place.path)]
    entries = tuple(_make_annotation(finding, redact) for finding in placed[:most])
    return Annotations(entries, len(findings) - len(entries))


def is_sendable(path: str) -> bool:
    """Return true if GitHub's API takes a path: UTF-8 without control characters, relative."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    unusual = any(ord(char) < 0x20 or 0x7F <= ord(char) < 0xA0 for char in path)  # noqa: PLR2004 - C0, DEL and C1
    return not unusual and not path.startswith("/") and ".." not in path.split("/")


def _make_annotation(finding: FindingView, redact: Redact) -> Annotation:
    check, place = finding.check, finding.place or Location("")
    details = [finding.evidence or "", f"To fix: {check.fix}" if check.fix else ""]
    words = "\n\n".join(part.strip("\n") for part in details if part.strip())
    more = {"raw_details": clean(words, _LONGEST_TEXT, redact)} if words else {}
    return {
        "path": place.path,
        "start_line": place.line or 1,
        "end_line": place.end_line or place.line or 1,
        "annotation_level": _LEVELS[finding.weight],
        "title": join_lines(check.name, _LONGEST_TITLE, redact),
        "message": clean(check.message.strip() or check.name, _LONGEST_TEXT, redact),
        **more,
    }


#: More would bury a change in remarks.
MOST_INLINE = 30

_LONGEST_SUGGESTION = 2_000
_MARKER = re.compile(r"<!-- prjury:v1((?: [a-z]+=[^\s>]*)*) ?-->")
#: What tells our verdicts and remarks from our answers to commands.
MARKER_ID = "default"
_BACKTICKS = re.compile("`+")
_WORDS = {Weight.MUST_FIX: "Must fix", Weight.SHOULD_LOOK: "Should look at", Weight.NIT: "Hint"}

#: The lines that a pull request adds: path as git stores it, number at the head, line.
AddedLines = Mapping[str, Mapping[int, Line]]


#: Words at added lines of one file, as GitHub takes them.
Remark: TypeAlias = Mapping[str, Any]


def list_added_lines(pull: PullRequest) -> AddedLines:
    return {
        file.path: {line.new: line for line in file.added_lines if line.new}
        for file in pull.files
        if file.hunks
    }


def read_markers(body: str) -> dict[str, str] | None:
    """The values in the hidden markers at the start of a text; None where there are none."""
    values: dict[str, str] | None = None
    for line in body.split("\n"):
        match = _MARKER.fullmatch(line.rstrip())
        if not match:
            break
        values = (values or {}) | dict(pair.split("=", 1) for pair in match[1].split())
    return values


class Reviewer(Struct, frozen=True):
    """Turns the findings of a report at added lines into the remarks of one review."""

    report: Report
    added: AddedLines
    redact: Redact = BY_SHAPE

    def remarks(self, earlier: Collection[str] = (), most: int = MOST_INLINE) -> list[Remark]:
        return [
            self._make_remark(finding, span)
            for finding, span in islice(self._place_findings(), most)
            if finding.check.fingerprint not in earlier
        ]

    def _place_findings(self) -> Iterator[tuple[FindingView, Location]]:
        for finding in page(self.report, self.redact).findings:
            place, is_settled = finding.place, finding.dismissed or finding.suppressed_by
            if place and place.line and not is_settled and is_sendable(place.path):
                span = _keep_or_narrow_to_first_added(place, self.added.get(place.path, {}))
                if span:
                    yield finding, span

    def _make_remark(self, finding: FindingView, span: Location) -> Remark:
        check = finding.check
        remedy = self._make_suggestion(finding, span) or self._describe_fix(finding)
        message = f": {prose(check.message, 1_000, self.redact)}" if check.message.strip() else ""
        body = (
            f"<!-- prjury:v1 finding={check.fingerprint} seat={finding.seat} id={MARKER_ID} -->\n"
            f"{_WORDS[finding.weight]}: **{plain(check.name, 200, self.redact)}**{message}\n"
        )
        line = span.line or 1
        last = span.end_line or line
        more = {"start_line": line, "start_side": "RIGHT"} if last != line else {}
        body += f"\n{remedy}\n" if remedy else ""
        return {"path": span.path, "line": last, "side": "RIGHT", "body": body, **more}

    def _describe_fix(self, finding: FindingView) -> str:
        fix = finding.check.fix
        if not fix:
            return ""
        if "\n" in fix.strip("\n"):
            return fence_text(fix, 2_000, self.redact)
        return f"To fix: {prose(fix, 600, self.redact)}"

    def _make_suggestion(self, finding: FindingView, span: Location) -> str:
        """Write a block that a click applies, if the fix is a whole line and needs no cleaning."""
        fix, line = finding.check.fix, self.added.get(span.path, {}).get(span.line or 0)
        if not fix or line is None or span.end_line not in {None, span.line}:
            return ""
        # The block could not hold carriage returns.
        usable = finding.replaces_line and line.end != "\r\n" and "\n" not in fix
        if not usable or len(fix) > _LONGEST_SUGGESTION or clean(fix, None, self.redact) != fix:
            return ""
        fence = "`" * max(3, *(len(run) + 1 for run in ["", *_BACKTICKS.findall(fix)]))
        return f"{fence}suggestion\n{fix}\n{fence}"


def _keep_or_narrow_to_first_added(place: Location, added: Mapping[int, Line]) -> Location | None:
    """The place itself where all of it is added, else its first added line."""
    first = place.line or 1
    last = min(place.end_line or first, first + len(added))
    if place.end_line in {None, last} and all(line in added for line in range(first, last + 1)):
        return place
    start = next((line for line in sorted(added) if first <= line <= (place.end_line or first)), 0)
    return Location(place.path, start) if start else None


SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
VERSION = "2.1.0"

#: Results that GitHub shows; it refuses files with more than 25,000.
MOST_RESULTS = 5_000
_LONGEST_MESSAGE = 1_000
_LONGEST_NAME = 200
_MOST_NOTIFICATIONS = 100
_SARIF_LEVELS = {Weight.MUST_FIX: "error", Weight.SHOULD_LOOK: "warning", Weight.NIT: "note"}


def to_sarif(
    report: Report, redact: Redact = BY_SHAPE, most_results: int = MOST_RESULTS
) -> dict[str, Any]:
    view, writer = page(report, redact), _SarifWriter(redact)
    every = [finding for finding in view.findings if finding.place]
    homeless = [finding for finding in view.findings if finding.place is None]
    placed = every[:most_results]
    rules = {writer.name(finding): finding for finding in reversed(placed)}
    indexes = {name: index for index, name in enumerate(reversed(rules))}
    seen: Counter[str] = Counter()
    results = []
    for finding in placed:
        seen[finding.check.fingerprint] += 1
        index = indexes[writer.name(finding)]
        results.append(writer.result(finding, index, seen[finding.check.fingerprint]))
    driver = {"name": "PR Jury", "version": view.version}
    run: dict[str, Any] = {
        "tool": {"driver": {**driver, "rules": [writer.rule(rules[name]) for name in indexes]}},
        "automationDetails": {"id": "prjury/"},
        "invocations": [_make_invocation(view, writer, homeless, len(every) - len(placed))],
        "results": results,
        "properties": {"verdict": view.status, "gate": view.gate},
    }
    if url := view.change.url:
        root = url.rpartition("/pull/")[0]
        run["versionControlProvenance"] = [{"repositoryUri": root, "revisionId": view.head}]
    return {"$schema": SCHEMA, "version": VERSION, "runs": [run]}


class _SarifWriter(Struct, frozen=True):
    """Writes findings without secrets."""

    redact: Redact

    def text(self, raw: str, limit: int = _LONGEST_MESSAGE) -> str:
        return break_links(clean(raw, limit, self.redact))

    def name(self, finding: FindingView) -> str:
        return join_lines(finding.check.name, _LONGEST_NAME, self.redact)

    def message(self, finding: FindingView) -> str:
        check = finding.check
        fix = f"\nTo fix: {check.fix}" if check.fix else ""
        return self.text((check.message.strip() or check.name) + fix)

    def result(self, finding: FindingView, rule_index: int, occurrence: int) -> dict[str, Any]:
        place = finding.place or Location("")
        uri = quote(place.path.encode("utf-8", "surrogateescape"), safe="/")
        start, fingerprint = place.line or 1, finding.check.fingerprint
        suppression = {"kind": "inSource", "status": "accepted"}
        by = finding.suppressed_by
        return {
            "ruleId": self.name(finding),
            "ruleIndex": rule_index,
            "level": _SARIF_LEVELS[finding.weight],
            "message": {"text": self.message(finding)},
            "locations": [
                {
                    "physicalLocation": {
                        "artifactLocation": {"uri": uri, "uriBaseId": "%SRCROOT%"},
                        "region": {"startLine": start, "endLine": place.end_line or start},
                    }
                }
            ],
            "partialFingerprints": {
                # The name under which GitHub looks for it.
                "primaryLocationLineHash": f"{fingerprint}:{occurrence}",
                "prjury/v1": fingerprint,
            },
            "suppressions": [{**suppression, "justification": self.text(by)}] if by else [],
            "properties": {
                "tier": self.text(finding.tier, _LONGEST_NAME),
                "judge": self.text(finding.judge, _LONGEST_NAME),
            },
        }

    def rule(self, finding: FindingView) -> dict[str, Any]:
        rule, name = finding.rule, self.name(finding)
        judge = self.text(finding.judge, _LONGEST_NAME)
        why = self.text((rule and rule.why) or f"Reported by the judge {judge}.")
        more = [*rule.references, explain_how_to_suppress([rule])] if rule else []
        url = rule_url(rule.rule) if rule else None
        return {
            "id": name,
            **({"helpUri": str(url)} if url else {}),
            "shortDescription": {"text": break_links(name)},
            "fullDescription": {"text": why},
            "help": {"text": "\n".join([why, *map(self.text, more)])},
            "defaultConfiguration": {"level": _SARIF_LEVELS[finding.weight]},
            "properties": {"tags": [judge]},
        }


def break_links(text: str) -> str:
    """The text with no embedded link in it, which SARIF writes as ``[words](target)``."""
    return text.replace("](", "\\](")


def _make_invocation(
    view: View, writer: _SarifWriter, homeless: Sequence[FindingView], left_out: int
) -> dict[str, Any]:
    texts = [
        (_SARIF_LEVELS[each.weight], f"{break_links(writer.name(each))}: {writer.message(each)}")
        for each in homeless[:_MOST_NOTIFICATIONS]
    ]
    left_out += max(0, len(homeless) - _MOST_NOTIFICATIONS)
    if left_out:
        texts.append(("warning", f"In the report only: {pluralize(left_out, 'more finding')}."))
    gate = Gate(view.gate)
    return {
        "executionSuccessful": gate is not Gate.ACTION_REQUIRED,
        "exitCode": int(gate.exit_code),
        "exitCodeDescription": writer.text(view.headline),
        "toolExecutionNotifications": [
            {"level": level, "message": {"text": text}} for level, text in texts
        ],
    }
