"""A report's verdict is derived again from the file alone."""

from __future__ import annotations

import json
from pathlib import Path

from e2e.conftest import Prjury
from fakes.history import History


def test_a_review_is_derived_again_and_a_changed_report_is_never_green(
    prjury: Prjury, tmp_path: Path
) -> None:
    history = History(tmp_path / "repo")
    history.commit({"a.py": "x = 1\n"}, "start")
    history.switch("change", create=True)
    history.commit({"a.py": "x = 2\n"}, "Change it")
    run = prjury("review", "--repo", history.path, "--no-build", "--no-llm", "--format", "json")
    file = tmp_path / "report.json"
    file.write_text(run.out)

    again = prjury("replay", file)
    assert (run.code, again.code, again.err) == (0, 0, "")
    assert "The report says the same." in again.out

    forged = run.report
    forged["verdict"] |= {"status": "fail", "gate": "failure"}
    file.write_text(json.dumps(forged))
    again = prjury("replay", file, "--format", "json")
    assert (again.code, again.report["gate"]) == (3, "success")
    assert "differs: the verdict is fail in the report, and pass by its ballots" in again.err
    assert again.complaint.startswith("prjury: the report is not what its ballots come to")

    assert prjury("replay", tmp_path / "none.json").code == 2


def test_recorded_ballots_are_compared(prjury: Prjury, tmp_path: Path) -> None:
    file = tmp_path / "ballots.jsonl"
    record = {"item": "a", "gold": 1, "judge": "x", "verdict": 1}
    file.write_text(json.dumps(record) + "\n" + json.dumps({**record, "judge": "y"}) + "\n")
    run = prjury("replay", file)
    assert (run.code, run.err) == (0, "")
    assert max(map(len, run.out.splitlines())) <= 80
    assert run.out.splitlines()[1].split()[:5] == ["majority", "1", "100.0%", "100.0%", "100.0%"]
    rows = prjury("replay", file, "--format", "json", "--weight", "x=2").report["strategies"]
    assert [row["name"] for row in rows][-3:] == ["weighted average >= 0.5", "x", "y"]
    run = prjury("replay", file, "--weight", "x")
    assert (run.code, "is not JUDGE=WEIGHT" in run.complaint) == (2, True)
