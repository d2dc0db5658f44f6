"""Opens a pull request of a change onto a release branch, once, and never pushes to that branch.

Objects are invisible until a new branch of ours points to them. Every attempt first looks at what
exists: a second or restarted run continues from there. What others made is left alone.
"""

from __future__ import annotations

import re
import shlex
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal
from urllib.parse import quote

from prjury.errors import PublishError
from prjury.publishers.backport_objects import (
    BranchesPort,
    refuse_unsayable,
    store_commit,
    store_empty_commit,
    workflows_explained,
)
from prjury.publishers.idempotent import LookAgainError, write_converging, written_once
from prjury.report.model import Backport
from prjury.report.redact import Redact
from prjury.report.sanitise import BY_SHAPE, block, inline_code, one_line, plain, prose
from prjury.report.wording import counted
from prjury.snapshot.model import Conflict, visible
from prjury.snapshot.picked import HEADS, Pick

if TYPE_CHECKING:
    from prjury.github.branches import StoredPull

_SETTING = "Allow GitHub Actions to create and approve pull requests"


@dataclass(frozen=True, slots=True)
class Opening:
    """How the policy wants pull requests to be opened.

    Attributes:
        conflicts: what to open for a conflicting pick: ``nothing``, or a ``draft`` with an empty
            commit that says what to do.
        labels: of every new pull request.
    """

    conflicts: Literal["nothing", "draft"] = "nothing"
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Proposal:
    """The result for one pick.

    Attributes:
        state: ``opened`` now, as a ``draft`` now, ``there`` before, or ``nothing``.
        url: the pull request's page, or None.
        note: for the reader, or an empty text.
    """

    branch: str
    state: Literal["opened", "draft", "there", "nothing"]
    url: str | None = None
    note: str = ""


def is_proposable(backport: Backport, opening: Opening) -> bool:
    """Whether to open a pull request for a verdict.

    An empty draft is opened only if the backport is requested or the conflicts are simple.
    """
    if backport.tree is not None:
        return backport.verdict in {"suitable", "suitable_with_changes"}
    if opening.conflicts == "nothing" or not backport.conflicts:
        return False
    if backport.verdict == "needs_human":
        return backport.asked == "yes"
    return backport.verdict == "suitable_with_changes"


