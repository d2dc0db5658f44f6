"""Language-neutral cases of the version-pattern judge."""

from __future__ import annotations

import pytest

from fakes.repository import BASE, HEAD, FakeRepository, pull_between
from prjury.jury.context import JudgmentContext
from prjury.jury.judgment import Status
from prjury.snapshot.model import PullRequest
from unit.judges.patterns.bench import BOOT_3, BOOT_4, bench, context, pom
from vectors import Case, cases

#: What the cases call a kind of finding, and the packs that hold such rules.
KINDS = {"jakarta": "javax-imports", "jackson-3": "jackson-2x", "spring-boot-4": "spring-boot-3x"}
BRANCHES = {"main": BOOT_4, "1.1.x": BOOT_3}


def pull_of(case: Case) -> tuple[PullRequest, FakeRepository]:
    """The pull request of a case: one file with one patch, on a branch with one version.

    Not every case counts its lines right in the header, so that only the signs are read.
    """
    lines = case["patch"].split("\n")[1:]
    old = "\n".join(line[1:] for line in lines if line[0] in " -")
    new = "\n".join(line[1:] for line in lines if line[0] in " +")
    manifest = {"pom.xml": pom(BRANCHES[case["base_branch"]])}
    before = {**manifest, case["filename"]: old}
    after = {**manifest, case["filename"]: new}
    return pull_between(before, after), FakeRepository({BASE: before, HEAD: after})


@pytest.mark.parametrize("case", cases("judges", "version_pattern"), ids=lambda case: case["id"])
def test_a_case(case: Case) -> None:
    if "filename" not in case["input"]:
        judgment = bench({}, {}).judge(JudgmentContext("x"))  # type: ignore[arg-type]
        assert judgment.status is Status[case["expect"]["status"]]
        return
    pull, repository = pull_of(case["input"])
    judgment = bench({}, {}, repository=repository).judge(context(pull))
    kinds = {KINDS[check.name.partition("/")[0]] for check in judgment.failed_checks}
    assert sorted(kinds) == case["expect"]["findings"]
