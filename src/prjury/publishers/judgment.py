"""One judgment without a report around it: as lines for a terminal, as JSON for a machine."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TextIO

from msgspec import Struct

from prjury.jury.codec import judgment_to_json
from prjury.jury.judgment import Check, Judgment, Status
from prjury.jury.voting import NOT_APPLICABLE
from prjury.publishers.terminal import printable_line
from prjury.report.codec import printable_json
from prjury.report.judge_facts import RunFacts
from prjury.report.sanitise import BY_SHAPE, Redact
from prjury.report.wording import PASSED, SEVERITY_SYMBOLS, describe_outcome, join_words, pluralize

_MOST_CHECKS, _MOST_PLACES = 50, 5
_MOST_EVIDENCE = 30


class JudgmentPrinter(Struct, frozen=True):
    """Writes judgments out. Their texts are not trusted: nothing in them controls a terminal."""

    stream: TextIO
    redact: Redact = BY_SHAPE

    def lines(self, judge: str, judgment: Judgment) -> Iterator[str]:
        outcome = describe_outcome(judgment)
        yield self._write_line(f"{outcome.symbol} {outcome.word}: {judge}: {judgment.reasoning}")
        groups: dict[object, list[Check]] = {}
        for at, check in enumerate(judgment.checks):
            words = check.severity, check.name, check.message
            key = words if check.location and not check.passed else at
            groups.setdefault(key, []).append(check)
        every = list(groups.values())
        for check, *others in every[:_MOST_CHECKS]:
            yield from self._list_check_lines(check, judgment)
            if others:
                places = join_words([str(each.location) for each in others], most=_MOST_PLACES)
                yield self._write_line(f"     also at {places}")
        if rest := sum(map(len, every[_MOST_CHECKS:])):
            yield self._write_line(f"  … and {pluralize(rest, 'more check')}")
        yield from (self._write_line(f"  log: {log}") for log in RunFacts.parse(judgment).logs)

    def complaint(self, judge: str, judgment: Judgment) -> str:
        if judgment.status is Status.FAIL:
            reason = judgment.reasoning.rstrip(" .")
            words = f"{judge} failed: {reason}. Correct the work and judge it again."
        elif judgment.status is Status.ERROR:
            words = f"{judge} could not judge: {judgment.reasoning}"
            if judgment.reason == "crashed":
                words += ". Correct the judge, or report it to its author."
        elif judgment.status is Status.ABSTAIN and judgment.label != NOT_APPLICABLE:
            reason = judgment.reasoning.rstrip(" .")
            words = f"{judge} gave no answer: {reason}. Add what is missing, or drop this judge."
        else:
            return ""
        return self._write_line(f"prjury: {' '.join(words.split())}")

    def json(self, judgment: Judgment) -> str:
        value = printable_json(judgment_to_json(judgment), self.redact)
        return json.dumps(value, indent=2, ensure_ascii=False)

    def _list_check_lines(self, check: Check, judgment: Judgment) -> Iterator[str]:
        symbol = PASSED.symbol if check.passed else SEVERITY_SYMBOLS[check.severity]
        place = f"{check.location} " if check.location else ""
        has_message = check.message.strip() and check.message != judgment.reasoning
        message = f": {check.message}" if has_message else ""
        yield self._write_line(f"  {symbol} {place}{check.name}{message}")
        if check.passed:
            return
        evidence = [line for line in (check.evidence or "").splitlines() if line.strip()]
        for line in evidence[-_MOST_EVIDENCE:]:
            yield self._write_line(f"     | {line}")
        if len(evidence) > _MOST_EVIDENCE:
            yield self._write_line(f"     … (the last {_MOST_EVIDENCE} of {len(evidence)} lines)")
        if check.fix:
            yield self._write_line(f"     fix: {check.fix}")

    def _write_line(self, words: str) -> str:
        return printable_line(words, self.stream, self.redact)
