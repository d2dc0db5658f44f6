"""The outcome of a plan on a base, kept for the next change on the same base."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from prjury.judges.builds.outcome import PlanOutcome
from prjury.judges.builds.plan import BuildPlan
from prjury.policy.schema import BuildOptions
from prjury.ports import Memory
from prjury.ports.types import TreeEntry
from prjury.report.invisible_chars import without_surrogates
from prjury.report.redact import Redact, redacted
from prjury.resources import own_version


def _machine() -> tuple[str, str, str]:
    system = os.uname()
    return system.sysname, system.release, system.machine


@dataclass(frozen=True)
class KeptBase:
    """Keeps what a plan came to on a tree, in the operator's memory of earlier runs.

    A kept outcome excuses nothing: it is asked for only where the change passes, to see which
    tests no longer run. So a memory will do that an earlier build could have written to: such a
    build could change the installation as well.

    Attributes:
        redact: takes secrets out; an outcome whose tests have other names then is not kept.
        environ: the environment of builds, which says where their tools come from.
    """

    memory: Memory
    redact: Redact
    environ: Mapping[str, str]

    def recall(self, plan: BuildPlan, tree: Sequence[TreeEntry]) -> PlanOutcome | None:
        """The outcome of the plan on this tree, None where it is not known."""
        from prjury.judges.builds.record import EvidenceReader, OutcomeJson  # noqa: PLC0415 - models that only this needs

        kept = self.memory.recall(self._key(plan, tree))
        if kept is None:
            return None
        try:
            record = OutcomeJson.model_validate(json.loads(kept))
            return EvidenceReader(plan, frozenset(), BuildOptions()).outcome(plan, record)
        except (ValueError, RecursionError):
            return None

    def keep(self, plan: BuildPlan, tree: Sequence[TreeEntry], outcome: PlanOutcome) -> None:
        """Keep an outcome that says something about the tree: no limit and no fault ended it."""
        from prjury.judges.builds.record import EvidenceRecorder  # noqa: PLC0415 - see above

        if outcome.last.completed.stopped or outcome.environment:
            return
        recorder = EvidenceRecorder(lambda text: redacted(without_surrogates(text), self.redact))
        record = recorder.outcome(outcome)
        if record["reports"]["ran"] == list(outcome.reports.ran):
            self.memory.keep(self._key(plan, tree), json.dumps(record))

    def _key(self, plan: BuildPlan, tree: Sequence[TreeEntry]) -> str:
        steps = [[step.name, step.text] for step in plan.steps]
        how = [plan.system, plan.directory, steps, dict(plan.env), list(plan.reports)]
        where = [own_version(), *_machine(), sorted(self.environ.items())]
        files = [[entry.path, entry.mode, entry.blob] for entry in tree]
        text = json.dumps([how, where, files], sort_keys=True)
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        return f"base outcome {digest}"
