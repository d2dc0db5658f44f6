"""Tier 2: is the change good? A model answers, the program checks its quotes and counts."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from prjury.config.schema import QualityOptions
from prjury.deadline import Deadline
from prjury.errors import CannotJudgeError
from prjury.judges.context import PullRequestContext
from prjury.judges.llm.criteria import chosen
from prjury.judges.llm.decide import Opinion, decide, majority, median, prose
from prjury.judges.llm.evidence import Lines, verified
from prjury.judges.llm.instructions import instructions
from prjury.judges.llm.ledger import Ledger
from prjury.judges.llm.prompt import CHARACTERS_PER_TOKEN, Question, ask_about
from prjury.judges.llm.reply import Answer, InvalidReplyError, read
from prjury.judges.llm.sheet import SENT_KINDS, Plan, plan
from prjury.jury.judge import Judge, JudgeType
from prjury.jury.judgment import Check, Judgment
from prjury.jury.voting import NOT_APPLICABLE, NOT_CONFIGURED
from prjury.ports import ChatModel, Doors
from prjury.pull.model import PullRequest
from prjury.report.redact import Redact

NAME = "quality"

#: Seconds for one call, and for all calls of one judgment.
_CALL = 120.0
_ALL_CALLS = 600.0

_SEPARATORS = re.compile(r"[^0-9a-z]+")
_ESCAPE = re.compile(r"\\u00([0-7][0-9a-f])")


def random_word() -> str:
    """128 random bits as 32 hex digits."""
    return secrets.token_hex(16)


def make(options: QualityOptions, doors: Doors) -> Judge[PullRequestContext]:
    """The quality judge.

    Raises:
        ConfigError: for criteria that cannot be asked about.
    """
    return QualityJudge(
        criteria=chosen(options),
        threshold=options.threshold,
        runs=options.runs,
        model=doors.model,
        model_missing=doors.model_missing,
        redact=doors.redact,
    )


class TaintedError(CannotJudgeError):
    """The reply holds the canary: it repeats the instructions, so something else steered it."""

    default_reason = "tainted"


class _UnusableError(CannotJudgeError):
    """Neither the reply nor its repair is what was asked for."""

    default_reason = "invalid_reply"


@dataclass(frozen=True)
class QualityJudge:
    """Asks a model about each criterion; see `prjury.judges.llm`.

    Attributes:
        budget: tokens of the change that are laid before the model in one call.
        word: a new random word at every call.
    """

    criteria: Mapping[str, str]
    threshold: float
    runs: int
    model: ChatModel | None
    model_missing: str
    redact: Redact
    budget: int = 30_000
    word: Callable[[], str] = random_word
    name: str = NAME
    description: str = "asks a model about the quality of the change"
    type: JudgeType = JudgeType.LLM_POWERED

    def judge(self, context: PullRequestContext, /) -> Judgment:
        """The model's answers, counted; ABSTAIN with a reason where there are none to count."""
        subject = {"subject": ", ".join(self.criteria)}
        if self.model is None:
            return Judgment.abstained(self.model_missing, NOT_CONFIGURED, metadata=subject)
        reason = _not_applicable(context.pull)
        if reason:
            return Judgment.abstained(reason, NOT_APPLICABLE, metadata=subject)
        sheets = plan(context.pull.files, self.budget * CHARACTERS_PER_TOKEN, self.redact)
        warnings = instructions(context.pull.files)
        if not sheets.sheets:
            metadata = {**subject, "scope": _scope(sheets, None)}
            reason = "nothing of the change can be laid before a model"
            return Judgment.abstained(reason, "too_large", checks=warnings, metadata=metadata)
        return self._ask(self.model, sheets, warnings, context.deadline.within(_ALL_CALLS))

    def _ask(
        self, model: ChatModel, sheets: Plan, warnings: tuple[Check, ...], deadline: Deadline
    ) -> Judgment:
        """The judgment on the first sheet. Asking about the others, too, belongs here."""
        question = ask_about(sheets.sheets[0], sheets.not_sent(), self.criteria, self.word)
        ledger = Ledger(model)
        opinions, trouble = self._hear(question, Lines(sheets.sheets[0]), ledger, deadline)
        judgment = self._outcome(opinions, trouble)
        about = {
            "subject": ", ".join(self.criteria),
            "model": model.name,
            "answered_by": prose(ledger.answered_by)[:100],
            "prompt": question.about,
            "usage": ledger.usage,
            "scope": _scope(sheets, judgment),
        }
        return _completed(judgment, warnings, about)

    def _hear(
        self, question: Question, lines: Lines, ledger: Ledger, deadline: Deadline
    ) -> tuple[list[Opinion], CannotJudgeError | None]:
        """The opinion of every run that has one, and the last thing that went wrong."""
        opinions: list[Opinion] = []
        trouble: CannotJudgeError | None = None
        for _ in range(self.runs):
            try:
                answers = self._answers(question, ledger, deadline)
            except _UnusableError as error:
                trouble = error
            except CannotJudgeError as error:
                # The next call would meet the same server; and one leak taints every answer.
                return opinions, error
            else:
                opinions.append(Opinion(verified(answers, lines), lines))
        return opinions, trouble

    def _answers(
        self, question: Question, ledger: Ledger, deadline: Deadline
    ) -> Mapping[str, Answer]:
        """The answers of one run: of the first reply, or of the one repair of it."""
        reply = ledger.ask(question.prompt, deadline.within(_CALL)).text
        _refuse_leak(reply, question.canary)
        try:
            return read(reply, self.criteria)
        except InvalidReplyError as error:
            problem = str(error)
        reply = ledger.ask(question.again(problem), deadline.within(_CALL)).text
        _refuse_leak(reply, question.canary)
        try:
            return read(reply, self.criteria)
        except InvalidReplyError as error:
            raise _UnusableError(f"The model's reply could not be used, twice: {error}") from None

    def _outcome(self, opinions: list[Opinion], trouble: CannotJudgeError | None) -> Judgment:
        """The median opinion, if more than half of the runs have one and none is tainted."""
        enough = len(opinions) * 2 > self.runs and not isinstance(trouble, TaintedError)
        if trouble and not enough:
            metadata = {"evidence": {"verified": 0, "dropped": 0}}
            return Judgment.abstained(prose(str(trouble)), trouble.reason, metadata=metadata)
        judgment = decide(median(opinions), self.threshold)
        if self.runs == 1:
            return judgment
        runs = {
            "asked": self.runs,
            "answered": len(opinions),
            "scores": [opinion.score for opinion in opinions],
            "majority": majority(opinions),
        }
        return _completed(judgment, (), {"runs": runs})


