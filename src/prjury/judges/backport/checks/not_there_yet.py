"""Return true if the branch has the change already.

It has if it holds the commit itself, the same patch, a commit whose message says that it was picked
from this one, or if picking the change has no effect.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from prjury.errors import SourceError
from prjury.judges.backport.origins import Origins, origins
from prjury.jury.judgment import Check, Severity
from prjury.ports import Releases
from prjury.ports.types import BranchTip, CommitMessage
from prjury.snapshot.model import PullRequest, printable, visible

_ITSELF = "it holds the commit itself"

#: Reverts as git and GitHub write them, and titles of reverts.
_REVERTS = re.compile(r"^This reverts commit ([0-9a-f]{7,64})", re.MULTILINE)
_REVERTS_PULL = re.compile(r"^Reverts (?:[\w.-]+/[\w.-]+)?#(\d{1,9})\b", re.MULTILINE)
_REVERTS_TITLE = re.compile(r'Revert "(.+?)"(?: ?\(#\d{1,9}\))*$')
_NUMBERS = re.compile(r"\(#(\d{1,9})\)|Merge pull request #(\d{1,9})")
_NUMBER_AFTER = re.compile(r"(?: ?\(#\d{1,9}\))+$")
#: Patches are compared one by one for at most so many commits.
_MOST_COMMITS = 40
#: So many commits are named.
_FEW = 3


@dataclass(frozen=True, slots=True)
class AppliedCommits:
    """How the branch holds the change.

    Attributes:
        commit: the branch's commit that brought it, or the one of several that was reverted.
        evidence: the subject of the commit.
        reverted: the branch's commit that reverted it, or None.
        lost: whether the branch lacks the change's lines all the same.
    """

    how: str
    commit: str
    evidence: str | None = None
    reverted: str | None = None
    lost: bool = False

    @property
    def stays(self) -> bool:
        """Return true if the branch still has the change."""
        return not (self.reverted or self.lost)


@dataclass(frozen=True)
class Identity:
    """What identifies a change on other branches; commits with parents, oldest first, no merges."""

    base: str
    head: str
    commits: tuple[tuple[str, str], ...] = ()
    number: int | None = None
    paths: tuple[str, ...] = ()

    @property
    def shas(self) -> tuple[str, ...]:
        """The object names of its commits, the head's first."""
        return (self.head, *(head for _, head in self.commits))


def identity_of(pull: PullRequest, commits: Sequence[tuple[str, str]]) -> Identity:
    """Return the identity of a pull request with these commits."""
    paths = dict.fromkeys(p for file in pull.files for p in (file.old_path, file.path) if p)
    return Identity(pull.merge_base, pull.head.sha, tuple(commits), pull.number, tuple(paths))


def applied_commits(
    change: Identity,
    tip: BranchTip,
    since: str,
    messages: Sequence[CommitMessage],
    releases: Releases,
) -> AppliedCommits | None:
    """Return how the branch's history holds the change, or None.

    The latest event counts: a change may be reverted and applied again.

    Args:
        since: the commit where the branch forked from the base.
        messages: of the branch's commits since then, newest first.
    """
    copies = _Copies.of(change, tip, since, messages, releases)
    each: Collection[Mapping[str, str]] = copies.each.values() or [{}]
    histories = [history_of_change({**copies.whole, **one}, messages) for one in each]
    brought = list(dict.fromkeys(one.brought for one in histories if one.brought))
    if not all(one.brought for one in histories):
        return None
    titles = {one.sha: visible(one.text.split("\n", 1)[0]) for one in messages}
    how, title = _how(brought, copies.whole), titles.get(brought[0])
    found = AppliedCommits(how, brought[-1], title)
    undone = next((one for one in histories if one.undone), None)
    return replace(found, commit=undone.gone, reverted=undone.undone) if undone else found


@dataclass(frozen=True)
class _Copies:
    """Commits of a branch that bring all of the change or one commit of it, each with its how."""

    change: Identity
    whole: dict[str, str]
    each: dict[str, dict[str, str]]

    @classmethod
    def of(
        cls,
        change: Identity,
        tip: BranchTip,
        since: str,
        messages: Sequence[CommitMessage],
        releases: Releases,
    ) -> _Copies:
        """Find the copies; see `applied_commits`."""
        several = change.commits if len(change.commits) > 1 else ()
        copies = cls(change, {}, {sha: {} for _, sha in several})
        if releases.holds(tip.sha, change.head):
            copies._add_itself(messages)
        copies._add_named(messages)
        try:
            copies._add_patched(tip, since, releases)
        except SourceError:
            if not (copies.whole or any(copies.each.values())):
                raise  # otherwise the messages are proof enough
        return copies

    def _add_itself(self, messages: Sequence[CommitMessage]) -> None:
        """Add the change's own commits, and the merge that brought them."""
        head = self.change.head
        merges = [message.sha for message in messages if head in message.parents[1:]]
        self.whole.update(dict.fromkeys([head, *merges], _ITSELF))
        for sha in self.change.shas[1:]:
            self.each.get(sha, self.whole)[sha] = _ITSELF

    def _add_named(self, messages: Sequence[CommitMessage]) -> None:
        """Add commits whose messages name the change."""
        for message in messages:
            read, says = origins(message.text), f"the message of {message.sha[:7]} names"
            if name := _names(read, self.change):
                self.whole.setdefault(message.sha, f"{says} {name}")
            for sha, bringing in self.each.items() if read.shas else ():
                if any(sha.startswith(name) for name in read.shas):
                    bringing.setdefault(message.sha, f"{says} {sha[:7]}")

    def _add_patched(self, tip: BranchTip, since: str, releases: Releases) -> None:
        change = self.change
        several = [pair for pair in change.commits if pair[1] in self.each]
        compared = several if len(several) <= _MOST_COMMITS else []
        pairs = [(change.base, change.head), *compared]
        held = releases.same_patches(pairs, change.paths, since, tip.sha)
        for pair, shas in held.items():
            bringing = self.whole if pair == pairs[0] else self.each[pair[1]]
            for sha in shas:
                bringing.setdefault(sha, f"{sha[:7]} is the same patch")


