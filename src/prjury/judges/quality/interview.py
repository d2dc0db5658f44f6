"""Questions to models: each with one repair, its answers kept, and its errors confirmed by others.

An answer is kept under all that it depends on: the model with its options, the instructions, the
text of the chunk, and which of several equal questions it was. Findings are kept at rows of their
chunk, not at numbers of lines, so that they still hold after a rebase that only moves the lines.
"""

from __future__ import annotations

import json
import math
import re
import secrets
import time
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any

import msgspec
from msgspec import Struct, field
from msgspec.structs import asdict, replace

from prjury.deadline import Deadline
from prjury.errors import CannotJudgeError
from prjury.judges.quality.evidence import (
    Answers,
    Claim,
    InvalidReplyError,
    Lines,
    ReportedFinding,
    VerifiedAnswer,
    read_answers,
    verify_answers,
)
from prjury.judges.quality.prompt_input import Chunk, Passage, Plan, digest_of, make_document
from prjury.judges.quality.question import Form, Instructions, Prompts, Question
from prjury.models.wrappers import FREE
from prjury.ports import ChatModel, Memory, NoMemory
from prjury.ports.messages import ModelError, Prompt, Reply, UnsentError


class ModelCall(Struct, frozen=True):
    """One call: who was asked, tokens, US dollars (None where the price is not known), time."""

    model: str
    input_tokens: int
    output_tokens: int
    usd: float | None
    elapsed_ms: int


class UsageLog(Struct, frozen=True):
    """Every call of one judgment, also those that come to nothing; several threads may enter."""

    calls: list[ModelCall] = field(default_factory=list)
    replies: list[Reply] = field(default_factory=list)
    recalled: list[str] = field(default_factory=list)

    def ask_and_record(self, model: ChatModel, prompt: Prompt, deadline: Deadline) -> Reply:
        """Return the model's reply, or raise its error."""
        started = time.monotonic()
        try:
            reply = model.ask(prompt, deadline)
        except UnsentError:
            raise
        except CannotJudgeError as error:
            spent = error.spent if isinstance(error, ModelError) else None
            usd = 0.0 if error.reason in FREE else None
            self._enter(model, spent or Reply("", model.name, usd=usd), started)
            raise
        self._enter(model, reply, started)
        self.replies.append(reply)
        return reply

    def _enter(self, model: ChatModel, it: Reply, started: float) -> None:
        ms = round((time.monotonic() - started) * 1000)
        self.calls.append(ModelCall(model.name, it.input_tokens, it.output_tokens, it.usd, ms))

    @property
    def answered_by(self) -> str:
        return ", ".join(dict.fromkeys(reply.model for reply in self.replies if reply.model))

    @property
    def usage(self) -> dict[str, Any]:
        """The calls and their sum; ``usd`` is None as soon as one price is not known."""
        calls = list(self.calls)
        prices = [call.usd for call in calls if call.usd is not None]
        return {
            "llm_calls": len(calls),
            "cached_calls": len(self.recalled),
            "input_tokens": sum(call.input_tokens for call in calls),
            "output_tokens": sum(call.output_tokens for call in calls),
            "usd": math.fsum(prices) if len(prices) == len(calls) else None,
            "calls": [asdict(call) for call in calls],
        }


_SEPARATORS = re.compile(r"[^0-9a-z]+")
_ESCAPE = re.compile(r"\\u00([0-7][0-9a-f])")


def random_word() -> str:
    """Return 128 random bits as 32 hex digits."""
    return secrets.token_hex(16)


class TaintedError(CannotJudgeError):
    """The reply holds the canary: it repeats the instructions, so something else steered it."""

    default_reason = "tainted"


class UnusableError(CannotJudgeError):
    """Neither the reply nor its repair is what was asked for."""

    default_reason = "invalid_reply"


class CallContext(Struct, frozen=True):
    """How the seats of one judgment ask, whom besides, and which replies leaked instructions."""

    usage_log: UsageLog = field(default_factory=UsageLog)
    memory: Memory = field(default_factory=NoMemory)
    word: Callable[[], str] = random_word
    parallel: bool = True
    leaks: list[TaintedError] = field(default_factory=list)
    passes: int = 1
    confirmers: tuple[ChatModel, ...] = ()

    def recall_or_ask(
        self, model: ChatModel, question: Question, sample: int, deadline: Deadline
    ) -> Answers:
        """Return the verified answers to one of several equal questions, of memory if there."""
        key = key_of(model.identity, question, sample)
        if (answers := self.recall(model, question, sample)) is not None:
            self.usage_log.recalled.append(key)
            return answers
        prompt, problem = question.prompt, ""
        for _ in range(2):
            text = self.usage_log.ask_and_record(model, prompt, deadline).text
            # The canary may come back escaped, or with characters strewn between its own.
            plain = _ESCAPE.sub(lambda escape: chr(int(escape[1], 16)), text.lower()).lower()
            if prompt.nonces[-1] in _SEPARATORS.sub("", plain):
                leak = TaintedError("The reply repeats the instructions, so it is not trusted")
                self.leaks.append(leak)
                raise leak
            try:
                answers = verify_answers(
                    read_answers(text, question.form.criteria), Lines(question.shown.sections)
                )
            except InvalidReplyError as error:
                problem = str(error)
                prompt = question.with_problem(problem)
                continue
            store_answers(self.memory, key, question.shown, answers)
            return answers
        raise UnusableError(f"The model's reply could not be used, twice: {problem}")

    def recall(self, model: ChatModel, question: Question, sample: int) -> Answers | None:
        key = key_of(model.identity, question, sample)
        return load_answers(self.memory, key, question.shown, question.form.criteria)


