"""Work that is not committed yet, judged from the command line."""

from __future__ import annotations

from pathlib import Path

from e2e.conftest import Prjury
from fakes.history import History

FREE = ("--no-build", "--no-llm")


def test_uncommitted_work_is_judged_and_nothing_is_said_to_be_nothing(
    prjury: Prjury, tmp_path: Path
) -> None:
    history = History(tmp_path / "repo")
    project = '[project]\nname = "x"\nrequires-python = ">=3.12"\n'
    history.commit({"pyproject.toml": project, "a.py": "x = 1\n"}, "start")
    run = prjury("review", "--worktree", *FREE, cwd=history.path)
    assert (run.code, run.out) == (
        0,
        "Nothing to review: the work tree holds nothing that main lacks.\n",
    )
    (history.path / "b.py").write_text("import imp\n")
    assert prjury("review", "--staged", *FREE, cwd=history.path).code == 0

    run = prjury("review", "--worktree", *FREE, "--format", "json", cwd=history.path)
    assert run.code == 1, run.err
    assert [file["path"] for file in run.report["pull"]["files"]] == ["b.py"]
    assert run.report["backports"] == []

    both = prjury("review", "--worktree", "--staged", cwd=history.path)
    assert (both.code, "--worktree and --staged are given" in both.complaint) == (2, True)
    both = prjury("review", "7", "--worktree", cwd=history.path)
    assert (both.code, "is a change by itself" in both.complaint) == (2, True)
