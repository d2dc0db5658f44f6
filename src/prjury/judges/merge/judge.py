"""Tier 0, first half: does the change come onto its base, the way the project does it?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from msgspec import Struct

from prjury.judges.context import PullRequestContext
from prjury.judges.merge.parses import check_syntax, find_hidden
from prjury.jury.judge import Judge, JudgeType
from prjury.jury.judgment import Check, Judgment, Location, Status
from prjury.policy.tiers import MergeOptions
from prjury.ports import Ports
from prjury.report.judge_facts import LeftOut, MergeFacts
from prjury.report.wording import join_words, pluralize
from prjury.snapshot.merge_style import RECENT, Habit, HistoryCommit, RebaseTrial, Way, find_habit
from prjury.snapshot.model import (
    Conflict,
    ConflictRegion,
    ConflictType,
    PullRequest,
    printable,
    visible,
)

NAME = "merge"
#: A rebase that takes longer is given up, and so it ends before the judge's own time does.
_REBASE_SECONDS, _REBASE_SHARE = 120.0, 0.9
_LONGEST_SUBJECT = 60
#: Places of one file that are shown, lines of each side, and characters of each.
_FEW_REGIONS, _FEW_LINES, _LONGEST_LINE = 4, 8, 160


def make(options: MergeOptions, ports: Ports) -> Judge[PullRequestContext]:
    """Make the merge judge."""
    return MergeJudge(options, ports)


class MergeJudge(Struct, frozen=True):
    """PASS where the head comes onto the base the project's way without a conflict, else FAIL."""

    options: MergeOptions
    ports: Ports
    name: str = NAME
    description: str = "brings the head onto the tip of the base in object space"
    type: JudgeType = JudgeType.DETERMINISTIC

    def judge(self, context: PullRequestContext, /) -> Judgment:
        """Try to merge, rebase or squash the change, as the project does it."""
        pull, repository, strategy = context.pull, self.ports.repository, self.options.strategy
        if pull.merge.impossible or _is_held(pull):
            return decide(pull, Habit(Way.MERGE, "no other way was tried"))
        if strategy == "auto":
            way = find_habit(repository.recent(pull.base.sha, RECENT))
        else:
            way = Habit(Way(strategy), "the policy says so")
        rebase = None
        if way.way is Way.REBASE:
            seconds = min(_REBASE_SECONDS, context.deadline.remaining * _REBASE_SHARE)
            limit = context.deadline.within(seconds)
            rebase = repository.rebase(pull.base.sha, pull.head.sha, limit)
        checks, doubts = check_syntax(pull, self.ports, context.deadline)
        judgment = decide(pull, way, rebase)
        judgment = add_syntax(judgment, [*checks, *find_hidden(pull.files)], doubts)
        return _refuse_own_workflow(judgment, pull, context.workflow)


def _refuse_own_workflow(judgment: Judgment, pull: PullRequest, workflow: str | None) -> Judgment:
    paths = {path for file in pull.files for path in (file.path, file.old_path)}
    if judgment.status is not Status.PASS or not workflow or workflow not in paths:
        return judgment
    words = f"the change edits {visible(workflow)}, which runs this review ({judgment.reasoning})"
    reason, checks, metadata = "evidence_untrusted", judgment.checks, judgment.metadata
    return Judgment.abstained(words, reason, checks=checks, metadata=metadata)


