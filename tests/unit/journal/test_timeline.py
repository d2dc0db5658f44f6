from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from prjury.errors import UsageError
from prjury.journal.read import (
    WIDTH,
    JournalFile,
    Transitions,
    find_loops,
    list_journal,
    read_journal,
)

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
    assert "    70%       7.00  build" in text
    assert "$ mvn" in text
    assert "a:b: 10+2 tokens" in text
    assert "round 1 fail" in text
    assert "1 lines could not be read." in text


def test_hostile_values_are_shown_as_text(tmp_path: Path) -> None:
    odd = [
        RUN[0],
        {"t": "x", "event": "model", "model": ["\x1b[2J"], "ms": "y", "usd": {}},
        {"t": 1e3, "event": "\x1b]0;", "ms": -5},
    ]
    text = "\n".join(list_journal(written(tmp_path / "j", odd)))
    assert "\x1b" not in text


def test_tools_without_a_target_and_turns_of_agents_are_said(tmp_path: Path) -> None:
    events = [
        RUN[0],
        {"t": 1.0, "event": "tool", "name": "read", "target": "", "outcome": "ok"},
        {"t": 2.0, "event": "judged", "tier": "t", "judge": "j", "status": "pass", "turns": 3},
    ]
    text = "\n".join(list_journal(written(tmp_path / "j", events)))
    assert "tool read: ok" in text
    assert "t / j: pass (3 turns)" in text


@pytest.mark.parametrize("content", [b"", b"[]\n", b'{"event": "end"}\n'])
def test_another_file_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "j").write_bytes(content)
    with pytest.raises(UsageError, match="is no journal"):
        read_journal(tmp_path / "j")


def test_loops_are_found_once() -> None:
    assert find_loops(list("xababab")) == [(("a", "b"), 3)]
    assert find_loops(list("aaab")) == [(("a",), 3)]
    assert find_loops(list("abc")) == []
    assert find_loops(list("aabaab")) == [(("a", "a", "b"), 2)]
    assert find_loops(list("abcabcx")) == [(("a", "b", "c"), 2)]


def test_transitions_are_counted() -> None:
    assert Transitions.of(["a<", "b", "a<", "c"]).counts["a<", "b"] == 1
    many = Transitions.of([str(number) for number in range(50)])
    assert len(many.states) == 11
    assert all(len(line) <= WIDTH for line in many.lines())
