"""A judge that asks a text model: a template makes the prompt, a function reads the reply."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Generic, Protocol, TypeAlias, runtime_checkable

from prjury.jury.context import ExecutionStatus, JudgmentContext
from prjury.jury.guard import printable
from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Check, Judgment, Status
from prjury.jury.library.execution import output_of, perform, usage_of
from prjury.jury.library.presets import CRITERION_PROMPT, Criterion
from prjury.jury.library.replies import (
    CONFIDENCE_FORM,
    YES_OR_NO_FORM,
    Classifier,
    asks_confidence,
    invalid,
    requires,
    with_confidence,
    yes_or_no,
)
from prjury.jury.library.template import PromptT, Template, template_of


@runtime_checkable
class ModelText(Protocol):
    """A client's response: its text, and the tokens and the price that it may name besides."""

    @property
    def text(self) -> str:
        """The answer."""
        ...


#: What a model answers with: text, a response that has one, or an awaitable of either.
ModelReply: TypeAlias = str | ModelText | Awaitable[str | ModelText]


@runtime_checkable
class JudgeModel(Protocol):
    """A text model of whatever provider."""

    def ask(self, prompt: str, /) -> ModelReply:
        """The model's reply to the prompt, or an awaitable of it; whatever goes wrong is raised."""
        ...


@dataclass(frozen=True, init=False)
class ModelJudge(Generic[PromptT]):
    """A judge that asks a text model; ValueError for an unknown placeholder in its template.

    Args:
        template: a text with placeholders (`Template`), or a function from the context to the
            prompt. A prompt that comes out blank is not asked: ABSTAIN, ``nothing_to_ask``.
        classify: a function from the reply to a judgment, such as `yes_or_no` or `assessment`.
        model: a `JudgeModel`, or a plain or async function from prompt to reply.
    """

    template: Callable[[PromptT], str]
    classify: Classifier
    model: Callable[[str], ModelReply] = field(repr=False)  # a client may show its key
    name: str
    description: str
    type: JudgeType

    def __init__(
        self,
        template: str | Callable[[PromptT], str],
        classify: Classifier = yes_or_no,
        *,
        model: JudgeModel | Callable[[str], ModelReply],
        name: str = "model",
        description: str = "",
        type: JudgeType = JudgeType.LLM_POWERED,  # noqa: A002 - as in `prjury.judge`
    ) -> None:
        self.__dict__.update(  # the class is frozen, and takes texts where it holds functions
            template=template_of(template),
            classify=classify,
            model=asker(model),
            name=name,
            description=description,
            type=JudgeType(type),
        )

    def judge(self, context: PromptT, /) -> Judgment:
        """The classifier's judgment on the model's reply.

        ERROR where there is none: ``model_failed``, ``timeout`` or ``cancelled`` when the model
        raises (or the reason of the `PrJuryError` that it raises), ``reply_invalid`` when the reply
        is empty or no text.
        """
        prompt = fill_template(self.template, context)
        if not prompt.strip():
            return Judgment.abstained("there is nothing to ask about", "nothing_to_ask")
        execution = perform(lambda: self.model(prompt))
        if execution.status is not ExecutionStatus.SUCCESS:
            return make_error("model", execution.status, execution.error, execution.reason)
        return classify_reply(execution.result, self.classify, self.name, context)

    def asking_confidence(self) -> ModelJudge[PromptT]:
        """The same judge that also asks how sure the model is, as `assessment` does anyway."""
        if asks_confidence(self.classify):
            return self
        return ModelJudge(
            ask_how_sure(self.template),
            with_confidence(self.classify),
            model=self.model,
            name=self.name,
            description=self.description,
            type=self.type,
        )


def ask_how_sure(template: Callable[[PromptT], str]) -> Callable[[PromptT], str]:
    """The template with the question at its end how sure the answer is; blank if it is blank."""

    def make_prompt(context: PromptT) -> str:
        text = fill_template(template, context)
        return f"{text}\n\n{CONFIDENCE_FORM}" if text.strip() else text

    return make_prompt


def criterion_judge(
    criterion: Criterion,
    model: JudgeModel | Callable[[str], ModelReply],
    template: str = CRITERION_PROMPT,
) -> ModelJudge[JudgmentContext]:
    """A judge, named like the criterion, of the change in the context's agent output.

    Without any agent output there is nothing to ask about, and it abstains. The template may
    hold ``{criterion.title}``, ``{criterion.text}`` and ``{form}``, the form of the answer.
    """
    about = {"criterion.title": criterion.title, "criterion.text": criterion.text}
    text = Template(template, {**about, "form": YES_OR_NO_FORM})

    def prompt(context: JudgmentContext) -> str:
        return text(context) if (context.agent_output or "").strip() else ""

    return ModelJudge(prompt, model=model, name=criterion.name, description=criterion.title)


def fill_template(template: Callable[[PromptT], str], context: PromptT) -> str:
    """The template's text for the context, fit to be sent."""
    text: object = template(context)
    if not isinstance(text, str):
        raise TypeError(f"the template returned a {type(text).__name__} instead of text")
    return printable(text)


def classify_reply(reply: object, classify: Classifier, name: str, context: object) -> Judgment:
    """The classifier's judgment on the reply; ERROR for one that is empty or has no text."""
    text = output_of(reply)
    if text is None:
        return invalid(f"the reply is a {type(reply).__name__} instead of text")
    if not text.strip():
        return invalid("the reply is empty")
    extra = (context,) if requires(classify, 2) else ()
    judgment: object = classify(text, *extra)
    if not isinstance(judgment, Judgment):
        message = f"{name} classifies a reply as a {type(judgment).__name__} instead of a Judgment"
        raise TypeError(message)
    votes = judgment.status in {Status.PASS, Status.FAIL}
    if votes and not judgment.checks and inspect.unwrap(classify) is inspect.unwrap(yes_or_no):
        check = Check(name, judgment.status is Status.PASS, judgment.reasoning)
        judgment = replace(judgment, checks=(check,))
    usage = usage_of(reply)
    if not usage:
        return judgment
    return judgment.with_metadata(usage={"llm_calls": usage.get("requests", 1), **usage})


def make_error(
    who: str, status: ExecutionStatus, error: str | None, reason: str | None = None
) -> Judgment:
    """The ERROR for a model or an agent that did not come to an end."""
    word, verb = {
        ExecutionStatus.TIMEOUT: ("timeout", "did not answer in time"),
        ExecutionStatus.CANCELLED: ("cancelled", "was cancelled"),
    }.get(status, (f"{who}_failed", "failed"))
    message = f"the {who} {verb}: {printable(error)}" if error else f"the {who} {verb}"
    return Judgment.errored(message, metadata={"reason": reason or word})


def asker(model: JudgeModel | Callable[[str], ModelReply]) -> Callable[[str], ModelReply]:
    """The function that asks the model."""
    if isinstance(model, JudgeModel):
        return model.ask
    if callable(model):
        return model
    raise TypeError(f"{model!r} is neither a model with ask(prompt) nor a function")
