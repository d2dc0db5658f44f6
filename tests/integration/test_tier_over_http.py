"""The whole tier that asks models, over real servers: from the command line to the exit code.

The command line runs in this process, for the clients' libraries take seconds to load;
`e2e.test_models` has processes of its own. `Said` looks in everything that is put out for the keys
and for what the servers said.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

import pytest

from fakes.aimock import Aimock, Answer, aimock, chaos, fails, needs, says
from fakes.chat_server import (
    SERVER_SECRET,
    Behaviour,
    claude_says,
    drips,
    floods,
    raw,
    redirects,
    serving,
)
from fakes.chat_server import says as completes
from fakes.llm import FOUR, answer, quote, reply
from fakes.providers import (
    ANTHROPIC_KEY,
    LINE,
    OPENAI_KEY,
    PATH,
    TEXT,
    Policy,
    Said,
    Shop,
    answers,
    policy,
)
from prjury.models.wire import load

Provider: TypeAlias = Literal["openai", "anthropic"]

#: How each provider's model is named on the command line.
MODELS: Mapping[Provider, str] = {
    "openai": "openai:local",
    "anthropic": "anthropic:claude-sonnet-5-5",
}
CLAUDE = MODELS["anthropic"]
USAGE = {"prompt_tokens": 100, "completion_tokens": 20, "input_tokens": 100, "output_tokens": 20}

TRUE = quote(PATH, LINE, TEXT)
NOWHERE = quote(PATH, 999, "    return sum((a, b))")
FAILING = answer("fail", [TRUE])
INVENTED = answer("fail", [NOWHERE])
GOOD = says(reply(), usage=USAGE)
BAD = says(reply(correctness=FAILING, risk=FAILING), usage=USAGE)
NOTHING = {"llm_calls": 0, "cached_calls": 0, "input_tokens": 0, "output_tokens": 0}
READY = "## ✅ Nothing found against it (not built)"

POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <parent>
    <groupId>org.springframework.boot</groupId>
    <artifactId>spring-boot-starter-parent</artifactId>
    <version>4.0.1</version>
  </parent>
  <groupId>shop</groupId>
  <artifactId>shop</artifactId>
  <version>1</version>
</project>
"""
ENTITY = "package shop;\n\nimport javax.persistence.Entity;\n\n@Entity\nclass Item {\n}\n"


@pytest.fixture(scope="module", autouse=True)
def clients() -> None:
    """Loads the clients, so that no test's time limit has to allow for that."""
    needs("openai")
    needs("anthropic")
    load(["openai", "anthropic"])


@pytest.fixture(scope="module")
def server() -> Iterator[Aimock]:
    with aimock(f"{OPENAI_KEY},{ANTHROPIC_KEY}") as running:
        yield replace(running, key=OPENAI_KEY)


@pytest.fixture(params=["openai", "anthropic"])
def provider(request: pytest.FixtureRequest) -> Provider:
    name: Provider = request.param
    return name


@pytest.fixture
def shop(tmp_path: Path, server: Aimock) -> Shop:
    return Shop(tmp_path).at(openai=server.openai, anthropic=server.anthropic)


def statuses(server: Aimock) -> list[int]:
    return [request.status for request in server.requests]


# Answers that count.


def test_a_good_answer_opens_the_gate(server: Aimock, shop: Shop, provider: Provider) -> None:
    server.script(GOOD)
    said = shop.review(policy(advisory=False), "--model", MODELS[provider])
    assert (said.code, said.status, said.first_line) == (0, "pass", READY)
    assert said.judgment["score"] == 1.0
    assert said.judgment["metadata"]["model"] == MODELS[provider]
    figures = {"llm_calls": 1, "cached_calls": 0, "input_tokens": 100, "output_tokens": 20}
    assert said.cost == {**figures, "usd": None}
    (request,) = server.requests
    assert "canary-of-the-key" not in json.dumps(request.body)


def test_each_key_goes_to_its_own_server_alone(tmp_path: Path) -> None:
    with serving(completes(reply())) as one, serving(claude_says(reply())) as other:
        shop = Shop(tmp_path).at(openai=one.url, anthropic=other.root)
        assert shop.review(policy(advisory=False), "--model", f"openai:a,{CLAUDE}").code == 0
    sent = [
        str([(asked.headers, asked.body) for asked in server.requests]) for server in (one, other)
    ]
    assert [OPENAI_KEY in text for text in sent] == [True, False]
    assert [ANTHROPIC_KEY in text for text in sent] == [False, True]


