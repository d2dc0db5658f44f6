from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from fakes.bare_report import report
from prjury.jury.judgment import Status
from prjury.publishers.labels import Labels
from prjury.report.model import Backport, PolicyOrigin

MAPPING = {
    "pass": "prjury:pass",
    "fail": "prjury:fail",
    "error": "prjury: could not judge",
    "backport": "backport:{branch}",
}


@dataclass
class Issue:
    there: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def names(self) -> list[str]:
        self.asked.append("names")
        return list(self.there)

    def add(self, names: Sequence[str]) -> None:
        self.asked.append(f"add {', '.join(names)}")
        self.there += names

    def remove(self, name: str) -> None:
        self.asked.append(f"remove {name}")
        self.there.remove(name)


def test_the_verdicts_label_takes_the_place_of_another_verdicts() -> None:
    issue = Issue(["bug", "prjury:fail"])
    Labels(issue, MAPPING).publish(report(Status.PASS))
    assert issue.there == ["bug", "prjury:pass"]
    assert issue.asked == ["names", "add prjury:pass", "remove prjury:fail"]


def test_what_is_there_is_left_alone() -> None:
    issue = Issue(["PRJury:Pass"])
    Labels(issue, MAPPING).publish(report(Status.PASS))
    assert issue.asked == ["names"]


def test_a_status_without_a_label_takes_off_the_others() -> None:
    issue = Issue(["prjury:pass", "prjury:error"])
    Labels(issue, MAPPING).publish(report(Status.ABSTAIN))
    assert issue.there == ["prjury:error"]


def test_branches_that_a_change_suits_are_named() -> None:
    issue = Issue(["backport:1.1.x", "backport:0.9.x", "backport:release/2.0"])
    found = Backport("release/2.0", "suitable_with_changes", applies=True)
    suits = (
        Backport("1.0.x", "suitable", applies=True),
        Backport("1.1.x", "not_suitable", applies=True),
        found,
    )
    Labels(issue, MAPPING).publish(report(Status.PASS, backports=suits))
    assert sorted(issue.there) == [
        "backport:0.9.x",
        "backport:1.0.x",
        "backport:release/2.0",
        "prjury:pass",
    ]


def test_one_label_for_two_statuses_is_not_taken_off() -> None:
    issue = Issue(["seen"])
    Labels(issue, {"pass": "seen", "fail": "seen"}).publish(report(Status.PASS))
    assert issue.asked == ["names"]


@pytest.mark.parametrize("mapping", [{}, None])
def test_without_a_mapping_nothing_is_asked_for(mapping: dict[str, str] | None) -> None:
    issue = Issue(["prjury:fail"])
    Labels(issue, mapping).publish(report())
    assert issue.asked == []


def test_the_policy_of_the_report_says_which() -> None:
    issue = Issue()
    policy = PolicyOrigin("default", "0" * 64, {"publish": {"labels": {"pass": "ok"}}})
    Labels(issue).publish(report(policy=policy))
    assert issue.there == ["ok"]


def test_a_label_that_is_too_long_is_told() -> None:
    issue = Issue()
    labels = Labels(issue, MAPPING)
    labels.publish(report(backports=(Backport("x" * 60, "suitable", applies=True),)))
    assert issue.there == ["prjury:pass"]
    assert labels.notes == ("Not set: 1 label that GitHub does not accept.",)
