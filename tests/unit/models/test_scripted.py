from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from prjury import JudgmentContext, Jury, MedianVoting, ModelClient, ModelJudge, Status
from prjury.deadline import Deadline
from prjury.errors import ConfigError, PrJuryError, UsageError
from prjury.models.panel import AnswerFile, ScriptedModel
from prjury.models.wrappers import RecordedModel
from prjury.ports import NoRecorder
from prjury.ports.messages import ModelError, Prompt
from prjury.report.judge_facts import PanelFacts
from prjury.report.model import Cost

QUALITY = Prompt("be fair", "{}", {"type": "object"}, "quality/1")
OTHER = Prompt("be fair", "[]", {"type": "object"}, "backport/2")
SOON = Deadline.after(3_600)  # counted from the import: the whole suite may run before


def test_entries_are_used_once_and_in_order() -> None:
    model = ScriptedModel(
        [{"prompt": "quality", "text": "a"}, {"prompt": "quality/1", "text": "b"}]
    )
    assert [model.ask(QUALITY, SOON).text for _ in range(2)] == ["b", "a"]
    with pytest.raises(ModelError, match="no further answer to the prompt quality/1"):
        model.ask(QUALITY, SOON)


def test_the_digest_does_not_depend_on_the_nonces() -> None:
    one = Prompt("word abc", '{"abc": 1}', {}, "quality/1", ("abc",))
    two = Prompt("word xyz", '{"xyz": 1}', {}, "quality/1", ("xyz",))
    three = Prompt("word xyz", '{"xyz": 2}', {}, "quality/1", ("xyz",))
    assert one.sha256 == two.sha256 != three.sha256


@pytest.mark.parametrize("form", ["list", "lines", "one"])
def test_a_script_is_json_or_jsonl(tmp_path: Path, form: str) -> None:
    entries = [{"prompt": "quality", "text": {"a": 1}}, {"text": "ü"}][: 1 if form == "one" else 2]
    lines = "\n\n".join(json.dumps(entry) for entry in entries)
    path = tmp_path / "script.json"
    path.write_text(json.dumps(entries) if form == "list" else lines, encoding="utf-8")
    model = ScriptedModel.from_file(path)
    assert model.name == "scripted:script.json"
    assert json.loads(model.ask(QUALITY, SOON).text) == {"a": 1}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nonsense", "JSON is malformed"),
        ('{"prompt": ""}', "prompt"),
        ('{"promt": "x"}', "promt"),
        ('{"error": "made_up"}', "error`"),
        ("[3]", r"not valid.*`\$\[0\]`"),
        ('{"usd": NaN}', "JSON is malformed"),
    ],
)
def test_a_broken_script_is_a_usage_error(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "script.jsonl"
    path.write_text(text)
    with pytest.raises(UsageError, match=message):
        ScriptedModel.from_file(path)


def test_a_missing_script_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        ScriptedModel.from_file(tmp_path / "none.json")


def test_an_empty_script_answers_nothing(tmp_path: Path) -> None:
    path = tmp_path / "script.jsonl"
    path.touch()
    with pytest.raises(ModelError, match="no further answer"):
        ScriptedModel.from_file(path).ask(QUALITY, SOON)


def test_what_was_recorded_is_said_again(tmp_path: Path) -> None:
    file = tmp_path / "answers.jsonl"
    file.write_text("of an earlier run")
    said = ScriptedModel([{"text": "yes", "input_tokens": 7, "usd": 0.5}, {"error": "refused"}])
    model = RecordedModel(said, NoRecorder(), AnswerFile(file))
    first, second = (Prompt("s", user, {}, "quality/1") for user in ("a", "b"))
    got = model.ask(first, SOON)
    with pytest.raises(ModelError):
        model.ask(second, SOON)
    again = ScriptedModel.from_file(file)
    with pytest.raises(ModelError, match="refused"):
        again.ask(second, SOON)
    assert again.ask(first, SOON) == got


def test_a_record_that_cannot_be_written_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"--record .* cannot be written: No such file"):
        AnswerFile(tmp_path / "nowhere" / "answers.jsonl")
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match=r"--record .* cannot be written"):
        AnswerFile(tmp_path / "link")


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
    assert PanelFacts.parse(judgment).cost == Cost(1, 0, 9, 2, 0.5)


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
