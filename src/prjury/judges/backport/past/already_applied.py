"""Check 2: is the change on the branch already?

It is if the branch holds the commit itself, the very same patch, a commit whose message says that
it was picked from this one, or if picking it changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from prjury.errors import SourceError
from prjury.judges.backport.past.origins import Origins, origins
from prjury.jury.judgment import Check
from prjury.ports import Releases
from prjury.ports.types import BranchTip, CommitMessage
from prjury.snapshot.model import PullRequest, printable, visible

NAME = "not-there-yet"
_ITSELF = "it holds the commit itself"

#: What takes something back says so by git's words, by GitHub's, or by its title alone.
_REVERTS = re.compile(r"^This reverts commit ([0-9a-f]{7,64})", re.MULTILINE)
_REVERTS_PULL = re.compile(r"^Reverts (?:[\w.-]+/[\w.-]+)?#(\d{1,9})\b", re.MULTILINE)
_REVERTS_TITLE = re.compile(r'Revert "(.+?)"(?: ?\(#\d{1,9}\))*$')
_NUMBERS = re.compile(r"\(#(\d{1,9})\)|Merge pull request #(\d{1,9})")
_NUMBER_AFTER = re.compile(r"(?: ?\(#\d{1,9}\))+$")
#: The patches of more commits than this are not compared one by one.
_MOST_COMMITS = 40
#: So many commits are named.
_FEW = 3


@dataclass(frozen=True, slots=True)
class AppliedCommits:
    """How the branch holds the change.

    Attributes:
        how: in a phrase.
        commit: the branch's commit that brought it, or the one of several that was taken back.
        evidence: the words that say so.
        reverted: the branch's commit that took it back, None where none has.
        lost: whether it lacks all the same what the change brings.
    """

    how: str
    commit: str
    evidence: str | None = None
    reverted: str | None = None
    lost: bool = False

    @property
    def stays(self) -> bool:
        """Whether nothing has taken it away."""
        return not (self.reverted or self.lost)


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


def applied_commits(
    change: Identity,
    tip: BranchTip,
    since: str,
    messages: Sequence[CommitMessage],
    releases: Releases,
) -> AppliedCommits | None:
    """How the branch holds the change by its history; None where that tells of nothing.

    What happened last counts: it may have been taken back, and brought again.

    Args:
        since: where the branch parted from the base.
        messages: of the branch's commits since then, newest first.
    """
    copies = _copies(change, tip, since, messages, releases)
    each: Collection[Mapping[str, str]] = copies.each.values() or [{}]
    change_histories = [
        history_of_change({**copies.whole, **bringing}, messages) for bringing in each
    ]
    brought = list(
        dict.fromkeys(
            change_history.brought for change_history in change_histories if change_history.brought
        )
    )
    if not all(change_history.brought for change_history in change_histories):
        return None
    found = AppliedCommits(_how(brought, copies.whole), brought[-1], _subject(brought[0], messages))
    gone = next(
        (change_history for change_history in change_histories if change_history.undone), None
    )
    return replace(found, commit=gone.gone, reverted=gone.undone) if gone else found


@dataclass(frozen=True)
class _Copies:
    """Commits of a branch that bring something of the change, and how, in a phrase.

    Attributes:
        whole: those that bring all of it.
        each: those that bring one of several commits, by its name.
    """

    change: Identity
    whole: dict[str, str]
    each: dict[str, dict[str, str]]

    @property
    def found(self) -> bool:
        """Whether there are any."""
        return bool(self.whole) or any(self.each.values())

    def itself(self, messages: Sequence[CommitMessage]) -> None:
        """Adds the change's own commits, which the branch holds, and the merge they came by."""
        head = self.change.head
        merges = [message.sha for message in messages if head in message.parents[1:]]
        self.whole.update(dict.fromkeys([head, *merges], _ITSELF))
        for sha in self.change.shas[1:]:
            self.each.get(sha, self.whole)[sha] = _ITSELF

    def told(self, messages: Sequence[CommitMessage]) -> None:
        """Adds what the branch's messages say."""
        for message in messages:
            read, says = origins(message.text), f"{message.sha[:7]} says that it brings"
            if name := _names(read, self.change):
                self.whole.setdefault(message.sha, f"{says} {name}")
            for sha, bringing in self.each.items() if read.shas else ():
                if any(sha.startswith(name) for name in read.shas):
                    bringing.setdefault(message.sha, f"{says} {sha[:7]}")

    def patched(self, tip: BranchTip, since: str, releases: Releases) -> None:
        """Adds those with the very same patch.

        Raises:
            SourceError: when patches cannot be read.
        """
        change = self.change
        several = [pair for pair in change.commits if pair[1] in self.each]
        compared = several if len(several) <= _MOST_COMMITS else []
        pairs = [(change.base, change.head), *compared]
        held = releases.same_patches(pairs, change.paths, since, tip.sha)
        for pair, shas in held.items():
            bringing = self.whole if pair == pairs[0] else self.each[pair[1]]
            for sha in shas:
                bringing.setdefault(sha, f"{sha[:7]} is the same patch")


