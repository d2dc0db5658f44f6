"""The real clients against aimock, which was written by neither us nor a provider.

`test_models` says more about faults; here somebody else says what the two protocols look like.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import pytest

from fakes.aimock import Aimock, Answer, aimock, chaos, fails, needs, says
from prjury.deadline import Deadline
from prjury.models.choose import DEFAULT_NAMES, ModelChoice
from prjury.models.connect import HostedModel
from prjury.models.panel import ModelPanel
from prjury.models.providers import BODY_LIMIT
from prjury.models.wrappers import REPLY_LIMIT, RetryingModel
from prjury.policy.models import ModelConfig, ModelsConfig
from prjury.policy.schema import LimitsConfig
from prjury.ports.messages import ModelError, ModelReason, Prompt, Reply

Provider: TypeAlias = Literal["openai", "anthropic"]

KEY = "sk-the-key-of-the-operator"
#: Seconds; the first question loads the client, which takes long where everything is busy.
PATIENCE = 300.0
SECRET = "body-of-the-server-error"
NAMES: dict[Provider, str] = {"openai": "local", "anthropic": DEFAULT_NAMES["anthropic"]}
SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "integer"}},
    "required": ["a"],
    "additionalProperties": False,
}
PROMPT = Prompt("be fair", '{"n": 1}', SCHEMA, "quality/1", run="the word is 17")
USAGE = {"prompt_tokens": 100, "completion_tokens": 20, "input_tokens": 100, "output_tokens": 20}
#: A tool that the model calls although it was offered none.
CALL: Answer = {"response": {"toolCalls": [{"name": "bash", "arguments": {"command": "id"}}]}}


@pytest.fixture(scope="module")
def server() -> Iterator[Aimock]:
    with aimock(KEY) as running:
        yield running


@pytest.fixture(params=["openai", "anthropic"])
def provider(request: pytest.FixtureRequest) -> Provider:
    name: Provider = request.param
    needs(name)
    return name


@dataclass
class Naps:
    """Stands for sleeping, and takes no time."""

    taken: list[float] = field(default_factory=list)

    def __call__(self, seconds: float) -> None:
        self.taken.append(seconds)


def choice(server: Aimock, provider: Provider, key: str = KEY) -> ModelChoice:
    url = server.openai if provider == "openai" else server.anthropic
    return ModelChoice(provider, NAMES[provider], key, url)


def asked(
    server: Aimock,
    provider: Provider,
    *script: Answer,
    naps: Naps | None = None,
    seconds: float = PATIENCE,
) -> Reply:
    server.script(*script)
    model = RetryingModel(HostedModel(choice(server, provider)), naps or Naps(), lambda: 1.0)
    return model.ask(PROMPT, Deadline.after(seconds))


def failure(
    server: Aimock,
    provider: Provider,
    *script: Answer,
    naps: Naps | None = None,
    seconds: float = PATIENCE,
) -> ModelError:
    """What the model raises; nothing of the server's words or of the key is in it."""
    with pytest.raises(ModelError) as error:
        asked(server, provider, *script, naps=naps, seconds=seconds)
    told = f"{error.value} {error.value!r} {error.getrepr(style='native')}"
    assert SECRET not in told
    assert KEY not in told
    return error.value


def test_a_structured_answer(server: Aimock, provider: Provider) -> None:
    good = says('{"a": 1}', model="the-model", usage=USAGE)
    reply = asked(server, provider, good)
    assert (reply.text, reply.model) == ('{"a": 1}', "the-model")
    assert (reply.input_tokens, reply.output_tokens) == (100, 20)
    (request,) = server.requests
    assert request.status == 200
    assert request.body["model"] == NAMES[provider]
    assert not request.body["stream"]
    assert "tools" not in request.body
    system, user = request.body["messages"]
    assert (system["role"], user["role"]) == ("system", "user")
    assert system["content"].startswith("be fair")
    assert system["content"].endswith("the word is 17")
    assert user["content"] == PROMPT.user


def test_the_schema_binds_where_the_server_takes_one(server: Aimock) -> None:
    asked(server, "openai", says('{"a": 1}'))
    (request,) = server.requests
    assert request.path == "/v1/chat/completions"
    assert request.body["response_format"]["json_schema"]["schema"] == SCHEMA


def test_a_server_that_takes_no_schema_gets_it_in_words(server: Aimock) -> None:
    refused = {**fails(400, SECRET), "match": {"responseFormat": "json_schema"}}
    assert asked(server, "openai", refused, says("{}")).text == "{}"
    assert [request.status for request in server.requests] == [400, 200]
    assert "additionalProperties" in str(server.requests[1].body["messages"])


def test_what_a_model_thinks_is_no_part_of_its_answer(server: Aimock, provider: Provider) -> None:
    assert asked(server, provider, says('{"a": 1}', reasoning="hm")).text == '{"a": 1}'


