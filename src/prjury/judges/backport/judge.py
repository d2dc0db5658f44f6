"""The backport judge: branches in, one verdict for each out, checked in parallel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor

from msgspec import Struct
from msgspec.structs import replace

from prjury.deadline import Deadline
from prjury.errors import PrJuryError
from prjury.judges.backport.check_list import check_branch_until_settled
from prjury.judges.backport.checks.picks_cleanly import CherryPickTrial, try_pick
from prjury.judges.backport.context import BranchContext, Tools, read_change
from prjury.judges.backport.history import read_history
from prjury.judges.backport.requests.branches import bare, is_locked
from prjury.judges.backport.verdict import decide_backport
from prjury.jury.guard import catch_crash
from prjury.jury.judgment import Check
from prjury.ports.types import BranchTip
from prjury.report.model import Backport
from prjury.snapshot.model import UNSAFE_TREE, PullRequest, printable, visible

#: So many branches are checked at the same time; most of the work is git's.
_AT_ONCE = 4


class BackportJudge(Struct, frozen=True):
    """Judges backports; checks run deeply on ``thorough`` branches, None for all."""

    tools: Tools
    thorough: frozenset[str] | None = None

    def judge(
        self, pull: PullRequest, branches: Sequence[str], deadline: Deadline
    ) -> tuple[Backport, ...]:
        """Return the verdict for each branch, in order."""
        with ThreadPoolExecutor(_AT_ONCE, "backport") as pool:
            opened = list(pool.map(lambda name: self._read_tip_or_verdict(pull, name), branches))
            tips = [each for each in opened if isinstance(each, BranchTip)]
            judged = iter(self._judge_tips(pull, tips, deadline, pool) if tips else ())
        return tuple(each if isinstance(each, Backport) else next(judged) for each in opened)

    def _read_tip_or_verdict(self, pull: PullRequest, name: str) -> BranchTip | Backport:
        """Return the tip of a branch, or the verdict if it is missing or takes no changes."""
        if pull.merge.reason == UNSAFE_TREE:
            return _error(name, pull.merge.impossible or "")
        try:
            tip = self.tools.releases.tip(name)
        except PrJuryError as error:
            return _error(name, str(error))
        where = printable(name)
        if entry := is_locked(name, self.tools.config.locked):
            return _closed(tip, f"the policy locks {where} (`{visible(entry)}`)")
        if bare(name) == bare(pull.base.ref):
            return _closed(tip, f"the change is merged into {where} anyway")
        return tip

    def _judge_tips(
        self, pull: PullRequest, tips: Sequence[BranchTip], deadline: Deadline, pool: Executor
    ) -> list[Backport]:
        # One pick after the other: the first writes the files that the others find written.
        with ThreadPoolExecutor(1, "pick") as picker:
            merging, releases = self.tools.config.merge, self.tools.releases
            picking = {
                tip: picker.submit(try_pick, pull, tip, merging, releases, deadline) for tip in tips
            }
            try:
                contexts = self._read_contexts(pull, picking, deadline, pool)
            except PrJuryError as error:
                picker.shutdown(wait=False, cancel_futures=True)
                return [_error(tip.name, str(error)) for tip in tips]
            return list(pool.map(_verdict, contexts))

    def _read_contexts(
        self,
        pull: PullRequest,
        picking: Mapping[BranchTip, Future[CherryPickTrial]],
        deadline: Deadline,
        pool: Executor,
    ) -> list[BranchContext]:
        # Git reads the branches while the change's public names are compared here.
        reading = pool.map(lambda tip: read_history(pull, tip, self.tools.releases), picking)
        change = read_change(pull, self.tools, deadline)
        histories = list(reading)
        newest = min((len(one.earlier) for one in histories if one.fork_point), default=0)
        return [
            BranchContext(
                self.tools,
                deadline,
                change,
                change.interface,
                tip,
                history,
                pick,
                branches=[one.name for one in picking],
                newest=not history.fork_point or len(history.earlier) == newest,
                others=[one.earlier for one in histories if one is not history],
                thorough=self.thorough is None or tip.name in self.thorough,
            )
            for (tip, pick), history in zip(picking.items(), histories, strict=True)
        ]


def _verdict(context: BranchContext) -> Backport:
    tip = context.tip
    return catch_crash(
        lambda: decide_backport(check_branch_until_settled(context)),
        lambda crash: replace(_error(tip.name, crash.reasoning), branch_sha=tip.sha),
    )


def _error(branch: str, reason: str) -> Backport:
    return Backport(branch, "error", None, reasons=(reason,))


def _closed(tip: BranchTip, reason: str) -> Backport:
    check = Check("branch", passed=False, message=reason, severity="hint")
    return Backport(
        tip.name, "not_applicable", None, reasons=(reason,), checks=(check,), branch_sha=tip.sha
    )
