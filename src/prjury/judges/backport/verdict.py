"""From what was found out about a branch to a verdict: a pure function.

What programs have proven comes first; the score decides only where nothing is proven, and where
that leaves the matter open too, the policy's default answer does. The words of whoever asks for a
backport weigh more than a score and less than a proof.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from prjury.judges.backport.cherry_pick.commands import commands
from prjury.judges.backport.cherry_pick.prerequisites import Prerequisites, named
from prjury.judges.backport.cherry_pick.trial import CherryPickTrial
from prjury.judges.backport.past.already_applied import AppliedCommits
from prjury.judges.backport.score.score import Band, Score, score_words
from prjury.jury.judgment import Check
from prjury.ports.types import BranchTip
from prjury.report.model import Backport, BackportVerdict
from prjury.snapshot.model import PullRequest, printable

#: Checks whose failure speaks against bringing the change to a release branch at all.
_AGAINST = frozenset({"api", "dependencies", "migrations", "settings"})
#: Checks whose warning asks for somebody's eyes.
_CAREFUL = frozenset({"migrations"})
#: Checks whose failure says what has to be changed in the pick.
_TO_CHANGE = frozenset({"symbols", "versions", "build"})

#: What obstacles come to, the worst last.
_WORSE: Sequence[BackportVerdict] = ("suitable_with_changes", "needs_human", "not_suitable")

#: Why a human has to decide about a clean pick.
_UNDECIDED = "nobody has asked for it; `backport.default: ask` leaves it to a maintainer"

Answer = Literal["yes", "no"]


@dataclass(frozen=True, slots=True)
class BranchFacts:
    """What was found out about one branch.

    Attributes:
        asked: what people ask for, None where nobody has said anything.
        approved: who or what says yes whatever the score says; empty where nobody does.
        hollow: whether the change itself changes nothing.
        gone: whether the branch has nothing of what the change touches.
        newer: whether the change only raises versions, and the branch is there already.
        first: what was found that has to be picked first, None where nothing was looked for.
        checks: what was looked at, in order.
        default: the policy's answer where the matter is open.
        parents: of the change's head, as far as they are known.
        cut_short: whether symbols, version patterns and prerequisites were left out.
    """

    pull: PullRequest
    tip: BranchTip
    trial: CherryPickTrial
    present: AppliedCommits | None = None
    asked: Answer | None = None
    approved: str = ""
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
        """Whether the trial and history leave nothing to look into."""
        there = self.present is not None and self.present.stays
        return bool(self.trial.unfinished) or self.trial.empty or there

    @property
    def band(self) -> Band:
        """What the score says; nothing, where there is none."""
        return self.score.band if self.score else "grey"

    @property
    def wanted(self) -> bool:
        """Whether somebody asks for it."""
        return bool(self.approved) or self.asked == "yes"

    @property
    def helped(self) -> bool:
        """Whether picking something first leaves nothing that the branch lacks."""
        return self.first is not None and self.first.found and not self.first.lacks

    def failed(self, names: frozenset[str], *severities: str) -> list[Check]:
        """The checks of these names that failed this badly."""
        failed = [check for check in self.checks if not check.passed and check.name in names]
        return [check for check in failed if not severities or check.severity in severities]


@dataclass(frozen=True, slots=True)
class _Ruling:
    verdict: BackportVerdict
    because: str = ""
    leading: tuple[Check, ...] = ()


def decide(case: BranchFacts) -> Backport:
    """The verdict on one branch, with its reasons, the decisive one first, and the commands."""
    ruling = _ruling(case)
    there = ruling.verdict in {"already_present", "not_applicable", "error"}
    merge = case.trial.merge
    first = case.first if case.first and case.first.found and not there else None
    result = first.trial.merge if first and first.trial else merge
    return Backport(
        branch=case.tip.name,
        verdict=ruling.verdict,
        applies=None if merge.impossible else merge.clean,
        conflicts=merge.conflicts,
        prerequisites=tuple(map(named, first.units)) if first else (),
        score=None if case.score is None or there else round(case.score.value, 3),
        band=None if case.score is None or there else case.score.band,
        reasons=tuple(_reasons(case, ruling)),
        commands=() if there else _typed(case, first),
        checks=case.checks,
        branch_sha=case.tip.sha,
        tree=result.tree,
        asked=case.asked,
    )


def is_open(case: BranchFacts) -> bool:
    """Whether the verdict may rest on what has not been looked at yet."""
    likely = case.wanted or case.band != "unlikely"
    closed = {"not_suitable", "not_applicable", "already_present", "error"}
    return likely and _ruling(case).verdict not in closed


def _typed(case: BranchFacts, first: Prerequisites | None) -> tuple[str, ...]:
    return commands(case.pull, case.tip, case.trial, first, case.parents)


def _ruling(case: BranchFacts) -> _Ruling:
    where = printable(case.tip.name)
    if case.trial.unfinished:
        return _Ruling("error", case.trial.unfinished)
    if case.hollow:
        return _Ruling("not_applicable", "the change holds nothing that could be picked")
    if case.settled:
        return _Ruling("already_present", leading=_named(case, "not-there-yet"))
    if case.gone:
        return _Ruling("not_applicable", f"{where} has none of the files that the change touches")
    if case.newer:
        return _Ruling("already_present", leading=_named(case, "dependencies"))
    if case.asked == "no" and not case.approved:
        return _Ruling("not_suitable", leading=_named(case, "asked-for"))
    return _by_proof(case) or _by_score(case)


def _by_proof(case: BranchFacts) -> _Ruling | None:
    """What programs have proven, at its worst; None where nothing speaks against a clean pick."""
    rules = (_breaking, _of_conflict, _taken_back, _lacking, _wanted_though, _unsure)
    found = [ruling for rule in rules if (ruling := rule(case))]
    return max(found, key=lambda ruling: _WORSE.index(ruling.verdict), default=None)


def _breaking(case: BranchFacts) -> _Ruling | None:
    """What breaks the branch's users is not for it, unless somebody or much speaks for it."""
    against = tuple(case.failed(_AGAINST, "error"))
    if against and not case.wanted and case.band != "likely":
        return _Ruling("not_suitable", leading=against)
    return None


