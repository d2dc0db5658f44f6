"""The steps that a review and its four stages share; `review` and `stages` put them in order."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import UTC, datetime

from msgspec import Struct, structs

from prjury.app.composition import list_run_options
from prjury.app.policy_in_force import (
    answers_commands,
    edits_workflow,
    note_policy_or_ci_edits,
    policy_in_force,
)
from prjury.app.registry import Casting, Seating, Unwanted, seat_as_named
from prjury.app.release_branches import BranchJudges, ask_model_if_unsure
from prjury.app.request import ReviewRequest
from prjury.deadline import Deadline
from prjury.errors import SourceError, UsageError
from prjury.git.open_snapshot import Snapshot, open_snapshot
from prjury.judges.backport.checks.asked_for import find_requests, list_requested_branches_and_notes
from prjury.judges.backport.requests.branches import ChosenBranches, bare, choose_target_branches
from prjury.judges.context import AskedBeforeBuilds, CallSite, PullRequestContext
from prjury.jury.judgment import Judgment, Status
from prjury.jury.verdicts import Verdict
from prjury.jury.voting import Ballot
from prjury.models.wrappers import Spent
from prjury.policy.load import Policy
from prjury.policy.schema import Config
from prjury.ports import Ports, Progress, Recorder
from prjury.ports.types import LinkedIssue
from prjury.report.judge_facts import AgentFacts, PanelFacts
from prjury.report.model import Backport, Cost, EarlierVotes, PolicyOrigin, Recovery, Report
from prjury.snapshot import exempt
from prjury.snapshot.exempt import matches
from prjury.snapshot.model import PullRequest, patch_id, printable


def list_tiers_judging_no_path(config: Config, pull: PullRequest) -> tuple[str, ...]:
    """The tiers that judge no changed path: of each path the first entry counts, or all judge."""
    every = [tier.name for tier in config.tiers]
    if not (config.paths and pull.files):
        return ()
    paths = {path for file in pull.files for path in (file.path, file.old_path) if path}
    names = set[str]()
    for path in paths:
        tiers = every
        for entry in config.paths:
            if any(matches(path, glob) for glob in entry.match):
                tiers = entry.tiers
                break
        names.update(tiers)
    return tuple(name for name in every if name not in names)


#: The judges that run what the change brings, or read what a run has left behind.
RUNNING = ("build", "command", "coverage", "findings")


class OpenedChange(Struct, frozen=True):
    """What is judged, and by which policy: a request together with its snapshot."""

    request: ReviewRequest
    snapshot: Snapshot
    policy: Policy

    @property
    def config(self) -> Config:
        return self.policy.config

    @property
    def pull(self) -> PullRequest:
        return self.snapshot.pull

    @property
    def unwanted(self) -> Unwanted:
        request = self.request
        off = () if request.build else RUNNING
        if not (request.build or request.trusts_policy or request.config):
            off = (*off, "python")  # it is the repository's, too
        models = None if request.models else "--no-llm"
        elsewhere = list_tiers_judging_no_path(self.config, self.pull)
        return Unwanted(dict.fromkeys(off, "--no-build"), models, elsewhere)

    @property
    def seconds(self) -> float:
        timeout = self.request.timeout
        return float(self.config.limits.wall if timeout is None else timeout)

    @property
    def notes(self) -> tuple[str, ...]:
        store, path = self.snapshot.store, self.request.policy_path
        work_tree = store.operator.work_tree
        return note_policy_or_ci_edits(self.pull, store, self.request.config, work_tree, path)

    @property
    def answers_commands(self) -> bool:
        return answers_commands(self.pull, self.snapshot.store)

    def start_clock(self) -> PullRequestContext:
        return replace(context_of(self.pull, self.seconds), workflow=self.request.workflow)

    def add_call_site_and_issue_lookups(
        self, context: PullRequestContext, environ: Mapping[str, str]
    ) -> PullRequestContext:
        """The context for judges that ask models, who may look beyond the change."""

        def find() -> tuple[CallSite, ...]:
            from prjury.judges.quality import surroundings  # noqa: PLC0415 - for models

            store = self.snapshot.store
            files = surroundings.widen_hunks_once(context, store, context.deadline)
            return surroundings.find_call_sites_and_definitions(self.pull, files, store)

        def read() -> tuple[LinkedIssue, ...]:
            from prjury.github.issues import fetch_issues_or_problems  # noqa: PLC0415 - for one judge

            url = self.request.target.url or self.snapshot.store.operator.remote_url
            return fetch_issues_or_problems(self.pull, url, environ, offline=self.request.offline)

        return replace(context, find_call_sites=find, read_issues=read)

    def branch_judges(self, ports: Ports, *, build: bool = False) -> BranchJudges:
        """Those that judge release branches beside a review; the operator's own get all checks."""
        requested = frozenset(self.request.backport_to)
        return BranchJudges(self.snapshot, ports, self.config, build, thorough=requested)

    def choose_branches(self, *, only_named: bool = False, by_texts: bool = True) -> ChosenBranches:
        own_names = self.request.backport_to
        if (own_names and only_named) or self.request.target.uncommitted:
            return ChosenBranches(tuple(dict.fromkeys(own_names)))
        operator = self.snapshot.store.operator
        try:
            branches, default = operator.branches(), operator.default_branch().ref
        except SourceError as error:
            return ChosenBranches(own_names, (f"the release branches cannot be listed: {error}",))
        taken = choose_target_branches(branches, default, self.config.backport, self.pull.base.ref)
        own = self.config.publish.labels.get("backport")
        sources = find_requests(self.pull, self.config.backport, (), own, trust_texts=by_texts)
        aside = {bare(default), bare(self.pull.base.ref)}
        others = [branch.name for branch in branches if bare(branch.name) not in aside]
        requested, notes = list_requested_branches_and_notes(sources, others)
        names = dict.fromkeys((*own_names, *taken.names, *requested))
        return ChosenBranches(tuple(names), (*taken.notes, *notes), taken.skipped)


