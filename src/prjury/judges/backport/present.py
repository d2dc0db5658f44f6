"""Check 2: is the change on the branch already?

It is if the branch holds the commit itself, the very same patch, a commit whose message says that
it was picked from this one, or if picking it changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from prjury.exchange import BranchTip, Message
from prjury.judges.backport.origins import Origins, origins
from prjury.jury.judgment import Check
from prjury.ports import Releases
from prjury.pull.model import PullRequest, printable, visible

NAME = "not-there-yet"

_REVERTS = re.compile(r"^This reverts commit ([0-9a-f]{7,64})", re.MULTILINE)
#: The patches of more commits than this are not compared one by one.
_MOST_COMMITS = 40
#: So many commits are named.
_FEW = 3


@dataclass(frozen=True, slots=True)
class Present:
    """How the branch holds the change.

    Attributes:
        how: in a phrase.
        commit: the branch's commit that brought it, or the one of several that was taken back.
        evidence: the words that say so.
        reverted: the branch's commit that took it back, None where none has.
    """

    how: str
    commit: str
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
    def shas(self) -> tuple[str, ...]:
        """The names of its commits, the head's first."""
        return (self.head, *(head for _, head in self.commits))


def identity_of(pull: PullRequest, commits: Sequence[tuple[str, str]]) -> Identity:
    """By what a pull request with these commits is known again."""
    paths = dict.fromkeys(p for file in pull.files for p in (file.old_path, file.path) if p)
    return Identity(pull.merge_base, pull.head.sha, tuple(commits), pull.number, tuple(paths))


def present(
    change: Identity, tip: BranchTip, since: str, messages: Sequence[Message], releases: Releases
) -> Present | None:
    """How the branch holds the change by its history; None where that tells of nothing.

    What was taken back counts only where nothing else brought it.

    Args:
        since: where the branch parted from the base.
        messages: of the branch's commits since then, newest first.
    """
    undone = _undone(messages)
    reverted: Present | None = None
    for found, brought in _ways(change, tip, since, messages, releases):
        gone = next((sha for sha in brought if sha in undone), None)
        if gone is None:
            return found
        reverted = reverted or replace(found, commit=gone, reverted=undone[gone])
    return reverted


#: How the branch holds it, and the commits that brought it there.
_Way: TypeAlias = tuple[Present, Sequence[str]]


def _ways(
    change: Identity, tip: BranchTip, since: str, messages: Sequence[Message], releases: Releases
) -> Iterator[_Way]:
    # A branch that holds the head holds what it is built on as well.
    if since == change.base and releases.holds(tip.sha, change.head):
        merges = [message.sha for message in messages if change.head in message.parents[1:]]
        yield Present("it holds the commit itself", change.head), [*change.shas, *merges]
    yield from _told(change, messages)
    yield from _patched(change, tip, since, messages, releases)


def _told(change: Identity, messages: Sequence[Message]) -> Iterator[_Way]:
    for message in messages:
        if said := _names(origins(message.text), change):
            how = f"{message.sha[:7]} says that it brings {said}"
            subject = visible(message.text.split("\n", 1)[0])
            yield Present(how, message.sha, subject), [message.sha]
            return


def _names(read: Origins, change: Identity) -> str | None:
    """What of the change a message names: its number, or its head where that is all of it."""
    if change.number is not None and change.number in read.pulls:
        return f"#{change.number}"
    one_of_several = len(change.commits) > 1 and any(
        change.head == sha for _, sha in change.commits
    )
    if not one_of_several and any(change.head.startswith(sha) for sha in read.shas):
        return change.head[:7]
    return None


def _patched(
    change: Identity, tip: BranchTip, since: str, messages: Sequence[Message], releases: Releases
) -> Iterator[_Way]:
    whole = (change.base, change.head)
    several = change.commits if len(change.commits) > 1 else ()
    compared = several if len(several) <= _MOST_COMMITS else ()
    held = releases.same_patches([whole, *compared], change.paths, since, tip.sha)
    if sha := held.get(whole):
        merged = any(one.sha == sha and change.head in one.parents[1:] for one in messages)
        brought = [sha, *(change.shas if merged else ())]
        yield Present(f"{sha[:7]} is the same patch", sha), brought
    named = _named(several, messages)
    each = [held.get(one) or named.get(one[1]) for one in several]
    brought = list(dict.fromkeys(filter(None, each)))
    if each and all(each):
        names = ", ".join(sha[:7] for sha in brought[:_FEW]) + ", …" * (len(brought) > _FEW)
        bring = "brings" if len(brought) == 1 else "bring"
        yield Present(f"{names} {bring} its commits one by one", brought[-1]), brought


def _named(commits: Sequence[tuple[str, str]], messages: Sequence[Message]) -> Mapping[str, str]:
    """Which of the commits the branch's messages name, and in which of its own."""
    found: dict[str, str] = {}
    for message in messages if commits else ():
        for name in origins(message.text).shas:
            for _, sha in commits:
                if sha.startswith(name):
                    found.setdefault(sha, message.sha)
    return found


def _undone(messages: Sequence[Message]) -> Mapping[str, str]:
    """What was reverted on the branch and stayed so, by the commits that did it."""
    shas = [message.sha for message in messages]
    undone: dict[str, str] = {}
    for message in messages:
        if message.sha in undone:
            continue  # what it took back is there again
        for name in _REVERTS.findall(message.text):
            undone.update({sha: message.sha for sha in shas if sha.startswith(name)})
    return undone


def not_there_yet(
    found: Present | None,
    empty: bool,  # noqa: FBT001 - a fact
    branch: str,
    unseen: str = "",
) -> Check:
    """The check that the branch passes as long as it lacks the change.

    Args:
        unseen: why its history was not looked into.
    """
    where = printable(branch)
    evidence = found.evidence if found else None
    if found and found.reverted and not empty:
        told = f"{where} had it ({found.how}), and {found.reverted[:7]} reverts {found.commit[:7]}"
        return Check(NAME, passed=False, message=told, severity="warning", evidence=evidence)
    if found or empty:
        how = found.how if found and not found.reverted else "the pick changes nothing there"
        told = f"{where} has it already: {how}"
        return Check(NAME, passed=False, message=told, severity="hint", evidence=evidence)
    if unseen:
        told = f"not looked into whether {where} has it already: {unseen}"
        return Check(NAME, passed=False, message=told, severity="hint")
    return Check(NAME, passed=True, message=f"nothing on {where} says that it is there")