def _copies(
    change: Identity,
    tip: BranchTip,
    since: str,
    messages: Sequence[CommitMessage],
    releases: Releases,
) -> _Copies:
    several = change.commits if len(change.commits) > 1 else ()
    copies = _Copies(change, {}, {sha: {} for _, sha in several})
    if releases.holds(tip.sha, change.head):
        copies.itself(messages)
    copies.told(messages)
    try:
        copies.patched(tip, since, releases)
    except SourceError:
        if not copies.found:
            raise  # otherwise its words are enough
    return copies


def _names(read: Origins, change: Identity) -> str | None:
    """What of the change a message names: its number, or its head where that is all of it."""
    if change.number is not None and change.number in read.pulls:
        return f"#{change.number}"
    one_of_several = len(change.commits) > 1 and change.head in change.shas[1:]
    if not one_of_several and any(change.head.startswith(sha) for sha in read.shas):
        return change.head[:7]
    return None


def _how(brought: Sequence[str], whole: Mapping[str, str]) -> str:
    if len(brought) == 1:
        return whole.get(brought[0], f"{brought[0][:7]} brings it back")
    names = ", ".join(sha[:7] for sha in brought[:_FEW]) + ", …" * (len(brought) > _FEW)
    return f"{names} bring its commits one by one"


def _subject(sha: str, messages: Sequence[CommitMessage]) -> str | None:
    return next((visible(one.text.split("\n", 1)[0]) for one in messages if one.sha == sha), None)


@dataclass(frozen=True, slots=True)
class ChangeHistory:
    """What became of something on a branch.

    Attributes:
        brought: the commit that brought it last, None where none has.
        undone: the commit that took it back since.
        gone: what that commit says that it takes back.
    """

    brought: str | None = None
    undone: str | None = None
    gone: str = ""


def history_of_change(copies: Collection[str], messages: Sequence[CommitMessage]) -> ChangeHistory:
    """What became of what the copies bring, by the branch's messages, the newest first."""
    titles = {message.sha: _title(message) for message in messages}
    known, takers, change_history = (
        dict.fromkeys(copies),
        dict[str, None](),
        ChangeHistory(next(iter(copies), None)),
    )
    for message in reversed(messages):
        if message.sha in known:
            change_history = ChangeHistory(message.sha)
        if taken := _taken(message, known, titles):
            takers[message.sha] = None
            change_history = replace(change_history, undone=message.sha, gone=taken)
        elif _taken(message, takers, titles):
            known[message.sha] = None
            change_history = ChangeHistory(message.sha)
    return change_history


def _taken(message: CommitMessage, among: Iterable[str], titles: Mapping[str, str]) -> str | None:
    """The newest of these commits that a message takes back."""
    shas = _REVERTS.findall(message.text)
    numbers = set(_REVERTS_PULL.findall(message.text))
    reverted = _REVERTS_TITLE.match(titles[message.sha])
    for sha in reversed(list(among)):
        title = titles.get(sha, "")
        own = {number for pair in _NUMBERS.findall(title) for number in pair if number}
        same = reverted is not None and _bare(reverted[1]) == _bare(title) != ""
        # A name or a number says more than a title, which may be that of another commit.
        by_title = same and not (shas or numbers)
        if any(sha.startswith(name) for name in shas) or numbers & own or by_title:
            return sha
    return None


def _title(message: CommitMessage) -> str:
    return message.text.strip().split("\n", 1)[0]


def _bare(title: str) -> str:
    """A title without the numbers that GitHub puts after it."""
    return _NUMBER_AFTER.sub("", title).strip()


def not_there_yet(
    found: AppliedCommits | None,
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
    if found and found.lost:
        told = f"{where} has nothing of what it brings, though {found.how}"
        return Check(NAME, passed=False, message=told, severity="warning", evidence=evidence)
    if found or empty:
        how = found.how if found and not found.reverted else "the pick changes nothing there"
        told = f"{where} has it already: {how}"
        return Check(NAME, passed=False, message=told, severity="hint", evidence=evidence)
    if unseen:
        told = f"not looked into whether {where} has it already: {unseen}"
        return Check(NAME, passed=False, message=told, severity="hint")
    return Check(NAME, passed=True, message=f"nothing on {where} says that it is there")
