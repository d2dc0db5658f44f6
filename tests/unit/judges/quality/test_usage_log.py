from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from fakes.llm import Talker, always
from prjury.deadline import Deadline
from prjury.errors import CannotJudgeError
from prjury.judges.quality.interview import UsageLog
from prjury.ports.messages import ModelError, ModelReason, Prompt, Reply, UnsentError

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
