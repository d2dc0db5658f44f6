"""The findings as SARIF 2.1.0, within what GitHub's code scanning takes and shows.

A finding without a place in a file of the head cannot be a result there: GitHub refuses a file with
such results. It becomes a notification of the run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from msgspec import Struct

from prjury.jury.gate import Gate
from prjury.jury.judgment import Location
from prjury.report.finding_view import FindingView, View, rule_url
from prjury.report.findings import Weight, how_to
from prjury.report.model import Report
from prjury.report.redact import Redact
from prjury.report.sanitise import BY_SHAPE, clean, join_lines
from prjury.report.view import page
from prjury.report.wording import pluralize

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
VERSION = "2.1.0"

#: Results that GitHub shows; it refuses files with more than 25,000.
MOST_RESULTS = 5_000
_LONGEST_MESSAGE = 1_000
_LONGEST_NAME = 200
_MOST_NOTIFICATIONS = 100
_LEVELS = {Weight.MUST_FIX: "error", Weight.SHOULD_LOOK: "warning", Weight.NIT: "note"}


def to_sarif(
    report: Report,
    redact: Redact = BY_SHAPE,
    most_results: int = MOST_RESULTS,
) -> dict[str, Any]:
    """Return the report's findings as one run of a SARIF log, heaviest first."""
    view, writer = page(report, redact), _Writer(redact)
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
        "invocations": [_invocation(view, writer, homeless, len(every) - len(placed))],
        "results": results,
        "properties": {"verdict": view.status, "gate": view.gate},
    }
    if url := view.change.url:
        root = url.rpartition("/pull/")[0]
        run["versionControlProvenance"] = [{"repositoryUri": root, "revisionId": view.head}]
    return {"$schema": SCHEMA, "version": VERSION, "runs": [run]}


class _Writer(Struct, frozen=True):
    """Writes findings without secrets."""

    redact: Redact

    def text(self, raw: str, limit: int = _LONGEST_MESSAGE) -> str:
        """Return words of a message, in which no embedded link is live."""
        return break_links(clean(raw, limit, self.redact))

    def name(self, finding: FindingView) -> str:
        """Return the rule's id."""
        return join_lines(finding.check.name, _LONGEST_NAME, self.redact)

    def message(self, finding: FindingView) -> str:
        """Return what is wrong, and what would put it right."""
        check = finding.check
        fix = f"\nTo fix: {check.fix}" if check.fix else ""
        return self.text((check.message.strip() or check.name) + fix)

    def result(self, finding: FindingView, index: int, number: int) -> dict[str, Any]:
        """Return a result of a rule; the number tells it from others of the same fingerprint."""
        place = finding.place or Location("")
        uri = quote(place.path.encode("utf-8", "surrogateescape"), safe="/")
        start, fingerprint = place.line or 1, finding.check.fingerprint
        suppression = {"kind": "inSource", "status": "accepted"}
        by = finding.suppressed_by
        return {
            "ruleId": self.name(finding),
            "ruleIndex": index,
            "level": _LEVELS[finding.weight],
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
                "primaryLocationLineHash": f"{fingerprint}:{number}",
                "prjury/v1": fingerprint,
            },
            "suppressions": [{**suppression, "justification": self.text(by)}] if by else [],
            "properties": {
                "tier": self.text(finding.tier, _LONGEST_NAME),
                "judge": self.text(finding.judge, _LONGEST_NAME),
            },
        }

    def rule(self, finding: FindingView) -> dict[str, Any]:
        """Return the rule of a finding."""
        rule, name = finding.rule, self.name(finding)
        judge = self.text(finding.judge, _LONGEST_NAME)
        why = self.text((rule and rule.why) or f"Reported by the judge {judge}.")
        more = [*rule.references, how_to([rule])] if rule else []
        url = rule_url(rule.rule) if rule else None
        return {
            "id": name,
            **({"helpUri": str(url)} if url else {}),
            "shortDescription": {"text": break_links(name)},
            "fullDescription": {"text": why},
            "help": {"text": "\n".join([why, *map(self.text, more)])},
            "defaultConfiguration": {"level": _LEVELS[finding.weight]},
            "properties": {"tags": [judge]},
        }


def break_links(text: str) -> str:
    """The text with no embedded link in it, which SARIF writes as ``[words](target)``."""
    return text.replace("](", "\\](")


def _invocation(
    view: View, writer: _Writer, homeless: Sequence[FindingView], left_out: int
) -> dict[str, Any]:
    texts = [
        (_LEVELS[finding.weight], f"{break_links(writer.name(finding))}: {writer.message(finding)}")
        for finding in homeless[:_MOST_NOTIFICATIONS]
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
