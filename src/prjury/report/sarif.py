"""The findings as SARIF 2.1.0, within what GitHub's code scanning takes and shows.

A finding without a place in a file of the head cannot be a result there: GitHub refuses a file with
such results. It becomes a notification of the run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from prjury.jury.gate import Gate
from prjury.jury.judgment import Location
from prjury.report.annotations import HeadLines
from prjury.report.findings import (
    Finding,
    Weight,
    findings,
    how_to,
    rules_of,
    suppressed_by,
)
from prjury.report.links import Links
from prjury.report.model import Report
from prjury.report.redact import Redact
from prjury.report.sanitise import BY_SHAPE, clean, one_line
from prjury.report.view import rule_url
from prjury.report.wording import counted

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
    """The report's findings as one run of a SARIF log, heaviest first.

    Args:
        redact: takes the secrets of this run out of texts.
        most_results: how many results there are at most; the rest is counted in a notification.
    """
    writer = _Writer(report, redact)
    found = findings(report.verdict)
    placed = [(one, place) for one in found if (place := writer.places.of(one))]
    homeless = [one for one in found if writer.places.of(one) is None]
    shown = [writer.result(one, place) for one, place in placed[:most_results]]
    run: dict[str, Any] = {
        "tool": {"driver": _driver(report, writer)},
        "automationDetails": {"id": "prjury/"},
        "invocations": [_invocation(report, writer, homeless, len(placed) - len(shown))],
        "results": shown,
        "properties": {"verdict": report.verdict.status.value, "gate": report.gate.value},
    }
    if provenance := _provenance(report, redact):
        run["versionControlProvenance"] = [provenance]
    return {"$schema": SCHEMA, "version": VERSION, "runs": [run]}


@dataclass
class _Writer:
    """Writes results, and notes the rules that they refer to."""

    report: Report
    redact: Redact
    places: HeadLines = field(init=False)
    rules: list[dict[str, Any]] = field(default_factory=list)
    _indexes: dict[str, int] = field(default_factory=dict)
    _seen: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.places = HeadLines(self.report.pull)

    def message(self, finding: Finding) -> str:
        """What is wrong, and what would put it right."""
        check = finding.check
        fix = f"\nTo fix: {check.fix}" if check.fix else ""
        return self.text((check.message.strip() or check.name) + fix)

    def text(self, raw: str, limit: int = _LONGEST_MESSAGE) -> str:
        """Words of a message, in which no embedded link is live."""
        return unlinked(clean(raw, limit, self.redact))

    def name(self, finding: Finding) -> str:
        """The rule's id."""
        return one_line(finding.check.name, _LONGEST_NAME, self.redact)

    def result(self, finding: Finding, place: Location) -> dict[str, Any]:
        """Return a result, and note its rule."""
        name, fingerprint = self.name(finding), finding.check.fingerprint
        if name not in self._indexes:
            self._indexes[name] = len(self.rules)
            self.rules.append(self._rule(finding))
        self._seen[fingerprint] += 1
        by = suppressed_by(finding)
        return {
            "ruleId": name,
            "ruleIndex": self._indexes[name],
            "level": _LEVELS[finding.weight],
            "message": {"text": self.message(finding)},
            "locations": [{"physicalLocation": _physical(place)}],
            "partialFingerprints": {
                # The name under which GitHub looks for it; the number tells equal ones apart.
                "primaryLocationLineHash": f"{fingerprint}:{self._seen[fingerprint]}",
                "prjury/v1": fingerprint,
            },
            "suppressions": [] if by is None else [self._suppression(by)],
            "properties": {
                "tier": self.text(finding.voice.attempt.name, _LONGEST_NAME),
                "judge": self.text(finding.voice.ballot.judge, _LONGEST_NAME),
            },
        }

    def _suppression(self, by: str) -> dict[str, str]:
        return {"kind": "inSource", "status": "accepted", "justification": self.text(by)}

    def _rule(self, finding: Finding) -> dict[str, Any]:
        (known,) = rules_of([finding]) or (None,)
        judge = self.text(finding.voice.ballot.judge, _LONGEST_NAME)
        why = self.text((known and known.why) or f"Reported by the judge {judge}.")
        more = [*known.references, how_to([known])] if known else []
        name = self.name(finding)
        page = rule_url(known.rule) if known else None
        return {
            "id": name,
            **({"helpUri": str(page)} if page else {}),
            "shortDescription": {"text": unlinked(name)},
            "fullDescription": {"text": why},
            "help": {"text": "\n".join([why, *map(self.text, more)])},
            "defaultConfiguration": {"level": _LEVELS[finding.weight]},
            "properties": {"tags": [judge]},
        }


def unlinked(text: str) -> str:
    """The text with no embedded link in it, which SARIF writes as ``[words](target)``."""
    return text.replace("](", "\\](")


def _driver(report: Report, writer: _Writer) -> dict[str, Any]:
    return {
        "name": "PR Jury",
        "version": report.version,
        "rules": writer.rules,
    }


def _invocation(
    report: Report, writer: _Writer, homeless: Sequence[Finding], left_out: int
) -> dict[str, Any]:
    """How the run went: what has no place in a file, and what there was no room for."""
    found = [
        {
            "level": _LEVELS[finding.weight],
            "message": {"text": f"{unlinked(writer.name(finding))}: {writer.message(finding)}"},
        }
        for finding in homeless[:_MOST_NOTIFICATIONS]
    ]
    left_out += max(0, len(homeless) - _MOST_NOTIFICATIONS)
    if left_out:
        found.append(
            {
                "level": "warning",
                "message": {"text": f"In the report only: {counted(left_out, 'more finding')}."},
            }
        )
    return {
        "executionSuccessful": report.gate is not Gate.ACTION_REQUIRED,
        "exitCode": int(report.gate.exit_code),
        "exitCodeDescription": writer.text(report.headline),
        "toolExecutionNotifications": found,
    }


def _provenance(report: Report, redact: Redact) -> dict[str, str] | None:
    url = Links(report.pull, redact).pull_url
    if url is None:
        return None
    root = url.rpartition("/pull/")[0]
    return {"repositoryUri": root, "revisionId": report.pull.head.sha}


def _physical(place: Location) -> dict[str, Any]:
    uri = quote(place.path.encode("utf-8", "surrogateescape"), safe="/")
    start = place.line or 1
    return {
        "artifactLocation": {"uri": uri, "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": start, "endLine": place.end_line or start},
    }
