"""How a branch has the change already.

It does if it holds the commit itself, the same patch, a commit whose message says that it was
picked from this one, or if picking the change has no effect.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from prjury.errors import SourceError
from prjury.git.releases import Releases
from prjury.judges.backport.history import History
from prjury.judges.backport.origins import Origins, read_origins
from prjury.jury.judgment import Check, Severity
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


class AppliedCommits(Struct, frozen=True):
    """How the branch holds the change, or held it until it was ``reverted`` or ``lost``."""

    how: str
    commit: str
    evidence: str | None = None
    reverted: str | None = None
    lost: bool = False

    @property
    def stays(self) -> bool:
        """Return true if the branch still has the change."""
        return not (self.reverted or self.lost)


class Identity(Struct, frozen=True):
    """What identifies a change on other branches; commits with parents, oldest first, no merges."""

    base: str
    head: str
    commits: tuple[tuple[str, str], ...] = ()
    number: int | None = None
    paths: tuple[str, ...] = ()


def identity_of(pull: PullRequest, commits: Sequence[tuple[str, str]]) -> Identity:
    """Return the identity of a pull request with these commits."""
    paths = dict.fromkeys(p for file in pull.files for p in (file.old_path, file.path) if p)
    return Identity(pull.merge_base, pull.head.sha, tuple(commits), pull.number, tuple(paths))


def find_applied_or_reverted(
    change: Identity, tip: BranchTip, history: History, releases: Releases
) -> AppliedCommits | None:
    """Return how the branch's history holds the change, or None; the latest event counts."""
    messages = history.messages
    whole, parts = _map_whole_and_part_copies_to_how(change, tip, history, releases)
    histories = [follow_reverts({**whole, **one}, messages) for one in parts or [{}]]
    brought = list(dict.fromkeys(one.brought for one in histories if one.brought))
    if not all(one.brought for one in histories):
        return None
    titles = {one.sha: visible(one.text.split("\n", 1)[0]) for one in messages}
    applied = AppliedCommits(_how(brought, whole), brought[-1], titles.get(brought[0]))
    for one in histories:
        if one.undone:
            return replace(applied, commit=one.gone, reverted=one.undone)
    return applied


def _map_whole_and_part_copies_to_how(
    change: Identity, tip: BranchTip, history: History, releases: Releases
) -> tuple[dict[str, str], list[dict[str, str]]]:
    """Return the commits that bring the whole change or one of its commits, each with its how."""
    several = [sha for _, sha in change.commits] if len(change.commits) > 1 else []
    whole: dict[str, str] = {}
    parts: dict[str, dict[str, str]] = {sha: {} for sha in several}
    if releases.holds(tip.sha, change.head):
        merges = [one.sha for one in history.messages if change.head in one.parents[1:]]
        whole |= dict.fromkeys([change.head, *merges], _ITSELF)
        for _, sha in change.commits:
            parts.get(sha, whole)[sha] = _ITSELF
    for message in history.messages:
        origin, words = read_origins(message.text), f"the message of {message.sha[:7]} names"
        if name := _quote_change_if_origin(origin, change):
            whole.setdefault(message.sha, f"{words} {name}")
        for sha in several if origin.shas else ():
            if any(map(sha.startswith, origin.shas)):
                parts[sha].setdefault(message.sha, f"{words} {sha[:7]}")
    pairs = [(change.base, change.head)]
    pairs += change.commits if 1 < len(change.commits) <= _MOST_COMMITS else ()
    try:
        same = releases.find_same_patches(pairs, change.paths, history.fork_point or "", tip.sha)
    except SourceError:
        if not (whole or any(parts.values())):
            raise  # otherwise the messages are proof enough
        same = {}
    for pair, patches in same.items():
        bringing = whole if pair == pairs[0] else parts[pair[1]]
        bringing |= {sha: f"{sha[:7]} is the same patch" for sha in patches if sha not in bringing}
    return whole, list(parts.values())


def _quote_change_if_origin(origins: Origins, change: Identity) -> str | None:
    """Return the number or the head if a message names it as the origin of the whole change."""
    if change.number is not None and change.number in origins.pulls:
        return f"#{change.number}"
    shas = [sha for _, sha in change.commits]
    one_of_several = len(shas) > 1 and change.head in shas
    if not one_of_several and any(change.head.startswith(sha) for sha in origins.shas):
        return change.head[:7]
    return None


def _how(brought: Sequence[str], whole: Mapping[str, str]) -> str:
    if len(brought) == 1:
        return whole.get(brought[0], f"{brought[0][:7]} applies it again")
    return f"{', '.join(sha[:7] for sha in brought)} are its commits one by one"


class ChangeHistory(Struct, frozen=True):
    """The latest commit that brought a change, and which one was reverted by which since."""

    brought: str | None = None
    undone: str | None = None
    gone: str = ""


def follow_reverts(copies: Collection[str], messages: Sequence[CommitMessage]) -> ChangeHistory:
    """Follow reverts of the copies through the branch's messages, which are newest first."""
    titles = {one.sha: one.text.strip().split("\n", 1)[0] for one in messages}
    bringing, reverts = dict.fromkeys(copies), dict[str, None]()
    history = ChangeHistory(next(iter(copies), None))
    for message in reversed(messages):
        if message.sha in bringing:
            history = ChangeHistory(message.sha)
        if reverted := _find_reverted_commit(message, bringing, titles):
            reverts[message.sha] = None
            history = replace(history, undone=message.sha, gone=reverted)
        elif _find_reverted_commit(message, reverts, titles):
            bringing[message.sha] = None
            history = ChangeHistory(message.sha)
    return history


def _find_reverted_commit(
    message: CommitMessage, among: Iterable[str], titles: Mapping[str, str]
) -> str | None:
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


def _bare(title: str) -> str:
    return _NUMBER_AFTER.sub("", title).strip()


def check_not_there_yet(
    applied: AppliedCommits | None,
    why_unread: str,
    pick_is_empty: bool,  # noqa: FBT001 - a fact
    branch: str,
) -> Check:
    """Return the check ``not-there-yet``; ``pick_is_empty``: the pick has no effect."""
    where = printable(branch)
    severity: Severity = "hint"
    if applied and applied.reverted and not pick_is_empty:
        undone = f"{applied.reverted[:7]} reverts {applied.commit[:7]}"
        message, severity = f"{where} had it ({applied.how}), but {undone}", "warning"
    elif applied and applied.lost:
        message, severity = f"{where} has none of its lines, although {applied.how}", "warning"
    elif applied or pick_is_empty:
        how = applied.how if applied and not applied.reverted else "picking it has no effect"
        message = f"{where} already has it: {how}"
    elif why_unread:
        message = f"not checked whether {where} already has it: {why_unread}"
    else:
        return Check("not-there-yet", passed=True, message=f"{where} does not have it yet")
    evidence = applied.evidence if applied else None
    return Check("not-there-yet", False, message, severity=severity, evidence=evidence)  # noqa: FBT003
