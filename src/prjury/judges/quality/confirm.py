"""A second question about each finding: does it hold, seen with its surroundings alone?"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from types import MappingProxyType

from prjury.deadline import Deadline
from prjury.errors import CannotJudgeError
from prjury.judges.quality.evidence import Claim, Lines, SecondAnswer, VerifiedAnswer, verify
from prjury.judges.quality.facts import Fact
from prjury.judges.quality.interview import TaintedError, UsageLog, interview
from prjury.judges.quality.known_answers import keep, key_of, remembered
from prjury.judges.quality.prompt_input import Chunk, Passage, Plan, Section, document
from prjury.judges.quality.prompts import Instructions, Prompts
from prjury.judges.quality.question import Form, ReportedFinding
from prjury.ports import ChatModel, Memory

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


@dataclass(frozen=True)
class Surroundings:
    """What a second question may show, and whom it is put to.

    Attributes:
        facts: of which it holds those about names that the finding has.
        models: asked in turn.
    """

    shown: Chunk
    facts: Sequence[Fact]
    models: Sequence[ChatModel]
    deadline: Deadline


@dataclass(frozen=True)
class Confirmer:
    """Asks again about single findings, until one side is ahead.

    Attributes:
        models: who may be asked; others than the finding's author where there are several.
        word: a new random word at every call.
        leaks: replies that repeated the instructions.
    """

    models: Sequence[ChatModel]
    usage_log: UsageLog
    memory: Memory
    word: Callable[[], str]
    leaks: list[TaintedError]

    def confirm(
        self,
        answers: Mapping[str, VerifiedAnswer],
        shown: Chunk,
        facts: Sequence[Fact],
        author: ChatModel,
        deadline: Deadline,
    ) -> dict[str, VerifiedAnswer]:
        """Return the answers with each error confirmed or not."""
        models = [model for model in self.models if model.identity != author.identity]
        around = Surroundings(shown, facts, models or [author], deadline)
        return {
            name: replace(
                answer, claims=tuple(self._settle(claim, around) for claim in answer.claims)
            )
            for name, answer in answers.items()
        }

    def _settle(self, claim: Claim, around: Surroundings) -> Claim:
        """Ask until enough answers more confirm the claim than refute it, or the reverse.

        Where nobody can be asked any more, what was answered before decides.
        """
        if claim.finding.severity != "error":
            return claim
        lead, turn = 0, 0
        while -_REFUTING < lead < _CONFIRMING and turn < _MOST_ANSWERS:
            try:
                lead += _WEIGHTS[self._ask(claim.finding, around, turn)]
            except CannotJudgeError as error:
                if isinstance(error, TaintedError):
                    self.leaks.append(error)
                break
            turn += 1
            if not lead and turn == 1:
                break
        second: SecondAnswer = "unclear"
        if lead and (turn < _MOST_ANSWERS or lead in {-_REFUTING, _CONFIRMING}):
            second = "confirmed" if lead > 0 else "refuted"
        return replace(claim, second=second)

    def _ask(self, finding: ReportedFinding, around: Surroundings, turn: int) -> str:
        """Return the answer of one model: ``pass``, ``fail`` or ``abstain``."""
        chunk = Chunk(tuple(cut_around(finding, around.shown)))
        text = f"{finding.path}, line {finding.line}\n{finding.quote}\n\n{finding.claim}"
        claim = document(CLAIM, "claim", text, str)
        words = set(re.findall(r"\w+", f"{finding.quote} {finding.claim}"))
        facts = tuple(fact for fact in around.facts if fact.name in words)
        form = Form(NAME, confirming_instructions(), CRITERIA, (claim,), facts, bool(turn % 2))
        model = around.models[turn % len(around.models)]
        question = form.ask(chunk, Plan((chunk,)), self.word)
        key = key_of(model.identity, question, chunk, turn)
        seen = Chunk((*chunk.sections, claim))
        known = remembered(self.memory, key, seen, CRITERIA)
        if known is not None:
            self.usage_log.recalled()
            return known["holds"].said
        answers, lasting = interview(model, question, CRITERIA, self.usage_log, around.deadline)
        verified = verify(answers, Lines(seen.sections))
        if lasting:
            keep(self.memory, key, seen, verified)
        return verified["holds"].said


@cache
def confirming_instructions() -> Instructions:
    """Return the instructions of the second question."""
    return Prompts().render(NAME, {"criteria": dict(CRITERIA)})


def cut_around(finding: ReportedFinding, shown: Chunk) -> Iterator[Section]:
    """The part of its section that stands around a finding, with the signs of the change."""
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
                yield replace(section, passages=(Passage(passage.section, rows),))
                return
