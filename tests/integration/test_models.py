"""The real client against a server on loopback that misbehaves by script."""

from __future__ import annotations

import gzip
import json
import sys
import threading
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import pytest
from msgspec.structs import replace

from fakes.chat_server import (
    SERVER_SECRET,
    Asked,
    Behaviour,
    Completion,
    Handler,
    claude_says,
    drips,
    fails,
    floods,
    gemini_says,
    hangs,
    hangs_up,
    only_json_mode,
    raw,
    redirects,
    says,
    serving,
)
from fakes.llm import SMALL, context, judge
from prjury import JudgmentContext, ModelClient, ModelJudge
from prjury.deadline import Deadline
from prjury.jury.judgment import Judgment, Status
from prjury.models.choose import ModelChoice, Provider
from prjury.models.panel import HostedModel, ModelPanel
from prjury.models.providers import BODY_LIMIT
from prjury.models.wrappers import REPLY_LIMIT, RetryingModel
from prjury.policy.schema import LimitsConfig, ModelConfig, ModelsConfig
from prjury.ports.messages import ModelError, Prompt, Reply

KEY = "sk-the-key-of-the-operator"
SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "integer"}},
    "required": ["a"],
    "additionalProperties": False,
}
PROMPT = Prompt("be fair", '{"n": "<|im_start|>"}', SCHEMA, "quality/1")


@dataclass
class Naps:
    """Stands for sleeping, and takes no time."""

    taken: list[float] = field(default_factory=list)

    def __call__(self, seconds: float) -> None:
        self.taken.append(seconds)


def hosted(url: str, naps: Naps | None = None, key: str | None = KEY) -> RetryingModel:
    model = HostedModel(ModelChoice("openai", "local", key, url))
    return RetryingModel(model, naps or Naps(), lambda: 1.0)


def failure(*script: Behaviour, seconds: float = 20) -> ModelError:
    """What the model raises; nothing of the server's words or of the key is in it."""
    with serving(*script) as server, pytest.raises(ModelError) as error:
        hosted(server.url).ask(PROMPT, Deadline.after(seconds))
    told = f"{error.value} {error.value!r} {error.getrepr(style='native')}"
    assert SERVER_SECRET not in told
    assert KEY not in told
    return error.value


def test_a_good_answer() -> None:
    with serving(says('{"a": 1}')) as server:
        model = hosted(server.url)
        answer = model.ask(PROMPT, Deadline.after(20))
    assert model.name == "openai:local"
    assert (answer.text, answer.model) == ('{"a": 1}', "test-model")
    assert (answer.input_tokens, answer.output_tokens, answer.usd) == (100, 20, None)
    (asked,) = server.requests
    assert asked.path == "/v1/chat/completions"
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert "cookie" not in asked.headers
    assert asked.body["temperature"] == 0
    assert "tools" not in asked.body
    assert asked.body["messages"][0] == {"role": "system", "content": "be fair"}
    assert asked.body["response_format"]["json_schema"]["schema"] == SCHEMA
    assert asked.body["response_format"]["json_schema"]["strict"] is True


CLIENTS = {
    "openai": ("OPENAI_API_KEY", says("Answer: YES")),
    "anthropic": ("ANTHROPIC_API_KEY", claude_says("Answer: YES")),
    "google": ("GEMINI_API_KEY", gemini_says("Answer: YES")),
}


@pytest.mark.parametrize("provider", CLIENTS)
def test_a_client_of_ones_own_asks_for_plain_text(provider: str) -> None:
    variable, behaviour = CLIENTS[provider]
    with serving(behaviour) as server:
        name, environ = f"{provider}:local", {variable: KEY}
        client = ModelClient(name, base_url=server.url, environ=environ, timeout=20)
        said = ModelJudge("{goal}?", model=client).judge(JudgmentContext("Is it so"))
    assert said.status is Status.PASS, said
    assert said.metadata["usage"]["input_tokens"] > 0
    (asked,) = server.requests
    text = json.dumps(asked.body)
    assert "Is it so?" in text
    assert not any(word in text for word in ("schema", "Schema", "JSON", "json"))


def test_a_server_that_takes_no_schema_gets_it_in_words_and_is_remembered() -> None:
    with serving(only_json_mode(says('{"a": 1}'))) as server:
        model = hosted(server.url)
        for _ in range(2):
            assert model.ask(PROMPT, Deadline.after(20)).text == '{"a": 1}'
    assert [asked.mode for asked in server.requests] == [
        "json_schema",
        "json_object",
        "json_object",
    ]
    assert '"additionalProperties"' in json.dumps(server.requests[1].body).replace("\\", "")


