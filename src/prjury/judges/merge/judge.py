"""Tier 0, first half: does the change come onto its base, the way the project does it?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from prjury.judges.context import PullRequestContext
from prjury.judges.merge.parses import check_changed_syntax, list_doubts, warn_of_hidden_characters
from prjury.jury.judge import FunctionJudge, Judge
from prjury.jury.judgment import Check, Judgment, Location, Status
from prjury.policy.tiers import MergeOptions
from prjury.ports import Ports
from prjury.report.judge_facts import MergeFacts
from prjury.report.wording import join_words, pluralize
from prjury.snapshot.merge_style import RECENT, Habit, HistoryCommit, RebaseTrial, Way, guess_habit
from prjury.snapshot.model import Conflict, PullRequest, printable, visible

#: A rebase that takes longer is given up, and so it ends before the judge's own time does.
_REBASE_SECONDS, _REBASE_SHARE = 120.0, 0.9
#: Places of one file that are shown, lines of each side, and characters of each.
_FEW_REGIONS, _FEW_LINES, _LONGEST_LINE = 4, 8, 160


def make(options: MergeOptions, ports: Ports) -> Judge[PullRequestContext]:
    """Make the judge: PASS if the head comes onto the base without a conflict, else FAIL."""
    about = "brings the head onto the tip of the base in object space"
    return FunctionJudge(lambda context: _judge(context, options.strategy, ports), "merge", about)


def _judge(context: PullRequestContext, strategy: str, ports: Ports) -> Judgment:
    pull, repository, deadline = context.pull, ports.repository, context.deadline
    if pull.merge.impossible or pull.merge_base == pull.head.sha:
        return decide(pull, Habit(Way.MERGE, ""))
    if strategy == "auto":
        habit = guess_habit(repository.recent(pull.base.sha, RECENT))
    else:
        habit = Habit(Way(strategy), "the policy says so")
    rebase = None
    if habit.way is Way.REBASE:
        limit = deadline.within(min(_REBASE_SECONDS, deadline.remaining * _REBASE_SHARE))
        rebase = repository.rebase(pull.base.sha, pull.head.sha, limit)
    checks = [*check_changed_syntax(pull, ports, deadline), *warn_of_hidden_characters(pull.files)]
    judgment = decide(pull, habit, rebase, checks)
    paths = {path for file in pull.files for path in (file.path, file.old_path)}
    workflow = context.workflow or ""
    if judgment.status is not Status.PASS or workflow not in paths:
        return judgment
    words = f"the change edits {visible(workflow)}, which runs this review ({judgment.reasoning})"
    reason, metadata = "evidence_untrusted", judgment.metadata
    return Judgment.abstained(words, reason, checks=judgment.checks, metadata=metadata)


def decide(
    pull: PullRequest, habit: Habit, rebase: RebaseTrial | None = None, syntax: Sequence[Check] = ()
) -> Judgment:
    """Decide by the trials and the checks of syntax. Pure. A squash commits the merged tree."""
    merge, sha, ref = pull.merge, f"`{pull.base.sha[:7]}`", pull.base.ref
    tip = sha if pull.base.sha.startswith(ref) else f"`{printable(ref)}` @{sha}"
    metadata = MergeFacts(unparsed=list_doubts(syntax)).to_metadata()
    metadata["subject"] = f"{habit.way} onto {tip}"
    if impossible := merge.impossible or (rebase and rebase.impossible):
        metadata["reason"] = merge.reason
        return Judgment.errored(impossible, checks=syntax, metadata=metadata)
    if pull.merge_base == pull.head.sha:
        words = "nothing to merge: the base holds the head already"
        return Judgment.passed(words, metadata=metadata)
    conflicts = conflict_messages(merge.conflicts)
    if rebase:
        judgment = _judge_rebase(pull, rebase)
    elif merge.clean:
        judgment = Judgment.passed("merges cleanly")
    else:
        judgment = _fail_by(merge.conflicts, conflicts)
    behind = f"{pluralize(pull.behind, 'commit')} behind" if pull.behind else "up to date"
    words = f"{judgment.reasoning}, {behind}"
    checks = [Check.ok("strategy", f"tried as a {habit.way}: {habit.reason}")]
    if merge.clean or judgment.status is Status.PASS:
        message = "no conflicts" if merge.clean else conflicts
        checks.append(Check("merge-clean", merge.clean, message, severity="warning"))
    checks += [*judgment.checks, *syntax]
    metadata |= judgment.metadata
    broken = [check for check in syntax if not check.passed and check.severity == "error"]
    if not broken or judgment.status is Status.FAIL:
        return replace(judgment, reasoning=words, checks=tuple(checks), metadata=metadata)
    more = f", and {pluralize(len(broken) - 1, 'more file')}" if len(broken) > 1 else ""
    fault = f"{visible(str(broken[0].location))} {broken[0].message}{more}"
    return Judgment.failed(f"{fault} ({words})", checks=checks, metadata=metadata)


def _judge_rebase(pull: PullRequest, trial: RebaseTrial) -> Judgment:
    merge, total = pull.merge, pluralize(trial.total, "commit")
    if trial.stopped_at:
        return _fail_stopped_rebase(pull, trial, trial.stopped_at)
    if trial.unfinished:
        after = f" after {trial.picked} of {total}" if trial.picked else ""
        why = "the time was over" if trial.unfinished == "timeout" else "there are too many commits"
        words = f"the rebase was given up{after}: {why}"
        if not merge.clean:
            return _fail_by(merge.conflicts, f"{conflict_messages(merge.conflicts)}; {words}")
        fix = "Squash the commits, or set `merge: {strategy: squash}` if you do not rebase."
        check = Check.bad("rebase-clean", words, fix=fix)
        return Judgment.abstained(words, trial.unfinished, checks=[check])
    checks = [Check.ok("rebase-clean", f"{pluralize(trial.picked, 'commit')} picked")]
    if merge.clean and trial.tree != merge.tree:
        words = "the rebased commits come to another tree than the merge, which is what is built"
        checks.append(Check.bad("same-tree", words, severity="warning"))
    words = "nothing to rebase: the base has every commit already"
    if trial.total:
        words = f"{total} {'rebases' if trial.total == 1 else 'rebase'} cleanly"
    return Judgment.passed(words, checks=checks)


def _fail_stopped_rebase(pull: PullRequest, trial: RebaseTrial, commit: HistoryCommit) -> Judgment:
    sha, subject = commit.sha[:7], visible(commit.subject)[:60]
    place = f"commit {trial.picked + 1} of {trial.total}"
    words = f"{place} (`{sha}` {subject}): {conflict_messages(trial.conflicts)}"
    fix = f"Rebase onto `{printable(pull.base.ref)}`, and resolve the conflict at `{sha}`."
    at = "" if commit.sha == pull.head.sha else sha
    stopped = {"sha": commit.sha, "subject": subject, "place": place}
    return _fail_by(trial.conflicts, words, at, fix, stopped_at=stopped)


def conflict_messages(conflicts: Sequence[Conflict]) -> str:
    """Say ``conflicts in 2 files``, and how to resolve them if that is easy."""
    words = f"conflicts in {pluralize(len(conflicts), 'file')}"
    if not all(conflict.mechanical for conflict in conflicts):
        return words
    names = [f"{visible(conflict.path)} ({conflict.reason})" for conflict in conflicts]
    return f"{words}, all easy to resolve: {join_words(names)}"


def _fail_by(
    conflicts: Sequence[Conflict], words: str, at: str = "", fix: str | None = None, **facts: object
) -> Judgment:
    """Fail by conflicts with the head, or with a commit before it."""
    checks, values = [], []
    for conflict in conflicts:
        place, kind, reason = Location(printable(conflict.path)), conflict.type, conflict.reason
        values.append({"path": place.path, "type": kind.value, "reason": reason})
        if conflict.regions and not at:
            lines = conflict.regions[0].head
            place = Location(place.path, lines.first, lines.last)
        if "conflict" not in reason.casefold():
            reason = f"{kind.value.replace('_', '/')} conflict: {reason}"
        evidence = _quote_regions_with_markers(conflict, f"`{at}`" if at else "the head")
        checks.append(Check.bad("conflict", reason, place, evidence=evidence, fix=fix))
    return Judgment.failed(words, checks=checks, metadata={**facts, "conflicts": values})


def _quote_regions_with_markers(conflict: Conflict, head_label: str) -> str | None:
    rows = []
    for region in conflict.regions[:_FEW_REGIONS]:
        sides = []
        for lines in region.texts:
            sides.append([printable(line)[:_LONGEST_LINE] for line in lines[:_FEW_LINES]])
            if rest := len(lines) - len(sides[-1]):
                sides[-1].append(f"… ({pluralize(rest, 'more line')})")
        rows += [f"<<<<<<< the base, {region.onto}", *sides[1], "=======", *sides[0]]
        rows.append(f">>>>>>> {head_label}, {region.head}")
    if rest := len(conflict.regions[_FEW_REGIONS:]):
        rows.append(f"and {pluralize(rest, 'more place')}")
    return "\n".join(rows) or None
