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
_MEANINGS: Mapping[str, SecondAnswer] = MappingProxyType(
    {"pass": "confirmed", "fail": "refuted", "abstain": "unclear"}
)
#: Lines that are shown before and after the finding's own.
_AROUND = 25


@dataclass(frozen=True)
class Confirmer:
    """Asks once more about single findings.

    Attributes:
        models: who may be asked; another one than the finding's author where there are several.
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
        """Return the answers with each error confirmed or not.

        Args:
            facts: of which the second question holds those about names that the finding has.
        """
        model = next((m for m in self.models if m.identity != author.identity), author)
        return {
            name: replace(
                answer,
                claims=tuple(
                    self._settle(claim, shown, facts, model, deadline) for claim in answer.claims
                ),
            )
            for name, answer in answers.items()
        }

    def _settle(
        self,
        claim: Claim,
        shown: Chunk,
        facts: Sequence[Fact],
        model: ChatModel,
        deadline: Deadline,
    ) -> Claim:
        if claim.finding.severity != "error":
            return claim
        try:
            return replace(claim, second=self._ask(claim.finding, shown, facts, model, deadline))
        except CannotJudgeError as error:
            if isinstance(error, TaintedError):
                self.leaks.append(error)
            return replace(claim, second="unclear")

    def _ask(
        self,
        finding: ReportedFinding,
        shown: Chunk,
        facts: Sequence[Fact],
        model: ChatModel,
        deadline: Deadline,
    ) -> SecondAnswer:
        chunk = Chunk(tuple(cut_around(finding, shown)))
        text = f"{finding.path}, line {finding.line}\n{finding.quote}\n\n{finding.claim}"
        claim = document(CLAIM, "claim", text, str)
        words = set(re.findall(r"\w+", f"{finding.quote} {finding.claim}"))
        about = tuple(fact for fact in facts if fact.name in words)
        form = Form(NAME, confirming_instructions(), CRITERIA, (claim,), about)
        question = form.ask(chunk, Plan((chunk,)), self.word)
        key = key_of(model.identity, question, chunk, 0)
        seen = Chunk((*chunk.sections, claim))
        known = remembered(self.memory, key, seen, CRITERIA)
        if known is not None:
            self.usage_log.recalled()
            return _MEANINGS[known["holds"].said]
        answers, lasting = interview(model, question, CRITERIA, self.usage_log, deadline)
        verified = verify(answers, Lines(seen.sections))
        if lasting:
            keep(self.memory, key, seen, verified)
        return _MEANINGS[verified["holds"].said]


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