def test_a_busy_server_is_asked_again_when_it_says() -> None:
    naps = Naps()
    with serving(fails(429, retry_after="3"), says("{}")) as server:
        assert hosted(server.url, naps).ask(PROMPT, Deadline.after(20)).text == "{}"
    assert naps.taken == [3.0]


@pytest.mark.parametrize("after", ["-1", "soon", "1e400", "", "Thu, 01 Jan 1970 00:00:00 GMT"])
def test_a_useless_retry_after_does_no_harm(after: str) -> None:
    naps = Naps()
    with serving(fails(429, retry_after=after), says("{}")) as server:
        hosted(server.url, naps).ask(PROMPT, Deadline.after(20))
    assert len(naps.taken) == 1
    assert 0 <= naps.taken[0] <= 1


@pytest.mark.parametrize("after", ["86400", "Fri, 31 Dec 2999 00:00:00 GMT"])
def test_nobody_waits_for_a_day(after: str) -> None:
    naps = Naps()
    with serving(fails(429, retry_after=after)) as server, pytest.raises(ModelError) as error:
        hosted(server.url, naps).ask(PROMPT, Deadline.after(20))
    assert (error.value.reason, naps.taken, len(server.requests)) == ("rate_limited", [], 1)


@pytest.mark.parametrize("status", [500, 502, 503, 504, 529])
def test_a_failing_server_is_asked_three_times(status: int) -> None:
    naps = Naps()
    with serving(fails(status)) as server, pytest.raises(ModelError) as error:
        hosted(server.url, naps).ask(PROMPT, Deadline.after(20))
    assert (error.value.reason, len(server.requests)) == ("provider_error", 3)
    assert naps.taken == [1.0, 2.0]


@pytest.mark.parametrize("behaviour", [hangs, drips], ids=["silent", "dripping"])
def test_the_clock_on_the_wall_counts(behaviour: Behaviour) -> None:
    begun = time.monotonic()
    assert failure(behaviour, seconds=1).reason == "timeout"
    assert time.monotonic() - begun < 15  # the server would go on for 30 s


def test_a_flood_is_cut_off() -> None:
    with serving(floods) as server, pytest.raises(ModelError) as error:
        hosted(server.url).ask(PROMPT, Deadline.after(20))
    assert error.value.reason == "reply_too_large"
    # What the sockets hold was written as well; it is far from a hundred megabytes.
    assert BODY_LIMIT < server.flooded < 30 * BODY_LIMIT


@pytest.mark.parametrize(
    ("behaviour", "reason"),
    [
        (fails(401), "unauthorized"),
        (fails(403), "unauthorized"),
        (fails(404, "model_not_found"), "provider_error"),
        (fails(400), "provider_error"),
        (fails(400, "context_length_exceeded"), "provider_error"),
        (fails(400, "content_filter"), "content_filter"),
        (fails(429, "insufficient_quota"), "rate_limited"),
        (says(None, refusal="I will not"), "refused"),
        (says(None, finish="content_filter"), "content_filter"),
        (says(""), "refused"),
        (says(None), "refused"),
        (says('{"a": 1}', finish="length"), "truncated"),
        (says("x" * (REPLY_LIMIT + 1)), "reply_too_large"),
        (raw(200, b"x" * (BODY_LIMIT + 1)), "reply_too_large"),
        (raw(500, b"x" * (BODY_LIMIT + 1)), "reply_too_large"),
        (raw(200, gzip.compress(b" " * 10**7), content_encoding="gzip"), "provider_error"),
        (hangs_up, "unreachable"),
        (raw(200, b"not JSON"), "provider_error"),
        (raw(200, b"plain words", content_type="text/plain"), "provider_error"),
        (raw(200, b"null"), "provider_error"),
        (raw(200, b"[]"), "provider_error"),
        (raw(200, b"{}"), "provider_error"),
        (raw(200, b'{"choices": null}'), "provider_error"),
        (raw(200, b'{"choices": [{}]}'), "provider_error"),
        (raw(200, b'{"choices": [{"message": {"content": 5}}]}'), "provider_error"),
        (raw(200, b"[" * 100_000), "provider_error"),
        (raw(200, b'"\xff\xfe"'), "provider_error"),
        (raw(204, b""), "provider_error"),
    ],
)
def test_every_failure_has_its_word(behaviour: Behaviour, reason: str) -> None:
    assert failure(behaviour).reason == reason


@pytest.mark.filterwarnings("ignore:Failed to extract usage")
def test_negative_usage_is_not_believed() -> None:
    with serving(raw(200, Completion("{}", usage=(-5, -7)).json)) as server:
        answer = hosted(server.url).ask(PROMPT, Deadline.after(20))
    assert (answer.input_tokens, answer.output_tokens) == (0, 0)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(status: int) -> None:
    with serving(says('{"a": 1}')) as other:
        error = failure(redirects(f"{other.url}/chat/completions", status))
    assert (error.reason, other.requests) == ("provider_error", [])
    assert "not followed" in str(error)


