"""An agent's attempts in the journal: how each ended, and what it took."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from prjury.ports import Recorder

if TYPE_CHECKING:
    from prjury.jury.context import JudgmentContext
    from prjury.jury.guard import Listener
    from prjury.jury.jury import Jury, JuryVerdict


@dataclass
class RecordedRounds:
    """A jury on an agent's attempts, each of which is kept as a round.

    Attributes:
        listener: hears of the judges.
        number: of the last round.
    """

    jury: Jury[JudgmentContext]
    listener: Listener
    recorder: Recorder
    number: int = 0

    def vote(self, context: JudgmentContext, /) -> JuryVerdict:
        """The jury's verdict on one attempt."""
        started = time.monotonic()
        self.number += 1
        verdict = self.jury.vote(context, listener=self.listener)
        worked = context.execution_time.total_seconds() if context.execution_time else 0.0
        self.recorder.record(
            "round",
            number=self.number,
            status=verdict.status.value,
            agent=context.execution_status.value,
            agent_ms=round(worked * 1000),
            ms=round((worked + time.monotonic() - started) * 1000),
        )
        return verdict
