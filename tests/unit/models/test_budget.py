from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prjury.deadline import Deadline
from prjury.models.wrappers import (
    Budget,
    BudgetedModel,
    RateLimit,
    RateLimitedModel,
    RetryingModel,
    Spent,
)
from prjury.policy.schema import LimitsConfig, RateConfig
from prjury.ports.messages import ModelError, ModelReason, Prompt, Reply, UnsentError
from unit.models.speakers import PROMPT, SOON, Speaker, busy, error, reply

LONG = 30
#: 4,000 bytes with the schema, so about 1,000 tokens.
LARGE = Prompt("", "x" * 3_998, {}, "quality/1")


def budget(usd: float = 1.0, tokens: int = 200_000) -> Budget:
    return Budget(LimitsConfig(usd=usd, input_tokens=tokens))


def test_the_price_that_the_reply_tells_counts() -> None:
    full = budget()
    BudgetedModel(Speaker([reply(usd=0.25)], per_usd=1e6), full).ask(PROMPT, SOON)
    assert full.spent.usd == 0.25


def test_over_the_token_limit_nothing_is_sent() -> None:
    inner = Speaker([reply(tokens_in=1_000)])
    full = budget(tokens=2_500)
    model = BudgetedModel(inner, full)
    for _ in range(2):
        model.ask(LARGE, SOON)
    with pytest.raises(ModelError) as told:
        model.ask(LARGE, SOON)
    assert (told.value.reason, inner.asked) == ("budget", 2)
    assert "2,000 of 2,500 input tokens" in str(told.value)
    assert "about 1,000" in str(told.value)
    assert full.spent.calls == 2


def test_over_the_price_limit_nothing_is_sent() -> None:
    inner = Speaker([reply(tokens_in=1_000, tokens_out=500)], per_usd=10_000)
    model = BudgetedModel(inner, budget(usd=0.5), max_output_tokens=3_000)
    model.ask(LARGE, SOON)
    with pytest.raises(ModelError) as told:
        model.ask(LARGE, SOON)
    assert (told.value.reason, inner.asked) == ("budget", 1)
    assert "0.1500 of 0.5000 US dollars" in str(told.value)
    assert "may cost 0.4000" in str(told.value)


def test_where_no_price_is_known_only_tokens_count() -> None:
    full = budget(usd=0.01, tokens=1_000_000)
    model = BudgetedModel(Speaker([reply(tokens_in=50_000)]), full)
    for _ in range(9):
        model.ask(LARGE, SOON)
    assert (full.spent.input_tokens, full.spent.usd) == (450_000, None)


def test_a_limit_of_nothing_admits_no_unknown_price() -> None:
    inner = Speaker([reply()])
    with pytest.raises(ModelError, match="the price of this is not known"):
        BudgetedModel(inner, budget(usd=0.0, tokens=1_000_000)).ask(LARGE, SOON)
    assert inner.asked == 0


@pytest.mark.parametrize("full", [budget(usd=0.0), budget(tokens=0)], ids=["usd", "tokens"])
def test_of_nothing_nothing_is_spent(full: Budget) -> None:
    inner = Speaker(per_usd=1e6)
    with pytest.raises(ModelError, match="budget"):
        BudgetedModel(inner, full).ask(PROMPT, SOON)
    assert (inner.asked, full.spent) == (0, Spent())


def test_calls_side_by_side_do_not_exceed_the_limit_together() -> None:
    inside = threading.Event()

    def speak(deadline: Deadline) -> Reply:
        inside.wait(LONG)
        return reply(tokens_in=1_000)

    inner, refused = Speaker([speak]), []
    model = BudgetedModel(inner, budget(tokens=3_999))

    def ask() -> None:
        try:
            model.ask(LARGE, SOON)
        except ModelError as told:
            refused.append(told.reason)
            if len(refused) == 5:
                inside.set()

    asking = [threading.Thread(target=ask, daemon=True) for _ in range(8)]
    for thread in asking:
        thread.start()
    for thread in asking:
        thread.join(LONG)
    assert (inner.asked, refused) == (3, ["budget"] * 5)


