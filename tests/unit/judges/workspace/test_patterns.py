"""The version-pattern judge over a directory of real files."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from prjury.errors import ConfigError
from prjury.judges.workspace.directory import make_patterns_judge
from prjury.jury.context import JudgmentContext
from prjury.jury.judgment import Judgment, Status
from unit.judges.patterns.bench import BOOT_4, found, pom

JAVA = "src/main/java/x/A.java"
IMPORT = "import javax.persistence.Entity;"
ENTITY = f"package x;\n{IMPORT}\nclass A {{}}\n"
ERROR = [("jakarta/persistence", "error", 2)]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A project that declares Boot 4 and uses what it no longer has."""
    return laid(tmp_path / "work", {"pom.xml": pom(BOOT_4), JAVA: ENTITY})


def laid(root: Path, files: dict[str, str | bytes]) -> Path:
    for path, content in files.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return root


def judged(root: Path, **options: object) -> Judgment:
    return make_patterns_judge(**options).judge(JudgmentContext("x", workspace=root))  # type: ignore[arg-type]


def left_out(judgment: Judgment) -> dict[str, str]:
    return {entry["path"]: entry["reason"] for entry in judgment.metadata["scope"]["left_out"]}


def git(root: Path, *words: str) -> None:
    subprocess.run(["git", "-C", root, *words], check=True, capture_output=True)


def test_options(place: Path) -> None:
    assert judged(place, packs=["jackson-3"]).status is Status.PASS
    laid(place, {JAVA: "class A {\n  @MockBean Foo foo;\n}\n", "pom.xml": pom("3.5.0")})
    assert judged(place).status is Status.PASS
    assert judged(place, severity="warning").status is Status.FAIL
    with pytest.raises(ConfigError, match="there is no pack jakata"):
        make_patterns_judge(packs=["jakata"])
    with pytest.raises(ConfigError, match="cannot be read"):
        make_patterns_judge(paths=["/nowhere/at-all.yml"])


def test_without_git_the_usual_directories_are_left_out(place: Path) -> None:
    skipped = ["node_modules", "target", "build", "dist", ".venv", "vendor", "web/node_modules"]
    laid(place, {f"{name}/x/B.java": ENTITY for name in skipped})
    laid(place, {".gitignore": "src/\n", "src/main/java/build/B.java": ENTITY})
    judgment = judged(place)
    assert set(left_out(judgment)) == {f"{name}/" for name in skipped}
    assert [str(check.location) for check in judgment.failed_checks] == [
        "src/main/java/build/B.java:2",
        f"{JAVA}:2",
    ]
    assert judgment.reasoning.endswith("; 7 paths left out")


def test_in_a_work_tree_git_says_what_is_left_out(place: Path) -> None:
    git(place, "init", "-q")
    laid(place, {".gitignore": "out/\nLocal.java\nTracked.java\n", "out/B.java": ENTITY})
    laid(place, {"Local.java": ENTITY, "Tracked.java": ENTITY, "build/C.java": ENTITY})
    git(place, "add", "-f", "Tracked.java", "pom.xml")
    judgment = judged(place)
    assert left_out(judgment) == {"Local.java": "ignored by git", "out/": "ignored by git"}
    told = {check.location.path for check in judgment.failed_checks if check.location}
    assert told == {JAVA, "Tracked.java", "build/C.java"}
    below = judged(place / "build")
    assert below.label == "not_applicable"
    laid(place, {"build/pom.xml": pom(BOOT_4)})
    assert [str(c.location) for c in judged(place / "build").failed_checks] == ["C.java:2"]


def test_nothing_that_the_repositorys_configuration_names_is_run(place: Path) -> None:
    git(place, "init", "-q")
    spy = place / "spy"
    spy.write_text(f"#!/bin/sh\ntouch {place}/spied\n")
    spy.chmod(0o755)
    git(place, "config", "core.fsmonitor", str(spy))
    git(place, "config", "filter.x.clean", str(spy))
    laid(place, {".gitattributes": "* filter=x\n"})
    assert found(judged(place)) == ERROR
    assert not (place / "spied").exists()


def test_a_tracked_path_that_leads_through_a_link_is_left_out(place: Path, tmp_path: Path) -> None:
    git(place, "init", "-q")
    laid(place, {"lib/B.java": ENTITY})
    git(place, "add", "lib/B.java")
    (place / "lib" / "B.java").unlink()
    (place / "lib").rmdir()
    (place / "lib").symlink_to(laid(tmp_path / "outside", {"B.java": ENTITY}))
    judgment = judged(place)
    assert found(judgment) == ERROR
    assert left_out(judgment) == {"lib/B.java": "behind a symbolic link"}


def test_a_git_directory_that_is_none_makes_no_work_tree(place: Path) -> None:
    laid(place, {".git/config": "", "target/B.java": ENTITY})
    judgment = judged(place)
    assert set(left_out(judgment)) == {".git/", "target/"}
    assert found(judgment) == ERROR


@pytest.mark.parametrize("elsewhere", ["/", "src", ".."])
def test_a_work_tree_that_claims_to_be_elsewhere_hides_nothing(place: Path, elsewhere: str) -> None:
    git(place, "init", "-q")
    git(place, "config", "core.worktree", str(place / elsewhere))
    judgment = judged(place)
    assert found(judgment) == ERROR
    assert set(left_out(judgment)) == {".git/"}