def _taken_back(case: BranchFacts) -> _Ruling | None:
    taken = case.present is not None and not case.present.stays
    return _Ruling("needs_human", leading=_named(case, "not-there-yet")) if taken else None


def _lacking(case: BranchFacts) -> _Ruling | None:
    """The branch lacks what the pick needs, or would need it in another way."""
    lacking = tuple(case.failed(_TO_CHANGE, "error", "warning"))
    if not lacking:
        return None
    if case.band == "unlikely" and not case.wanted:
        return _Ruling("not_suitable", leading=lacking)
    known = all(_is_known(check, case) for check in lacking)
    return _Ruling("suitable_with_changes" if known else "needs_human", leading=lacking)


def _is_known(check: Check, case: BranchFacts) -> bool:
    """Whether it is known what has to be done about it."""
    if check.name == "symbols":
        return case.helped
    return check.name != "build" and bool(check.fix)


def _wanted_though(case: BranchFacts) -> _Ruling | None:
    """It breaks something, and somebody asks for it, or it is likely all the same."""
    against = tuple(case.failed(_AGAINST, "error"))
    if not against or case.approved:
        return None
    why = "it is asked for, and" if case.wanted else "it is likely, and"
    return _Ruling("needs_human", why, against)


def _unsure(case: BranchFacts) -> _Ruling | None:
    """What wants somebody's eyes, and what nobody has looked into."""
    careful = case.failed(_CAREFUL, "warning")
    unseen = case.failed(_AGAINST | _TO_CHANGE | {"not-there-yet"}, "hint")
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
    """A clean pick: what people say, then the score, then the policy's default answer."""
    if case.approved:
        return _Ruling("suitable", case.approved)
    if case.asked == "yes":
        return _Ruling("suitable", leading=_named(case, "asked-for"))
    if case.band != "grey":
        return _Ruling("suitable" if case.band == "likely" else "not_suitable")
    answers: dict[str, _Ruling] = {
        "yes": _Ruling("suitable", "the policy's default answer is yes"),
        "no": _Ruling("not_suitable", "the policy's default answer is no"),
        "ask": _Ruling("needs_human", f"it applies, and {_UNDECIDED}"),
    }
    return answers[case.default]


def _named(case: BranchFacts, name: str) -> tuple[Check, ...]:
    return tuple(check for check in case.checks if check.name == name)


def _reasons(case: BranchFacts, ruling: _Ruling) -> Iterator[str]:
    """The decisive reason, then whatever else failed, then what the score rests on."""
    leading = [check.message for check in ruling.leading]
    if ruling.because:
        yield f"{ruling.because} {'; '.join(leading)}".strip()
    else:
        yield from leading
    if ruling.verdict in {"already_present", "not_applicable", "error"}:
        return
    told = {check.message for check in ruling.leading}
    for check in case.checks:
        always = check.name == "picks-cleanly"
        if (not check.passed or always) and check.message not in told:
            yield check.message
    if case.score:
        yield score_words(case.score)
    if case.cut_short:
        where = printable(case.tip.name)
        yield f"not looked for, as this is clear already: names that {where} lacks, prerequisites"
