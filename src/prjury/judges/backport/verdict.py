"""From the facts about a branch to a verdict with reasons and commands: pure functions.

Proof by program comes first. Without it the score decides, and where that leaves it open, the
policy's default answer. A request outweighs the score, but not a proof.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from msgspec import structs

from prjury.judges.backport.checks.not_there_yet import AppliedCommits
from prjury.judges.backport.checks.picks_cleanly import CherryPickTrial
from prjury.judges.backport.checks.prerequisites import Prerequisites, pick_command, short_subject
from prjury.judges.backport.score.score import Band, Score, score_words
from prjury.jury.judgment import Check, Judgment, Status
from prjury.jury.voting import is_benign
from prjury.ports.types import BranchTip
from prjury.report.model import Backport, BackportVerdict
from prjury.snapshot.model import PullRequest, printable, visible

#: A failure speaks against a backport at all.
AGAINST = frozenset({"api", "dependencies", "migrations", "settings"})
#: A warning needs a human.
CAREFUL = frozenset({"migrations"})
#: A failure says what has to be changed in the pick.
TO_CHANGE = frozenset({"symbols", "versions", "build"})

#: Verdicts with obstacles, the worst last.
_WORSE: Sequence[BackportVerdict] = ("suitable_with_changes", "needs_human", "not_suitable")

#: Verdicts without a pick.
_NOTHING_TO_PICK = frozenset({"already_present", "not_applicable", "error"})
#: So many commits stand in one command, and so many characters of a title.
_AT_ONCE, _LONGEST_TITLE = 8, 100

Answer = Literal["yes", "no"]


@dataclass(frozen=True, slots=True)
class BranchFacts:
    """The facts about one branch.

    Attributes:
        asked: a request or refusal; None without one.
        hollow: whether the change itself is empty.
        gone: whether the branch has none of the touched files.
        newer: whether the change only raises versions that the branch has already.
        first: the search for prerequisites, None if there was none.
        default: the policy's answer where nothing else decides.
        parents: of the change's head, if they are known.
        cut_short: whether the deep checks were skipped.
    """

    pull: PullRequest
    tip: BranchTip
    trial: CherryPickTrial
    present: AppliedCommits | None = None
    asked: Answer | None = None
    hollow: bool = False
    gone: bool = False
    newer: bool = False
    first: Prerequisites | None = None
    checks: tuple[Check, ...] = ()
    score: Score | None = None
    default: Literal["ask", "yes", "no"] = "ask"
    parents: tuple[str, ...] = ()
    cut_short: bool = False

    @property
    def settled(self) -> bool:
        """Whether the trial and the history decide alone."""
        there = self.present is not None and self.present.stays
        return bool(self.trial.unfinished) or self.trial.empty or there

    @property
    def band(self) -> Band:
        """The score's band; grey without a score."""
        return self.score.band if self.score else "grey"

    @property
    def wanted(self) -> bool:
        """Whether somebody asks for the backport."""
        return self.asked == "yes"

    @property
    def helped(self) -> bool:
        """Whether picking prerequisites adds all that the branch lacks."""
        return self.first is not None and self.first.found and not self.first.lacks

    def failed(self, names: frozenset[str], *severities: str) -> list[Check]:
        """Return the failed checks with these names and severities."""
        failed = [check for check in self.checks if not check.passed and check.name in names]
        return [check for check in failed if not severities or check.severity in severities]


@dataclass(frozen=True, slots=True)
class _Ruling:
    verdict: BackportVerdict
    because: str = ""
    leading: tuple[Check, ...] = ()


def decide(case: BranchFacts) -> Backport:
    """Return the verdict on one branch, with its reasons, the decisive one first, and commands."""
    ruling = _ruling(case)
    there = ruling.verdict in _NOTHING_TO_PICK
    merge, score = case.trial.merge, None if there else case.score
    first = case.first if case.first and case.first.found and not there else None
    result = first.trial.merge if first and first.trial else merge
    return Backport(
        branch=case.tip.name,
        verdict=ruling.verdict,
        applies=None if merge.impossible else merge.clean,
        conflicts=merge.conflicts,
        prerequisites=tuple(
            f"{one.sha} {short_subject(one)}".rstrip() for one in (first.commits if first else ())
        ),
        score=round(score.value, 3) if score else None,
        band=score.band if score else None,
        reasons=tuple(_reasons(case, ruling)),
        commands=() if there else tuple(commands(case, first)),
        checks=case.checks,
        branch_sha=case.tip.sha,
        tree=result.tree,
        asked=case.asked,
    )


