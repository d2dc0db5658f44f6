"""What is said of a command line that makes no sense, and the journal that every run keeps."""

from __future__ import annotations

from pathlib import Path

import pytest

from e2e.conftest import Prjury
from fakes.history import History


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("revew", "No such command 'revew'. Did you mean 'review'? See: prjury --help"),
        ("rules tst", "No such command 'tst'. Did you mean 'test'? See: prjury rules --help"),
        ("judge", "Missing argument 'name'. See: prjury judge --help"),
        ("demo --keep", "Option '--keep' requires an argument. See: prjury --help"),
        (
            "review --bse x",
            "No such option: --bse (Possible options: --base, --staged). See: prjury review --help",
        ),
        ("--nope", "No such option: --nope. See: prjury --help"),
        ("schema x", "Got unexpected extra argument(s) (x). See: prjury schema --help"),
        (
            "review --timeout 0",
            (
                "Invalid value for '--timeout': a duration is more than 0 seconds, such as 90s, "
                "30m, 2h. See: prjury review --help"
            ),
        ),
        (
            "judge biuld",
            (
                "there is no judge called 'biuld'. Did you mean build? Name one that is "
                "known; judges of your own are installed, or used in Python."
            ),
        ),
    ],
)
def test_one_line_says_what_to_do(prjury: Prjury, line: str, told: str) -> None:
    run = prjury(*line.split())
    assert (run.code, run.out, run.err) == (2, "", f"prjury: {told}\n")


@pytest.mark.parametrize("option", ["-V", "--version"])
def test_the_version(prjury: Prjury, option: str) -> None:
    run = prjury(option)
    assert (run.code, run.err) == (0, "")
    assert run.out.startswith("prjury ")


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("journal show nope", "nope cannot be read: No such file or directory. Name a file that a"),
        (
            "rules list empty",
            "empty line 1: the file: a mapping of keys to values is expected here",
        ),
        ("demo --keep /dev/null/x", "--keep /dev/null/x cannot be used: Not a directory. Name a"),
    ],
)
def test_a_file_that_is_none_is_told_with_what_to_do(
    prjury: Prjury, tmp_path: Path, line: str, told: str
) -> None:
    for name, text in {"empty": "", "no.json": "{}", "empty.jsonl": _BALLOT}.items():
        (tmp_path / name).write_text(text)
    run = prjury(*line.split(), cwd=tmp_path)
    assert (run.code, run.out) == (2, "")
    assert told in run.err
    assert "pydantic" not in run.err


_BALLOT = '{"item": "1", "judge": "a", "verdict": 1}'


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
