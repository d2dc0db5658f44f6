from __future__ import annotations

import json

import pytest

from prjury.agents.command import AgentAnswer, read_answer

CLAUDE = {
    "type": "result",
    "subtype": "success",
    "is_error": False,
    "num_turns": 3,
    "result": "Answer: YES",
    "total_cost_usd": 0.0123,
    "usage": {"input_tokens": 1200, "output_tokens": 34, "cache_read_input_tokens": 9},
}
PRICED = AgentAnswer("Answer: YES", None, 1200, 34, 0.0123, 3)
MESSAGE = {"content": [{"type": "text", "text": "hm"}], "usage": {"input_tokens": 99}}
CODEX = [
    {"type": "thread.started", "thread_id": "x"},
    {"type": "item.completed", "item": {"type": "reasoning", "text": "hm"}},
    {"type": "item.completed", "item": {"type": "agent_message", "text": "Answer: NO"}},
    {"type": "turn.completed", "usage": {"input_tokens": 10, "output_tokens": 5}},
    {"type": "turn.completed", "usage": {"input_tokens": 1, "output_tokens": 2}},
]


def lines(*events: object) -> str:
    return "\n".join(map(json.dumps, events))


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        ("  Answer: YES\n", AgentAnswer("Answer: YES")),
        (json.dumps(CLAUDE), PRICED),
        (json.dumps(CLAUDE, indent=2), PRICED),
        (json.dumps([{"type": "system"}, CLAUDE]), PRICED),
        ("warning: old\n" + lines(*CODEX), AgentAnswer("Answer: NO", None, 11, 7, None, 2)),
        (
            lines(
                {"type": "assistant", "message": MESSAGE},
                CLAUDE,
            ),
            PRICED,
        ),
        ('{"response": "fine", "stats": {}}', AgentAnswer("fine")),
        ('{"output": "fine", "usage": {"prompt_tokens": 4}}', AgentAnswer("fine", None, 4)),
        ('{"verdict": true}', AgentAnswer('{"verdict": true}')),
        ('{"usd": NaN, "text": "x"}', AgentAnswer("x")),
    ],
)  # fmt: skip
def test_what_is_printed_is_understood(printed: str, expected: AgentAnswer) -> None:
    assert read_answer(printed) == expected


def test_errors_by_its_own_account() -> None:
    failed = {**CLAUDE, "is_error": True, "result": "Credit balance is too low"}
    assert read_answer(json.dumps(failed)).error == "Credit balance is too low"
    turn = {"type": "turn.failed", "error": {"message": "quota"}}
    assert read_answer(lines(turn)).error == "quota"
    assert read_answer('{"type": "error", "message": "no model"}').error == "no model"
