"""Every run keeps a journal, and none fails for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from e2e.conftest import Prjury
from fakes.history import History

FREE = ("--no-build", "--no-llm", "--base", "main", "--head", "change")


@pytest.fixture
def history(tmp_path: Path) -> History:
    made = History(tmp_path / "repo")
    made.commit({"a.py": "x = 1\n"}, "start")
    made.switch("change", create=True)
    made.commit({"a.py": "x = 2\n"}, "Change it")
    return made


def test_a_run_is_shown(prjury: Prjury, tmp_path: Path, history: History) -> None:
    assert prjury("--version").code == 0
    assert not (tmp_path / "state").exists()
    assert prjury("journal", "show").code == 2
    run = prjury("review", *FREE, cwd=history.path)
    shown = prjury("journal", "show")
    assert (run.code, shown.code) == (0, 0)
    for words in ("prjury review", "exit 0", "build / merge: pass", "hotspots", "transitions"):
        assert words in shown.out
    assert history.git("status", "--porcelain") == ""


def test_a_journal_that_cannot_be_written_fails_nothing(
    prjury: Prjury, tmp_path: Path, history: History
) -> None:
    (tmp_path / "file").write_text("")
    run = prjury("review", *FREE, cwd=history.path, env={"XDG_STATE_HOME": str(tmp_path / "file")})
    assert run.code == 0
    assert run.err.count("the journal of this run is not written") == 1
