"""A second question about each finding: does it hold, seen with its surroundings alone?"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from types import MappingProxyType

from msgspec.structs import replace

from prjury.deadline import Deadline
from prjury.errors import CannotJudgeError
from prjury.judges.quality.evidence import Answers, Claim, SecondAnswer
from prjury.judges.quality.interview import CallContext
from prjury.judges.quality.prompt_input import Chunk, Passage, Plan, document
from prjury.judges.quality.prompts import Instructions, Prompts
from prjury.judges.quality.question import Form, Question, ReportedFinding
from prjury.ports import ChatModel

NAME = "confirm"
CRITERIA: Mapping[str, str] = MappingProxyType(
    {
        "holds": "Does what the claim says go wrong really go wrong, in the code that is shown? No "
        "if the claim misreads the code, names a situation that cannot occur, or is a matter of "
        "taste. Abstain if it rests on code that is not shown."
    }
)
#: The path under which the claim is quoted; git stores no such path.
CLAIM = "/claim"
_WEIGHTS = {"pass": 1, "fail": -1, "abstain": 0}
#: Answers by which those that confirm a claim, or refute it, have to be ahead. Of a model that errs
#: once in five times this lets 1.5 % of the wrong claims through, and keeps 94 % of the right ones.
_CONFIRMING, _REFUTING = 3, 2
_MOST_ANSWERS = 9
#: Lines that are shown before and after the finding's own.
_AROUND = 25


def confirm_errors(
    answers: Answers, question: Question, author: ChatModel, calls: CallContext, deadline: Deadline
) -> Answers:
    """Return the answers with each error confirmed or not, in turn by others than the author."""
    if not calls.confirmers:
        return answers
    models = [model for model in calls.confirmers if model.identity != author.identity] or [author]
    confirmed = {}
    for name, answer in answers.items():
        claims = tuple(
            _settle_claim(claim, question, models, calls, deadline) for claim in answer.claims
        )
        confirmed[name] = replace(answer, claims=claims)
    return confirmed


def _settle_claim(
    claim: Claim,
    question: Question,
    models: Sequence[ChatModel],
    calls: CallContext,
    deadline: Deadline,
) -> Claim:
    """Ask until enough answers more confirm or refute the claim, or nobody can be asked."""
    if claim.finding.severity != "error":
        return claim
    lead, turn = 0, 0
    while -_REFUTING < lead < _CONFIRMING and turn < _MOST_ANSWERS and (lead or turn != 1):
        second = _ask_about(claim.finding, question, calls, documents_first=bool(turn % 2))
        try:
            answer = calls.ask(models[turn % len(models)], second, turn, deadline)["holds"]
        except CannotJudgeError:
            break
        lead += _WEIGHTS[answer.word]
        turn += 1
    outcome: SecondAnswer = "unclear"
    if lead and (turn < _MOST_ANSWERS or lead in {-_REFUTING, _CONFIRMING}):
        outcome = "confirmed" if lead > 0 else "refuted"
    return replace(claim, second=outcome)


def _ask_about(
    finding: ReportedFinding, question: Question, calls: CallContext, *, documents_first: bool
) -> Question:
    """Return the question about one finding, with the facts about names that it has."""
    chunk = cut_around(finding, question.shown)
    text = f"{finding.path}, line {finding.line}\n{finding.quote}\n\n{finding.claim}"
    claim = document(CLAIM, "claim", text, str)
    words = set(re.findall(r"\w+", f"{finding.quote} {finding.claim}"))
    facts = tuple(fact for fact in question.form.facts if fact.name in words)
    form = Form(NAME, confirming_instructions(), CRITERIA, (claim,), facts, documents_first)
    return form.ask(chunk, Plan((chunk,)), calls.word)


@cache
def confirming_instructions() -> Instructions:
    """Return the instructions of the second question."""
    return Prompts().render(NAME, {"criteria": dict(CRITERIA)})


def cut_around(finding: ReportedFinding, shown: Chunk) -> Chunk:
    """Return the part of its section that stands around a finding, with the signs of the change."""
    for section in shown.sections:
        if section.heading["path"] != finding.path:
            continue
        for passage in section.passages:
            at = [
                number
                for number, row in enumerate(passage.rows)
                if finding.line <= (row.number(finding.side) or 0) <= finding.end_line
            ]
            if at:
                rows = passage.rows[max(0, at[0] - _AROUND) : at[-1] + _AROUND + 1]
                some = (Passage(passage.section, rows),)
                return Chunk((replace(section, passages=some),))
    return Chunk(())
