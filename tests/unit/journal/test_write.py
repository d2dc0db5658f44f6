from __future__ import annotations

import json
import stat
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from fakes import reports as fake
from prjury.agents.command import RecordedRounds
from prjury.errors import UsageError
from prjury.journal import write
from prjury.journal.read import (
    WIDTH,
    JournalFile,
    Transitions,
    find_loops_with_counts,
    list_journal,
    read_journal,
)
from prjury.journal.write import RecordedProgress, RunJournal, journal_files
from prjury.jury.context import JudgmentContext
from prjury.jury.judgment import Judgment
from prjury.jury.jury import Jury
from prjury.jury.voting import ConsensusVoting
from prjury.ports import SilentProgress


def lines(tmp_path: Path) -> list[dict[str, Any]]:
    (file,) = journal_files(tmp_path / "prjury")
    return [json.loads(line) for line in file.read_text().splitlines()]


def journal(tmp_path: Path, **more: Any) -> RunJournal:
    return RunJournal({"XDG_STATE_HOME": str(tmp_path)}, "review", **more)


def test_nothing_is_written_before_something_happens(tmp_path: Path) -> None:
    assert journal(tmp_path).descriptor is None
    assert list(tmp_path.iterdir()) == []


def test_events_are_private_lines_without_secrets(tmp_path: Path) -> None:
    kept = journal(tmp_path, redact=lambda text: text.replace("hunter2", "***"))
    kept.record("command", text="login hunter2\x1b[31m\nnext " + "x" * 999)
    kept.record("end", exit=0)
    start, command, end = lines(tmp_path)
    assert (start["schema"], start["command"]) == ("prjury/journal/v1", "review")
    assert "hunter2" not in command["text"]
    assert "\x1b" not in command["text"]
    assert len(command["text"]) <= write.LONGEST_TEXT + 20
    assert end["exit"] == 0
    (file,) = journal_files(tmp_path / "prjury")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_a_full_journal_still_says_how_it_ended(tmp_path: Path) -> None:
    kept = journal(tmp_path, room=300)
    for _ in range(50):
        kept.record("command", text="x" * 50)
    kept.record("end", exit=3)
    events = [line["event"] for line in lines(tmp_path)]
    assert events.count("command") < 6
    assert events[-2:] == ["full", "end"]


def test_a_journal_that_cannot_be_written_says_so_once(tmp_path: Path) -> None:
    (tmp_path / "prjury").write_text("a file is in the way")
    said: list[str] = []
    kept = journal(tmp_path, warn=said.append)
    kept.record("end", exit=0)
    kept.record("end", exit=0)
    assert len(said) == 1
    assert said[0].startswith("the journal of this run is not written")


def test_old_journals_are_removed(tmp_path: Path) -> None:
    place = tmp_path / "prjury"
    place.mkdir()
    for number in range(write.MOST_FILES + 5):
        (place / f"2020{number:04}T000000Z-1-a.jsonl").write_text("{}\n")
    (place / "labels.jsonl").write_text("somebody else's\n")
    journal(tmp_path).record("end", exit=0)
    kept = journal_files(place)
    assert len(kept) == write.MOST_FILES
    assert kept[0].name == "20200006T000000Z-1-a.jsonl"
    assert (place / "labels.jsonl").exists()


def test_judges_and_commands_are_events(tmp_path: Path) -> None:
    progress = RecordedProgress(SilentProgress(), journal(tmp_path))
    progress.judge_started("build", "merge")
    progress.say("$ make test")
    progress.say("a line of output")
    progress.judge_finished("build", fake.ballot("merge", Judgment.passed("secret words"), 1500))
    read = read_journal(journal_files(tmp_path / "prjury")[0])
    assert read.states == ["$ make", "merge"]
    assert read.events[-1].seconds == pytest.approx(1.5)
    assert "secret words" not in str(read)


def test_what_an_agent_used_comes_before_its_judgment(tmp_path: Path) -> None:
    shown = RecordedProgress(SilentProgress(), journal(tmp_path))
    calls = [{"name": "Bash", "target": "ls", "outcome": "ok", "input": "secret"}, {"name": "Read"}]
    said = Judgment.passed("fine", metadata={"agent": {"turns": 2, "tool_calls": calls}})
    shown.judge_finished("t", fake.ballot("agent", said))
    bridged = Judgment.passed("fine", metadata={"agent": {"tools": ["look"]}})
    shown.judge_finished("t", fake.ballot("agent", bridged))
    _, bash, read, judged, look, _ = lines(tmp_path)
    kept = {"event": "tool", "name": "Bash", "target": "ls", "outcome": "ok"}
    assert bash == {"t": bash["t"], **kept}
    assert (read["name"], judged["turns"], look["name"]) == ("Read", 2, "look")
    assert "tools" not in judged
    (file,) = journal_files(tmp_path / "prjury")
    text = "\n".join(list_journal(read_journal(file)))
    assert "  tool Bash ls: ok" in text