def decide(pull: PullRequest, way: Habit, rebase: RebaseTrial | None = None) -> Judgment:
    """Decide by the trials. Pure. A squash is the trial merge: it commits the merged tree."""
    sha, ref = f"`{pull.base.sha[:7]}`", pull.base.ref
    tip = sha if pull.base.sha.startswith(ref) else f"`{printable(ref)}` @{sha}"
    metadata = {
        **MergeFacts().to_metadata(),
        "subject": f"{way.way} onto {tip}",
        "strategy": {"way": way.way.value, "reason": way.reason},
    }
    impossible = pull.merge.impossible or (rebase and rebase.impossible)
    if impossible:
        return Judgment.errored(impossible, metadata={**metadata, "reason": pull.merge.reason})
    if _is_held(pull):
        words = "nothing to merge: the base holds the head already"
        return Judgment.passed(words, metadata=metadata)
    judgment = _judge_merge(pull) if rebase is None else _judge_rebase(pull, rebase)
    check = Check.ok("strategy", f"{way.way}: {way.reason}")
    behind = f"{pluralize(pull.behind, 'commit')} behind" if pull.behind else "up to date"
    return replace(
        judgment,
        reasoning=f"{judgment.reasoning}, {behind}",
        checks=(check, *judgment.checks),
        metadata={**metadata, **judgment.metadata},
    )


def _is_held(pull: PullRequest) -> bool:
    return pull.merge_base == pull.head.sha


def _judge_merge(pull: PullRequest) -> Judgment:
    if pull.merge.clean:
        return Judgment.passed("merges cleanly", checks=[_check_merge(pull)])
    checks, values = list_conflicts(pull.merge.conflicts)
    words = conflict_messages(pull.merge.conflicts)
    return Judgment.failed(words, checks=checks, metadata={"conflicts": values})


def _check_merge(pull: PullRequest) -> Check:
    message = "no conflicts" if pull.merge.clean else conflict_messages(pull.merge.conflicts)
    return Check("merge-clean", pull.merge.clean, message, severity="warning")


def _judge_rebase(pull: PullRequest, trial: RebaseTrial) -> Judgment:
    if trial.unfinished:
        return _judge_unfinished(pull, trial)
    if trial.stopped_at:
        return _judge_stopped(pull, trial, trial.stopped_at)
    picked = f"{pluralize(trial.picked, 'commit')} picked"
    checks = [Check.ok("rebase-clean", picked), _check_merge(pull)]
    if pull.merge.clean and trial.tree != pull.merge.tree:
        message = "the rebased commits come to another tree than the merge, which is what is built"
        checks.append(Check.bad("same-tree", message, severity="warning"))
    words = "nothing to rebase: the base has every commit already"
    if trial.total:
        verb = "rebases" if trial.total == 1 else "rebase"
        words = f"{pluralize(trial.total, 'commit')} {verb} cleanly"
    return Judgment.passed(words, checks=checks)


def _judge_unfinished(pull: PullRequest, trial: RebaseTrial) -> Judgment:
    where = f" after {trial.picked} of {pluralize(trial.total, 'commit')}" if trial.picked else ""
    why = "the time was over"
    if trial.unfinished == "too_large":
        why = "there are more commits than are picked one by one"
    words = f"the rebase was given up{where}: {why}"
    merge = _judge_merge(pull)
    if merge.failed_checks:
        return replace(merge, reasoning=f"{merge.reasoning}; {words}")
    fix = "Squash the commits, or set `merge: {strategy: squash}` if the project does not rebase."
    check = Check.bad("rebase-clean", words, fix=fix)
    return Judgment.abstained(words, trial.unfinished, checks=(check, *merge.checks))


def _judge_stopped(pull: PullRequest, trial: RebaseTrial, commit: HistoryCommit) -> Judgment:
    sha, subject = commit.sha[:7], visible(commit.subject)
    if len(subject) > _LONGEST_SUBJECT:
        subject = f"{subject[:_LONGEST_SUBJECT]}…"
    place = f"commit {trial.picked + 1} of {trial.total}"
    words = f"{place} (`{sha}` {subject}): {conflict_messages(trial.conflicts)}"
    if rest := trial.total - trial.picked - 1:
        words += f"; {pluralize(rest, 'commit')} after it not tried"
    base = printable(pull.base.ref)
    fix = f"Rebase the branch onto `{base}` and resolve the conflict at `{sha}`."
    at = None if commit.sha == pull.head.sha else sha
    checks, values = list_conflicts(trial.conflicts, at=at, fix=fix)
    if pull.merge.clean:
        checks.insert(0, _check_merge(pull))
    facts = MergeFacts({"sha": commit.sha, "subject": subject, "place": place})
    metadata = {**facts.to_metadata(), "conflicts": values}
    return Judgment.failed(words, checks=checks, metadata=metadata)


