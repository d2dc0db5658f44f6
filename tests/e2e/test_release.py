"""What a release checks before anything is built, and what an update of golden files may write."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CHANGES = "# Changelog\n\n## [Unreleased]\n\n## [1.2.3] - 2026-12-01\n\n- News.\n"
OURS = 'version = "1.2.3"\nHomepage = "https://github.com/jury/pr-jury"\n'


@pytest.mark.parametrize(
    ("tag", "project", "changes", "complaint"),
    [
        ("v1.2.3", OURS, CHANGES, ""),
        ("v1.2.4", OURS, CHANGES, "the tag v1.2.4 is not v1.2.3"),
        ("v1.2.3", OURS, "## [Unreleased]\n\n- News.\n", "has no section [1.2.3]"),
        ("v1.2.3", OURS.replace("jury/", "OWNER/", 1), CHANGES, "still says OWNER/pr-jury"),
    ],
    ids=["right", "another version", "no notes", "no owner"],
)
def test_a_tag_that_does_not_fit_is_refused(
    tmp_path: Path, tag: str, project: str, changes: str, complaint: str
) -> None:
    for name, text in (("pyproject.toml", project), (".github/CHANGELOG.md", changes)):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / ".ci").mkdir()
    shutil.copy(ROOT / ".ci" / "release", tmp_path / ".ci" / "release")
    run = subprocess.run(
        [tmp_path / ".ci" / "release", "check", tag], capture_output=True, text=True, check=False
    )
    assert run.returncode == bool(complaint)
    assert complaint in run.stderr


def digests(root: Path) -> dict[str, str]:
    files = (file for file in root.rglob("*") if file.is_file() and "__pycache__" not in file.parts)
    return {
        file.relative_to(root).as_posix(): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in files
    }


@pytest.mark.nightly
def test_an_update_of_golden_files_writes_nothing_else(tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    unwanted = shutil.ignore_patterns(".*cache*", ".git", ".venv", ".uv", ".hypothesis", "dist")
    shutil.copytree(ROOT, copy, ignore=unwanted, symlinks=True)
    updating = [
        file.relative_to(copy).as_posix()
        for file in sorted((copy / "tests" / "unit").rglob("test_*.py"))
        if "PRJURY_UPDATE_GOLDEN" in file.read_text("utf-8")
    ]
    before = digests(copy)
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", *updating],
        cwd=copy,
        env={
            **os.environ,
            "PRJURY_UPDATE_GOLDEN": "1",
            "HYPOTHESIS_STORAGE_DIRECTORY": str(tmp_path),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode in {0, 1}, run.stdout + run.stderr
    after = digests(copy)
    written = {path for path in after if after[path] != before.get(path)}
    assert {
        path for path in written if not path.startswith(("tests/golden/", ".github/docs/"))
    } == set()
