from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.llm import FOUR, Notebook, Talker, always, answer, changed, quote, reply, words
from prjury.deadline import Deadline
from prjury.errors import CannotJudgeError
from prjury.judges.quality.evidence import Answers, Lines, read_answers, verify
from prjury.judges.quality.interview import UsageLog, keep, key_of, recall
from prjury.judges.quality.prompt_input import Chunk, Material, pieces_of, plan_chunks
from prjury.judges.quality.question import Form, Prompts, Question
from prjury.ports.messages import ModelError, ModelReason, Prompt, Reply, UnsentError

CRITERIA = dict.fromkeys(FOUR, "Is it?")
TEXTS = (" def add(a, b):", "-    return a - b", "+    return a + b", "+", "+x = 1")


def chunk(start: int = 1, *texts: str) -> Chunk:
    sections, _ = pieces_of([changed("src/app.py", *(texts or TEXTS), start=start)], str)
    return Chunk(sections)


def answers(on: Chunk, start: int = 1) -> Answers:
    span = {**quote(line=start + 1, text="return a + b\n\nx = 1"), "end_line": start + 3}
    old = {**quote(line=start + 1, text="return a - b"), "side": "old"}
    context = {**quote(line=start, text="def add(a, b):"), "side": "old"}
    said = reply(
        risk=answer("fail", [span, old], 0.75),
        tests=answer("fail", [context, quote(text="made up")]),
    )
    found = verify(read_answers(said, FOUR), Lines(on.sections))
    assert [len(found[name].claims) for name in ("risk", "tests")] == [2, 1]
    return found


def test_what_is_kept_comes_back() -> None:
    memory, on = Notebook(), chunk()
    keep(memory, "key", on, answers(on))
    assert recall(memory, "key", on, FOUR) == answers(on)
    assert recall(memory, "other", on, FOUR) is None


@given(st.integers(1, 100_000), st.integers(1, 100_000))
def test_quotes_move_with_their_lines(before: int, after: int) -> None:
    memory = Notebook()
    keep(memory, "key", chunk(before), answers(chunk(before), before))
    assert recall(memory, "key", chunk(after), FOUR) == answers(chunk(after), after)


def kept() -> tuple[Notebook, Chunk, dict[str, Any]]:
    memory, on = Notebook(), chunk()
    keep(memory, "key", on, answers(on))
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
    assert recall(memory, "key", on, FOUR) is None


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
    assert recall(memory, "key", on, FOUR) is None


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
    found = recall(memory, "key", on, FOUR)
    if found is not None:
        assert 0 <= found["risk"].confidence <= 1
        assert all(Lines(on.sections).hold(each.finding) for each in found["risk"].claims)


# The key.


def question(on: Chunk, **more: Any) -> Question:
    instructions = Prompts().render("quality", {"criteria": CRITERIA, "guidelines": "", **more})
    made = plan_chunks(Material(on.sections), 100_000)
    return Form("quality", instructions, CRITERIA).ask(made.chunks[0], made, words())


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
                usage_log.ask(model, PROMPT, SOON)
        else:
            usage_log.ask(model, PROMPT, SOON)
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
        list(pool.map(lambda _: usage_log.ask(model, PROMPT, SOON), range(200)))
    assert (usage_log.usage["llm_calls"], len(model.asked)) == (200, 200)