def is_open(case: BranchFacts) -> bool:
    """Whether deep checks may change the verdict."""
    likely = case.wanted or case.band != "unlikely"
    return likely and _ruling(case).verdict not in _NOTHING_TO_PICK | {"not_suitable"}


def _ruling(case: BranchFacts) -> _Ruling:
    where = printable(case.tip.name)
    if case.trial.unfinished:
        return _Ruling("error", case.trial.unfinished)
    if case.hollow:
        return _Ruling("not_applicable", "the change is empty: there is nothing to pick")
    if case.settled:
        return _Ruling("already_present", leading=_named(case, "not-there-yet"))
    if case.gone:
        return _Ruling("not_applicable", f"{where} has none of the files that the change touches")
    if case.newer:
        return _Ruling("already_present", leading=_named(case, "dependencies"))
    if case.asked == "no":
        return _Ruling("not_suitable", leading=_named(case, "asked-for"))
    return _by_proof(case) or _by_score(case)


def _by_proof(case: BranchFacts) -> _Ruling | None:
    """Return the worst proven obstacle; None if nothing speaks against a clean pick."""
    rules = (_breaking, _of_conflict, _taken_back, _lacking, _wanted_though, _unsure)
    found = [ruling for rule in rules if (ruling := rule(case))]
    return max(found, key=lambda ruling: _WORSE.index(ruling.verdict), default=None)


def _breaking(case: BranchFacts) -> _Ruling | None:
    """Refuse what breaks users, unless it is requested or likely."""
    against = tuple(case.failed(AGAINST, "error"))
    if against and not case.wanted and case.band != "likely":
        return _Ruling("not_suitable", leading=against)
    return None


def _taken_back(case: BranchFacts) -> _Ruling | None:
    taken = case.present is not None and not case.present.stays
    return _Ruling("needs_human", leading=_named(case, "not-there-yet")) if taken else None


def _lacking(case: BranchFacts) -> _Ruling | None:
    """The branch lacks what the pick needs, or needs it written in another way."""
    lacking = tuple(case.failed(TO_CHANGE, "error", "warning"))
    if not lacking:
        return None
    if case.band == "unlikely" and not case.wanted:
        return _Ruling("not_suitable", leading=lacking)
    known = all(
        case.helped if check.name == "symbols" else check.name != "build" and bool(check.fix)
        for check in lacking
    )
    return _Ruling("suitable_with_changes" if known else "needs_human", leading=lacking)


def _wanted_though(case: BranchFacts) -> _Ruling | None:
    """It breaks users, but it is requested or likely."""
    against = tuple(case.failed(AGAINST, "error"))
    if not against:
        return None
    why = "it is asked for, but it" if case.wanted else "it is likely, but it"
    return _Ruling("needs_human", why, against)


def _unsure(case: BranchFacts) -> _Ruling | None:
    """Something needs care or could not be checked."""
    careful = case.failed(CAREFUL, "warning")
    unseen = case.failed(AGAINST | TO_CHANGE | {"not-there-yet"}, "hint")
    if case.wanted or not (careful or unseen):
        return None
    return _Ruling("needs_human", leading=(*careful, *unseen))


def _of_conflict(case: BranchFacts) -> _Ruling | None:
    if case.trial.merge.clean:
        return None
    leading = _named(case, "picks-cleanly")
    if case.band == "unlikely" and not case.wanted:
        return _Ruling("not_suitable", leading=leading)
    if case.first and case.first.found:
        verdict: BackportVerdict = "suitable_with_changes" if case.helped else "needs_human"
        return _Ruling(verdict, leading=_named(case, "prerequisites"))
    if all(conflict.mechanical for conflict in case.trial.merge.conflicts):
        return _Ruling("suitable_with_changes", leading=leading)
    return _Ruling("needs_human", leading=leading)


