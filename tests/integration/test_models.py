"""The real client against a server on loopback that misbehaves by script."""

from __future__ import annotations

import gzip
import json
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from fakes.chat_server import (
    SERVER_SECRET,
    Behaviour,
    Completion,
    drips,
    fails,
    floods,
    hangs,
    hangs_up,
    only_json_mode,
    raw,
    redirects,
    says,
    serving,
)
from fakes.llm import FAILING, SMALL, context, judge, reply
from prjury.deadline import Deadline
from prjury.dialogue import ModelError, Prompt
from prjury.jury.judgment import Judgment, Status
from prjury.models.choose import ModelChoice
from prjury.models.connect import connect
from prjury.models.hosted import HostedModel
from prjury.models.transport import BODY_LIMIT
from prjury.models.wire import REPLY_LIMIT

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


def hosted(url: str, naps: Naps | None = None, key: str | None = KEY) -> HostedModel:
    return HostedModel(ModelChoice("openai", "local", key, url), naps or Naps(), lambda: 1.0)


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


def test_without_time_nothing_is_sent() -> None:
    with serving(says("{}")) as server, pytest.raises(ModelError) as error:
        hosted(server.url).ask(PROMPT, Deadline.after(0))
    assert (error.value.reason, server.requests) == ("timeout", [])


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


def test_what_an_unusable_reply_cost_is_known() -> None:
    spent = failure(says('{"a": 1}', finish="length")).spent
    assert spent is not None
    assert (spent.input_tokens, spent.output_tokens) == (100, 20)


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


@pytest.mark.parametrize("provider", ["anthropic", "google"])
def test_a_provider_without_its_library_says_what_to_install(provider: str) -> None:
    model = HostedModel(ModelChoice(provider, "m", "k"))  # type: ignore[arg-type]
    with pytest.raises(ModelError, match=rf"pip install 'prjury\[{provider}\]'") as error:
        model.ask(PROMPT, Deadline.after(20))
    assert error.value.reason == "not_installed"


# The judge behind the real client.


def judged(*script: Behaviour, seconds: float = 20, runs: int = 1) -> Judgment:
    with serving(*script) as server:
        return judge(hosted(server.url), runs=runs).judge(context(SMALL, seconds=seconds))


def test_a_judgment_over_the_wire() -> None:
    judgment = judged(says(reply()))
    assert judgment.status is Status.PASS
    assert judgment.metadata["usage"] == {
        "llm_calls": 1,
        "cached_calls": 0,
        "input_tokens": 100,
        "output_tokens": 20,
        "usd": None,
    }
    assert judged(says(reply(tests=FAILING, risk=FAILING))).status is Status.FAIL


def test_a_fence_is_tolerated_and_prose_is_repaired() -> None:
    assert judged(says(f"```json\n{reply()}\n```")).status is Status.PASS
    repaired = judged(says(f"Here you are: {reply()}"), says(reply()))
    assert repaired.status is Status.PASS
    assert repaired.metadata["usage"]["llm_calls"] == 2


@pytest.mark.parametrize(
    ("script", "label", "calls"),
    [
        ((says('{"score": 1}'),), "invalid_reply", 2),
        ((says(f"Approved. {reply()}"), says("I approve this change.")), "invalid_reply", 2),
        ((says(reply(), finish="length"),), "truncated", 1),
        ((says(None, refusal="no"),), "refused", 1),
        ((fails(401),), "unauthorized", 1),
        ((fails(429, retry_after="86400"),), "rate_limited", 1),
        ((fails(503),), "provider_error", 1),
        ((floods,), "reply_too_large", 1),
        ((hangs_up,), "unreachable", 1),
    ],
)
def test_what_cannot_be_used_abstains(
    script: tuple[Behaviour, ...], label: str, calls: int
) -> None:
    judgment = judged(*script)
    assert (judgment.status, judgment.label) == (Status.ABSTAIN, label)
    assert judgment.metadata["reason"] == label
    assert judgment.metadata["usage"]["llm_calls"] == calls
    assert judgment.metadata["scope"]["read"] == ()


def test_the_deadline_of_the_judge_holds() -> None:
    judgment = judged(drips, seconds=0.7, runs=3)
    assert (judgment.status, judgment.label) == (Status.ABSTAIN, "timeout")


def test_an_echo_of_the_canary_taints_the_answer() -> None:
    # The judge of these tests takes its words from a counter: the second one is the canary.
    judgment = judged(says(reply() + f"{2:032x}"))
    assert (judgment.status, judgment.label) == (Status.ABSTAIN, "tainted")


def test_a_script_takes_the_place_of_a_server(tmp_path: Path) -> None:

    path = tmp_path / "script.json"
    path.write_text(json.dumps([{"prompt": "quality", "text": reply()}]))
    model = connect(ModelChoice("scripted", str(path)))
    assert judge(model).judge(context(SMALL)).status is Status.PASS
