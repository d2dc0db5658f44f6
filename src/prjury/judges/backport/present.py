"""Check 2: is the change on the branch already?

It is if the branch holds the commit itself, the very same patch, a commit whose message says that
it was picked from this one, or if picking it changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from prjury.exchange import BranchTip, Message
from prjury.judges.backport.origins import Origins, origins
from prjury.jury.judgment import Check
from prjury.ports import Releases
from prjury.pull.model import PullRequest, printable, visible

_REVERTS = re.compile(r"^This reverts commit ([0-9a-f]{7,64})", re.MULTILINE)
#: More commits than this are not compared one by one.
_MOST_COMMITS = 40


@dataclass(frozen=True, slots=True)
class Present:
    """How the branch holds the change.

    Attributes:
        how: in a phrase.
        commit: the branch's commit that brought it, None where there is not one.
        evidence: the words that say so.
        reverted: the branch's commit that took it back, None where none has.
    """

    how: str
    commit: str | None = None
    evidence: str | None = None
    reverted: str | None = None


@dataclass(frozen=True)
class Identity:
    """By what a change is known again.

    Attributes:
        commits: each of its commits with the one before it, oldest first; merges are left out.
        number: of the pull request.
    """

    base: str
    head: str
    commits: tuple[tuple[str, str], ...] = ()
    number: int | None = None
    paths: tuple[str, ...] = ()

    @property
    def shas(self) -> frozenset[str]:
        """The names of its commits."""
        return frozenset({self.head, *(head for _, head in self.commits)})


def identity_of(pull: PullRequest, commits: Sequence[tuple[str, str]]) -> Identity:
    """By what a pull request with these commits is known again."""
    few = tuple(commits) if len(commits) <= _MOST_COMMITS else ()
    paths = dict.fromkeys(p for file in pull.files for p in (file.old_path, file.path) if p)
    return Identity(pull.merge_base, pull.head.sha, few, pull.number, tuple(paths))


def present(
    change: Identity, tip: BranchTip, since: str, messages: Sequence[Message], releases: Releases
) -> Present | None:
    """How the branch holds the change by its history; None where that tells of nothing.

    Args:
        since: where the branch parted from the base.
        messages: of the branch's commits since then, newest first.
    """
    if releases.holds(tip.sha, change.head):
        return Present("it holds the commit itself", change.head)
    for found in (_told(change, messages), _patched(change, tip, since, releases)):
        if found:
            return _unless_reverted(found, messages)
    return None


def _told(change: Identity, messages: Sequence[Message]) -> Present | None:
    for message in messages:
        read = origins(message.text)
        if said := _names(read, change):
            how = f"{message.sha[:7]} says that it brings {said}"
            return Present(how, message.sha, visible(message.text.split("\n", 1)[0]))
    return None


def _names(read: Origins, change: Identity) -> str | None:
    """What of the change a message names: its head, or for one of a single commit that commit."""
    if any(change.head.startswith(sha) for sha in read.shas):
        return change.head[:7]
    if change.number is not None and change.number in read.pulls:
        return f"#{change.number}"
    return None


def _patched(change: Identity, tip: BranchTip, since: str, releases: Releases) -> Present | None:
    whole = (change.base, change.head)
    some = change.commits if len(change.commits) > 1 else ()
    held = releases.same_patches([whole, *some], change.paths, since, tip.sha)
    if whole in held:
        return Present(f"{held[whole][:7]} is the same patch", held[whole])
    if some and all(one in held for one in some):
        names = ", ".join(held[one][:7] for one in some[:3])
        more = ", …" if len(some) > 3 else ""  # noqa: PLR2004 - as above
        return Present(f"{names}{more} are the same patches", held[some[-1]])
    return None


def _unless_reverted(found: Present, messages: Sequence[Message]) -> Present:
    """The finding, with the later commit that takes it back, unless that was taken back as well."""
    reverted = _reverted(messages)
    commit = found.commit
    undone = reverted.get(commit) if commit else None
    if undone is None or undone in reverted:
        return found
    return Present(found.how, commit, found.evidence, undone)


def _reverted(messages: Sequence[Message]) -> Mapping[str, str]:
    """What was reverted on the branch, by the commits that did it."""
    return dict(_reverts(messages))


def _reverts(messages: Sequence[Message]) -> Iterator[tuple[str, str]]:
    shas = [message.sha for message in messages]
    for message in messages:
        for name in _REVERTS.findall(message.text):
            yield from ((sha, message.sha) for sha in shas if sha.startswith(name))


def not_there_yet(found: Present | None, empty: bool, branch: str) -> Check:  # noqa: FBT001 - a fact
    """The check that the branch passes as long as it lacks the change."""
    where = printable(branch)
    if found and found.reverted:
        message = f"{where} had it ({found.how}), and {found.reverted[:7]} reverts it"
        return Check("not-there-yet", False, message, severity="warning", evidence=found.evidence)
    if found:
        message = f"{where} has it already: {found.how}"
        return Check("not-there-yet", False, message, severity="hint", evidence=found.evidence)
    if empty:
        message = f"{where} has it already: the pick changes nothing there"
        return Check("not-there-yet", False, message, severity="hint")
    return Check("not-there-yet", True, f"nothing on {where} says that it is there")