@pytest.mark.parametrize(
    ("provider", "advisory"),
    [("openai", False), ("anthropic", False), ("anthropic", True)],
    indirect=["provider"],
)
def test_a_founded_failure(
    server: Aimock, shop: Shop, provider: Provider, *, advisory: bool
) -> None:
    server.script(BAD)
    said = shop.review(policy(advisory=advisory), "--model", MODELS[provider])
    found = "opinion advises against it: the model found 2 problems"
    line = f"## ⚠️ May be merged, but {found} (not built)"
    closed = (1, "fail", "## ❌ Do not merge: quality fails, 2 findings")
    assert (said.code, said.status, said.first_line) == ((0, "pass", line) if advisory else closed)
    assert (said.judgment["status"], said.judgment["score"]) == ("fail", 0.0)
    places = [c["location"] for c in said.judgment["checks"] if not c["passed"]]
    assert places == [{"path": PATH, "line": LINE, "end_line": LINE}] * 2


def test_a_reply_that_cannot_be_used_is_repaired_once(
    server: Aimock, shop: Shop, provider: Provider
) -> None:
    server.script(says(f"Sure! {reply()}", usage=USAGE), GOOD)
    said = shop.review(policy(advisory=False), "--model", MODELS[provider])
    assert (said.code, statuses(server)) == (0, [200, 200])
    assert "could not be used" in json.dumps(server.requests[1].body["messages"])
    assert "Sure!" not in json.dumps(server.requests[1].body["messages"])
    assert (said.cost["llm_calls"], said.cost["input_tokens"]) == (2, 200)


@pytest.mark.parametrize(
    "busy",
    [fails(429, SERVER_SECRET, retry_after=1), fails(500, SERVER_SECRET)],
    ids=["429", "500"],
)
def test_a_server_that_recovers_is_heard(
    server: Aimock, shop: Shop, provider: Provider, busy: Answer
) -> None:
    server.script(busy, GOOD)
    said = shop.review(policy(advisory=False), "--model", MODELS[provider])
    assert (said.code, said.first_line) == (0, READY)
    assert statuses(server) == [busy["response"]["status"], 200]
    assert said.cost["input_tokens"] == 100


# No answer: the judge's, the reason, and what becomes of the gate.

FAULTS: Mapping[str, tuple[tuple[Answer, ...], str, int]] = {
    "cut off": ((says('{"criteria": ', finishReason="length"),), "truncated", 1),
    "wrong schema twice": ((says('{"a": 1}'),), "invalid_reply", 2),
    "a score of its own": (
        (says(json.dumps({**json.loads(reply()), "score": 0.1})),),
        "invalid_reply",
        2,
    ),
    "empty": ((says(" "),), "refused", 1),
    "malformed": ((chaos(malformedRate=1),), "provider_error", 1),
    "disconnected": ((chaos(disconnectRate=1),), "unreachable", 1),
    "wrong key": ((fails(401, SERVER_SECRET),), "unauthorized", 1),
}


def no_answer(said: Said, reason: str, *, advisory: bool) -> None:
    """It is an abstention with this reason, and the gate is what the contract makes of it."""
    judgment, words = said.judgment, reason.replace("_", " ")
    assert (judgment["status"], judgment["label"], said.reason) == ("abstain", reason, reason)
    assert judgment["score"] is None
    if advisory:
        expected = (0, "pass", "success", f"{READY[:-1]}; quality gave no answer: {words})")
    else:
        expected = (3, "abstain", "action_required", f"## ⚠️ Needs a human: quality ({words})")
    gate = said.report["verdict"]["gate"]
    assert (said.code, said.status, gate, said.first_line) == expected
    assert judgment["metadata"]["scope"]["read"] == []
    assert said.report["coverage"]["added_lines_judged"] == 6  # by a program
    if not advisory:
        assert f"quality ({words})" in said.err.splitlines()[-1]


@pytest.mark.parametrize("fault", FAULTS)
def test_no_answer_is_never_a_pass(
    server: Aimock, shop: Shop, provider: Provider, fault: str
) -> None:
    script, reason, requests = FAULTS[fault]
    server.script(*script)
    said = shop.review(policy(advisory=False), "--model", MODELS[provider])
    no_answer(said, reason, advisory=False)
    assert said.cost["llm_calls"] == len(server.requests) == requests
    assert figures(said.judgment["metadata"]["usage"]) == figures(said.cost)


def figures(told: Mapping[str, Any]) -> list[Any]:
    return [told[name] for name in ("llm_calls", "input_tokens", "output_tokens", "usd")]