@pytest.mark.parametrize("said", [busy(), error("unauthorized"), error("unreachable")])
def test_what_no_model_saw_costs_nothing(said: ModelError) -> None:
    full = budget(tokens=1_500)
    model = BudgetedModel(Speaker([said, reply(tokens_in=1_000)]), full)
    with pytest.raises(ModelError):
        model.ask(LARGE, SOON)
    assert full.spent == Spent(calls=1)
    assert model.ask(LARGE, SOON).text == "yes"


def test_without_a_client_nothing_is_sent() -> None:
    full = budget()
    with pytest.raises(ModelError, match="not_installed"):
        BudgetedModel(Speaker([UnsentError("not_installed", "not_installed")]), full).ask(
            LARGE, SOON
        )
    assert full.spent == Spent()


@pytest.mark.parametrize("reason", ["timeout", "provider_error", "reply_too_large"])
def test_a_failure_that_may_be_charged_costs_what_was_set_aside(reason: ModelReason) -> None:
    full = budget()
    with pytest.raises(ModelError, match=reason):
        BudgetedModel(Speaker([error(reason)], per_usd=1e6), full, 500).ask(LARGE, SOON)
    assert full.spent == Spent(1, 1_000, 500, 1_500 / 1e6)


def test_a_failure_that_tells_what_it_cost_costs_that() -> None:
    full = budget()
    said = error("truncated", reply(tokens_in=700, tokens_out=30, usd=0.1))
    with pytest.raises(ModelError, match="truncated"):
        BudgetedModel(Speaker([said]), full).ask(LARGE, SOON)
    assert full.spent == Spent(1, 700, 30, 0.1)


def test_a_server_that_tells_nothing_did_not_work_for_nothing() -> None:
    full = budget()
    BudgetedModel(Speaker([Reply("x" * 400, "m")], per_usd=1e6), full).ask(LARGE, SOON)
    assert full.spent == Spent(1, 1_000, 100, 1_100 / 1e6)


def test_a_crash_frees_what_was_set_aside() -> None:
    def crash(deadline: Deadline) -> Reply:
        raise KeyError("broken")

    full = budget(tokens=2_500)
    model = BudgetedModel(Speaker([crash, reply(tokens_in=1_000)]), full)
    with pytest.raises(KeyError):
        model.ask(LARGE, SOON)
    assert full.spent.input_tokens == 1_000  # it may have been charged
    assert model.ask(LARGE, SOON).text == "yes"


def test_without_time_nothing_is_set_aside() -> None:
    full, inner = budget(), Speaker()
    with pytest.raises(ModelError) as told:
        BudgetedModel(inner, full).ask(LARGE, Deadline.after(0))
    assert (told.value.reason, inner.asked, full.spent) == ("timeout", 0, Spent())


@given(st.lists(st.integers(1, 3_000), max_size=30), st.integers(0, 20_000))
def test_as_long_as_estimates_hold_the_limit_does(used: list[int], limit: int) -> None:
    full = Budget(LimitsConfig(input_tokens=limit))
    model = BudgetedModel(Speaker([reply(tokens_in=min(one, 1_000)) for one in [*used, 1]]), full)
    for _ in used:
        with suppress(ModelError):
            model.ask(LARGE, SOON)
    assert full.spent.input_tokens <= limit


def patient(inner: Speaker, naps: list[float]) -> RetryingModel:
    return RetryingModel(inner, naps.append, lambda: 1.0)


def test_a_busy_server_is_asked_again_when_it_says() -> None:
    naps: list[float] = []
    inner = Speaker([busy(3.0), busy(), reply("at last")])
    assert patient(inner, naps).ask(PROMPT, SOON).text == "at last"
    assert naps == [3.0, 2.0]