def test_a_server_that_is_not_there() -> None:
    with serving(says("{}")) as server:
        url = server.url
    with pytest.raises(ModelError) as error:
        hosted(url).ask(PROMPT, Deadline.after(20))
    assert error.value.reason == "unreachable"


def test_variables_of_the_environment_lead_nowhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(says("{}")) as evil, serving(says('{"a": 1}')) as server:
        for name in ("OPENAI_BASE_URL", "HTTP_PROXY", "http_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, evil.url)
        assert hosted(server.url).ask(PROMPT, Deadline.after(20)).text == '{"a": 1}'
    assert evil.requests == []


def test_cookies_are_not_kept() -> None:
    with serving(raw(200, Completion("{}").json, set_cookie="track=1; Path=/")) as server:
        model = hosted(server.url)
        for _ in range(2):
            model.ask(PROMPT, Deadline.after(20))
    assert all("cookie" not in asked.headers for asked in server.requests)


def test_a_server_without_a_key_is_sent_none_of_ours() -> None:
    with serving(says("{}")) as server:
        hosted(server.url, key=None).ask(PROMPT, Deadline.after(20))
    assert server.requests[0].headers["authorization"] == "Bearer none"


@pytest.mark.parametrize("provider", ["openai", "anthropic", "google"])
def test_a_provider_without_its_library_says_what_to_install(
    provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, f"pydantic_ai.models.{provider}", None)
    with pytest.raises(ModelError, match=rf"pip install 'prjury\[{provider}\]'") as error:
        HostedModel(ModelChoice(provider, "m", "k")).ask(PROMPT, Deadline.after(20))
    assert error.value.reason == "not_installed"


def test_without_any_client_there_is_no_price_and_no_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = HostedModel(ModelChoice("openai", "m", "k"))
    for name in ("wire", "price"):
        monkeypatch.setitem(sys.modules, f"prjury.models.{name}", None)
    assert model.price(1_000, 1_000) is None
    with pytest.raises(ModelError, match=r"pip install 'prjury\[openai\]'") as error:
        model.ask(PROMPT, Deadline.after(20))
    assert error.value.reason == "not_installed"


def test_an_overloaded_server_that_says_all_is_well_is_asked_again() -> None:
    naps = Naps()
    body = b'{"error": {"message": "try again", "code": 503}}'
    with serving(raw(200, body, retry_after="2"), says("{}")) as server:
        assert hosted(server.url, naps).ask(PROMPT, Deadline.after(20)).text == "{}"
    assert naps.taken == [2.0]


# The same question to each provider.

OTHERS: Mapping[Provider, tuple[str, Behaviour]] = {
    "openai": ("gpt-6.1-terra", says('{"a": 1}')),
    "anthropic": ("claude-sonnet-5-5", claude_says('{"a": 1}')),
    "google": ("gemini-3.8-flash", gemini_says('{"a": 1}')),
}
IN_PARTS = replace(PROMPT, run="the words of this run")


def sent(provider: Provider, behaviour: Behaviour, name: str = "local", **options: Any) -> Asked:
    """The request for one question."""
    with serving(behaviour) as server:
        url = server.url if provider == "openai" else server.root
        HostedModel(ModelChoice(provider, name, KEY, url, **options)).ask(
            IN_PARTS, Deadline.after(20)
        )
    return server.requests[-1]


def answered(provider: Provider, *script: Behaviour, name: str | None = None) -> Reply:
    with serving(*script) as server:
        url = server.url if provider == "openai" else server.root
        choice = ModelChoice(provider, name or OTHERS[provider][0], KEY, url)
        return HostedModel(choice).ask(IN_PARTS, Deadline.after(20))


@pytest.mark.parametrize("provider", OTHERS)
def test_each_provider_answers_at_the_address_that_is_named(provider: Provider) -> None:
    reply = answered(provider, OTHERS[provider][1])
    assert (reply.text, reply.input_tokens) == ('{"a": 1}', 100)
    assert reply.usd is None


@pytest.mark.parametrize("provider", OTHERS)
def test_no_model_that_thinks_is_sent_a_temperature(provider: Provider) -> None:
    name, behaviour = OTHERS[provider]
    body = sent(provider, behaviour, name, temperature=0.5, thinking="low").body
    assert "temperature" not in {**body, **body.get("generationConfig", {})}


def test_anthropic_caches_what_is_the_same_in_every_run() -> None:
    body = sent("anthropic", claude_says("{}"), "claude-sonnet-5-5").body
    stable, run = body["system"]
    assert (stable["text"], stable["cache_control"]["type"]) == ("be fair", "ephemeral")
    assert run == {"type": "text", "text": "the words of this run"}
    assert body["output_config"]["format"]["schema"]["required"] == ["a"]
    assert body["messages"][0]["role"] == "user"
    assert body["max_tokens"] == 20_000
    assert "tools" not in body


def test_anthropic_gets_the_schema_in_words_where_it_takes_none() -> None:
    with serving(fails(400), claude_says('{"a": 1}')) as server:
        model = HostedModel(ModelChoice("anthropic", "claude-sonnet-5-5", KEY, server.root))
        for _ in range(2):
            assert model.ask(IN_PARTS, Deadline.after(20)).text == '{"a": 1}'
    assert ["output_config" in asked.body for asked in server.requests] == [True, False, False]
    assert "additionalProperties" in json.dumps(server.requests[1].body["system"])


def test_of_a_reply_with_thinking_only_the_text_counts() -> None:
    assert answered("anthropic", claude_says("{}", thinking="hm")).text == "{}"
    reply = answered("google", gemini_says("{}", thinking="hm"))
    assert (reply.text, reply.output_tokens) == ("{}", 27)


@pytest.mark.parametrize(
    ("provider", "behaviour", "reason"),
    [
        ("anthropic", claude_says("{}", stop="max_tokens"), "truncated"),
        ("anthropic", claude_says("{}", stop="refusal"), "refused"),
        ("anthropic", claude_says(), "refused"),
        ("anthropic", fails(401), "unauthorized"),
        ("anthropic", fails(529), "provider_error"),
        ("anthropic", raw(200, b"null"), "provider_error"),
        ("anthropic", raw(200, b'{"content": 5}'), "provider_error"),
        ("anthropic", hangs_up, "unreachable"),
        ("google", gemini_says("{}", finish="MAX_TOKENS"), "truncated"),
        ("google", gemini_says("{}", finish="SAFETY"), "content_filter"),
        ("google", fails(403), "unauthorized"),
        ("google", fails(503), "provider_error"),
        ("google", raw(200, b"plain words"), "provider_error"),
        ("google", hangs_up, "unreachable"),
    ],
)
def test_every_providers_failure_has_its_word(
    provider: Provider, behaviour: Behaviour, reason: str
) -> None:
    with pytest.raises(ModelError) as error:
        answered(provider, behaviour)
    told = f"{error.value} {error.value!r} {error.getrepr(style='native')}"
    assert error.value.reason == reason
    assert SERVER_SECRET not in told
    assert KEY not in told


@pytest.mark.parametrize("provider", ["anthropic", "google"])
def test_no_provider_is_led_astray_by_the_environment(
    provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(OTHERS[provider][1]) as evil:
        for name in (
            "ANTHROPIC_BASE_URL",
            "GOOGLE_GEMINI_BASE_URL",
            "HTTP_PROXY",
            "ALL_PROXY",
        ):
            monkeypatch.setenv(name, evil.root)
        monkeypatch.setenv("GOOGLE_GENAI_USE_VERTEXAI", "true")
        assert answered(provider, OTHERS[provider][1]).text == '{"a": 1}'
    assert evil.requests == []


@pytest.mark.parametrize("provider", OTHERS)
def test_eight_judges_are_answered_side_by_side(provider: Provider) -> None:
    together = threading.Barrier(8)
    name, says_so = OTHERS[provider]

    def once_all_are_there(handler: Handler) -> None:
        together.wait(30)
        says_so(handler)

    with serving(once_all_are_there) as server, ThreadPoolExecutor(8) as pool:
        url = server.url if provider == "openai" else server.root
        config = ModelsConfig(default=ModelConfig(provider=provider, name=name, base_url=url))
        models = ModelPanel(config, LimitsConfig(), {})
        (model,) = models.panel().models
        deadline = Deadline.after(60)
        replies = list(pool.map(lambda _: model.ask(IN_PARTS, deadline), range(8)))
    assert {reply.text for reply in replies} == {'{"a": 1}'}
    assert (models.spent.calls, models.spent.input_tokens, models.spent.usd) == (8, 800, None)


# The judge behind the real client.


def judged(*script: Behaviour, seconds: float = 20, runs: int = 1) -> Judgment:
    with serving(*script) as server:
        return judge(hosted(server.url), runs=runs).judge(context(SMALL, seconds=seconds))


def test_a_server_that_breaks_at_a_schema_is_asked_without_one() -> None:
    def breaks(handler: Handler) -> None:
        asked = handler.server.requests[-1]
        (fails(500) if asked.mode == "json_schema" else says('{"a": 1}'))(handler)

    with serving(breaks) as server:
        model = hosted(server.url)
        for _ in range(2):
            assert model.ask(PROMPT, Deadline.after(20)).text == '{"a": 1}'
    assert [asked.mode for asked in server.requests] == [
        "json_schema",
        "json_object",
        "json_object",
    ]