RUN: list[dict[str, Any]] = [
    {"schema": "prjury/journal/v1", "t": 0, "event": "start", "command": "review", "at": "2026"},
    {"t": 0.5, "event": "change", "files": 3, "ms": 500},
    {"t": 2, "event": "command", "text": "/usr/bin/mvn verify " + "x" * 100},
    {"t": 8, "event": "judged", "tier": "build", "judge": "build", "status": "pass", "ms": 7000},
    {"t": 9, "event": "model", "model": "a:b", "input_tokens": 10, "output_tokens": 2, "ms": 900},
    {"t": 9.5, "event": "round", "number": 1, "status": "fail", "ms": 100},
    {"t": 10, "event": "verdict", "status": "pass", "gate": "success", "headline": "ok", "usd": 1},
    {"t": 10, "event": "end", "exit": 0},
]


def written(path: Path, events: list[dict[str, Any]], more: bytes = b"") -> JournalFile:
    text = "".join(json.dumps(event) + "\n" for event in events)
    path.write_bytes(text.encode() + more)
    return read_journal(path)


def test_a_timeline_has_eighty_columns_and_says_where_the_time_went(tmp_path: Path) -> None:
    shown = list(list_journal(written(tmp_path / "j", RUN, b"{damaged\n")))
    assert max(map(len, shown)) <= WIDTH
    text = "\n".join(shown)
    assert "10.00 s, exit 0" in text
    assert "    70%       7.00     1 × build" in text
    assert "$ mvn" in text
    assert "a:b: 10+2 tokens" in text
    assert "round 1 fail" in text
    assert "      1 × $ mvn → build" in text
    assert "1 lines could not be read." in text


def test_hostile_values_are_shown_as_text(tmp_path: Path) -> None:
    odd = [
        RUN[0],
        {"t": "x", "event": "model", "model": ["\x1b[2J"], "ms": "y", "usd": {}},
        {"t": 1e3, "event": "\x1b]0;", "ms": -5},
    ]
    text = "\n".join(list_journal(written(tmp_path / "j", odd)))
    assert "\x1b" not in text


def test_what_is_known_of_an_event_is_said(tmp_path: Path) -> None:
    call = {"event": "model", "model": "m", "input_tokens": 0, "output_tokens": 0}
    events = [
        RUN[0],
        {"t": 1.0, **call, "reason": "timeout"},
        {"t": 2.0, **call, "reason": "cut", "input_tokens": 9},
        {"t": 3.0, "event": "judged", "tier": "", "judge": "nojury", "status": "pass"},
        {"t": 4.0, "event": "judged", "tier": "t", "judge": "j", "status": "fail", "label": "l"},
        {"t": 5.0, "event": "tool", "name": "read", "target": "", "outcome": "ok"},
        {"t": 6.0, "event": "judged", "tier": "t", "judge": "j", "status": "pass", "turns": 3},
    ]
    shown = [line[19:] for line in list_journal(written(tmp_path / "j", events))]
    assert shown[4:8] == ["  m: timeout", "  m: 9+0 tokens cut", "nojury: pass", "t / j: fail l"]
    assert shown[8:10] == ["  tool read: ok", "t / j: pass (3 turns)"]


def test_a_round_says_how_long_its_agent_worked(tmp_path: Path) -> None:
    jury = Jury.of(ConsensusVoting(), lambda _: Judgment.passed("fine"))
    worked, facts = timedelta(seconds=2), {"round": 1, "usd": 0.5, "output_tokens": 7}
    context = JudgmentContext("goal", execution_time=worked, metadata=facts)
    RecordedRounds(jury, SilentProgress(), journal(tmp_path)).vote(context)
    kept = next(line for line in lines(tmp_path) if line["event"] == "round")
    assert (kept["number"], kept["agent_ms"], kept["usd"]) == (1, 2000, 0.5)
    assert (kept["ms"] >= 2000, kept["output_tokens"]) == (True, 7)


@pytest.mark.parametrize("content", [b"", b"[]\n", b'{"event": "end"}\n'])
def test_another_file_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "j").write_bytes(content)
    with pytest.raises(UsageError, match="is no journal"):
        read_journal(tmp_path / "j")


def test_loops_are_found_once() -> None:
    assert find_loops_with_counts(list("xababab")) == [(("a", "b"), 3)]
    assert find_loops_with_counts(list("aaab")) == [(("a",), 3)]
    assert find_loops_with_counts(list("abc")) == []
    assert find_loops_with_counts(list("aabaab")) == [(("a", "a", "b"), 2)]
    assert find_loops_with_counts(list("abcabcx")) == [(("a", "b", "c"), 2)]


def test_transitions_are_counted() -> None:
    assert Transitions.of(["a<", "b", "a<", "c"]).counts["a<", "b"] == 1