def test_a_repository_inside_is_left_out(place: Path) -> None:
    git(place, "init", "-q")
    laid(place, {"inner/B.java": ENTITY})
    git(place / "inner", "init", "-q")
    git(place / "inner", "add", "B.java")
    identity = ("-c", "user.name=x", "-c", "user.email=x@x")
    git(place / "inner", *identity, "commit", "-q", "-m", "x")
    assert left_out(judged(place)) == {"inner/": "a repository of its own"}


def test_links_are_not_followed_and_odd_files_not_opened(place: Path, tmp_path: Path) -> None:
    outside = laid(tmp_path / "outside", {"B.java": ENTITY})
    (place / "linked").symlink_to(outside)
    (place / "B.java").symlink_to(outside / "B.java")
    os.mkfifo(place / "C.java")
    judgment = judged(place)
    assert found(judgment) == ERROR
    assert left_out(judgment) == {"C.java": "not a regular file"}
    outside_files = {entry["path"] for entry in judgment.metadata["scope"]["outside"]}
    assert {"linked", "B.java"} <= outside_files


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"class A {}\n" * 100_000, "larger than 1024 KiB"),
        (b"x" * 5_000_000, "larger than 1024 KiB"),
        (b"// " + b"x" * 20_001, "a line above 20000 characters"),
        (b"class A { \0 }\n", "not text (NUL bytes)"),
        (ENTITY.encode("utf-16"), "not text (NUL bytes)"),
        (ENTITY.encode() + b"// \xff\n", "not UTF-8 (byte 58)"),
    ],
)
def test_what_cannot_be_read_is_named(place: Path, content: bytes, reason: str) -> None:
    laid(place, {JAVA: content})
    judgment = judged(place)
    assert (judgment.status, judgment.label) == (Status.ABSTAIN, "unread")
    assert judgment.metadata["scope"]["unread"] == ({"path": JAVA, "reason": reason},)


def test_other_kinds_of_files_are_named_and_block_nobody(place: Path) -> None:
    laid(place, {JAVA: "class A {}\n", "a.png": b"\x89PNG", "a.min.js": "x", "data.dat": b"\0"})
    judgment = judged(place)
    assert judgment.status is Status.PASS
    assert left_out(judgment) == {"a.min.js": "generated", "a.png": "binary"}
    assert judgment.metadata["scope"]["unread"] == (
        {"path": "data.dat", "reason": "not text (NUL bytes)"},
    )


@pytest.mark.skipif(os.geteuid() == 0, reason="everything can be read by root")
def test_a_file_without_permission_is_named(place: Path) -> None:
    (place / JAVA).chmod(0)
    reason = judged(place).metadata["scope"]["unread"][0]["reason"]
    assert reason == "it cannot be read: check its permissions"


def test_a_baseline_is_written_and_then_in_force(place: Path) -> None:
    file = ".github/prjury-baseline.json"
    first = judged(place, write_baseline=file)
    assert first.status is Status.PASS
    assert first.reasoning == f"1 known finding written to {file}"
    known = judged(place, baseline=file)
    assert known.status is Status.PASS
    assert known.reasoning.endswith("nothing else found; 1 known from the baseline")
    old = (place / file).stat()
    assert judged(place, write_baseline=file).status is Status.PASS
    assert (place / file).stat().st_ino != old.st_ino  # replaced as a whole
    laid(place, {JAVA: f"{IMPORT}\n{ENTITY}"})
    assert found(judged(place, baseline=file)) == [("jakarta/persistence", "error", 3)]


def test_a_baseline_that_is_missing_or_malformed_is_an_error(place: Path) -> None:
    with pytest.raises(ConfigError, match=r"there is no file b\.json"):
        judged(place, baseline="b.json")
    laid(place, {"b.json": "[\n1]"})
    with pytest.raises(ConfigError, match=r"b\.json line 2 is not an entry: Expected `object`"):
        judged(place, baseline="b.json")


def test_a_baseline_is_not_written_where_there_is_no_answer(place: Path) -> None:
    laid(place, {"pom.xml": pom(None)})
    assert judged(place, write_baseline="b.json").label == "not_applicable"
    assert not (place / "b.json").exists()


def test_a_baseline_is_not_written_elsewhere(place: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (place / "out").symlink_to(tmp_path / "outside")
    (place / "b.json").symlink_to(tmp_path / "outside" / "b.json")
    for file in ("out/b.json", "b.json"):
        judgment = judged(place, write_baseline=file)
        assert (judgment.status, judgment.metadata["reason"]) == (Status.ERROR, "outside_workspace")
    assert list((tmp_path / "outside").iterdir()) == []
    assert judged(place, write_baseline=f"{JAVA}/b.json").metadata["reason"] == "unwritable"


def test_without_a_workspace_it_cannot_judge() -> None:
    judgment = make_patterns_judge().judge(JudgmentContext("x"))
    assert (judgment.status, judgment.metadata["reason"]) == (Status.ERROR, "no_workspace")
