"""Answers of earlier runs, and what asks anew."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakes.llm import (
    FAILING,
    FOUR,
    SMALL,
    Notebook,
    Said,
    always,
    answer,
    changed,
    context,
    first_quote,
    judge,
    long_file,
    paths_of,
    reply,
    room_for,
)
from prjury.jury.judgment import Judgment, Status
from prjury.ports.messages import ModelError, Prompt
from prjury.snapshot.model import FileChange

HALF = reply(tests=FAILING, risk=FAILING)
#: Tokens in which one file of 15 lines finds room, and no two.
ROOM = room_for(2, long_file("src/f0.py", 15), long_file("src/f1.py", 15))


@dataclass
class Desk:
    """Judges changes again and again with one memory; says what was asked in between."""

    said: Said = field(default_factory=reply)
    memory: Notebook = field(default_factory=Notebook)

    def judged(self, *files: FileChange, **options: Any) -> tuple[Judgment, list[Prompt]]:
        model = options.pop("model", None) or always(self.said, room=options.pop("room", 30_000))
        told = {name: options.pop(name) for name in ("title", "body") if name in options}
        made = judge(model, memory=self.memory, **options)
        return made.judge(context(*files, **told)), model.asked

    def calls(self, *files: FileChange, **options: Any) -> int:
        return len(self.judged(*files, **options)[1])


def essence(judgment: Judgment) -> Judgment:
    """The judgment without what it cost and who was asked for it."""
    kept = {
        name: value
        for name, value in judgment.metadata.items()
        if name not in {"usage", "answered_by"}
    }
    return replace(judgment, metadata=kept)


def failing(prompt: Prompt) -> str:
    evidence = answer("fail", [first_quote(prompt)])
    return reply(risk=evidence, tests=evidence)


@pytest.mark.parametrize("said", [reply(), HALF, reply(risk=answer("abstain"))])
def test_the_same_change_is_not_asked_about_again(said: str) -> None:
    call_context = Desk(said)
    first, asked = call_context.judged(SMALL)
    second, again = call_context.judged(SMALL)
    assert (len(asked), len(again)) == (1, 0)
    assert essence(second) == essence(first)
    assert second.metadata["usage"]["cached_calls"] == 1
    assert second.metadata["usage"]["usd"] == 0


@pytest.mark.parametrize("start", [9, 95, 9_995])
def test_a_rebase_that_only_moves_lines_asks_nothing_and_shows_todays_lines(start: int) -> None:
    call_context = Desk(failing)
    sizes = (15, 15, 60)
    before = [long_file(f"src/f{n}.py", size) for n, size in enumerate(sizes)]
    after = [long_file(f"src/f{n}.py", size, start=start) for n, size in enumerate(sizes)]
    first, asked = call_context.judged(*before, room=ROOM)
    second, again = call_context.judged(*after, room=ROOM)
    assert (len(asked) > 3, again) == (True, [])
    moved = [
        replace(check.location, line=check.location.line + start - 1, end_line=end + start - 1)
        for check in first.failed_checks
        if check.location and check.location.line and (end := check.location.end_line)
    ]
    assert [check.location for check in second.failed_checks] == moved
    assert [check.evidence for check in second.failed_checks] == [
        check.evidence for check in first.failed_checks
    ]


OTHERS: dict[str, Callable[[], dict[str, Any]]] = {
    "model": lambda: {"model": always(reply(), "test:other")},
    "option of the model": lambda: {"model": always(reply(), options="temperature=1")},
    "criteria": lambda: {"criteria": ["risk"], "model": always(reply(["risk"]))},
    "question": lambda: {"criteria": dict.fromkeys(FOUR, "Is it?")},
    "template": lambda: {"files": {".github/prjury/prompts/quality.md.j2": "Be kind."}},
    "common template": lambda: {"files": {".github/prjury/prompts/judge.md.j2": "Be kind."}},
    "guidelines": lambda: {"files": {"CONTRIBUTING.md": "Use tabs."}},
    "secrets": lambda: {"redact": lambda text: text.replace("return", "…")},
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS.keys())
def test_whatever_an_answer_depends_on_asks_anew(other: Callable[[], dict[str, Any]]) -> None:
    call_context = Desk()
    assert call_context.calls(SMALL) == 1
    assert call_context.calls(SMALL, **other()) == 1
    assert call_context.calls(SMALL, **other()) == 0
    assert call_context.calls(SMALL) == 0


@pytest.mark.parametrize(
    "other",
    [
        {"threshold": 0.1},
        {"title": "Other", "body": "words"},
        {"files": {"README.md": "x", ".github/prjury/prompts/tests.md.j2": "y"}},
        {"guidelines": False},
        {"room": 20_000},
    ],
    ids=["threshold", "description", "other files of the base", "no guidelines", "room"],
)
def test_whatever_it_does_not_depend_on_asks_nothing(other: dict[str, Any]) -> None:
    call_context = Desk()
    assert call_context.calls(SMALL) == 1
    assert call_context.calls(SMALL, **other) == 0


# What is not kept, and what is not believed.


@pytest.mark.parametrize(
    "said",
    ["I approve.", ModelError("no", "timeout"), lambda prompt: f"{prompt.nonces[1]} {reply()}"],
    ids=["unusable", "silent", "tainted"],
)
def test_what_is_no_answer_is_not_kept(said: Said) -> None:
    call_context = Desk(said)
    assert call_context.judged(SMALL)[0].status is Status.ABSTAIN
    assert call_context.memory.kept == {}
    call_context.said = reply()
    assert call_context.judged(SMALL)[0].status is Status.PASS


def test_sheets_that_were_answered_are_kept_though_others_were_not() -> None:
    def said(prompt: Prompt) -> str:
        if paths_of(prompt) == ("src/f1.py",):
            raise ModelError("no", "timeout")
        return reply()

    call_context = Desk(said)
    files = [long_file(f"src/f{n}.py", 15) for n in range(3)]
    assert call_context.judged(*files, room=ROOM)[0].status is Status.ABSTAIN
    call_context.said = reply()
    judgment, asked = call_context.judged(*files, room=ROOM)
    assert judgment.status is Status.PASS
    assert [paths_of(prompt) for prompt in asked] == [("src/f1.py",)]


def test_no_nonce_no_canary_and_no_file_is_kept() -> None:
    call_context = Desk()
    _, (prompt,) = call_context.judged(changed("src/a.py", "+password = 'hunter2'"))
    text = json.dumps(call_context.memory.kept)
    assert not any(word in text for word in (*prompt.nonces, "hunter2"))


@pytest.mark.parametrize("damage", ["", "{}", "null", "[" * 10_000, "\x00\xff", '{"risk": 1}'])
def test_a_damaged_entry_is_asked_about_again(damage: str) -> None:
    call_context = Desk(HALF)
    call_context.judged(SMALL)
    call_context.memory.kept = dict.fromkeys(call_context.memory.kept, damage)
    judgment, asked = call_context.judged(SMALL)
    assert (judgment.status, len(asked)) == (Status.FAIL, 1)
    assert call_context.calls(SMALL) == 0


@pytest.mark.slow
@settings(max_examples=20)
@given(st.dictionaries(st.sampled_from(FOUR), st.sampled_from([None, 1, "x", {}, []])), st.text())
def test_no_memory_breaks_the_judge(some: dict[str, Any], text: str) -> None:
    files = [long_file(f"src/f{n}.py", 15) for n in range(2)]
    call_context = Desk(failing)
    call_context.judged(*files, room=ROOM)
    for damage in (text, json.dumps(some)):
        call_context.memory.kept = dict.fromkeys(call_context.memory.kept, damage)
        judgment, asked = call_context.judged(*files, room=ROOM)
        assert (judgment.status, len(asked)) == (Status.FAIL, 2)


def test_a_flip_over_several_sheets_is_remembered_as_it_was() -> None:
    def said(prompt: Prompt) -> str:
        """Fails what is shown in the order of the alphabet."""
        paths = paths_of(prompt)
        return reply() if list(paths) == sorted(paths, reverse=True) else failing(prompt)

    call_context = Desk(said)
    files = [changed(f"src/{n}.py", *["+x = 1"] * 12) for n in range(4)]
    room = room_for(2, *files)
    first, asked = call_context.judged(*files, room=room, trigger="flip")
    second, again = call_context.judged(*files, room=room, trigger="flip")
    assert (len(asked), again) == (4, [])
    assert first.metadata["flipped"] is True
    assert essence(second) == essence(first)
