"""A pack's tests run and its gaps looked for: all that ``prjury rules test`` says of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from prjury.judges.patterns.pack_cases import CaseFailure, Tested, run_tests
from prjury.report.wording import counted
from prjury.rulepacks.applicability import SEVERITIES
from prjury.rulepacks.example import Outcome
from prjury.rulepacks.files import PackPosition
from prjury.rulepacks.load import LoadedPack
from prjury.rulepacks.outcomes import telling

_OUTCOMES: tuple[Outcome, ...] = (*SEVERITIES, "none")


def missing(tested: Tested) -> list[CaseFailure]:
    """What no case of the pack shows, in the order of its rules."""
    return [*_fixes(tested), *_versions(tested)]


def _fixes(tested: Tested) -> Iterator[CaseFailure]:
    pack, ran = tested.pack, tested.by_rule
    for number, rule in enumerate(pack.rules):
        for at, fix in enumerate(rule.fix):
            if not any(case.shows(fix) for case in ran[rule.id]):
                yield CaseFailure(
                    f"{pack.id}/{rule.id}",
                    "",
                    "no case with `fixed` needs this fix",
                    fix.find,
                    ("rules", number, "fix", at),
                )


def _versions(tested: Tested) -> Iterator[CaseFailure]:
    pack = tested.pack
    for number, rule in enumerate(pack.rules):
        shown = {case.expect for case in rule.tests.versions}
        wanted = [o for o in _OUTCOMES if o in telling(pack, rule) - shown]
        if wanted:
            problem = f"no version case expects {' or '.join(wanted)}"
            path = ("rules", number, "tests", "versions")
            yield CaseFailure(f"{pack.id}/{rule.id}", "", problem, "", path)


@dataclass(frozen=True)
class PackTestResult:
    """What the tests of a pack came to, with the lines of its files.

    Attributes:
        untested: rules of ast-grep's own format that bring no case.
    """

    tested: Tested
    found: Sequence[tuple[PackPosition, CaseFailure]]
    untested: int

    @property
    def sound(self) -> bool:
        """Whether nothing failed and nothing is missing."""
        return not self.found

    @property
    def line(self) -> str:
        """What ran, in one line."""
        tested = self.tested
        told = [counted(len(tested.pack.rules), "rule"), f"{len(tested.ran)} cases of code"]
        told += [f"{tested.versions} of versions"] if tested.versions else []
        told += [f"{counted(self.untested, 'rule')} without a case"] if self.untested else []
        told += [f"{len(self.found)} failed"] if self.found else []
        return f"{'ok  ' if self.sound else 'FAIL'} {tested.pack.id}: {', '.join(told)}"

    @property
    def failures(self) -> list[str]:
        """Each failure with its file and line."""
        return [f"{place} {failure}" for place, failure in self.found]

    @property
    def json(self) -> dict[str, Any]:
        """The same for machines."""
        return {
            "id": self.tested.pack.id,
            "passed": self.sound,
            "rules": len(self.tested.pack.rules),
            "cases": {"code": len(self.tested.ran), "versions": self.tested.versions},
            "untested": self.untested,
            "failures": [
                {
                    "rule": failure.rule,
                    "language": failure.language or None,
                    "problem": failure.problem,
                    "code": failure.code or None,
                    "path": place.source,
                    "line": place.line,
                }
                for place, failure in self.found
            ],
        }


def run_pack_tests(loaded: LoadedPack) -> PackTestResult:
    """Runs the tests of a pack. Rules in ast-grep's own format may lack some, or all."""
    tested = run_tests(loaded.pack)
    gaps = [] if loaded.foreign else missing(tested)
    failures = [*tested.failures, *gaps]
    untested = sum(not rule.tests.code for rule in loaded.pack.rules)
    return PackTestResult(
        tested, [(loaded.locate(failure.path), failure) for failure in failures], untested
    )