def test_a_change_that_only_the_silent_model_reads_is_not_judged(
    server: Aimock, shop: Shop
) -> None:
    server.script(fails(401, SERVER_SECRET))
    alone = policy(advisory=False)["tiers"][1]
    merge = {"name": "checks", "judges": ["merge"]}
    said = shop.review({"tiers": [merge, alone]}, "--model", CLAUDE)
    assert (said.code, said.status, said.reason) == (3, "error", "unauthorized")
    assert said.report["coverage"]["added_lines_judged"] == 0
    unread = {entry["path"]: entry["reason"] for entry in said.report["coverage"]["not_checked"]}
    assert unread == dict.fromkeys((PATH, "tests/test_app.py"), "no answer: unauthorized")
    assert "unauthorized" in said.files["markdown"]


def test_a_server_that_fails_for_ever_is_given_up(
    server: Aimock, shop: Shop, provider: Provider
) -> None:
    server.script(fails(500, SERVER_SECRET))
    said = shop.review(policy(advisory=False), "--model", MODELS[provider])
    no_answer(said, "provider_error", advisory=False)
    assert said.cost == {**NOTHING, "llm_calls": 3, "usd": 0.0}
    assert statuses(server) == [500] * 3


@pytest.mark.parametrize("advisory", [False, True], ids=["blocking", "advisory"])
def test_a_slow_answer_is_given_up(server: Aimock, shop: Shop, *, advisory: bool) -> None:
    server.script(chaos(GOOD, latencyMs=10_000))
    said = shop.review(policy(advisory=advisory), "--model", CLAUDE, "--timeout", "1")
    no_answer(said, "timeout", advisory=advisory)


OPENAI_ALONE: Mapping[str, tuple[Behaviour, str]] = {
    "refused": (completes(None, refusal="I will not"), "refused"),
    "dripping": (drips, "timeout"),
    "flooding": (floods, "reply_too_large"),
    "a bomb": (
        raw(200, gzip.compress(b" " * 10**8, 1), content_encoding="gzip"),
        "provider_error",
    ),
}


@pytest.mark.parametrize("fault", OPENAI_ALONE)
def test_a_server_that_means_harm(tmp_path: Path, fault: str) -> None:
    behaviour, reason = OPENAI_ALONE[fault]
    with serving(behaviour) as hostile:
        shop = Shop(tmp_path).at(openai=hostile.url)
        time = "4" if fault == "dripping" else "60"
        said = shop.review(policy(advisory=False), "--model", "openai:local", "--timeout", time)
    no_answer(said, reason, advisory=False)
    assert len(hostile.requests) == 1


def test_the_key_does_not_travel_to_another_address(tmp_path: Path) -> None:
    with serving(completes(reply())) as other:
        sends = redirects(f"{other.url}/chat/completions")
        with serving(sends) as first:
            shop = Shop(tmp_path).at(openai=first.url)
            said = shop.review(policy(advisory=False), "--model", "openai:local")
    no_answer(said, "provider_error", advisory=False)
    assert (len(first.requests), other.requests) == (1, [])
    assert "not followed" in said.judgment["reasoning"]


@pytest.mark.parametrize("between", ["\n", "\x00", "…"])
def test_a_key_that_no_header_can_hold_is_refused(tmp_path: Path, between: str) -> None:
    with serving(completes(reply())) as server:
        shop = Shop(tmp_path).at(openai=server.url)
        shop.environ["OPENAI_API_KEY"] = f"{OPENAI_KEY}{between}x-more: yes"
        said = shop.review(policy(advisory=False), "--model", "openai:local")
    assert (said.code, said.out, server.requests) == (2, "", [])
    assert "OPENAI_API_KEY holds characters that no key has" in said.err


# Answers that lie, and what steers them.


def test_a_failure_where_there_is_no_line_does_not_count(
    server: Aimock, shop: Shop, provider: Provider
) -> None:
    server.script(says(reply(correctness=INVENTED, risk=FAILING), usage=USAGE))
    said = shop.review(policy(advisory=False), "--model", MODELS[provider])
    metadata = said.judgment["metadata"]
    assert (said.code, said.judgment["score"]) == (1, 0.0)
    assert metadata["criteria"]["correctness"]["verdict"] == "abstain"
    assert metadata["review"]["dropped"] == {"no_quote": 1, "not_changed": 0}
    assert "999" not in json.dumps(said.judgment["checks"])
    # Half of the evidence is not there, so everybody was asked again.
    assert (metadata["iterations"], len(server.requests)) == (2, 2)
    assert (said.cost["llm_calls"], said.cost["input_tokens"]) == (2, 200)


