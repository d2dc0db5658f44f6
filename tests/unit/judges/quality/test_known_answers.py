from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
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
    Talker,
    always,
    answer,
    changed,
    context,
    first_quote,
    judge,
    long_file,
    paths_of,
    quote,
    reply,
    room_for,
    words,
)
from prjury.deadline import Deadline
from prjury.errors import CannotJudgeError
from prjury.judges.quality.evidence import Answers, Lines, read_answers, verify_answers
from prjury.judges.quality.interview import UsageLog, key_of, load_answers, store_answers
from prjury.judges.quality.prompt_input import Chunk, Material, make_sections, plan_chunks
from prjury.judges.quality.question import Form, Prompts, Question
from prjury.jury.judgment import Judgment, Status
from prjury.ports.messages import ModelError, ModelReason, Prompt, Reply, UnsentError
from prjury.snapshot.model import FileChange

CRITERIA = dict.fromkeys(FOUR, "Is it?")
TEXTS = (" def add(a, b):", "-    return a - b", "+    return a + b", "+", "+x = 1")


def chunk(start: int = 1, *texts: str) -> Chunk:
    sections, _ = make_sections([changed("src/app.py", *(texts or TEXTS), start=start)], str)
    return Chunk(sections)


def answers(on: Chunk, start: int = 1) -> Answers:
    span = {**quote(line=start + 1, text="return a + b\n\nx = 1"), "end_line": start + 3}
    old = {**quote(line=start + 1, text="return a - b"), "side": "old"}
    context = {**quote(line=start, text="def add(a, b):"), "side": "old"}
    said = reply(
        risk=answer("fail", [span, old], 0.75),
        tests=answer("fail", [context, quote(text="made up")]),
    )
    found = verify_answers(read_answers(said, FOUR), Lines(on.sections))
    assert [len(found[name].claims) for name in ("risk", "tests")] == [2, 1]
    return found


def test_what_is_kept_comes_back() -> None:
    memory, on = Notebook(), chunk()
    store_answers(memory, "key", on, answers(on))
    assert load_answers(memory, "key", on, FOUR) == answers(on)
    assert load_answers(memory, "other", on, FOUR) is None


@given(st.integers(1, 100_000), st.integers(1, 100_000))
def test_quotes_move_with_their_lines(before: int, after: int) -> None:
    memory = Notebook()
    store_answers(memory, "key", chunk(before), answers(chunk(before), before))
    assert load_answers(memory, "key", chunk(after), FOUR) == answers(chunk(after), after)


def kept() -> tuple[Notebook, Chunk, dict[str, Any]]:
    memory, on = Notebook(), chunk()
    store_answers(memory, "key", on, answers(on))
    return memory, on, json.loads(memory.kept["key"])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "null",
        "[]",
        '"x"',
        "7",
        "{}",
        "[" * 100_000,
        json.dumps(dict.fromkeys(FOUR)),
        json.dumps({name: {} for name in FOUR}),
    ],
)
def test_what_is_damaged_is_not_known(text: str) -> None:
    memory, on, _ = kept()
    memory.kept["key"] = text
    assert load_answers(memory, "key", on, FOUR) is None


DAMAGE: list[dict[str, Any]] = [
    {"word": "approve"},
    {"word": []},
    {"reasoning": None},
    {"confidence": 1.5},
    {"confidence": -1},
    {"confidence": float("nan")},
    {"confidence": float("inf")},
    {"confidence": 10**400},
    {"confidence": "high"},
    {"confidence": None},
    {"no_quote": float("inf")},
    {"no_quote": -1},
    {"no_quote": None},
    {"claims": None},
    {"claims": "abcd"},
    {"claims": [None]},
    {"claims": [{}]},
    {"claims": [{"finding": {"line": 1, "end_line": 99}}]},
    {"claims": [{"finding": {"line": 0}}]},
    {"claims": [{"finding": {"line": "1"}}]},
    {"claims": [{"finding": {"line": 2, "end_line": 2}}]},
    {"claims": [{"finding": {"line": 5}}]},
    {"claims": [{"second": "yes"}]},
    {"claims": [{"finding": {"side": "left"}}]},
    {"claims": [{"finding": {"quote": 7}}]},
    {"claims": [{"finding": {"quote": "os.system(user)"}}]},
    {"claims": [{"finding": {"severity": "fatal"}}]},
    {"claims": [{"finding": {"claim": None}}]},
]