def add_syntax(judgment: Judgment, checks: Sequence[Check], doubts: Sequence[LeftOut]) -> Judgment:
    """Add the checks of syntax, and lower the judgment to FAIL if a changed file does not parse."""
    metadata = {**judgment.metadata, **MergeFacts(unparsed=tuple(doubts)).to_metadata()}
    broken = [check for check in checks if not check.passed and check.severity == "error"]
    checks = (*judgment.checks, *checks)
    if not broken or judgment.status not in {Status.PASS, Status.ABSTAIN}:
        return replace(judgment, checks=checks, metadata=metadata)
    more = f", and {pluralize(len(broken) - 1, 'more file')}" if len(broken) > 1 else ""
    words = f"{visible(str(broken[0].location))} {broken[0].message}{more}"
    return Judgment.failed(f"{words} ({judgment.reasoning})", checks=checks, metadata=metadata)


def conflict_messages(conflicts: Sequence[Conflict]) -> str:
    """Say ``conflicts in 2 files``, and how to resolve them if that is easy."""
    single = _merge_paths(conflicts)
    words = f"conflicts in {pluralize(len(conflicts), 'file')}"
    if not all(conflict.mechanical for conflict in single):
        return words
    names = [f"{visible(each.path)} ({each.reason})" for each in single]
    return f"{words}, all easy to resolve: {join_words(names)}"


def list_conflicts(
    conflicts: Sequence[Conflict], *, at: str | None = None, fix: str | None = None
) -> tuple[list[Check], list[dict[str, Any]]]:
    """Return the checks that conflicts fail, and their values, at a commit other than the head."""
    checks = []
    for conflict in _merge_paths(conflicts):
        first = conflict.regions[0].head if conflict.regions and at is None else None
        path, lines = printable(conflict.path), (first.first, first.last) if first else ()
        evidence = _show_regions(conflict.regions, f"`{at}`" if at else "the head")
        reason, place = conflict.reason, Location(path, *lines)
        if "conflict" not in reason.casefold():
            reason = f"{conflict.type.value.replace('_', '/')} conflict: {reason}"
        checks.append(Check.bad("conflict", reason, place, evidence=evidence, fix=fix))
    return checks, [
        {
            "path": printable(conflict.path),
            "type": conflict.type.value,
            "class": "mechanical" if conflict.mechanical else "human",
            "reason": conflict.reason,
        }
        for conflict in conflicts
    ]


def _merge_paths(conflicts: Sequence[Conflict]) -> list[Conflict]:
    """List each conflict once: git words all paths that a rename concerns alike."""
    single: dict[object, Conflict] = {}
    for conflict in conflicts:
        renamed = conflict.type is ConflictType.RENAME
        single.setdefault(conflict.reason if renamed else conflict.path, conflict)
    return list(single.values())


def _show_regions(regions: Sequence[ConflictRegion], head: str) -> str | None:
    parts = []
    for region in regions[:_FEW_REGIONS]:
        if region.texts is None:
            parts.append(f"{region.head} at {head}; {region.onto} on the base")
            continue
        parts += [f"<<<<<<< the base, {region.onto}", *_cut_lines(region.texts[1]), "======="]
        parts += [*_cut_lines(region.texts[0]), f">>>>>>> {head}, {region.head}"]
    if len(regions) > _FEW_REGIONS:
        parts.append(f"and {pluralize(len(regions) - _FEW_REGIONS, 'more place')}")
    return "\n".join(parts) or None


def _cut_lines(lines: Sequence[str]) -> list[str]:
    rows = [printable(line)[:_LONGEST_LINE] for line in lines[:_FEW_LINES]]
    rest = len(lines) - len(rows)
    return [*rows, f"… ({pluralize(rest, 'more line')})"] if rest else rows
