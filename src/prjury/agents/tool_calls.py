"""The tools that an agent's program says it used, read from its JSON events. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

#: Calls that are kept, the first ones, and characters of a name or a target.
MOST_CALLS, LONGEST_TEXT = 100, 160

Outcome: TypeAlias = Literal["ok", "failed", ""]

#: What a call of `claude` is about, in the order in which it is looked for.
_TARGETS = ("file_path", "notebook_path", "path", "command", "pattern", "query", "url")
#: The same of an item of `codex exec`, by its type.
_ITEMS = {
    "command_execution": ("command",),
    "mcp_tool_call": ("server",),
    "web_search": ("query",),
    "file_change": (),
}


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One use of a tool.

    Attributes:
        target: the file, command or address that it was about; empty if unknown.
        outcome: empty if unknown.
    """

    name: str
    target: str = ""
    outcome: Outcome = ""

    @property
    def as_json(self) -> dict[str, str]:
        """What is known of it, short."""
        fields = {"name": _short(self.name), "target": _short(self.target), "outcome": self.outcome}
        return {key: text for key, text in fields.items() if text}


def tool_calls(events: Iterable[Mapping[str, Any]]) -> tuple[ToolCall, ...]:
    """The calls of `claude` (``stream-json``) and of `codex exec --json`, in their order."""
    calls: dict[object, ToolCall] = {}
    for event in events:
        item = event.get("item")
        if isinstance(item, dict) and event.get("type") == "item.completed":
            for call in _item(item):
                calls[len(calls)] = call
        for block in _blocks(event):
            if block.get("type") == "tool_use":
                calls[_text(block, "id")] = ToolCall(_text(block, "name"), _target(block))
            elif (used := calls.get(number := _text(block, "tool_use_id"))) is not None:
                outcome: Outcome = "failed" if block.get("is_error") is True else "ok"
                calls[number] = replace(used, outcome=outcome)
    return tuple(call for call in calls.values() if call.name)[:MOST_CALLS]


def _blocks(event: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    message = event.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    yield from (each for each in content or () if isinstance(each, dict))


def _item(item: Mapping[str, Any]) -> Iterator[ToolCall]:
    kind = item.get("type")
    if not isinstance(kind, str) or kind not in _ITEMS:
        return
    status, code = item.get("status"), item.get("exit_code")
    failed = status in ("failed", "declined") or bool(code)
    outcome: Outcome = "failed" if failed else "ok" if status == "completed" else ""
    if kind == "file_change":
        changes = item.get("changes")
        for each in changes if isinstance(changes, list) else ():
            if isinstance(each, dict):
                yield ToolCall(kind, _text(each, "path"), outcome)
        return
    target = " ".join(_text(item, key) for key in (*_ITEMS[kind], "tool"))
    yield ToolCall(kind, target.strip(), outcome)


def _target(block: Mapping[str, Any]) -> str:
    arguments = block.get("input")
    targets = (_text(arguments, key) for key in _TARGETS) if isinstance(arguments, dict) else ()
    return next(filter(None, targets), "")


def _text(of: Mapping[str, Any], key: str) -> str:
    value = of.get(key)
    return value if isinstance(value, str) else ""


def _short(text: str) -> str:
    """Its first line: what follows in a command is a script."""
    line = text.strip().partition("\n")[0]
    return line if len(line) <= LONGEST_TEXT else f"{line[:LONGEST_TEXT]}…"