def echoing(make: Any, seen: list[str]) -> Behaviour:
    """Praises, and repeats the word of the instructions."""

    def say(canary: str) -> Behaviour:
        seen.append(canary)
        praise = {**answer("pass"), "reasoning": f"as told with {canary}"}
        behaviour: Behaviour = make(reply(correctness=praise))
        return behaviour

    return answers(say)


@pytest.mark.parametrize(
    ("provider", "advisory"),
    [("openai", False), ("anthropic", False), ("openai", True)],
    indirect=["provider"],
)
def test_an_answer_that_repeats_the_instructions_is_tainted(
    tmp_path: Path, provider: Provider, *, advisory: bool
) -> None:
    seen: list[str] = []
    make = completes if provider == "openai" else claude_says
    with serving(echoing(make, seen)) as server:
        shop = Shop(tmp_path).at(openai=server.url, anthropic=server.root)
        said = shop.review(policy(advisory=advisory), "--model", MODELS[provider])
    no_answer(said, "tainted", advisory=advisory)
    (canary,) = seen
    assert len(canary) == 32
    assert not [name for name, text in everything(said).items() if canary in text]


def everything(said: Said) -> dict[str, str]:
    return {"stdout": said.out, "stderr": said.err, **said.files}


def test_models_of_a_tier_vote_by_median(tmp_path: Path) -> None:
    replies = [reply(), reply(risk=FAILING), reply(**dict.fromkeys(FOUR, FAILING))]
    with serving(*map(completes, replies)) as server:
        shop = Shop(tmp_path).at(openai=server.url)
        voting = {"median": {"threshold": 0.7}}
        seats = [{"quality": {"model": f"openai:{name}", "must": []}} for name in "abc"]
        tier = {"name": "panel", "policy": "final_tier", "advisory": False}
        tiers = [{**tier, "voting": voting, "judges": seats}]
        said = shop.review(
            {
                "version": 1,
                "tiers": tiers,
                "models": {"base_url": server.url},
                "review": {"confirm": False},
            }
        )
    (panel,) = said.report["tiers"]
    assert (said.code, panel["status"], said.cost["llm_calls"]) == (0, "pass", 3)
    assert "fails and was outvoted" in said.first_line


# Several models.


def panel_with_chair() -> Policy:
    panel = [{"provider": "openai", "name": name} for name in ("a", "b")]
    chair = {"provider": "openai", "name": "chair"}
    return policy(advisory=False, models={"panel": panel, "chair": chair})


def test_a_chair_decides_a_split(server: Aimock, shop: Shop) -> None:
    words = "correctness: fail (0.90). because it is fail"
    verdict = answer("fail", [quote("juror-2", 1, words)])
    server.script(
        {**GOOD, "match": {"model": "a"}},
        {**BAD, "match": {"model": "b", "sequenceIndex": 0}},
        says(reply(correctness=verdict, risk=verdict), usage=USAGE),
    )
    said = shop.review(panel_with_chair())
    assert (said.code, said.judgment["status"]) == (1, "fail")
    assert "the chair decided" in said.judgment["reasoning"]
    assert said.cost["llm_calls"] == 3
    heard = [request.body for request in server.requests if request.body["model"] == "chair"]
    assert words in json.dumps(heard)
    assert TEXT.strip() in json.dumps(heard)  # the quote, not the work
    assert "STEP_20" not in json.dumps(heard)


# What is asked, and what is not asked again.


def test_what_is_known_is_not_asked_again(server: Aimock, shop: Shop, provider: Provider) -> None:
    server.script(BAD)
    first = shop.review(policy(advisory=False), "--model", MODELS[provider])
    server.script(GOOD)
    second = shop.review(policy(advisory=False), "--model", MODELS[provider])
    assert server.requests == []
    assert (second.code, second.first_line) == (first.code, first.first_line) != (0, READY)
    assert second.judgment["checks"] == first.judgment["checks"]
    assert second.cost == {**NOTHING, "cached_calls": 1, "usd": 0.0}
    assert "(1 cached)" in second.files["markdown"]


LIMITS: Mapping[str, tuple[str, Mapping[str, float]]] = {
    "limits.input_tokens": ("openai:local", {"input_tokens": 50}),
    # At its provider's own address, for only there a price is known; nothing is sent there.
    "limits.usd": ("openai:gpt-4o", {"usd": 0.000_001}),
}


