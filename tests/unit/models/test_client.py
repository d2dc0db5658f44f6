"""A model by name, for judges in a program of one's own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from prjury import JudgmentContext, Jury, MedianVoting, ModelClient, ModelJudge, Status
from prjury.errors import ConfigError, PrJuryError
from prjury.ports.messages import ModelError
from prjury.report.judge_facts import PanelFacts
from prjury.report.model import Cost


def script(place: Path, *texts: str) -> str:
    entries = [
        {"prompt": "*", "text": text, "input_tokens": 9, "output_tokens": 2, "usd": 0.5}
        for text in texts
    ]
    place.write_text(json.dumps(entries))
    return f"scripted:{place}"


def test_it_answers_a_judge_with_its_tokens_and_price(tmp_path: Path) -> None:
    client = ModelClient(script(tmp_path / "a.json", "Answer: YES\nReasoning: so."), environ={})
    judgment = ModelJudge("{goal}?", model=client).judge(JudgmentContext("Is it so"))
    assert judgment.status is Status.PASS
    usage = {"llm_calls": 1, "input_tokens": 9, "output_tokens": 2, "usd": 0.5}
    assert judgment.metadata["usage"] == usage
    assert PanelFacts.of(judgment).cost == Cost(1, 0, 9, 2, 0.5)


def test_each_member_of_a_jury_has_its_own(tmp_path: Path) -> None:
    said = ("YES", "NO", "YES")
    clients = [
        ModelClient(script(tmp_path / f"{place}.json", f"Answer: {word}"), environ={})
        for place, word in enumerate(said)
    ]
    judges = [ModelJudge("{goal}?", model=client, name=client.name) for client in clients]
    verdict = Jury(judges, MedianVoting()).vote(JudgmentContext("Is it so"))
    assert verdict.status is Status.PASS
    assert list(verdict.by_name) == ["scripted:0.json", "scripted:1.json", "scripted:2.json"]


def test_a_program_gets_the_prompt_alone(tmp_path: Path) -> None:
    client = ModelClient("command:cat", environ={"PATH": "/usr/bin:/bin"}, timeout=20)
    assert client.ask("Is it so?").text == "Is it so?"
    assert repr(client) == "ModelClient('command:cat')"


def test_a_key_is_taken_from_the_environment_that_is_given() -> None:
    environ = {"OTHER_KEY": "k1", "ANTHROPIC_API_KEY": "k2"}
    assert ModelClient("anthropic:some", environ=environ).name == "anthropic:some"
    assert ModelClient("auto", environ=environ).name.startswith("anthropic:")
    own = ModelClient("openai:own", environ=environ, key_env="OTHER_KEY", temperature=0.5)
    assert own.name == "openai:own"
    assert "k1" not in repr(vars(own))


@pytest.mark.parametrize(
    ("name", "options", "problem"),
    [
        ("openai:some", {}, "no key for openai is set"),
        ("nobody:some", {}, "the provider 'nobody', which is not known"),
        ("openai:a,google:b", {}, "names several models"),
        ("openai:a", {"temperature": 9}, "temperature: a number of at most 2"),
        ("openai:a", {"key_env": "GITHUB_TOKEN"}, "no model may see it"),
    ],
)
def test_what_cannot_be_asked_is_refused(name: str, options: dict[str, Any], problem: str) -> None:
    with pytest.raises(PrJuryError, match=problem):
        ModelClient(name, environ={}, **options)


def test_a_script_without_an_answer_raises(tmp_path: Path) -> None:
    place = tmp_path / "a.json"
    place.write_text('[{"prompt": "*", "error": "rate_limited"}]')
    with pytest.raises(ModelError, match="rate_limited"):
        ModelClient(f"scripted:{place}", environ={}).ask("Is it so?")


def test_a_script_that_is_not_there_is_refused() -> None:
    with pytest.raises(PrJuryError, match="cannot be read"):
        ModelClient("scripted:nowhere.json", environ={})
    assert issubclass(ConfigError, PrJuryError)