@dataclass
class BackportPulls:
    """Opens pull requests of picks.

    Attributes:
        redact: removes the secrets of this run from texts.
        sleep: waits between attempts, in seconds.
    """

    port: BranchesPort
    opening: Opening = Opening()
    redact: Redact = BY_SHAPE
    sleep: Callable[[float], None] = time.sleep

    def propose(self, pick: Pick) -> Proposal:
        """Open the pull request of a pick, if there is none yet.

        Raises:
            PublishError: ``moved`` if the branch moved since, so that it has to be judged again;
                ``ref_taken`` if our branch has other content; ``not_carried``; ``tree_differs``;
                ``permission``; other reasons of GitHub.
        """
        if pick.conflicts and self.opening.conflicts == "nothing":
            return Proposal(
                pick.branch, "nothing", note="It conflicts, so no pull request was opened"
            )
        if not pick.conflicts and not pick.commits:
            return Proposal(pick.branch, "nothing", note="There is nothing to pick")
        refuse_unsayable(pick)
        return write_converging(lambda: self._attempt(pick), self.sleep)

    def _attempt(self, pick: Pick) -> Proposal:
        if there := self._there(pick):
            return there
        _refuse_moved(pick, self.port.tip(pick.branch))
        head = head_of(pick)
        tip = self.port.tip(head)
        if tip is None:
            tip = self._branch(pick)
        elif not self._holds(tip, pick):
            raise _taken(head)
        return self._open(pick, tip)

    def _there(self, pick: Pick) -> Proposal | None:
        """Return the latest pull request from our branch, in whatever state."""
        found = sorted(self.port.pulls(head_of(pick)), key=lambda one: (one.is_open, one.number))
        if not found:
            return None
        last = found[-1]
        ours = is_marked(last.body, pick) and last.author == self.port.account()
        note = "" if ours else "Somebody else opened it"
        if not last.is_open:
            note = "It was closed or merged, and is not opened again"
        elif ours and not set(self.opening.labels) & set(last.labels):
            note = self._label(last)
        return Proposal(pick.branch, "there", last.url, note)

    def _branch(self, pick: Pick) -> str:
        """Create the branch and return its tip.

        Raises:
            LookAgainError: if somebody else may have created it meanwhile.
        """
        head = head_of(pick)
        with workflows_explained(pick):
            if pick.conflicts:
                sha = store_empty_commit(pick, empty_message(pick), self.port)
            else:
                sha = store_commit(pick, self.port)
            try:
                with written_once():
                    self.port.create_branch(head, sha)
            except PublishError as error:
                if error.reason == "refused" and self.port.tip(head) is not None:
                    raise LookAgainError(error) from error
                raise
        return sha

    def _holds(self, tip: str, pick: Pick) -> bool:
        """Whether a commit is what we would create: the same trees on top of the same tip."""
        trees: Sequence[str] = [commit.tree for commit in pick.commits]
        if pick.conflicts:
            trees = [pick.branch_tree]
        for tree in reversed(trees):
            commit = self.port.commit(tip)
            if commit.tree != tree or len(commit.parents) != 1:
                return False
            tip = commit.parents[0]
        return tip == pick.branch_sha

    def _open(self, pick: Pick, tip: str) -> Proposal:
        is_draft = bool(pick.conflicts)
        try:
            with written_once():
                opened = self.port.open_pull(
                    head=head_of(pick),
                    base=pick.branch,
                    title=title_of(pick, self.redact),
                    body=body_of(pick, tip, self.redact),
                    draft=is_draft,
                )
        except PublishError as error:
            if error.reason == "refused" and self.port.pulls(head_of(pick)):
                raise LookAgainError(error) from error
            raise _explained(error, head_of(pick)) from error
        note = self._label(opened)
        return Proposal(pick.branch, "draft" if is_draft else "opened", opened.url, note)

    def _label(self, pull: StoredPull) -> str:
        """Add labels; a failure is only noted."""
        if not self.opening.labels:
            return ""
        try:
            self.port.label(pull.number, self.opening.labels)
        except PublishError as error:
            return f"It has no labels: {error}"
        return ""


def _refuse_moved(pick: Pick, tip: str | None) -> None:
    if tip == pick.branch_sha:
        return
    where = f"at {tip[:12]} now" if tip else "gone"
    raise PublishError(
        f"{visible(pick.branch)} is {where}; the change was tried on {pick.branch_sha[:12]}",
        why="Somebody pushed to it since",
        remedy="Judge it again",
        reason="moved",
    )


def _taken(head: str) -> PublishError:
    return PublishError(
        f"The branch {visible(head)} already exists with other content",
        why="Somebody pushed to it, or an earlier run made it on an older tip",
        remedy="Delete it if it is not needed, and run again; PR Jury never changes it",
        reason="ref_taken",
    )


def _explained(error: PublishError, head: str) -> PublishError:
    """Add what was left behind."""
    remedy = error.remedy
    if error.reason == "permission":
        remedy = f"{remedy}; for a job's own token, also switch on '{_SETTING}' in the settings"
    left = f"The branch {visible(head)} exists and will be used next time"
    return PublishError(error.what, why=f"{error.why}. {left}", remedy=remedy, reason=error.reason)


#: GitHub allows 256 characters; some of them say how many were cut.
_LONGEST_TITLE = 230
#: GitHub allows 65,536 characters.
_LONGEST_BODY = 60_000
_MOST_LINES = 50
_MARKER = re.compile(r"<!-- prjury:backport:v1 of=(\d{1,18}) to=(\S+) -->", re.ASCII)
_CUT = "\n\n… (cut: too long for a pull request)\n"


def head_of(pick: Pick) -> str:
    """Return the name of the branch with the pick."""
    return f"{HEADS}{pick.number}-to-{pick.branch}"


def title_of(pick: Pick, redact: Redact) -> str:
    """Return the pull request's title: the branch, and the title of the change."""
    return one_line(f"[{pick.branch}] {pick.title}", _LONGEST_TITLE, redact)


def marker_of(pick: Pick) -> str:
    """Return the hidden first line with the original pull request and the branch."""
    # Two hyphens in a row would end the comment in some readers.
    branch = quote(pick.branch, safe="/.").replace("-", "%2D")
    return f"<!-- prjury:backport:v1 of={pick.number} to={branch} -->"


