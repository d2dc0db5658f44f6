"""A pull request as GitHub's JSON tells it, in webhook events and in API answers alike.

Everything in it was written by somebody else. Object names and repository names are checked here,
because they end up in URLs and on command lines; texts are made encodable and nothing more.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime

from msgspec import Struct

_SHA = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_REPO = re.compile(r"[A-Za-z0-9_.-]{1,100}/[A-Za-z0-9_.-]{1,100}")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", re.ASCII)
_LONGEST_URL = 1_000
_URL = re.compile(r"https?://[!-~]+", re.IGNORECASE)
_SURROGATES = re.compile("[\ud800-\udfff]")


class Tip(Struct, frozen=True):
    """One side of a pull request as far as GitHub named it: a branch, a commit, or both."""

    ref: str | None = None
    sha: str | None = None

    @property
    def named(self) -> bool:
        """Whether anything is known of this side."""
        return bool(self.ref or self.sha)


class PullFacts(Struct, frozen=True):
    """What GitHub says about a pull request; the snapshot itself comes from git."""

    repo: str
    base: Tip
    head: Tip
    #: None where the event stands for a comparison, not for a pull request.
    number: int | None = None
    title: str = ""
    body: str = ""
    author: str | None = None
    draft: bool = False
    closed: bool = False
    #: ``owner/name`` of the repository that the head lies in, None when it is gone.
    head_repo: str | None = None
    url: str | None = None
    labels: tuple[str, ...] = ()
    milestone: str | None = None
    #: Whether it was merged; a list of pull requests does not tell.
    merged: bool = False
    #: The commit by which it came in, None as long as it has not.
    merge_sha: str | None = None
    #: How many it has; None where a list of pull requests does not tell.
    commits: int | None = None
    #: Whether GitHub can merge it; None as long as it has not tried.
    mergeable: bool | None = None

    @property
    def is_fork(self) -> bool:
        """Whether the head lies in another repository; one that is gone counts as another."""
        return self.head_repo is None or self.head_repo.casefold() != self.repo.casefold()


def read_pull(payload: object) -> PullFacts:
    """The facts in a ``pull_request`` object."""
    return PullFacts(
        repo=read_repo_name(at(payload, "base", "repo", "full_name"), "base.repo.full_name"),
        base=_tip(payload, "base"),
        head=_tip(payload, "head"),
        number=read_number(at(payload, "number"), "number"),
        title=text(at(payload, "title")),
        body=text(at(payload, "body")),
        author=text(at(payload, "user", "login")) or None,
        draft=at(payload, "draft") is True,
        closed=at(payload, "state") == "closed",
        head_repo=_head_repo(payload),
        url=text(at(payload, "html_url")) or None,
        labels=_labels(at(payload, "labels")),
        milestone=text(at(payload, "milestone", "title")) or None,
        merged=at(payload, "merged") is True,
        merge_sha=_merge_sha(payload),
        commits=read_count(payload, "commits"),
        mergeable=_flag(at(payload, "mergeable")),
    )


def at(node: object, *keys: str) -> object:
    """The value under the keys, None where the path ends early."""
    for key in keys:
        node = node.get(key) if isinstance(node, Mapping) else None
    return node


def text(value: object) -> str:
    """The value if it is a string, else an empty one; lone surrogates become U+FFFD."""
    return _SURROGATES.sub("\ufffd", value) if isinstance(value, str) else ""


def read_repo_name(value: object, key: str) -> str:
    """The value as ``owner/name``; raises ValueError for anything else."""
    if (
        isinstance(value, str)
        and _REPO.fullmatch(value)
        and not {".", ".."} & set(value.split("/"))
    ):
        return value
    raise ValueError(f"{key} is not owner/name")


def object_name(value: object, key: str) -> str:
    """The value as a full commit id; raises ValueError for anything else."""
    if isinstance(value, str) and _SHA.fullmatch(value):
        return value
    raise ValueError(f"{key} is not a full commit id")


def read_number(value: object, key: str) -> int:
    """The value as a number from 1; raises ValueError for anything else."""
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return value
    raise ValueError(f"{key} is not a positive number")


def _tip(payload: object, side: str) -> Tip:
    ref = text(at(payload, side, "ref"))
    if not ref:
        raise ValueError(f"{side}.ref is missing")
    return Tip(ref, object_name(at(payload, side, "sha"), f"{side}.sha"))


def _labels(value: object) -> tuple[str, ...]:
    entries = value if isinstance(value, list) else []
    return tuple(filter(None, (text(at(entry, "name")) for entry in entries)))


def _flag(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def read_count(payload: object, key: str) -> int | None:
    """Return the number under a key, None for anything else."""
    value = at(payload, key)
    return value if type(value) is int and value >= 0 else None


def _merge_sha(payload: object) -> str | None:
    """The merge commit; that of an open pull request is a trial of GitHub's own."""
    sha = at(payload, "merge_commit_sha")
    merged = at(payload, "merged") is True
    return sha if merged and isinstance(sha, str) and _SHA.fullmatch(sha) else None


def _head_repo(payload: object) -> str | None:
    """GitHub sends null for the repository of a deleted fork."""
    name = at(payload, "head", "repo", "full_name")
    return None if name is None else read_repo_name(name, "head.repo.full_name")


class CommentFacts(Struct, frozen=True):
    """A comment below an issue or a pull request."""

    id: int
    number: int
    author: str
    #: Whether that is a bot, or an app that writes in a person's name.
    by_program: bool
    body: str
    #: When it was written, such as ``2026-01-02T03:04:05Z``; these compare as texts.
    created: str
    updated: str
    reactions: int | None = None
    url: str = ""

    @property
    def edited(self) -> bool:
        """Tell whether it was changed since, as far as GitHub's seconds tell."""
        return self.updated != self.created


def read_comment(payload: object) -> CommentFacts:
    """The comment in a payload of GitHub's."""
    created = moment(at(payload, "created_at"), "comment.created_at")
    number = text(at(payload, "issue_url")).rpartition("/issues/")[2]
    kind, app = at(payload, "user", "type"), at(payload, "performed_via_github_app")
    return CommentFacts(
        id=read_number(at(payload, "id"), "comment.id"),
        number=read_number(int(number) if number.isdecimal() else None, "comment.issue_url"),
        author=text(at(payload, "user", "login")),
        by_program=kind != "User" or app is not None,
        body=text(at(payload, "body")),
        created=created,
        updated=moment(at(payload, "updated_at"), "comment.updated_at"),
        reactions=read_count(at(payload, "reactions"), "total_count"),
        url=text(at(payload, "html_url")),
    )


def moment(value: object, what: str) -> str:
    """A moment as GitHub writes it."""
    if not _MOMENT.fullmatch(text(value)):
        raise ValueError(f"{what} is not a moment")
    return text(value)


def read_time(value: object) -> float:
    """Read a moment in seconds since 1970; 0 for anything else."""
    try:
        return datetime.strptime(text(value), "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC).timestamp()
    except ValueError:
        return 0.0


def read_url(value: object) -> str | None:
    """Read a plain web address; None for anything else."""
    url = text(value)
    return url if len(url) <= _LONGEST_URL and _URL.fullmatch(url) else None
