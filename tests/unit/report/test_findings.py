from __future__ import annotations

import pytest

from fakes import reports as fake
from prjury.jury.judgment import Check, Judgment, Location, Severity
from prjury.jury.verdicts import TierAttempt, TierPolicy
from prjury.report.findings import evidence_beyond, findings

HERE = Location("a.py", 3)


def bad(
    name: str,
    place: Location | None = HERE,
    severity: Severity = "error",
    evidence: str | None = None,
    message: str = "",
) -> Check:
    return Check(name, False, message, place, severity, evidence)


def told(*attempts: TierAttempt) -> list[tuple[str, str]]:
    verdict = fake.verdict(*attempts)
    return [(f.check.name, f.weight.name) for f in findings(verdict)]


def test_blockers_come_first_and_those_with_a_place_before_those_without() -> None:
    checks = [
        bad("log", None, evidence="exit 1"),
        bad("nit", severity="hint"),
        bad("look", severity="warning"),
        bad("one"),
        bad("two"),
    ]
    attempt = fake.tier("t", fake.ballot("j", Judgment.failed("x", checks=checks)))
    assert told(attempt) == [
        ("one", "MUST_FIX"),
        ("two", "MUST_FIX"),
        ("log", "MUST_FIX"),
        ("look", "SHOULD_LOOK"),
        ("nit", "NIT"),
    ]


def test_a_check_that_its_judge_calls_a_summary_is_no_finding_beside_others() -> None:
    checks = [bad("sum", None, message="2 findings"), bad("one"), bad("two")]
    summed = Judgment.failed("x", checks=checks, metadata={"summaries": ["sum"]})
    alone = Judgment.failed("x", checks=checks[:1], metadata={"summaries": ["sum"]})
    assert told(fake.tier("t", fake.ballot("j", summed))) == [
        ("one", "MUST_FIX"),
        ("two", "MUST_FIX"),
    ]
    assert told(fake.tier("t", fake.ballot("j", alone))) == [("sum", "MUST_FIX")]


def test_a_check_without_a_place_is_never_dropped_for_one_that_has_a_place() -> None:
    checks = [bad("changelog", None, message="no entry"), bad("todo")]
    attempt = fake.tier("t", fake.ballot("j", Judgment.failed("x", checks=checks)))
    assert [name for name, _ in told(attempt)] == ["todo", "changelog"]


def test_what_only_advises_never_has_to_be_fixed() -> None:
    advice = fake.quality_tier(Judgment.failed("x", checks=[bad("one")]))
    built = fake.tier("build", fake.ballot("merge", fake.MERGED))
    assert told(built, advice) == [("one", "SHOULD_LOOK")]


def test_a_dissent_in_a_tier_that_passed_never_has_to_be_fixed() -> None:
    ballots = [
        fake.ballot("a", Judgment.passed("x")),
        fake.ballot("b", Judgment.passed("x")),
        fake.ballot("c", Judgment.failed("x", checks=[bad("one")])),
    ]
    attempt = fake.tier("t", *ballots, policy=TierPolicy.FINAL_TIER, averaged=0.5)
    assert told(attempt) == [("one", "SHOULD_LOOK")]


@pytest.mark.parametrize(
    ("message", "evidence", "shown"),
    [
        ("T#t: KeyError: 'x'", "KeyError: 'x'\n", None),
        ("cannot find symbol", "Foo foo;", "Foo foo;"),
        ("one two", "one\ntwo", "one\ntwo"),
        ("a\nb", "a\nb", "a\nb"),
        ("x" * 300 + "tail", "tail", "tail"),
        ("anything", None, None),
        ("anything", " ", " "),
    ],
)
def test_evidence_that_the_message_says_already_is_not_told_again(
    message: str, evidence: str | None, shown: str | None
) -> None:
    assert evidence_beyond(bad("test", evidence=evidence, message=message)) == shown