def damaged(value: Any, damage: Any) -> Any:
    """The value with the parts of the damage in the place of its own."""
    if isinstance(value, dict) and isinstance(damage, dict) and damage:
        return {**value, **{key: damaged(value.get(key), part) for key, part in damage.items()}}
    if isinstance(value, list) and isinstance(damage, list) and value and damage and damage[0]:
        return [damaged(value[0], damage[0])]
    return [{}] if damage == [{}] else damage


@pytest.mark.parametrize("damage", DAMAGE, ids=map(repr, DAMAGE))
def test_a_part_that_is_damaged_spoils_the_whole(damage: dict[str, Any]) -> None:
    memory, on, value = kept()
    value["risk"] = damaged(value["risk"], damage)
    memory.kept["key"] = json.dumps(value)
    assert load_answers(memory, "key", on, FOUR) is None


json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)


@given(st.sampled_from(["word", "confidence", "reasoning", "claims", "no_quote"]), json_values)
def test_no_damage_breaks_anything(part: str, value: Any) -> None:
    memory, on, all_of_it = kept()
    all_of_it["risk"][part] = value
    memory.kept["key"] = json.dumps(all_of_it)
    found = load_answers(memory, "key", on, FOUR)
    if found is not None:
        assert 0 <= found["risk"].confidence <= 1
        assert all(Lines(on.sections).matches_quote(each.finding) for each in found["risk"].claims)


# The key.


def question(on: Chunk, **more: Any) -> Question:
    instructions = Prompts().render("quality", {"criteria": CRITERIA, "guidelines": "", **more})
    made = plan_chunks(Material(on.sections), 100_000)
    return Form("quality", instructions, CRITERIA).fill(made.chunks[0], made, words())


def test_everything_that_an_answer_depends_on_is_in_the_key() -> None:
    one, other = chunk(), chunk(1, *TEXTS, "+more")
    keys = [
        key_of("m", question(one), 0),
        key_of("n", question(one), 0),
        key_of("m", question(one), 1),
        key_of("m", question(one, guidelines="Be brief."), 0),
        key_of("m", question(other), 0),
    ]
    assert len(set(keys)) == len(keys)


# Which pieces were asked about together.


PROMPT = Prompt("s", "u", {}, "quality/1")
SOON = Deadline.after(3_600)  # counted from the import: the whole suite may run before


def entered(*said: str | CannotJudgeError) -> UsageLog:
    usage_log, model = UsageLog(), Talker(said)
    for item in said:
        if isinstance(item, CannotJudgeError):
            with pytest.raises(CannotJudgeError):
                usage_log.ask_and_record(model, PROMPT, SOON)
        else:
            usage_log.ask_and_record(model, PROMPT, SOON)
    return usage_log


def test_a_failed_call_counts_with_what_it_spent() -> None:
    error = ModelError("cut", "truncated", spent=Reply("x", "m", 7, 3, 0.5))
    usage = entered("a", error).usage
    assert (usage["llm_calls"], usage["input_tokens"], usage["usd"]) == (2, 1007, 0.51)


@pytest.mark.parametrize(
    ("reason", "usd"),
    [("unauthorized", 0.01), ("rate_limited", 0.01), ("timeout", None), ("provider_error", None)],
)
def test_what_a_failure_cost_is_known_only_where_nothing_was_done(
    reason: ModelReason, usd: float | None
) -> None:
    assert entered("a", ModelError("no", reason)).usage["usd"] == usd


@pytest.mark.parametrize("reason", ["budget", "not_installed", "timeout", "unauthorized"])
def test_what_never_left_the_machine_is_no_call(reason: ModelReason) -> None:
    usage = entered("a", UnsentError("no", reason)).usage
    assert (usage["llm_calls"], usage["usd"]) == (1, 0.01)


def test_an_answer_from_memory_is_counted_apart() -> None:
    usage_log = entered("a")
    usage_log.recalled.append("key")
    assert (usage_log.usage["llm_calls"], usage_log.usage["cached_calls"]) == (1, 1)


def test_many_threads_may_enter() -> None:
    usage_log, model = UsageLog(), always("a")
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: usage_log.ask_and_record(model, PROMPT, SOON), range(200)))
    assert (usage_log.usage["llm_calls"], len(model.asked)) == (200, 200)


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