def is_marked(body: str, pick: Pick) -> bool:
    """Whether a pull request's text starts with the marker of this pick."""
    first = body.partition("\n")[0].rstrip()
    return _MARKER.fullmatch(first) is not None and first == marker_of(pick)


def body_of(pick: Pick, head_sha: str, redact: Redact) -> str:
    """Return the pull request's Markdown.

    Args:
        head_sha: the tip of its branch.
    """
    parts = [marker_of(pick), *_origin(pick, redact), *_verdict(pick, redact)]
    if pick.conflicts:
        parts += [*_conflicts(pick, redact), *_commands(pick, head_sha, redact)]
    else:
        parts.append(
            f"The branch is at {inline_code(pick.branch_sha[:12])} of "
            f"{inline_code(pick.branch)} with {counted(len(pick.commits), 'commit')} on top. "
            "Its tree is the one that was judged. Nothing was pushed to the release branch."
        )
    whole = "\n\n".join(parts) + "\n"
    return whole if len(whole) <= _LONGEST_BODY else whole[:_LONGEST_BODY].rstrip() + _CUT


def empty_message(pick: Pick) -> str:
    """Return the message of a draft's empty commit, which names no picked commit."""
    return (
        f"Backport of #{pick.number}: to be done\n\n"
        f"The change conflicts in {counted(len(pick.conflicts), 'file')}. "
        "This commit is empty.\n"
    )


def _origin(pick: Pick, redact: Redact) -> Iterator[str]:
    title = plain(pick.title, _LONGEST_TITLE, redact)
    yield f"Backport of #{pick.number} ({title}) to {inline_code(pick.branch)}."
    origins = dict.fromkeys(sha for commit in pick.commits for sha in commit.origins)
    if origins:
        shown = list(origins)[:_MOST_LINES]
        more = f" and {len(origins) - len(shown)} more" if len(origins) > len(shown) else ""
        yield f"Picked from {', '.join(shown)}{more}."


def _verdict(pick: Pick, redact: Redact) -> Iterator[str]:
    word = plain(pick.verdict.replace("_", " ").capitalize(), None, redact)
    reasons = [f"* {prose(reason, 600, redact)}" for reason in pick.reasons[:_MOST_LINES]]
    yield f"**{word}**"
    if reasons:
        yield "\n".join(reasons)
    if pick.prerequisites:
        names = [f"* {prose(one, 300, redact)}" for one in pick.prerequisites[:_MOST_LINES]]
        first = (
            "It needs first:" if pick.conflicts else "Picked first, because the change needs it:"
        )
        yield f"{first}\n\n" + "\n".join(names)


def _conflicts(pick: Pick, redact: Redact) -> Iterator[str]:
    count = len(pick.conflicts)
    yield (
        "> [!WARNING]\n> This is a draft: the change conflicts. Its branch has an empty commit and "
        "nothing of the change."
    )
    lines = [_conflict(one, redact) for one in pick.conflicts[:_MOST_LINES]]
    if count > _MOST_LINES:
        lines.append(f"* … and {count - _MOST_LINES} more")
    yield f"**Conflicts in {counted(count, 'file')}**\n\n" + "\n".join(lines)


def _conflict(conflict: Conflict, redact: Redact) -> str:
    kind = conflict.type.value.replace("_", "/")
    lines = f", lines {conflict.lines[0]} to {conflict.lines[1]}" if conflict.lines else ""
    easy = ", easy to resolve" if conflict.mechanical else ""
    path = inline_code(conflict.path, 300, redact)
    return f"* {path} ({kind}{lines}{easy}): {prose(conflict.reason, 300, redact)}"


def _commands(pick: Pick, head_sha: str, redact: Redact) -> Iterator[str]:
    """Yield the commands for the pick and for pushing it over the empty commit only."""
    head = head_of(pick)
    lease, to = shlex.quote(f"{head}:{head_sha}"), shlex.quote(f"HEAD:refs/heads/{head}")
    push = f"git push --force-with-lease={lease} origin {to}"
    typed = "\n".join((*pick.commands, "# resolve, then", push))
    yield "To do it by hand:\n\n" + block(typed, 8_000, redact)
