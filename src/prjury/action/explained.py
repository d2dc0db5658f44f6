"""A finding of a report in full, in Markdown, for the answer to ``/prjury explain N``."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from prjury.report.codec import verdict_from_report
from prjury.report.findings import Finding, findings, how_to, rules_of
from prjury.report.redact import Redact
from prjury.report.sanitise import block, inline_code, plain, prose

#: Places of one finding that are listed.
_MOST_PLACES = 20


def explain_findings(report: Mapping[str, Any], prints: Collection[str], redact: Redact) -> str:
    """The findings with these fingerprints; an empty text where the report has none of them.

    Args:
        report: a JSON report.
    """
    found = findings(verdict_from_report(report))
    meant = [one for one in found if one.check.fingerprint in prints]
    return "\n\n".join(_paragraphs(meant, redact)) if meant else ""


def _paragraphs(meant: list[Finding], redact: Redact) -> Iterator[str]:
    first, check = meant[0], meant[0].check
    name = plain(check.name, 200, redact)
    judge = f"{first.voice.attempt.name} / {first.voice.ballot.judge}"
    message = f": {prose(check.message, 1_500, redact)}" if check.message.strip() else ""
    yield f"**{name}** ({plain(judge, 200, redact)}){message}"
    places = [one.check.location for one in meant if one.check.location]
    if places:
        listed = [f"* {inline_code(str(at), 300, redact)}" for at in places[:_MOST_PLACES]]
        more = len(places) - len(listed)
        yield "\n".join([*listed, *([f"* … and {more} more places"] if more else [])])
    if check.evidence:
        yield block(check.evidence, 3_000, redact)
    if check.fix:
        yield "What would make it pass:"
        yield block(check.fix, 3_000, redact)
    rules = rules_of(meant)
    for rule in rules:
        yield prose(rule.words, 2_000, redact)
    if rules:
        yield prose(how_to(rules), 600, redact)
