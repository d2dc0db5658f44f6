"""What agents' programs print: text, a JSON object, or JSON lines of events. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from prjury.agents.tool_calls import ToolCall, tool_calls
from prjury.jury.library.execution import output_of

_TOKENS = {
    "input_tokens": ("input_tokens", "prompt_tokens", "inputTokens"),
    "output_tokens": ("output_tokens", "completion_tokens", "outputTokens"),
}
_COSTS = ("total_cost_usd", "cost_usd", "usd")


@dataclass(frozen=True)
class AgentAnswer:
    """What an agent said at the end, and what it says that it took.

    Attributes:
        text: its last message; all that was printed, where that is no JSON.
        error: what went wrong by its own account.
        input_tokens: 0 where it does not say.
        usd: None where it does not say.
        turns: events of JSON lines that end a turn, or its own count; 0 where it does not say.
        calls: the tools that it used, the first ones.
    """

    text: str
    error: str | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    usd: float | None = None
    turns: int = 0
    calls: tuple[ToolCall, ...] = ()

    @property
    def metadata(self) -> dict[str, Any]:
        """What is known of usage and cost, as JSON."""
        facts = {
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "usd": self.usd,
            "turns": self.turns,
            "tool_calls": [call.as_json for call in self.calls],
        }
        return {name: value for name, value in facts.items() if value}


def read_answer(printed: str) -> AgentAnswer:
    """What the program printed, understood.

    Known are the forms of ``claude -p`` (``--output-format json`` and ``stream-json``) and of
    ``codex exec --json``; another JSON object counts by its ``output``, ``content``, ``text``,
    ``result`` or last message. Lines that are no JSON, such as warnings, do not count beside lines
    that are; without any, everything is text.
    """
    events = list(_events(printed))
    if not events:
        return AgentAnswer(printed.strip())
    text, error = "", None
    usd, turns = None, 0
    tokens = dict.fromkeys(_TOKENS, 0)
    for event in events:
        text = _message(event) or text
        error = _error(event) or error
        usd = _cost(event) if _cost(event) is not None else usd
        turns += event.get("type") == "turn.completed"
        turns = _count(event.get("num_turns")) or turns
        if _ends(event):
            tokens = {name: tokens[name] + _tokens(event, name) for name in tokens}
    if not text and error is None:
        text = printed.strip()  # JSON of another kind: the classifier may know it
    counts = tokens["input_tokens"], tokens["output_tokens"]
    return AgentAnswer(text, error, *counts, usd, turns, tool_calls(events))


def _events(printed: str) -> Iterator[Mapping[str, Any]]:
    whole = _parsed(printed)
    if isinstance(whole, dict):
        yield whole
    elif isinstance(whole, list):
        yield from (event for event in whole if isinstance(event, dict))
    else:
        lines = (_parsed(line) for line in printed.splitlines() if line.lstrip().startswith("{"))
        yield from (event for event in lines if isinstance(event, dict))


def _parsed(text: str) -> Any:  # noqa: ANN401 - JSON of a stranger
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _message(event: Mapping[str, Any]) -> str | None:
    item = event.get("item")
    if isinstance(item, dict):
        return output_of(item) if item.get("type") == "agent_message" else None
    kind = event.get("type")
    if kind == "assistant":
        return output_of(event.get("message"))
    if kind not in {None, "result"}:
        return None
    response = event.get("response")
    return response if isinstance(response, str) else output_of(event)


def _error(event: Mapping[str, Any]) -> str | None:
    if event.get("is_error") is True:
        return output_of(event) or str(event.get("subtype") or "it failed")
    if event.get("type") not in {None, "error", "turn.failed"}:
        return None
    error = event.get("error") or (event.get("message") if event.get("type") == "error" else None)
    if isinstance(error, dict):
        error = error.get("message")
    return error if isinstance(error, str) and error else None


def _ends(event: Mapping[str, Any]) -> bool:
    return event.get("type") in {None, "result", "turn.completed"}


def _cost(event: Mapping[str, Any]) -> float | None:
    values = (event.get(name) for name in _COSTS)
    costs = (c for c in values if isinstance(c, int | float) and not isinstance(c, bool))
    return next((float(cost) for cost in costs if 0 <= cost < 1e6), None)  # noqa: PLR2004 - finite


def _tokens(event: Mapping[str, Any], name: str) -> int:
    usage = event.get("usage")
    counts = (usage.get(key) for key in _TOKENS[name]) if isinstance(usage, dict) else ()
    return next(filter(None, map(_count, counts)), 0)


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
