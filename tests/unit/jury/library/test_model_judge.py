from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from prjury.errors import CannotJudgeError
from prjury.jury.context import JudgmentContext
from prjury.jury.judge import ask
from prjury.jury.judgment import Check, Judgment, Status
from prjury.jury.jury import Jury
from prjury.jury.library.model_judge import ModelJudge, criterion_judge
from prjury.jury.library.presets import CRITERIA, Criterion
from prjury.jury.voting import MajorityVoting

CONTEXT = JudgmentContext("say hello", Path("/w"), "hello {goal}")


@dataclass
class Model:
    """A model that says what it is told to say, and keeps what it was asked."""

    says: Any = "Answer: YES\nReasoning: it does"
    asked: list[str] = field(default_factory=list)

    def ask(self, prompt: str, /) -> Any:
        self.asked.append(prompt)
        if isinstance(self.says, BaseException):
            raise self.says
        return self.says


class Later(Model):
    """The same, for those who wait."""

    async def ask(self, prompt: str, /) -> Any:
        await asyncio.sleep(0)
        return super().ask(prompt)


@pytest.mark.parametrize(
    ("crash", "reason", "told"),
    [
        (ConnectionError("gone"), "model_failed", "the model failed: ConnectionError: gone"),
        (
            TimeoutError("60 s"),
            "timeout",
            "the model did not answer in time: TimeoutError: 60 s",
        ),
        (
            asyncio.CancelledError(),
            "cancelled",
            "the model was cancelled: asyncio.exceptions.CancelledError",
        ),
        (CannotJudgeError("No money left", reason="budget"), "budget", "No money left."),
    ],
)
@pytest.mark.parametrize("kind", [Model, Later])
def test_a_model_that_fails_is_an_error(
    kind: type[Model], crash: BaseException, reason: str, told: str
) -> None:
    said = ModelJudge("{goal}", model=kind(crash)).judge(CONTEXT)
    prefix = "the model failed: " if reason == "budget" else ""
    assert said == Judgment.errored(prefix + told, metadata={"reason": reason})


def test_ctrl_c_goes_on() -> None:
    with pytest.raises(KeyboardInterrupt):
        ModelJudge("{goal}", model=Model(KeyboardInterrupt())).judge(CONTEXT)


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        ("", "the reply is empty"),
        (" \n", "the reply is empty"),
        (None, "the reply is a NoneType instead of text"),
        (b"YES", "the reply is a bytes instead of text"),
        ({"id": "YES"}, "the reply is a dict instead of text"),
    ],
)
def test_a_reply_that_is_none_is_an_error(reply: Any, problem: str) -> None:
    refuses = ModelJudge("{goal}", Judgment.passed, model=Model(reply))
    invalid = Judgment.errored(problem, metadata={"reason": "reply_invalid"})
    assert refuses.judge(CONTEXT) == invalid


@pytest.mark.parametrize("template", ["{agent_output}", " \n{error}", lambda _: ""])
def test_a_blank_prompt_is_not_asked(template: Any) -> None:
    model = Model()
    said = ModelJudge(template, model=model).judge(JudgmentContext("g"))
    assert said == Judgment.abstained("there is nothing to ask about", "nothing_to_ask")
    assert model.asked == []


def test_what_a_judge_cannot_be_made_of() -> None:
    wrong: Any = 3
    with pytest.raises(ValueError, match=r"the placeholder \{patch\} is none of"):
        ModelJudge("{patch}", model=Model())
    with pytest.raises(TypeError, match="a template is text or a function, not 3"):
        ModelJudge(wrong, model=Model())
    with pytest.raises(TypeError, match=r"3 is neither a model with ask\(prompt\) nor a function"):
        ModelJudge("{goal}", model=wrong)
    with pytest.raises(ValueError, match="'oracle' is not a valid JudgeType"):
        ModelJudge("{goal}", model=Model(), type="oracle")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("usage", "kept"),
    [
        ({"input_tokens": 7}, {"llm_calls": 1, "input_tokens": 7}),
        ({"requests": 3, "usd": 0.5}, {"llm_calls": 3, "requests": 3, "usd": 0.5}),
        ({}, None),
    ],
)
def test_what_a_response_took_is_kept(usage: dict[str, float], kept: object) -> None:
    said = ModelJudge("{goal}", model=Model({"text": "NO", "usage": 0, **usage})).judge(CONTEXT)
    assert said.status is Status.FAIL
    assert said.metadata.get("usage") == kept


def test_missing_metadata_is_an_error_ballot() -> None:
    judge = ModelJudge("{metadata.branch}", model=Model())
    verdict = Jury.of(MajorityVoting(), judge).vote(CONTEXT)
    assert verdict.individual[0].metadata["reason"] == "prompt_incomplete"


def test_a_criterion_as_a_judge() -> None:
    model = Model("Answer: NO\nReasoning: app.py:3 formats the name into the query")
    judge = criterion_judge(CRITERIA["sql_injection"], model)
    assert (judge.name, judge.description) == ("sql_injection", "SQL injection")
    said = judge.judge(JudgmentContext("find users", agent_output="+ q(f'... {name} {goal}')"))
    assert said == Judgment.failed(
        "app.py:3 formats the name into the query",
        checks=[Check("sql_injection", False, "app.py:3 formats the name into the query")],
    )
    (prompt,) = model.asked
    assert prompt.startswith("You judge a change by one criterion: SQL injection.\n\nDoes every ")
    assert CRITERIA["sql_injection"].text in prompt
    assert "\nAnswer: YES or NO or ABSTAIN\n" in prompt
    assert "meant to do: find users\n" in prompt
    assert prompt.endswith("\n\n+ q(f'... {name} {goal}')\n")


def test_a_criterion_of_ones_own_in_words_of_ones_own() -> None:
    model = Model("Answer: ABSTAIN\nReasoning: no API")
    own = Criterion("api", "API", "Is the {goal} kept?", abstains="Abstain if there is none.")
    template = "{criterion.title}: {criterion.text} {metadata.diff}{form}"
    judge = criterion_judge(own, model, template)
    context = JudgmentContext("g", agent_output="x", metadata={"diff": "D"})
    told = "the reply says neither YES nor NO: no API"
    assert ask(judge, context) == Judgment.abstained(told, "no_answer")
    assert model.asked[0].startswith("API: Is the {goal} kept? Abstain if there is none. DAnswer ")
    with pytest.raises(ValueError, match=r"the placeholder \{criterion.name\} is none of"):
        criterion_judge(own, model, "{criterion.name}")
