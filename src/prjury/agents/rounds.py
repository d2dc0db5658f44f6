"""The rounds of agents as the journal has them: each attempt, and what came of it."""

from __future__ import annotations

import time
from datetime import timedelta

from msgspec import Struct

from prjury.journal.write import record_tools
from prjury.jury.context import JudgmentContext
from prjury.jury.guard import Listener
from prjury.jury.judgment import Status
from prjury.jury.jury import Jury
from prjury.jury.verdicts import JuryVerdict
from prjury.ports import Recorder
from prjury.report.judge_facts import AgentFacts


def record_round(
    recorder: Recorder, number: int, status: Status, started: float, **facts: object
) -> None:
    """Keep an agent's attempt, which began at this moment of `time.monotonic`."""
    ms = round((time.monotonic() - started) * 1000)
    recorder.record("round", number=number, status=status, ms=ms, **facts)


class RecordedRounds(Struct, frozen=True):
    """A jury on an agent's attempts, each of which is kept as a round; the listener hears of it."""

    jury: Jury[JudgmentContext]
    listener: Listener
    recorder: Recorder

    def vote(self, context: JudgmentContext, /) -> JuryVerdict:
        details = context.metadata
        agent = AgentFacts.of_result(details)
        seconds = (context.execution_time or timedelta()).total_seconds()
        started = time.monotonic() - seconds
        record_tools(self.recorder, agent)
        verdict = self.jury.vote(context, listener=self.listener)
        facts = {"agent": context.execution_status, "agent_ms": round(seconds * 1000)}
        number, usd = details["round"], agent.usd
        record_round(self.recorder, number, verdict.status, started, **facts, usd=usd)
        return verdict
