"""What programs know of a change, in a few lines for its reviewers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate

from msgspec import Struct

from prjury.judges.context import CallSite
from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Check, Judgment
from prjury.jury.voting import NOT_APPLICABLE, Ballot
from prjury.report.judge_facts import BuildFacts, TestFacts
from prjury.report.sanitise import Redact, redact_text, show_invisible
from prjury.snapshot.model import printable

#: Characters of all facts together, and of one.
MOST_CHARACTERS, _LONGEST = 2_000, 200
#: Characters of a path beside a line of code.
_LONGEST_PATH = 60
#: Findings of one judge that are listed.
_MOST_FINDINGS = 5
#: Characters that what judges say may take; the rest is for call sites.
_JUDGES_SHARE = 1_000


class Fact(Struct, frozen=True):
    """One line; ``name`` is the altered name that it is about, empty for what a judge says."""

    text: str
    name: str = ""

    @property
    def key(self) -> str:
        """The line without numbers, which differ from run to run and decide nothing."""
        return re.sub(r"\d+", "", self.text)


def find_facts(
    ballots: Sequence[Ballot], sites: Sequence[CallSite], redact: Redact
) -> tuple[Fact, ...]:
    """Return what the programs of earlier tiers say, and then the call sites that fit."""
    judged = [Fact(_fit_line(text, redact)) for text in _describe_ballots(ballots)]
    called = [Fact(_fit_line(_describe_site(site), redact), site.name) for site in sites]
    first = _fit(judged, _JUDGES_SHARE)
    return (*first, *_fit(called, MOST_CHARACTERS - sum(len(fact.text) + 3 for fact in first)))


def _fit(facts: Sequence[Fact], room: int) -> list[Fact]:
    sizes = accumulate(len(fact.text) + 3 for fact in facts)
    return [fact for fact, size in zip(facts, sizes, strict=True) if size <= room]


def _describe_site(site: CallSite) -> str:
    """Say where the name stands; of a long path the end, of a long line what follows the name."""
    path, text = site.path, site.text
    if len(path) > _LONGEST_PATH:
        path = f"…{path[-_LONGEST_PATH:]}"
    if len(text) > _LONGEST - len(path) - 2 * len(site.name) - 20:
        text = f"…{text[max(0, text.find(site.name) - 1) :]}"
    return f"{site.verb} {site.name}: {path}:{site.line}: {text}"


def _fit_line(text: str, redact: Redact) -> str:
    line = show_invisible(redact_text(printable(" ".join(text.split())), redact))
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"


def _describe_ballots(ballots: Sequence[Ballot]) -> Iterator[str]:
    # Judges end in any order, and another order would be another question.
    for ballot in sorted(ballots, key=lambda ballot: ballot.judge):
        judgment = ballot.judgment
        if ballot.type is not JudgeType.DETERMINISTIC or judgment.label == NOT_APPLICABLE:
            continue
        build = BuildFacts.of(judgment)
        tests = build.tests if build else None
        words = _describe_tests(tests) if tests else judgment.reasoning
        yield f"{ballot.judge}: {judgment.status.value}, {words}"
        yield from _describe_findings(judgment)


def _describe_tests(tests: TestFacts) -> str:
    vanished = f", {tests.vanished} no longer run" if tests.vanished else ""
    failed = f", {tests.failed} failed" if tests.failed else ", none failed"
    return f"{tests.run} tests run{failed}{vanished}"


def _describe_findings(judgment: Judgment) -> Iterator[str]:
    checks: Sequence[Check] = judgment.failed_checks
    for check in checks[:_MOST_FINDINGS]:
        yield f"{check.location or check.name}: {check.message}"
    if len(checks) > _MOST_FINDINGS:
        yield f"and {len(checks) - _MOST_FINDINGS} more of these"
