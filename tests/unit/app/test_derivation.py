from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from fakes import reports as fake
from fakes.derivation import derive
from prjury.errors import ExitCode, UsageError
from prjury.jury.count import NeverLifting, NeverOverruling, count_ballots
from prjury.jury.gate import Gate
from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Judgment, Status
from prjury.jury.voting import AverageVoting, Ballot
from prjury.policy.load import default_policy
from prjury.report.codec import report_to_json
from prjury.report.model import PolicyOrigin

RESOLVED = default_policy().resolved
Change = Callable[[dict[str, Any]], object]


def written(*built: Ballot, **more: Any) -> dict[str, Any]:
    ballots = built or (fake.ballot("merge", fake.MERGED), fake.ballot("build", fake.BUILT))
    policy = PolicyOrigin("default", "c" * 64, {**RESOLVED, **more})
    report = fake.report(
        fake.tier("build", *ballots),
        fake.tier("version-patterns", fake.ballot("patterns", fake.PATTERNS)),
        fake.quality_tier(fake.NO_MODEL),
        policy=policy,
    )
    loaded: dict[str, Any] = json.loads(json.dumps(report_to_json(report)))
    return loaded


def fail_a_ballot(data: dict[str, Any]) -> None:
    data["tiers"][0]["judgments"][1]["status"] = "fail"
    data["tiers"][0]["judgments"][1]["score"] = None


def hide_a_fail(data: dict[str, Any]) -> None:
    fail_a_ballot(data)
    del data["tiers"][0]["judgments"][1]


def unread(data: dict[str, Any]) -> None:
    data["coverage"]["added_lines_judged"] = 0


def advise(data: dict[str, Any]) -> None:
    data["tiers"][0]["advisory"] = True


def leave_a_tier_out(data: dict[str, Any]) -> None:
    del data["tiers"][1]


def not_asked(data: dict[str, Any]) -> None:
    data["tiers"][1] |= {"ran": False, "skipped_because": "build failed", "judgments": []}


def rename(data: dict[str, Any]) -> None:
    data["verdict"]["decided_by"] = "quality"


@pytest.mark.parametrize(
    ("change", "words", "code"),
    [
        (fail_a_ballot, "the gate is success in the report, and failure", ExitCode.REJECTED),
        (hide_a_fail, "build: 2 judges have seats, 1 are accounted for", ExitCode.NOT_JUDGED),
        (unread, "the verdict is pass in the report, and error", ExitCode.NOT_JUDGED),
        (advise, "wrong about whether the tier is advisory", ExitCode.NOT_JUDGED),
        (leave_a_tier_out, "the policy has the tiers build, version-p", ExitCode.NOT_JUDGED),
        (not_asked, "version-patterns: 1 judges have seats, 0", ExitCode.NOT_JUDGED),
        (rename, "the deciding tier is quality in the report", ExitCode.NOT_JUDGED),
    ],
)
def test_what_the_report_concludes_otherwise_is_said_and_never_green(
    change: Change, words: str, code: ExitCode
) -> None:
    data = written()
    change(data)
    derived = derive(data)
    assert words in "; ".join(derived.differences)
    assert derived.exit_code is code


def test_the_votes_are_counted_by_the_policy_and_not_by_the_report() -> None:
    data = written()
    data["tiers"][1]["reasoning"] = "I pass"
    assert "I pass" not in str(derive(data).verdict)
    other = [{**tier, "voting": {"median": {"threshold": 1.0}}} for tier in RESOLVED["tiers"]]
    recounted = written(tiers=other)
    recounted["tiers"][1]["judgments"][0]["score"] = 0.5
    assert derive(recounted).gate is Gate.FAILURE


def test_judges_that_only_lower_are_known_from_the_counts() -> None:
    passed = Judgment.passed("fine")
    ballots = [
        fake.ballot("merge", Judgment.failed("no"), kind=JudgeType.LLM_POWERED),
        fake.ballot("build", passed, kind=JudgeType.LLM_POWERED),
    ]
    voting = NeverOverruling(NeverLifting(AverageVoting(0.5), frozenset({"build"})))
    said = count_ballots(voting, ballots)
    assert said.status is Status.FAIL
    assert said.metadata["aggregation"]["only_lower"] == ("build",)


@pytest.mark.parametrize(
    "data", [{}, {"schema": "prjury/report/v2"}, written() | {"policy": {"resolved": {"tiers": 1}}}]
)
def test_what_is_no_report_is_a_usage_error(data: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="the report cannot be read"):
        derive(data)