def test_a_busy_server_is_asked_again_when_it_says(server: Aimock, provider: Provider) -> None:
    naps = Naps()
    busy = fails(429, SECRET, retry_after=3)
    assert asked(server, provider, busy, says("{}"), naps=naps).text == "{}"
    assert naps.taken == [3.0]
    assert [request.status for request in server.requests] == [429, 200]


def test_nobody_waits_for_a_day(server: Aimock, provider: Provider) -> None:
    naps = Naps()
    error = failure(server, provider, fails(429, SECRET, retry_after=86_400), naps=naps)
    assert (error.reason, naps.taken, len(server.requests)) == ("rate_limited", [], 1)


@pytest.mark.parametrize("status", [500, 503, 529])
def test_a_failing_server_is_asked_three_times(
    server: Aimock, provider: Provider, status: int
) -> None:
    naps = Naps()
    error = failure(server, provider, fails(status, SECRET), naps=naps)
    assert (error.reason, naps.taken) == ("provider_error", [1.0, 2.0])
    assert [request.status for request in server.requests] == [status] * 3


def test_a_server_that_recovers_is_heard(server: Aimock, provider: Provider) -> None:
    answers = (chaos(dropRate=1), chaos(rateLimitRate=1), says('{"a": 1}'))
    assert asked(server, provider, *answers).text == '{"a": 1}'
    assert [request.status for request in server.requests] == [500, 429, 200]


def test_a_slow_answer_is_waited_for_until_the_deadline(server: Aimock, provider: Provider) -> None:
    assert asked(server, provider, chaos(says("{}"), latencyMs=300)).text == "{}"
    slow = chaos(says("{}"), latencyMs=30_000)
    assert failure(server, provider, slow, seconds=1).reason == "timeout"


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (fails(401, SECRET), "unauthorized"),
        (fails(403, SECRET), "unauthorized"),
        (fails(404, SECRET), "provider_error"),
        (fails(400, SECRET), "provider_error"),
        (chaos(disconnectRate=1), "unreachable"),
        (chaos(malformedRate=1), "provider_error"),
        (says('{"a": ', finishReason="length"), "truncated"),
        (says(" "), "refused"),
        (CALL, "refused"),
        (says("x" * (REPLY_LIMIT + 1)), "reply_too_large"),
        (says("x" * (BODY_LIMIT + 1)), "reply_too_large"),
    ],
    ids=[
        "401",
        "403",
        "404",
        "400",
        "disconnected",
        "malformed",
        "cut off",
        "blank",
        "a tool is called",
        "a large reply",
        "a large body",
    ],
)
def test_every_failure_has_its_word(
    server: Aimock, provider: Provider, answer: Answer, reason: ModelReason
) -> None:
    assert failure(server, provider, answer).reason == reason


@pytest.mark.parametrize(
    ("only", "answer", "reason"),
    [
        ("openai", fails(400, SECRET, code="context_length_exceeded"), "provider_error"),
        ("openai", fails(400, SECRET, code="content_filter"), "content_filter"),
        ("openai", fails(429, SECRET, code="insufficient_quota"), "rate_limited"),
        ("openai", says("no", finishReason="content_filter"), "content_filter"),
        ("anthropic", fails(529, SECRET, type="overloaded_error"), "provider_error"),
        ("anthropic", says("no", finishReason="refusal"), "refused"),
    ],
)
def test_what_one_provider_alone_says_is_understood(
    server: Aimock, only: Provider, answer: Answer, reason: ModelReason
) -> None:
    needs(only)
    assert failure(server, only, answer).reason == reason


def test_what_an_unusable_reply_cost_is_known(server: Aimock, provider: Provider) -> None:
    spent = failure(server, provider, says("{", finishReason="length", usage=USAGE)).spent
    assert spent is not None
    assert (spent.input_tokens, spent.output_tokens) == (100, 20)


def test_the_server_knows_the_key(server: Aimock, provider: Provider) -> None:
    server.script(says("{}"))
    wrong = HostedModel(choice(server, provider, key="sk-another"))
    with pytest.raises(ModelError) as error:
        wrong.ask(PROMPT, Deadline.after(PATIENCE))
    assert error.value.reason == "unauthorized"


def test_the_bench_finds_address_and_key(server: Aimock, provider: Provider) -> None:
    server.script(says('{"a": 1}'))
    environ = {
        "OPENAI_API_KEY": KEY,
        "OPENAI_BASE_URL": server.openai,
        "ANTHROPIC_API_KEY": KEY,
        "ANTHROPIC_BASE_URL": server.anthropic,
    }
    config = ModelsConfig(default=ModelConfig(provider=provider, name=NAMES[provider]))
    (model,) = ModelPanel(config, LimitsConfig(), environ).panel().models
    reply = model.ask(PROMPT, Deadline.after(PATIENCE))
    assert reply.text == '{"a": 1}'
    assert [request.status for request in server.requests] == [200]
