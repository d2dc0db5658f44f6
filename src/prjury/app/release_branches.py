"""The release branches of a run: which ones, their verdicts, and a model's opinion if needed."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from functools import cached_property

from prjury.deadline import Deadline
from prjury.git.open_snapshot import Snapshot
from prjury.judges.backport.checks.picked import PickedJudges
from prjury.judges.context import PullRequestContext
from prjury.judges.patterns import judge as patterns
from prjury.jury.guard import catch_crash, itself
from prjury.jury.judgment import Judgment, Status
from prjury.jury.voting import BENIGN_LABELS
from prjury.policy.options import PatternsOptions
from prjury.policy.schema import Config
from prjury.policy.tiers import BuildOptions, SuitabilityOptions
from prjury.ports import Ports
from prjury.report.model import NOT_TRIED, Backport

#: Why no backport is tried after such a verdict of a review.
_REFUSALS = {Status.FAIL: "the change is rejected", Status.ERROR: "the change could not be judged"}


@dataclass(frozen=True)
class BranchJudges:
    """Judges release branches in one run."""

    snapshot: Snapshot
    ports: Ports
    config: Config
    build: bool = False
    by_texts: bool = True
    #: The branches on which all checks run; None for all branches.
    thorough: frozenset[str] | None = None

    def judge(self, branches: Sequence[str], deadline: Deadline) -> tuple[Backport, ...]:
        if not branches:
            return ()
        from prjury.git.releases import Releases  # noqa: PLC0415 - many have no branches
        from prjury.judges.backport.context import Tools  # noqa: PLC0415 - as above
        from prjury.judges.backport.judge import BackportJudge  # noqa: PLC0415 - as above

        store = self.snapshot.store
        tools = Tools(
            self.config.backport,
            store,
            Releases(store),
            self.judges_of_picks,
            own_label=self.config.publish.labels.get("backport"),
            texts=self.by_texts,
        )
        judge = BackportJudge(tools, self.thorough)
        return judge.judge(self.snapshot.pull, branches, deadline)

    def start_unless_built_or_conflicting(
        self, branches: Sequence[str], deadline: Deadline, pool: Executor
    ) -> Future[tuple[Backport, ...]] | None:
        """Start to judge beside a review; None where picks are built, or the merge conflicts."""
        later = self.build and self.config.backport.build
        if later or self.snapshot.pull.merge.tree is None:
            return None
        return pool.submit(self.judge, branches, deadline)

    def judge_or_skip_each(
        self,
        branches: Sequence[str],
        verdict: Status,
        deadline: Deadline,
        begun: Future[tuple[Backport, ...]] | None = None,
    ) -> tuple[Backport, ...]:
        """Judge after a review; where it is no pass, only requested branches are tried."""
        refusal = _REFUSALS.get(verdict)
        tried = [name for name in branches if refusal is None or name in (self.thorough or ())]
        judged = begun.result() if tried and begun else self.judge(tried, deadline)
        by_branch = {one.branch: one for one in judged if one.branch in tried}
        why = (f"{NOT_TRIED}: {refusal or ''}",)
        return tuple(
            by_branch.get(name) or Backport(name, "not_applicable", None, reasons=why)
            for name in branches
        )

    @cached_property
    def judges_of_picks(self) -> PickedJudges:
        """The judges of picked changes, with rule packs that are read on first use."""
        entries = [entry for tier in self.config.tiers for entry in tier.judges]
        packs = next((entry.patterns for entry in entries if entry.patterns), PatternsOptions())
        build = None
        if self.build and self.config.backport.build:
            from prjury.judges.builds import make  # noqa: PLC0415 - few want it

            options = next((entry.build for entry in entries if entry.build), BuildOptions())
            build = make(options.with_changes(from_="run"), self.ports)
        return PickedJudges(patterns.make(packs, self.ports), build)

    def read_packs(self) -> None:
        """Read the operator's packs before a build or an agent runs, which could change them."""
        _ = self.judges_of_picks


def ask_model_if_unsure(
    tried: Sequence[Backport], ports: Ports, context: PullRequestContext
) -> Judgment | None:
    """Ask a model where a human has to decide about a clean pick; None if none is asked."""
    if not tried:
        return None
    from prjury.judges.backport.verdict import needs_opinion  # noqa: PLC0415 - as above

    if not any(map(needs_opinion, tried)):
        return None
    options = SuitabilityOptions()
    panel = ports.models.panel(options.model)
    if not panel.models and panel.label in BENIGN_LABELS:
        return None
    from prjury.judges.quality.kinds import make_suitability  # noqa: PLC0415 - most verdicts need no opinion

    judge = make_suitability(options, ports)
    return catch_crash(lambda: judge.judge(context), itself)


def with_opinions(tried: Sequence[Backport], opinion: Judgment | None) -> tuple[Backport, ...]:
    """Add the opinion where a human has to decide about a clean pick."""
    if opinion is None:
        return tuple(tried)
    from prjury.judges.backport.verdict import add_opinion_reasons, needs_opinion  # noqa: PLC0415 - as above

    return tuple(add_opinion_reasons(one, opinion) if needs_opinion(one) else one for one in tried)