def _not_applicable(pull: PullRequest) -> str | None:
    """Why there is nothing for this judge, or None where there is."""
    if pull.docs_only:
        return "only documentation changes"
    if not any(file.hunks or file.unread for file in pull.files if file.kind in SENT_KINDS):
        return "no line of text changes"
    return None


def _refuse_leak(reply: str, canary: str) -> None:
    """Raises where the canary came back, also escaped or with characters strewn between its own."""
    plain = _ESCAPE.sub(lambda escape: chr(int(escape[1], 16)), reply.lower())
    if canary in _SEPARATORS.sub("", plain.lower()):
        raise TaintedError("The reply repeats the instructions, so it is not trusted")


def _scope(sheets: Plan, judgment: Judgment | None) -> dict[str, Any]:
    """What was read; nothing was where no criterion got an answer that counts."""
    unread = [{"path": file.path, "reason": file.reason} for file in sheets.not_sent()]
    if judgment is None or judgment.score is None:
        reason = judgment.label if judgment else None
        silent = [{"path": path, "reason": f"no answer: {reason}"} for path in sheets.sent()]
        return {"read": [], "unread": [*silent, *unread]}
    return {"read": list(sheets.sent()), "unread": unread}


def _completed(judgment: Judgment, checks: tuple[Check, ...], more: dict[str, Any]) -> Judgment:
    return Judgment(
        judgment.status,
        judgment.reasoning,
        judgment.score,
        judgment.label,
        judgment.confidence,
        (*judgment.checks, *checks),
        {**judgment.metadata, **more},
    )