@contextmanager
def open_change(request: ReviewRequest) -> Iterator[OpenedChange]:
    with open_snapshot(request.target) as snapshot:
        pull, store = snapshot.pull, snapshot.store
        policy = policy_in_force(pull, store, request.config, request.policy_path)
        pull = exempt.mark_exempt(pull, policy.config.coverage.exempt)
        yield OpenedChange(request, structs.replace(snapshot, pull=pull), policy)


def record_change(change: OpenedChange, journal: Recorder, started: float) -> None:
    pull = change.pull
    journal.record(
        "change",
        repo=pull.repo,
        number=pull.number,
        base=pull.base.sha,
        head=pull.head.sha,
        files=len(pull.files),
        policy=change.policy.source,
        policy_sha256=change.policy.hash,
        ms=round((time.monotonic() - started) * 1000),
    )


def record_verdict(report: Report, journal: Recorder) -> None:
    journal.record(
        "verdict",
        status=report.verdict.status.value,
        gate=report.gate.value,
        decided_by=report.verdict.decided_by,
        headline=report.headline,
        **structs.asdict(report.cost),
    )


def refuse_unread_evidence(change: OpenedChange) -> None:
    """Refuse evidence that no judge reads: the operator believes that it was judged."""
    evidence = change.request.evidence
    if evidence and not any(each.from_ == "evidence" for each in list_run_options(change.config)):
        raise UsageError(
            f"The evidence {evidence} is given, and no build judge of the policy reads it",
            remedy="Leave it out, or set `build: {from: evidence}` in the policy",
        )


def choose_casting(change: OpenedChange) -> Casting:
    """Seat the judges that the policy names, with votes of an earlier run and what is dismissed."""
    casting: Casting = seat_as_named
    dismissals = change.request.dismissals
    if votes := _find_reusable_votes(change):
        from prjury.app.replay import replay_models_only  # noqa: PLC0415 - a first run has none

        casting = replay_models_only(votes.judgments)
    if dismissals:
        from prjury.app.replay import honour_dismissals  # noqa: PLC0415 - few are dismissed

        casting = honour_dismissals(casting, change.config, dismissals)
    return casting


def _find_reusable_votes(change: OpenedChange) -> EarlierVotes | None:
    """The models' votes of an earlier run, if they are on this very change and by this policy.

    A change that touches workflows may itself have written what its earlier run left behind.
    """
    votes, policy = change.request.earlier_votes, change.policy
    if votes is None or votes.patch != patch_id(change.pull):
        return None
    same = votes.policy in {policy.hash, policy.built_elsewhere.hash}
    return votes if same and not edits_workflow(change.pull) else None