def test_after_three_tries_it_is_given_up() -> None:
    naps: list[float] = []
    inner = Speaker([busy()])
    with pytest.raises(ModelError, match="busy"):
        patient(inner, naps).ask(PROMPT, SOON)
    assert (inner.asked, naps) == (3, [1.0, 2.0])


@pytest.mark.parametrize("reason", ["refused", "unauthorized", "timeout", "provider_error"])
def test_what_does_not_pass_is_not_asked_again(reason: str) -> None:
    inner = Speaker([error(reason)])  # type: ignore[arg-type]
    with pytest.raises(ModelError, match=reason):
        patient(inner, []).ask(PROMPT, SOON)
    assert inner.asked == 1


def test_nobody_sleeps_beyond_the_deadline() -> None:
    naps: list[float] = []
    with pytest.raises(ModelError, match="busy"):
        patient(Speaker([busy(60.0)]), naps).ask(PROMPT, Deadline.after(30))
    assert naps == []


@pytest.mark.parametrize(("after", "nap"), [(7.0, 7.0), (0.0, 0.0), (-5.0, 0.0), (None, 1.0)])
def test_the_word_of_the_server_counts(after: float | None, nap: float) -> None:
    naps: list[float] = []
    patient(Speaker([busy(after), reply()]), naps).ask(PROMPT, SOON)
    assert naps == [nap]


@pytest.mark.parametrize(("after", "left"), [(86_400.0, 60), (None, 0.5), (0.0, 0.0)])
def test_nobody_waits_beyond_the_deadline(after: float | None, left: float) -> None:
    naps: list[float] = []
    with pytest.raises(ModelError, match="busy"):
        patient(Speaker([busy(after)]), naps).ask(PROMPT, Deadline.after(left))
    assert naps == []


@dataclass
class Time:
    """A clock that goes on only while somebody sleeps."""

    now: float = 1_000.0
    naps: list[float] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def clock(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        with self.lock:
            self.naps.append(seconds)
            self.now += seconds


def threads(count: int, work: Callable[[], object]) -> list[threading.Thread]:
    begun = [threading.Thread(target=work, daemon=True) for _ in range(count)]
    for thread in begun:
        thread.start()
    return begun


def test_who_waits_too_long_gives_up_and_blocks_nobody() -> None:
    pace = RateLimit(RateConfig(max_parallel=1))
    inner = Speaker()
    model = RateLimitedModel(inner, pace)
    with pace.wait_for_turn(SOON), pytest.raises(ModelError, match="wait for a turn") as told:
        model.ask(PROMPT, Deadline.after(0.01))
    assert (told.value.reason, inner.asked) == ("timeout", 0)
    assert model.ask(PROMPT, SOON).text == "yes"


def test_a_turn_ends_with_a_failure_too() -> None:
    model = RateLimitedModel(
        Speaker([error("refused"), reply()]), RateLimit(RateConfig(max_parallel=1))
    )
    with pytest.raises(ModelError, match="refused"):
        model.ask(PROMPT, SOON)
    assert model.ask(PROMPT, SOON).text == "yes"


def test_nobody_sleeps_for_a_minute_that_begins_after_the_deadline() -> None:
    time = Time()
    pace = RateLimit(RateConfig(requests_per_minute=1), time.clock, time.sleep)
    with pace.wait_for_turn(SOON):
        pass
    late = pace.wait_for_turn(Deadline.after(30))
    with pytest.raises(ModelError, match=r"requests_per_minute is 1"), late:
        pass
    assert time.naps == []
    with pace.wait_for_turn(SOON):
        assert time.now == 1_060


def test_a_minute_is_shared_by_all_threads() -> None:
    time = Time()
    pace = RateLimit(RateConfig(requests_per_minute=3), time.clock, time.sleep)
    model = RateLimitedModel(Speaker(), pace)
    for thread in threads(7, lambda: model.ask(PROMPT, SOON)):
        thread.join(LONG)
    assert len(pace._begun) == 3
    assert time.now >= 1_120
