"""A pack's tests run and its gaps looked for: all that ``prjury rules test`` says of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import msgspec.structs
from msgspec import Struct

from prjury.code.languages import LANGUAGES
from prjury.code.parser import Job, NotParsed, Parsed, Parser
from prjury.code.source import Source, UnreadableError, unescape_java
from prjury.deadline import Deadline
from prjury.judges.patterns.findings import propose_repair
from prjury.judges.patterns.match import ActiveRule, FileScan, Hit, Prefilter
from prjury.policy.yaml_reader import KeyPath
from prjury.report.wording import pluralize
from prjury.rulepacks.applicability import SEVERITIES, list_testable_outcomes, outcome_of
from prjury.rulepacks.files import PackPosition
from prjury.rulepacks.load import LoadedPack
from prjury.rulepacks.rule import Fix, Outcome, Pack

#: How long the cases of one pack may take.
SECONDS = 60.0
_OUTCOMES: tuple[Outcome, ...] = (*SEVERITIES, "none")


class CaseFailure(Struct, frozen=True):
    """A case (``versions``, or in a language) that is missing or not as its pack says."""

    rule: str
    language: str
    problem: str
    code: str
    path: KeyPath = ()

    def __str__(self) -> str:
        name = f"{self.rule} ({self.language})" if self.language else self.rule
        return f"{name}: {self.problem}" + (f": {self.code.strip()!r}" if self.code else "")


class PackCase(Struct, frozen=True):
    """Code in a rule's tests, and what the rule should make of it, if its words stand there."""

    active: ActiveRule
    language: str
    path: KeyPath
    code: str
    must_match: bool
    fixed: str | None
    scan: FileScan
    skipped: bool
    hits: Sequence[Hit] = ()
    unread: str = ""

    @property
    def job(self) -> Job | None:
        """The parser's job; None where there is nothing to parse."""
        return None if self.skipped else self.scan.job

    def with_hits_of_reply(self, reply: Parsed | NotParsed | None) -> PackCase:
        """Return the case with what the parser's reply comes to."""
        if self.skipped:
            return self
        if isinstance(reply, NotParsed):
            return msgspec.structs.replace(self, unread=str(reply))
        try:
            return msgspec.structs.replace(self, hits=self.scan.hits(reply))
        except UnreadableError as error:
            return msgspec.structs.replace(self, unread=str(error))

    @property
    def problem(self) -> str | None:
        """What is wrong with the outcome; None where it is as the pack says."""
        if self.unread:
            return self.unread
        if not self.must_match:
            lines = ", ".join(str(hit.lines[0]) for hit in self.hits)
            return f"found in line {lines}" if lines else None
        if not self.hits:
            return "not found"
        repaired = self._apply_fix(self.hits)
        return None if self.fixed in {None, repaired} else f"fixed to {repaired!r}"

    def needs(self, fix: Fix) -> bool:
        """Return true if this case would come out otherwise without the fix."""
        if self.fixed is None or self.unread:
            return False
        fixes = [other for other in self.active.rule.fix if other is not fix]
        rule = msgspec.structs.replace(self.active.rule, fix=fixes)
        active = ActiveRule(self.active.pack, rule)
        return self._apply_fix([replace(hit, active=active) for hit in self.hits]) != self.fixed

    def _apply_fix(self, hits: Sequence[Hit]) -> str:
        lines = self.code.split("\n")
        for hit in hits:
            at = hit.lines[0] - 1
            if repair := propose_repair(self.scan, hit, at + 1, lines[at]):
                lines[at] = repair.line(lines[at])[0]
        return "\n".join(lines)


class TestedPack(Struct, frozen=True):
    """What became of the cases of a pack: those of code first, each kind in the order of rules."""

    pack: Pack
    ran: Sequence[PackCase]
    versions: int
    failures: Sequence[CaseFailure]


def run_tests(pack: Pack, parser: Parser | None = None) -> TestedPack:
    """Run every case of the pack; the code is parsed by a process of its own."""
    cases = [case for number in range(len(pack.rules)) for case in _list_cases(pack, number)]
    jobs = [case.job for case in cases if case.job]
    replies = iter((parser or Parser()).parse(jobs, Deadline.after(SECONDS)))
    ran = [case.with_hits_of_reply(next(replies) if case.job else None) for case in cases]
    failures = [
        CaseFailure(one.active.name, one.language, one.problem, one.code, one.path)
        for one in ran
        if one.problem
    ]
    versions = sum(len(rule.tests.versions) for rule in pack.rules)
    return TestedPack(pack, ran, versions, [*failures, *_test_version_cases(pack)])