_FORM = 4


def key_of(model: str, question: Question, sample: int) -> str:
    """Return under which key the answer to a question is kept."""
    # The numbers of lines are not in it.
    chunk = digest_of([section.digest for section in question.chunk.sections])
    return digest_of([_FORM, "answer", model, question.digest, chunk, sample])


def load_answers(memory: Memory, key: str, shown: Chunk, criteria: Iterable[str]) -> Answers | None:
    """Return the answers that were kept, with today's line numbers; None if none, or damaged."""
    text = memory.recall(key)
    if text is None:
        return None
    rows, lines = list(shown.rows), Lines(shown.sections)
    try:
        stored = msgspec.convert(json.loads(text), dict[str, VerifiedAnswer])
        answers = {}
        for name in criteria:
            claims = []
            for claim in stored[name].claims:
                finding = claim.finding
                (section, first), (_, last) = rows[finding.line - 1], rows[finding.end_line - 1]
                line, end_line = (row.number(finding.side) or 0 for row in (first, last))
                path = section.heading["path"]
                finding = replace(finding, path=path, line=line, end_line=end_line)
                if not lines.matches_quote(finding):
                    return None
                claims.append(replace(claim, finding=finding))
            answers[name] = replace(stored[name], claims=tuple(claims))
    except (msgspec.ValidationError, ValueError, KeyError, IndexError, RecursionError):
        return None
    return answers


def store_answers(memory: Memory, key: str, shown: Chunk, answers: Answers) -> None:
    rows = list(enumerate(shown.rows, start=1))
    stored = {}
    for name, answer in answers.items():
        claims = []
        for claim in answer.claims:
            finding = claim.finding
            at = [
                number
                for number, (section, row) in rows
                if section.heading["path"] == finding.path
                and finding.covers(row.number(finding.side))
            ]
            finding = replace(finding, line=at[0], end_line=at[-1])
            claims.append(replace(claim, finding=finding))
        stored[name] = replace(answer, claims=tuple(claims))
    memory.keep(key, json.dumps(msgspec.to_builtins(stored)))  # which may have half a pair


CONFIRM = "confirm"
_CONFIRM_CRITERIA: Mapping[str, str] = {
    "holds": "Does what the claim says go wrong really go wrong, in the code that is shown? No "
    "if the claim misreads the code, names a situation that cannot occur, or is a matter of "
    "taste. Abstain if it rests on code that is not shown."
}
#: The path under which the claim is quoted; git stores no such path.
CLAIM = "/claim"
_WEIGHTS = {"pass": 1, "fail": -1, "abstain": 0}
#: Answers by which those that confirm a claim, or refute it, have to be ahead. Of a model that errs
#: once in five times this lets 1.5 % of the wrong claims through, and keeps 94 % of the right ones.
_CONFIRMING, _REFUTING = 3, 2
_MOST_ANSWERS = 9
#: Lines that are shown before and after the finding's own.
_AROUND = 25


def double_check_errors(
    answers: Answers, question: Question, author: ChatModel, calls: CallContext, deadline: Deadline
) -> Answers:
    """Return the answers with each error confirmed or not, in turn by others than the author."""
    if not calls.confirmers:
        return answers
    models = [model for model in calls.confirmers if model.identity != author.identity] or [author]

    def double_check(claim: Claim) -> Claim:
        """Ask until enough answers more confirm or refute the claim, or nobody can be asked."""
        if claim.finding.severity != "error":
            return claim
        lead, at = 0, 0
        while -_REFUTING < lead < _CONFIRMING and at < _MOST_ANSWERS and (lead or at != 1):
            query = _make_recheck(claim.finding, question, calls, documents_first=bool(at % 2))
            try:
                answer = calls.recall_or_ask(models[at % len(models)], query, at, deadline)["holds"]
            except CannotJudgeError:
                break
            lead += _WEIGHTS[answer.word]
            at += 1
        outcome = "unclear"
        if lead and (at < _MOST_ANSWERS or lead in {-_REFUTING, _CONFIRMING}):
            outcome = "confirmed" if lead > 0 else "refuted"
        return replace(claim, second=outcome)

    return {
        name: replace(answer, claims=tuple(map(double_check, answer.claims)))
        for name, answer in answers.items()
    }


def _make_recheck(
    finding: ReportedFinding, question: Question, calls: CallContext, *, documents_first: bool
) -> Question:
    chunk = _cut_chunk_around(finding, question.shown)
    text = f"{finding.path}, line {finding.line}\n{finding.quote}\n\n{finding.claim}"
    claim = make_document(CLAIM, "claim", text, str)
    words = set(re.findall(r"\w+", f"{finding.quote} {finding.claim}"))
    facts = tuple(fact for fact in question.form.facts if fact.name in words)
    instructions = confirming_instructions()
    form = Form(CONFIRM, instructions, _CONFIRM_CRITERIA, (claim,), facts, documents_first)
    return form.fill(chunk, Plan((chunk,)), calls.word)


@cache
def confirming_instructions() -> Instructions:
    return Prompts().render(CONFIRM, {"criteria": dict(_CONFIRM_CRITERIA)})


def _cut_chunk_around(finding: ReportedFinding, shown: Chunk) -> Chunk:
    for section in shown.sections:
        for passage in section.passages if section.heading["path"] == finding.path else ():
            numbers = enumerate(row.number(finding.side) for row in passage.rows)
            if at := [index for index, number in numbers if finding.covers(number)]:
                rows = passage.rows[max(0, at[0] - _AROUND) : at[-1] + _AROUND + 1]
                return Chunk((replace(section, passages=(Passage(passage.section, rows),)),))
    return Chunk(())
