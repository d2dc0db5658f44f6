"""Opens a pull request of a change onto a release branch, once, and never pushes to that branch.

Nobody sees the objects until a new branch of ours holds them. Every attempt starts by looking what
is there: a run that was killed, or that has come second, goes on from that and makes nothing twice.
What somebody else has made is left as it is.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from prjury.errors import PublishError
from prjury.publishers.backport_objects import (
    refuse_unsayable,
    store_commit,
    store_empty_commit,
    workflows_explained,
)
from prjury.publishers.backport_port import BranchesPort, PullRef
from prjury.publishers.backport_words import body_of, empty_message, head_of, is_marked, title_of
from prjury.publishers.idempotent import LookAgainError, write_converging, written_once
from prjury.report.model import Backport
from prjury.report.redact import Redact
from prjury.report.sanitise import BY_SHAPE
from prjury.snapshot.model import visible
from prjury.snapshot.picked import Pick

#: The check that passes where somebody asks for a backport.
_SETTING = "Allow GitHub Actions to create and approve pull requests"


@dataclass(frozen=True, slots=True)
class Opening:
    """How the policy wants pull requests opened.

    Attributes:
        conflicts: what becomes of a pick in conflict: ``nothing``, or a ``draft`` that holds an
            empty commit and says what is to be done.
        labels: what every new pull request gets.
        title: a pattern with ``{branch}``, ``{title}`` and ``{number}``.
    """

    conflicts: Literal["nothing", "draft"] = "nothing"
    labels: tuple[str, ...] = ()
    title: str = "[{branch}] {title}"


@dataclass(frozen=True, slots=True)
class Proposal:
    """What has become of one pick.

    Attributes:
        state: ``opened`` now, as a ``draft`` now, ``there`` before, or ``nothing``.
        url: the pull request's page; None where there is none.
        note: what a reader has to know; an empty text where nothing.
    """

    branch: str
    state: Literal["opened", "draft", "there", "nothing"]
    url: str | None = None
    note: str = ""


def is_proposable(backport: Backport, opening: Opening) -> bool:
    """Whether a verdict is reason enough to open a pull request.

    A draft with nothing in it is for a branch that somebody asks for, or where anybody could
    resolve what is in conflict.
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
        redact: takes the secrets of this run out of texts.
        sleep: waits so many seconds between attempts.
    """

    port: BranchesPort
    opening: Opening = Opening()
    redact: Redact = BY_SHAPE
    sleep: Callable[[float], None] = time.sleep

    def propose(self, pick: Pick) -> Proposal:
        """Opens the pull request of a pick, if there was none before.

        Raises:
            PublishError: ``moved`` where the branch is not where it was tried, so that it has to be
                judged anew; ``ref_taken`` where our branch's name is another's; ``not_carried``;
                ``tree_differs``; ``permission`` for a token that may not; other reasons of GitHub.
        """
        if pick.conflicts and self.opening.conflicts == "nothing":
            return Proposal(pick.branch, "nothing", note="It conflicts, so that none was opened")
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
        """The pull request from our branch, whoever opened it and whatever has become of it."""
        found = sorted(self.port.pulls(head_of(pick)), key=lambda one: (one.is_open, one.number))
        if not found:
            return None
        last = found[-1]
        ours = is_marked(last.body, pick) and last.author == self.port.account()
        note = "" if ours else "It was not opened by us"
        if not last.is_open:
            note = "It was closed or merged, and is not opened again"
        elif ours and not set(self.opening.labels) & set(last.labels):
            note = self._label(last)
        return Proposal(pick.branch, "there", last.url, note)

    def _branch(self, pick: Pick) -> str:
        """The tip of the new branch.

        Raises:
            LookAgainError: where somebody may have made it since we looked.
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
        """Whether a commit is what we would have made: the same trees on top of the same tip."""
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
                    title=title_of(pick, self.opening.title, self.redact),
                    body=body_of(pick, tip, self.redact),
                    draft=is_draft,
                )
        except PublishError as error:
            if error.reason == "refused" and self.port.pulls(head_of(pick)):
                raise LookAgainError(error) from error
            raise _explained(error, head_of(pick)) from error
        note = self._label(opened)
        return Proposal(pick.branch, "draft" if is_draft else "opened", opened.url, note)

    def _label(self, pull: PullRef) -> str:
        """Labels it; what is wrong with that is no reason to fail."""
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
        why="Somebody has pushed to it since",
        remedy="Judge it again",
        reason="moved",
    )


def _taken(head: str) -> PublishError:
    return PublishError(
        f"The branch {visible(head)} is there already and holds something else",
        why="Somebody has pushed to it, or it is of an earlier try on an older tip",
        remedy="Delete it if nobody needs it, and run again; it is not touched here",
        reason="ref_taken",
    )


def _explained(error: PublishError, head: str) -> PublishError:
    """The refusal, and what it leaves behind."""
    remedy = error.remedy
    if error.reason == "permission":
        remedy = f"{remedy}; for a job's own token, also switch on '{_SETTING}' in the settings"
    left = f"The branch {visible(head)} is there and is used the next time"
    return PublishError(error.what, why=f"{error.why}. {left}", remedy=remedy, reason=error.reason)