def _list_cases(pack: Pack, rule_index: int) -> Iterator[PackCase]:
    active = ActiveRule(pack, pack.rules[rule_index])
    prefilter = Prefilter([active])
    for name, cases in sorted(active.rule.tests.code.items()):
        language, path = LANGUAGES[name], ("rules", rule_index, "tests", "code", name)
        valid = [(code, None, (*path, "valid", at)) for at, code in enumerate(cases.valid)]
        invalid = [
            (one.code, one.fixed, (*path, "invalid", at)) for at, one in enumerate(cases.examples)
        ]
        for code, fixed, where in [*valid, *invalid]:
            source, file = Source.of(code, language), cases.file or language.sample
            text = "\n".join(unescape_java(line, language) for line in code.split("\n"))
            scan = FileScan(file, source, code.encode(), [active])
            skipped = not prefilter.candidates(text)
            must_match = "invalid" in where
            yield PackCase(active, name, where, code, must_match, fixed, scan, skipped)


def _test_version_cases(pack: Pack) -> Iterator[CaseFailure]:
    for number, rule in enumerate(pack.rules):
        for at, case in enumerate(rule.tests.versions):
            outcome = outcome_of(pack, rule, case)
            if outcome != case.expect:
                own = f" own {', '.join(case.own)}" if case.own else ""
                problem = f"{outcome}, expected {case.expect}"
                code = f"{', '.join(case.declares)}{own}"
                path = ("rules", number, "tests", "versions", at)
                yield CaseFailure(f"{pack.id}/{rule.id}", "versions", problem, code, path)


def find_untested_fixes_and_outcomes(tested: TestedPack) -> Iterator[CaseFailure]:
    """Yield fixes that no case needs, and outcomes by version that none expects."""
    pack = tested.pack
    for number, rule in enumerate(pack.rules):
        name, ran = f"{pack.id}/{rule.id}", [c for c in tested.ran if c.active.rule.id == rule.id]
        for at, fix in enumerate(rule.fix):
            if not any(case.needs(fix) for case in ran):
                problem = "no case with `fixed` needs this fix"
                yield CaseFailure(name, "", problem, fix.find, ("rules", number, "fix", at))
        expected = {case.expect for case in rule.tests.versions}
        if lacking := list_testable_outcomes(pack, rule) - expected:
            outcomes = " or ".join(outcome for outcome in _OUTCOMES if outcome in lacking)
            path = ("rules", number, "tests", "versions")
            yield CaseFailure(name, "", f"no version case expects {outcomes}", "", path)


class PackTestResult(Struct, frozen=True):
    """What the tests of a pack came to."""

    tested: TestedPack
    problems: Sequence[tuple[PackPosition, CaseFailure]]

    @property
    def sound(self) -> bool:
        """Return true if nothing failed and nothing is missing."""
        return not self.problems

    @property
    def line(self) -> str:
        tested = self.tested
        words = [pluralize(len(tested.pack.rules), "rule"), f"{len(tested.ran)} cases of code"]
        words += [f"{tested.versions} of versions"] if tested.versions else []
        words += [f"{len(self.problems)} failed"] if self.problems else []
        return f"{'ok  ' if self.sound else 'FAIL'} {tested.pack.id}: {', '.join(words)}"

    @property
    def failures(self) -> list[str]:
        return [f"{place} {failure}" for place, failure in self.problems]

    @property
    def json(self) -> dict[str, Any]:
        return {
            "id": self.tested.pack.id,
            "passed": self.sound,
            "rules": len(self.tested.pack.rules),
            "cases": {"code": len(self.tested.ran), "versions": self.tested.versions},
            "failures": [
                {
                    "rule": failure.rule,
                    "language": failure.language or None,
                    "problem": failure.problem,
                    "code": failure.code or None,
                    "path": place.source,
                    "line": place.line,
                }
                for place, failure in self.problems
            ],
        }


def run_pack_tests(loaded: LoadedPack) -> PackTestResult:
    tested = run_tests(loaded.pack)
    failures = [*tested.failures, *find_untested_fixes_and_outcomes(tested)]
    return PackTestResult(tested, [(loaded.locate(each.path), each) for each in failures])
