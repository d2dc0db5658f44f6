"""From the facts about a branch to a verdict with reasons and commands: pure functions.

The maintainers' word comes first. Without it a change has to be a fix beyond doubt, or of a kind
that the branch takes; else nobody is asked. Then proof by program: conflicts, what the branch
lacks, what breaks its users.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from prjury.judges.backport.checks.not_there_yet import AppliedCommits
from prjury.judges.backport.checks.picks_cleanly import CherryPickTrial
from prjury.judges.backport.checks.prerequisites import Prerequisites, pick_command, short_subject
from prjury.judges.backport.score import Band, ChangeTraits, Score, describe_score
from prjury.jury.judgment import Check, Judgment, Status
from prjury.jury.voting import is_benign
from prjury.ports.types import BranchTip
from prjury.report.model import Backport, BackportVerdict
from prjury.snapshot.model import PullRequest, printable, visible

#: A failure breaks the branch's users.
BREAKING = frozenset({"api", "dependencies", "migrations"})
#: A warning needs a human.
CAREFUL = frozenset({"migrations"})
#: A failure says what has to be changed in the pick.
TO_CHANGE = frozenset({"symbols", "versions", "build"})
#: What was not checked needs a human, even if the branch takes nearly all such changes.
ESSENTIAL = TO_CHANGE | {"not-there-yet", "migrations"}

#: Verdicts with obstacles, the worst last.
_WORSE: Sequence[BackportVerdict] = ("suitable_with_changes", "needs_human", "not_suitable")

#: Verdicts without a pick.
_NOTHING_TO_PICK = frozenset({"already_present", "not_applicable", "error"})
#: So many commits stand in one command, and so many characters of a title.
_AT_ONCE, _LONGEST_TITLE = 8, 100
#: So many earlier changes that reached the branch make a record.
_RECORD = 3


class BranchFacts(Struct, frozen=True):
    """The facts about one branch.

    Attributes:
        unnamed: whether somebody asks without a branch; ``elsewhere``: notes it for another one.
        hollow: whether the change itself is empty; ``gone``: whether its files are not there.
        newer: whether the branch has all raised versions; ``raises``: by more than a patch.
    """

    pull: PullRequest
    tip: BranchTip
    trial: CherryPickTrial
    present: AppliedCommits | None = None
    answer: Literal["yes", "no"] | None = None
    unnamed: bool = False
    elsewhere: bool = False
    traits: ChangeTraits = ChangeTraits()
    reached: int = 0
    hollow: bool = False
    gone: bool = False
    newer: bool = False
    raises: bool = False
    first: Prerequisites | None = None
    checks: tuple[Check, ...] = ()
    score: Score | None = None
    default: Literal["ask", "yes", "no"] = "ask"
    parents: tuple[str, ...] = ()
    cut_short: bool = False

    @property
    def settled(self) -> bool:
        """Return true if the trial and the history decide alone."""
        stays = self.present is not None and self.present.stays
        return bool(self.trial.unfinished) or self.trial.empty or stays

    @property
    def wanted(self) -> bool:
        """Return true if somebody asks for the backport."""
        return self.answer == "yes"

    @property
    def has_record(self) -> bool:
        """Return true if enough earlier changes reached the branch."""
        return self.reached >= _RECORD

    @property
    def band(self) -> Band | None:
        """The band of the score; None where the branch has no record."""
        return self.score.band if self.score and self.has_record else None

    @property
    def unlikely(self) -> bool:
        """Return true if the branch takes hardly any such changes."""
        return self.score is not None and self.score.value < self.score.possible_from / 2

    @property
    def is_fix(self) -> bool:
        """Return true if a label, a changelog entry or nothing but its title calls it a fix."""
        return self.traits.recorded or self.traits.plain

    @property
    def picks_easily(self) -> bool:
        """Return true if the pick is clean but for changelogs and lock files."""
        merge = self.trial.merge
        return merge.clean or all(conflict.mechanical for conflict in merge.conflicts)

    @property
    def helped(self) -> bool:
        """Return true if picking prerequisites adds all that the branch lacks."""
        return self.first is not None and self.first.found and not self.first.lacks

    @property
    def is_candidate(self) -> bool:
        """Return true if a request, the policy, the record or a plain fix speaks for it."""
        if self.wanted or self.unnamed or self.default == "yes":
            return True
        if self.elsewhere:
            return False
        if self.is_fix and (self.picks_easily or self.helped):
            return not (self.has_record and self.unlikely)
        if self.raises:
            return False
        return self.band == "likely" or (self.band == "grey" and self.picks_easily)

    def list_checks(self, name: str) -> tuple[Check, ...]:
        """Return the checks with this name."""
        return tuple(check for check in self.checks if check.name == name)

    def list_failed(self, names: frozenset[str], *severities: str) -> tuple[Check, ...]:
        """Return the failed checks with these names and severities."""
        return tuple(
            check
            for check in self.checks
            if not check.passed and check.name in names and check.severity in severities
        )


class _Ruling(Struct, frozen=True):
    verdict: BackportVerdict
    because: str = ""
    leading: tuple[Check, ...] = ()


def decide_backport(facts: BranchFacts) -> Backport:
    """Return the verdict on one branch, with its reasons, the decisive one first, and commands."""
    ruling, merge = _decide_ruling(facts), facts.trial.merge
    pickable = ruling.verdict not in _NOTHING_TO_PICK
    score = facts.score if pickable else None
    first = facts.first if facts.first and facts.first.found and pickable else None
    commits = first.commits if first else ()
    return Backport(
        branch=facts.tip.name,
        verdict=ruling.verdict,
        applies=None if merge.impossible else merge.clean,
        conflicts=merge.conflicts,
        prerequisites=tuple(f"{one.sha} {short_subject(one)}".rstrip() for one in commits),
        score=round(score.value, 3) if score else None,
        band=score.band if score else None,
        reasons=tuple(_list_reasons(facts, ruling)),
        commands=tuple(list_git_commands(facts, first)) if pickable else (),
        checks=facts.checks,
        branch_sha=facts.tip.sha,
        tree=(first.trial.merge if first and first.trial else merge).tree,
        asked=facts.answer,
    )


def is_open(facts: BranchFacts) -> bool:
    """Return true if deep checks may change the verdict."""
    return _decide_ruling(facts).verdict not in {*_NOTHING_TO_PICK, "not_suitable", "not_requested"}


def _decide_ruling(facts: BranchFacts) -> _Ruling:
    if settled := _rule_if_settled(facts):
        return settled
    if facts.answer == "no":
        return _Ruling("not_suitable", leading=facts.list_checks("asked-for"))
    if not facts.is_candidate:
        return _rule_unasked(facts)
    obstacles = list(_list_obstacles(facts))
    if obstacles:
        return max(obstacles, key=lambda ruling: _WORSE.index(ruling.verdict))
    return _rule_without_obstacle(facts)


def _rule_if_settled(facts: BranchFacts) -> _Ruling | None:
    if facts.trial.unfinished:
        return _Ruling("error", facts.trial.unfinished)
    if facts.hollow:
        return _Ruling("not_applicable", "the change is empty: there is nothing to pick")
    if facts.settled:
        return _Ruling("already_present", leading=facts.list_checks("not-there-yet"))
    if facts.gone:
        where = printable(facts.tip.name)
        return _Ruling("not_applicable", f"{where} has none of the files that the change touches")
    if facts.newer:
        return _Ruling("already_present", leading=facts.list_checks("dependencies"))
    return None


def _rule_unasked(facts: BranchFacts) -> _Ruling:
    if facts.default == "no":
        return _Ruling("not_suitable", "the policy's default answer is no")
    breaking = facts.list_failed(BREAKING, "error")
    hopeless = not (facts.trial.merge.clean or facts.is_fix or facts.band == "grey")
    if breaking and (facts.unlikely or hopeless):
        return _Ruling("not_suitable", leading=breaking)
    why = "it is no plain fix"
    if facts.elsewhere:
        why = "its changelog entry is for another release"
    elif not facts.picks_easily:
        why = "it conflicts"
    elif facts.raises:
        why = "it moves a dependency by more than a patch"
    elif facts.unlikely and facts.has_record:
        why = "the branch rarely takes such changes"
    return _Ruling("not_requested", f"nobody asks for it, and {why}")


def _list_obstacles(facts: BranchFacts) -> Iterator[_Ruling]:
    helped, merge = facts.helped, facts.trial.merge
    if not merge.clean:
        searched = facts.first is not None and facts.first.found
        easy = helped if searched else facts.picks_easily
        leading = facts.list_checks("prerequisites" if searched else "picks-cleanly")
        yield _Ruling("suitable_with_changes" if easy else "needs_human", leading=leading)
    if facts.present and not facts.present.stays:
        yield _Ruling("needs_human", leading=facts.list_checks("not-there-yet"))
    if lacking := facts.list_failed(TO_CHANGE, "error", "warning"):
        mended = all(
            helped if check.name == "symbols" else check.name != "build" and bool(check.fix)
            for check in lacking
        )
        yield _Ruling("suitable_with_changes" if mended else "needs_human", leading=lacking)
    if breaking := facts.list_failed(BREAKING, "error"):
        yield _Ruling("needs_human", "it is asked for, but it" if facts.wanted else "", breaking)
    needed = ESSENTIAL if facts.band == "likely" else ESSENTIAL | BREAKING
    doubts = (*facts.list_failed(CAREFUL, "warning"), *facts.list_failed(needed, "hint"))
    if doubts and not facts.wanted:
        yield _Ruling("needs_human", leading=doubts)


def _rule_without_obstacle(facts: BranchFacts) -> _Ruling:
    if facts.wanted:
        return _Ruling("suitable", leading=facts.list_checks("asked-for"))
    if facts.band == "likely":
        return _Ruling("suitable", "the branch takes most of such changes")
    if facts.default == "yes":
        return _Ruling("suitable", "the policy's default answer is yes")
    if facts.unnamed:
        return _Ruling("needs_human", "it applies, and is", facts.list_checks("asked-for"))
    what = "it is a fix" if facts.is_fix else "the branch takes many such changes"
    return _Ruling("needs_human", f"it applies and {what}, but nobody has asked for it")


def _list_reasons(facts: BranchFacts, ruling: _Ruling) -> Iterator[str]:
    leading = [check.message for check in ruling.leading]
    if ruling.because:
        yield f"{ruling.because} {'; '.join(leading)}".strip()
    else:
        yield from leading
    if ruling.verdict in _NOTHING_TO_PICK:
        return
    for check in facts.checks:
        always = check.name == "picks-cleanly"
        if (not check.passed or always) and check.message not in leading:
            yield check.message
    if facts.score and not facts.wanted:
        yield describe_score(facts.score)
    if facts.cut_short:
        where = printable(facts.tip.name)
        yield f"not checked, because the verdict is clear: names that {where} lacks, prerequisites"


def new_branch(pull: PullRequest, branch: str) -> str:
    """Return the name of the branch for the pick."""
    target = re.sub(r"[^\w.-]+", "-", branch, flags=re.ASCII).strip("-.")
    return f"backport-{pull.number or pull.head.sha[:12]}-to-{target or 'branch'}"


def list_git_commands(facts: BranchFacts, first: Prerequisites | None) -> Iterator[str]:
    """Yield the commands for a new branch, prerequisites and the pick."""
    pull, tip, parents = facts.pull, facts.tip, facts.parents
    yield f"git switch -c {new_branch(pull, tip.name)} {tip.sha}"
    yield from map(pick_command, first.commits if first else ())
    last = first.trial if first and first.trial else facts.trial
    if last.each is not None:
        stopped = last.each.stopped_at
        commits = [*last.each.made, *([stopped.sha] if stopped else []), *last.each.rest]
        for start in range(0, len(commits), _AT_ONCE):
            yield f"git cherry-pick -x {' '.join(commits[start : start + _AT_ONCE])}"
    elif parents[:1] == (pull.merge_base,) and len(parents) > 1:
        yield f"git cherry-pick -x -m 1 {pull.head.sha}"
    elif pull.ahead == 1 and len(parents) <= 1:
        yield f"git cherry-pick -x {pull.head.sha}"
    else:
        # A range with merge commits cannot be picked; one commit with the whole change always can.
        title = " ".join(pull.title.split())[:_LONGEST_TITLE] or new_branch(pull, tip.name)
        quoted = visible(title).replace("'", "'\\''")
        message = f"-m '{quoted}'"
        # Later runs find the change on the branch by this line.
        message += f" -m 'Backport of #{pull.number}'" if pull.number else ""
        squash = f"git commit-tree '{pull.head.sha}^{{tree}}' -p {pull.merge_base} {message}"
        yield f'git cherry-pick "$({squash})"'


def needs_opinion(backport: Backport) -> bool:
    """Return true if a human has to decide about a clean pick, so that a model's opinion helps."""
    return backport.verdict == "needs_human" and backport.applies is True


def add_opinion_reasons(backport: Backport, opinion: Judgment) -> Backport:
    """Add a model's opinion to the reasons, if one was asked; the verdict stays a human's."""
    if is_benign(opinion):
        return backport
    words = {Status.PASS: "a model finds it suitable", Status.FAIL: "a model advises against it"}
    answer = words.get(opinion.status, "no answer from a model")
    reasons = [*backport.reasons, f"{answer} ({opinion.reasoning})"]
    reasons += (f"{check.name}: {check.message}" for check in opinion.failed_checks)
    return replace(backport, reasons=tuple(reasons))