def _names(read: Origins, change: Identity) -> str | None:
    """Return the number or the head if a message names it as the origin of the whole change."""
    if change.number is not None and change.number in read.pulls:
        return f"#{change.number}"
    one_of_several = len(change.commits) > 1 and change.head in change.shas[1:]
    if not one_of_several and any(change.head.startswith(sha) for sha in read.shas):
        return change.head[:7]
    return None


def _how(brought: Sequence[str], whole: Mapping[str, str]) -> str:
    if len(brought) == 1:
        return whole.get(brought[0], f"{brought[0][:7]} applies it again")
    names = ", ".join(sha[:7] for sha in brought[:_FEW]) + ", …" * (len(brought) > _FEW)
    return f"{names} are its commits one by one"


@dataclass(frozen=True, slots=True)
class ChangeHistory:
    """The latest commit that brought a change, and which one was reverted by which since."""

    brought: str | None = None
    undone: str | None = None
    gone: str = ""


def history_of_change(copies: Collection[str], messages: Sequence[CommitMessage]) -> ChangeHistory:
    """Follow reverts of the copies through the branch's messages, which are newest first."""
    titles = {message.sha: _title(message) for message in messages}
    known, reverts = dict.fromkeys(copies), dict[str, None]()
    found = ChangeHistory(next(iter(copies), None))
    for message in reversed(messages):
        if message.sha in known:
            found = ChangeHistory(message.sha)
        if reverted := _find_reverted(message, known, titles):
            reverts[message.sha] = None
            found = replace(found, undone=message.sha, gone=reverted)
        elif _find_reverted(message, reverts, titles):
            known[message.sha] = None
            found = ChangeHistory(message.sha)
    return found


def _find_reverted(
    message: CommitMessage, among: Iterable[str], titles: Mapping[str, str]
) -> str | None:
    """Return the newest of these commits that a message reverts."""
    shas = _REVERTS.findall(message.text)
    numbers = set(_REVERTS_PULL.findall(message.text))
    reverted = _REVERTS_TITLE.match(titles[message.sha])
    for sha in reversed(list(among)):
        title = titles.get(sha, "")
        own = {number for pair in _NUMBERS.findall(title) for number in pair if number}
        same = reverted is not None and _bare(reverted[1]) == _bare(title) != ""
        # An object name or a number outweighs a title, which several commits may have.
        by_title = same and not (shas or numbers)
        if any(sha.startswith(name) for name in shas) or numbers & own or by_title:
            return sha
    return None


def _title(message: CommitMessage) -> str:
    return message.text.strip().split("\n", 1)[0]


def _bare(title: str) -> str:
    """Return a title without the numbers that GitHub appends."""
    return _NUMBER_AFTER.sub("", title).strip()


def not_there_yet_check(
    found: AppliedCommits | None,
    unread: str,
    empty: bool,  # noqa: FBT001 - a fact
    branch: str,
) -> Check:
    """Return the check ``not-there-yet``, which passes as long as the branch lacks the change.

    Args:
        unread: why the branch's history could not be read.
        empty: whether the pick has no effect.
    """
    where, evidence = printable(branch), found.evidence if found else None
    severity: Severity = "hint"
    if found and found.reverted and not empty:
        undone = f"{found.reverted[:7]} reverts {found.commit[:7]}"
        message, severity = f"{where} had it ({found.how}), but {undone}", "warning"
    elif found and found.lost:
        message, severity = f"{where} has none of its lines, although {found.how}", "warning"
    elif found or empty:
        how = found.how if found and not found.reverted else "picking it has no effect"
        message = f"{where} already has it: {how}"
    elif unread:
        message = f"not checked whether {where} already has it: {unread}"
    else:
        return Check("not-there-yet", passed=True, message=f"{where} does not have it yet")
    return Check(
        "not-there-yet", passed=False, message=message, severity=severity, evidence=evidence
    )
