"""Backports outside of a review: ``prjury backport`` and the action's mode ``backport``.

`backport` judges a change for release branches. `judge_and_pick` judges a merged change and makes
the picks that the policy wants as pull requests.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing, contextmanager

from msgspec import Struct, structs

from prjury.app import steps
from prjury.app.composition import make_review_ports
from prjury.app.release_branches import BranchJudges, ask_model_if_unsure, with_opinions
from prjury.app.request import ReviewRequest, RunEnvironment
from prjury.app.steps import OpenedChange
from prjury.deadline import Deadline
from prjury.git.open_snapshot import Landed, NothingToReview
from prjury.git.releases import Releases
from prjury.publishers.backport_pulls import Opening, is_proposable
from prjury.report.backports import Backports
from prjury.report.model import Backport
from prjury.resources import program_version
from prjury.snapshot.picked import Pick, PickedCommit


def backport(request: ReviewRequest, environment: RunEnvironment) -> Backports:
    """Judge the change for branches; one that the base has already is judged as it was merged."""
    with open_judged_backports(request, environment) as (verdicts, _):
        return verdicts


@contextmanager
def open_judged_backports(
    request: ReviewRequest, environment: RunEnvironment, *, by_texts: bool = True
) -> Iterator[tuple[Backports, OpenedChange]]:
    """The verdicts, with the change behind them."""
    started = time.monotonic()
    target = structs.replace(request.target, landed=request.target.landed or Landed())
    with steps.open_change(structs.replace(request, target=target)) as change:
        steps.record_change(change, environment.journal, started)
        snapshot, policy = change.snapshot, change.policy
        ports, _ = make_review_ports(request, environment, policy.config, snapshot)
        chosen = change.choose_branches(only_named=True, by_texts=by_texts)
        if not chosen.names:
            why = "; ".join([*chosen.notes, *chosen.skipped]) or "the policy names none"
            raise NothingToReview(f"No release branch to judge for: {why}. Name one with --onto.")
        context = change.start_clock()
        judges = BranchJudges(snapshot, ports, policy.config, request.build, by_texts)
        with closing(ports.progress):
            backports = judges.judge(chosen.names, context.deadline)
            if request.models:
                backports = with_opinions(backports, ask_model_if_unsure(backports, ports, context))
        verdicts = Backports(
            pull=snapshot.pull,
            backports=backports,
            policy=policy.source,
            policy_hash=policy.hash,
            version=program_version(),
            notes=(*snapshot.pull.notes, *chosen.notes),
            elapsed_ms=round((time.monotonic() - started) * 1000),
        )
        yield verdicts, change


class Picks(Struct, frozen=True):
    """The verdicts on a merged change, and what is to be proposed."""

    opening: Opening | None
    backports: tuple[Backport, ...] = ()
    picks: tuple[Pick, ...] = ()
    reason: str = ""


def judge_and_pick(request: ReviewRequest, environment: RunEnvironment) -> Picks:
    """Judge a merged change; its title and text, which can be edited later, ask for nothing."""
    try:
        with open_judged_backports(request, environment, by_texts=False) as (verdicts, change):
            policy, backports = change.config.backport.open, verdicts.backports
            if not policy.enabled:
                return Picks(None, backports)
            opening = Opening(policy.conflicts, tuple(policy.labels))
            maker = _PickMaker(change, Releases(change.snapshot.store))
            picks = [maker.make_pick(one) for one in backports if is_proposable(one, opening)]
            return Picks(opening, backports, tuple(picks))
    except NothingToReview as nothing:
        return Picks(None, reason=nothing.what)


class _PickMaker(Struct, frozen=True):
    change: OpenedChange
    releases: Releases

    def make_pick(self, backport: Backport) -> Pick:
        pull = self.change.pull
        tip = self.releases.tip(backport.branch_sha or backport.branch)
        clean = backport.tree is not None
        return Pick(
            branch=backport.branch,
            branch_sha=tip.sha,
            branch_tree=tip.tree,
            commits=tuple(self._pick_commits(backport, tip.tree)) if clean else (),
            verdict=backport.verdict,
            number=pull.number or 0,
            title=pull.title,
            url=pull.url or "",
            reasons=backport.reasons,
            conflicts=() if clean else backport.conflicts,
            prerequisites=backport.prerequisites,
            commands=backport.commands,
        )

    def _pick_commits(self, backport: Backport, tip_tree: str) -> Iterator[PickedCommit]:
        pull = self.change.pull
        for entry in backport.prerequisites:
            commit = self._commit(entry.split(" ")[0], tip_tree)
            yield commit
            tip_tree = commit.tree
        if self.change.config.backport.merge != "rebase" or pull.ahead <= 1:
            yield self._make_squashed_commit(tip_tree)
            return
        deadline = Deadline.after(120.0)
        for sha in self.releases.pick_each(pull.merge_base, pull.head.sha, tip_tree, deadline).made:
            commit = self._commit(sha, tip_tree)
            yield commit
            tip_tree = commit.tree

    def _make_squashed_commit(self, tree: str) -> PickedCommit:
        pull = self.change.pull
        after = self.releases.pick(pull.merge_base, pull.head.sha, tree).tree or tree
        message, author = self.releases.read_commit(pull.head.sha)
        if pull.ahead > 1:
            number = f" (#{pull.number})" if pull.number else ""
            message = f"{' '.join(pull.title.split())}{number}\n"
            commits = self.releases.messages(pull.merge_base, pull.head.sha)
            own = next((one.sha for one in commits if len(one.parents) == 1), None)
            author = (self.releases.read_commit(own)[1] if own else None) or author
        files = self.releases.diff_trees(tree, after)
        return PickedCommit(after, files, message, author, (pull.head.sha,))

    def _commit(self, sha: str, tree: str) -> PickedCommit:
        after = self.releases.pick(self.releases.parent(sha), sha, tree).tree or tree
        message, author = self.releases.read_commit(sha)
        return PickedCommit(after, self.releases.diff_trees(tree, after), message, author, (sha,))
