from __future__ import annotations

from pathlib import Path

import pytest

from prjury.doctor import examination as local
from prjury.doctor.workflows import Diagnosis, Level

GATE = "tiers: [{name: only, policy: final_tier, judges: [merge, patterns]}]\n"


def told(findings: list[Diagnosis]) -> list[str]:
    return [f"{one.level}: {one.sentence}" for one in findings if one.level is not Level.FINE]


@pytest.mark.parametrize(
    ("said", "level", "sentence"),
    [
        ("git version 2.38.0", Level.FINE, "git 2.38"),
        ("git version 2.39.5 (Apple Git-154)", Level.FINE, "git 2.39"),
        ("git version 3.0", Level.FINE, "git 3.0"),
        ("git version 2.37.9", Level.PROBLEM, "git: 2.37 is too old; install 2.38 or newer"),
        ("git version 1.99.0", Level.PROBLEM, "git: 1.99 is too old; install 2.38 or newer"),
        ("hub", Level.FINE, "git of an unknown version"),
    ],
)
def test_git_has_to_be_new_enough(said: str, level: Level, sentence: str) -> None:
    found = local.check_git_version(said)
    assert (found.level, found.sentence) == (level, sentence)


def policy(root: Path, text: str) -> list[str]:
    file = root / ".github" / "prjury.yml"
    file.parent.mkdir()
    file.write_text(text)
    return told(list(local.check_own_policy(root)))


def test_no_policy_is_fine(tmp_path: Path) -> None:
    assert told(list(local.check_own_policy(tmp_path))) == []


def test_a_valid_policy_is_fine(tmp_path: Path) -> None:
    assert policy(tmp_path, GATE) == []


def test_a_wrong_policy_is_one_problem(tmp_path: Path) -> None:
    (found,) = policy(tmp_path, "version: 1\ntires: []\n")
    assert found.startswith("problem: .github/prjury.yml line 2")
    assert "tires" in found


def test_a_judge_that_there_is_not_is_a_problem(tmp_path: Path) -> None:
    (found,) = policy(tmp_path, GATE.replace("merge", "marge"))
    assert found.startswith("problem: ")
    assert "marge" in found


def test_a_policy_that_nothing_closes_is_a_warning(tmp_path: Path) -> None:
    (found,) = policy(tmp_path, "gate: {block_on: []}\n")
    assert found.startswith("warning: .github/prjury.yml: gate.block_on: no verdict closes")


def test_a_policy_behind_a_link_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / ".github").mkdir()
    (tmp_path / ".github" / "prjury.yml").symlink_to("elsewhere.yml")
    assert told(list(local.check_own_policy(tmp_path))) == [
        "problem: .github/prjury.yml is not a regular file; put the file itself there"
    ]


def directory(root: Path) -> Path:
    place = root / ".github" / "workflows"
    place.mkdir(parents=True)
    return place


def test_workflows_of_both_endings_are_read(tmp_path: Path) -> None:
    place = directory(tmp_path)
    (place / "b.yaml").write_text("on: push\n")
    (place / "a.yml").write_text("on: push\n")
    (place / "c.json").write_text("{}")
    read, unread = local.read_workflows(tmp_path)
    assert [one.path for one in read] == [".github/workflows/a.yml", ".github/workflows/b.yaml"]
    assert unread == []


def test_what_cannot_be_read_is_told(tmp_path: Path) -> None:
    place = directory(tmp_path)
    (place / "prjury.yml").write_text("on: [")
    (place / "link.yml").symlink_to("prjury.yml")
    (place / "latin.yml").write_bytes(b"name: \xe9\n")
    (place / "dir.yml").mkdir()
    (place / "large.yml").write_text("a: " + "b" * 600_000)
    (place / "list.yml").write_text("- a\n")
    (place / "tab.yml").write_text("a: &x b\nc: *x\nd: @\n")
    read, unread = local.read_workflows(tmp_path)
    assert read == []
    assert told(unread) == [
        "not checked: .github/workflows/dir.yml is not a regular file; put the file itself there",
        "not checked: .github/workflows/large.yml is larger than 512 KiB",
        "not checked: .github/workflows/latin.yml is not UTF-8 text",
        "not checked: .github/workflows/link.yml is not a regular file; put the file itself there",
        "not checked: .github/workflows/list.yml is no workflow: it holds no keys",
        told(unread)[5],
        told(unread)[6],
    ]
    assert told(unread)[5].startswith("problem: .github/workflows/prjury.yml line ")
    assert told(unread)[6].startswith("not checked: .github/workflows/tab.yml ")