def context_of(pull: PullRequest, seconds: float) -> PullRequestContext:
    goal = f"merge {printable(pull.head.ref)} into {printable(pull.base.ref)}"
    return PullRequestContext(goal, pull=pull, deadline=Deadline.after(seconds))


def vote(seating: Seating, context: PullRequestContext, progress: Progress) -> Verdict:
    """The cascade's verdict; the progress display ends with it."""
    with closing(progress):
        return hold_vote(seating, context, progress)


def hold_vote(seating: Seating, context: PullRequestContext, progress: Progress) -> Verdict:
    """The cascade's verdict; what must not depend on a build is asked before anything runs."""
    for tier in seating.cascade.tiers:
        for each in tier.jury.seats if tier.jury else ():
            if isinstance(each.judge, AskedBeforeBuilds):
                each.judge.prepare(context)
    timeout = context.deadline.remaining
    listener = BallotKeeper(progress, context.ballots)
    return seating.cascade.vote(context, timeout=timeout, listener=listener)


class BallotKeeper(Struct, frozen=True):
    """Keeps what judges say, for those that are asked later (`prjury.jury.guard.Listener`)."""

    progress: Progress
    ballots: list[Ballot]

    def judge_started(self, jury: str, judge: str) -> None:
        self.progress.judge_started(jury, judge)

    def judge_finished(self, jury: str, ballot: Ballot) -> None:
        self.ballots.append(ballot)
        self.progress.judge_finished(jury, ballot)


def apply_calibration(change: OpenedChange, verdict: Verdict) -> tuple[Verdict, tuple[str, ...]]:
    """Return the verdict with the tiers blocking that have earned it, and why others have not."""
    if not any(attempt.advisory and attempt.verdict for attempt in verdict.attempts):
        return verdict, ()
    from prjury.app.earning import let_tiers_block, read_base_record  # noqa: PLC0415 - models were asked

    record = read_base_record(change.snapshot.store, change.pull.base.sha, change.config)
    return let_tiers_block(verdict, change.config, record, datetime.now(UTC).date())


def attempt_repair_if_wanted(
    change: OpenedChange,
    seating: Seating,
    verdict: Verdict,
    ports: Ports,
    context: PullRequestContext,
) -> Recovery | None:
    """The outcome of an agent's attempt to repair the tests, where the policy wants one."""
    fix = change.config.fix
    if not fix.enabled or (fix.when == "asked" and not change.request.asks_fix):
        return None
    from prjury.agents.repair import TestsRepair  # noqa: PLC0415 - few want it
    from prjury.judges.builds.judge import TreeBuildJudge  # noqa: PLC0415 - backports need none

    builds = [
        (seat.judge, ballot.judgment)
        for tier, attempt in zip(seating.cascade.tiers, verdict.attempts, strict=True)
        if tier.jury and attempt.verdict
        for seat, ballot in zip(tier.jury.seats, attempt.verdict.ballots, strict=True)
        if isinstance(seat.judge, TreeBuildJudge)
    ]
    return TestsRepair(fix, change.snapshot.store, ports, builds, context).attempt()


def ask_opinion(
    tried: Sequence[Backport], verdict: Verdict, ports: Ports, context: PullRequestContext
) -> Judgment | None:
    """A model's opinion on the backports; a rejected change is not worth the money."""
    rejected = verdict.status is Status.FAIL
    return None if rejected else ask_model_if_unsure(tried, ports, context)


def sum_costs(
    verdict: Verdict, spent: Spent, *others: Judgment | None, recovery: Recovery | None = None
) -> Cost:
    """Add up what models and agents have cost, unfinished judges included."""
    juries = [attempt.verdict for attempt in verdict.attempts if attempt.verdict]
    judgments = [ballot.judgment for jury in juries for ballot in jury.ballots]
    judgments += filter(None, others)
    cached = sum(PanelFacts.parse(judgment).cost.cached_calls for judgment in judgments)
    usd = spent.usd
    if usd is not None:
        prices = (*(AgentFacts.parse(one).usd for one in judgments), recovery and recovery.usd)
        usd = round(usd + sum(price or 0.0 for price in prices), 6)
    return Cost(spent.calls, cached, spent.input_tokens, spent.output_tokens, usd)


def origin_of(policy: Policy) -> PolicyOrigin:
    return PolicyOrigin(policy.source, policy.hash, policy.resolved)