@pytest.mark.parametrize("advisory", [False, True], ids=["blocking", "advisory"])
@pytest.mark.parametrize("limit", LIMITS)
def test_a_budget_that_does_not_suffice_is_not_begun(
    server: Aimock, shop: Shop, limit: str, *, advisory: bool
) -> None:
    model, limits = LIMITS[limit]
    server.script(GOOD)
    if limit == "limits.usd":
        del shop.environ["OPENAI_BASE_URL"]
    said = shop.review(policy(advisory=advisory, limits=limits), "--model", model)
    no_answer(said, "budget", advisory=advisory)
    assert limit in said.judgment["reasoning"]
    assert (server.requests, said.cost["llm_calls"], said.cost["usd"]) == ([], 0, 0.0)


# Who is not asked.


def cascade(*, continue_on_reject: bool) -> Policy:
    patterns = {"name": "version-patterns", "judges": ["patterns"]}
    return {
        "tiers": [
            {"name": "build", "judges": ["merge"]},
            {**patterns, "continue_on_reject": continue_on_reject},
            {"name": "quality", "policy": "final_tier", "judges": ["quality"]},
        ]
    }


def nobody_was_asked(said: Said, server: Aimock) -> None:
    assert (server.requests, said.cost) == ([], {**NOTHING, "usd": 0.0})


@pytest.mark.parametrize("flag", ["--no-llm", "--offline", "no key"])
def test_without_models_nobody_is_asked_and_it_is_said(
    server: Aimock, shop: Shop, flag: str
) -> None:
    server.script(GOOD)
    flags = [flag] if flag.startswith("-") else []
    said = (shop if flags else shop.without_keys()).review(policy(advisory=False), *flags)
    assert (said.code, said.status) == (0, "pass")
    assert "no model asked" in said.first_line
    nobody_was_asked(said, server)
    if flag == "--no-llm":
        assert said.report["tiers"][-1]["ran"] is False
    else:
        assert said.judgment["label"] == "not_configured"


def test_a_policy_may_insist_on_a_model(server: Aimock, shop: Shop) -> None:
    server.script(GOOD)
    insisting = policy(advisory=False, gate={"not_configured": "block"})
    said = shop.without_keys().review(insisting)
    assert (said.code, server.requests) == (3, [])
    assert "no model is configured for quality" in said.first_line


# `prjury judge`

JUDGES: Mapping[str, tuple[tuple[str, ...], tuple[str, ...], Mapping[str, Any]]] = {
    "correctness": (
        ("output=said.txt",),
        ("reached", "works", "contained", "honest"),
        quote("said.txt", 1, "It adds."),
    ),
    "faithfulness": (
        ("context=known.txt", "answer=said.txt"),
        ("statement-1", "statement-2"),
        quote("/answer", 1, "It adds."),
    ),
    "hallucination": (
        ("context=known.txt", "answer=said.txt"),
        ("statement-1", "statement-2"),
        quote("/answer", 1, "It adds."),
    ),
    "contextual-relevance": (
        ("context=known.txt", "question=What does it do?"),
        ("sufficient", "document-1"),
        quote("known.txt", 1, "It subtracts."),
    ),
    "quality": ((), FOUR, quote("test_calc.py", 2, "    assert True")),
    "tests-exercise-behaviour": (
        (),
        ("would_fail", "real_subject", "says_what_is_expected"),
        quote("test_calc.py", 2, "    assert True"),
    ),
}


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    place = tmp_path / "work"
    place.mkdir()
    (place / "said.txt").write_text("It adds.\nIt is done.\n")
    (place / "known.txt").write_text("It subtracts.\n")
    (place / "test_calc.py").write_text("def test_it():\n    assert True\n")
    return place


@pytest.mark.parametrize("name", JUDGES)
def test_a_judge_of_a_directory(server: Aimock, shop: Shop, workspace: Path, name: str) -> None:
    options, criteria, evidence = JUDGES[name]
    model = "model=openai:local"
    failing = answer("fail", [evidence])
    server.script(says(reply(criteria, **{criteria[0]: failing, criteria[1]: failing})))
    bad = shop.judge(name, workspace, model, *options)
    assert (bad.code, bad.report["status"]) == (1, "fail"), bad.report
    assert {check["name"] for check in bad.report["checks"] if not check["passed"]} == {
        *criteria[:2]
    }
    (workspace / "known.txt").write_text("It adds.\n")
    (workspace / "test_calc.py").write_text("def test_it():\n    assert 1 + 1 == 2\n")
    server.script(says(reply(criteria)))
    good = shop.judge(name, workspace, model, *options)
    assert (good.code, good.report["status"]) == (0, "pass"), good.report
    assert len(server.requests) == 1