def _by_score(case: BranchFacts) -> _Ruling:
    """Decide about a clean pick: requests, then the score, then the policy's default."""
    if case.asked == "yes":
        return _Ruling("suitable", leading=_named(case, "asked-for"))
    if case.band != "grey":
        return _Ruling("suitable" if case.band == "likely" else "not_suitable")
    if case.default == "ask":
        why = "nobody has asked for it; `backport.default: ask` leaves it to a maintainer"
        return _Ruling("needs_human", f"it applies, and {why}")
    answer = f"the policy's default answer is {case.default}"
    return _Ruling("suitable" if case.default == "yes" else "not_suitable", answer)


def _named(case: BranchFacts, name: str) -> tuple[Check, ...]:
    return tuple(check for check in case.checks if check.name == name)


def _reasons(case: BranchFacts, ruling: _Ruling) -> Iterator[str]:
    """Yield the decisive reason, other failures, and the score."""
    leading = [check.message for check in ruling.leading]
    if ruling.because:
        yield f"{ruling.because} {'; '.join(leading)}".strip()
    else:
        yield from leading
    if ruling.verdict in _NOTHING_TO_PICK:
        return
    for check in case.checks:
        always = check.name == "picks-cleanly"
        if (not check.passed or always) and check.message not in leading:
            yield check.message
    if case.score:
        yield score_words(case.score)
    if case.cut_short:
        where = printable(case.tip.name)
        yield f"not checked, because the verdict is clear: names that {where} lacks, prerequisites"


def new_branch(pull: PullRequest, branch: str) -> str:
    """Return the name of the branch for the pick."""
    target = re.sub(r"[^\w.-]+", "-", branch, flags=re.ASCII).strip("-.")
    return f"backport-{pull.number or pull.head.sha[:12]}-to-{target or 'branch'}"


def commands(case: BranchFacts, first: Prerequisites | None = None) -> Iterator[str]:
    """Yield the commands for a new branch, prerequisites and the pick."""
    pull, tip, parents = case.pull, case.tip, case.parents
    yield f"git switch -c {new_branch(pull, tip.name)} {tip.sha}"
    yield from map(pick_command, first.commits if first else ())
    last = first.trial if first and first.trial else case.trial
    if last.each is not None:
        stopped = last.each.stopped_at
        commits = [*last.each.kept, *([stopped.sha] if stopped else []), *last.each.left]
        for start in range(0, len(commits), _AT_ONCE):
            yield f"git cherry-pick -x {' '.join(commits[start : start + _AT_ONCE])}"
    elif parents[:1] == (pull.merge_base,) and len(parents) > 1:
        yield f"git cherry-pick -x -m 1 {pull.head.sha}"
    elif pull.ahead == 1 and len(parents) <= 1:
        yield f"git cherry-pick -x {pull.head.sha}"
    else:
        # A range with merge commits cannot be picked; one commit with the whole change always can.
        title = " ".join(pull.title.split())[:_LONGEST_TITLE] or new_branch(pull, tip.name)
        message = f"-m {quoted(title)}"
        # Later runs find the change on the branch by this line.
        message += f" -m 'Backport of #{pull.number}'" if pull.number else ""
        squash = f"git commit-tree '{pull.head.sha}^{{tree}}' -p {pull.merge_base} {message}"
        yield f'git cherry-pick "$({squash})"'


def quoted(name: str) -> str:
    """Quote a text as one word for a shell."""
    return "'" + visible(name).replace("'", "'\\''") + "'"


def needs_opinion(backport: Backport) -> bool:
    """Whether a human has to decide about a clean pick, so that a model's opinion helps."""
    return backport.verdict == "needs_human" and backport.applies is True


def with_opinion(backport: Backport, opinion: Judgment) -> Backport:
    """Add a model's opinion to the reasons; the verdict stays a human's.

    Nothing is added if no model could be asked.
    """
    if is_benign(opinion):
        return backport
    words = {Status.PASS: "a model finds it suitable", Status.FAIL: "a model advises against it"}
    answer = words.get(opinion.status, "no answer from a model")
    reasons = [*backport.reasons, f"{answer} ({opinion.reasoning})"]
    reasons += (f"{check.name}: {check.message}" for check in opinion.failed_checks)
    return structs.replace(backport, reasons=tuple(reasons))
