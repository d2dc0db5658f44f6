"""What the tests of a pack have to show: every fix, and every outcome that versions can have."""

from __future__ import annotations

from collections.abc import Iterator

from prjury.judges.patterns.pack_cases import CaseFailure, Tested
from prjury.rulepacks.applicability import SEVERITIES
from prjury.rulepacks.example import Outcome
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
