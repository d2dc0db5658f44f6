"""The backport verdicts alone, and how they are shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

from prjury.report.finding_view import View, view_check
from prjury.report.model import NOT_TRIED, Backport
from prjury.report.text import trust
from prjury.report.wording import pluralize
from prjury.snapshot.model import PullRequest, printable, visible

#: So many branches are named in the headline.
_FEW = 4
_SHORT, _LONGEST_REF = 12, 60
_OUTCOMES = {
    "suitable": ("✅", "suitable"),
    "suitable_with_changes": ("⚠️", "suitable with changes"),
    "needs_human": ("⚪", "needs a human"),
    "not_suitable": ("❌", "not suitable"),
    "already_present": ("✅", "already there"),
    "not_applicable": ("⏭️", "not applicable"),
    "not_requested": ("⏭️", "not asked for"),
    "error": ("⚪", "could not be tried"),
}


class Backports(Struct, frozen=True):
    """The backport verdicts on a change."""

    pull: PullRequest
    backports: tuple[Backport, ...]
    policy: str
    policy_hash: str
    version: str
    notes: tuple[str, ...] = ()
    elapsed_ms: int = 0

    @property
    def headline(self) -> str:
        """``Backport of #7 Fix the cart: 1.1.x suitable, 1.0.x needs a human``."""
        pull = self.pull
        ref = printable(pull.head.ref)
        ref_text = ref[:_SHORT] if ref.startswith(pull.head.sha) else ref[:_LONGEST_REF]
        name = ref_text if pull.number is None else f"#{pull.number}"
        title = f" {visible(pull.title)}" if pull.title.strip() else ""
        pairs = [(printable(one.branch), _OUTCOMES[one.verdict][1]) for one in self.backports]
        outcomes = [" ".join(pair) for pair in pairs]
        if len(pairs) > _FEW:
            counts = Counter(words for _, words in pairs)
            outcomes = [f"{words} {count}" for words, count in counts.items()]
        return f"Backport of {name}{title}: {', '.join(outcomes)}"

    @property
    def unjudged(self) -> Sequence[Backport]:
        return [one for one in self.backports if one.verdict == "error"]

    @property
    def unsuitable(self) -> Sequence[Backport]:
        """The branches that are not `suitable` as the change is."""
        return [one for one in self.backports if one.verdict != "suitable"]


def backports_page(reported: Backports) -> View:
    branches = tuple(map(_view_backport, reported.backports))
    return View(headline=reported.headline, notes=reported.notes, backports=branches)


def view_asked_and_other_backports(backports: Sequence[Backport]) -> dict[str, tuple[View, ...]]:
    """Show first the branches that somebody asked for, or will probably want."""
    first, others = [], []
    for backport in backports:
        is_wanted = backport.asked == "yes" or backport.band == "likely"
        if is_wanted and backport.verdict not in {"not_requested", "not_applicable"}:
            first.append(_view_backport(backport))
        elif backport.asked == "yes" or not _describe_pick(backport).startswith(NOT_TRIED):
            others.append(_view_backport(backport))
    return {
        "asked_backports": tuple(first),
        "other_backports": tuple(others),
        "backports": (*first, *others),
    }


def _view_backport(backport: Backport) -> View:
    words = _describe_pick(backport)
    return View(
        branch=backport.branch,
        symbol=trust(_OUTCOMES[backport.verdict][0]),
        command_list=backport.commands,
        words=words,
        is_tried=backport.verdict != "not_requested",
        reasons=tuple(reason for reason in backport.reasons if reason != words),
        conflicts=backport.conflicts,
        prerequisites=backport.prerequisites,
        commands=" &&\n".join(backport.commands) if backport.commands else None,
        checks=tuple(map(view_check, backport.checks)),
    )


def backport_line(backport: Backport) -> str:
    """``✅ 1.1.x: suitable, picks cleanly``."""
    symbol, _ = _OUTCOMES[backport.verdict]
    return f"{symbol} {printable(backport.branch)}: {_describe_pick(backport)}"


def _describe_pick(backport: Backport) -> str:
    _, words = _OUTCOMES[backport.verdict]
    if backport.verdict in {"not_applicable", "already_present", "not_requested"}:
        reason = next(iter(backport.reasons), "")
        return reason if reason.startswith(NOT_TRIED) else words
    if backport.conflicts and backport.prerequisites:
        count = pluralize(len(backport.prerequisites), "other commit")
        return f"{words}, picks cleanly after {count}"
    if backport.conflicts:
        return f"{words}, conflicts in {pluralize(len(backport.conflicts), 'file')}"
    return f"{words}, picks cleanly" if backport.applies else words
