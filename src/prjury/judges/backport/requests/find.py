"""Check 3: has anybody asked for the change on this branch, or refused it there?

`find_requests` reads the words once; what they mean for a branch is told by `requests_of`. A refusal wins over
any wish, and a wish that names no branch is told, but stands for none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from prjury.judges.backport.requests.labels import of_labels, of_pattern
from prjury.judges.backport.requests.lines import meant
from prjury.judges.backport.requests.request import EVERYWHERE, THE_LABEL, BackportRequest
from prjury.judges.backport.requests.texts import of_message, of_text, of_title, repaired
from prjury.jury.judgment import Check
from prjury.policy.schema import BackportConfig
from prjury.snapshot.model import PullRequest, visible

__all__ = [
    "BackportRequest",
    "FoundRequests",
    "RequestComment",
    "RequestSources",
    "find_requests",
    "requested_branches",
    "requests_of",
]

#: Wishes that a message quotes; a change that is asked for more often is no more wanted.
_MOST_QUOTED = 4
#: Wishes that are shown as evidence.
_MOST_SHOWN = 20


@dataclass(frozen=True, slots=True)
class RequestComment:
    """What somebody has written below the pull request."""

    author: str
    text: str


@dataclass(frozen=True, slots=True)
class RequestSources:
    """What people say about backports of a change, whichever branch they mean.

    Attributes:
        said: wishes, refusals and what became of earlier ones, each once.
        approvals: labels by which a maintainer says yes, each with the branch that it names.
        fixes: names of the commits that the change repairs, often shortened; a branch that has
            one of them has the fault as well.
    """

    said: tuple[BackportRequest, ...] = ()
    approvals: tuple[BackportRequest, ...] = ()
    fixes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FoundRequests:
    """What people say about one branch.

    Attributes:
        answer: None where nobody has said anything of this branch.
        by: whose words these are, and the words; the refusals alone where there is one.
        by_label: whether a label is among them, which takes the right to triage; anybody may write.
        approved: the label by which a maintainer says yes whatever the score says; empty without.
    """

    answer: Literal["yes", "no"] | None
    by: tuple[str, ...] = ()
    approved: str = ""
    by_label: bool = False


def find_requests(
    pull: PullRequest,
    config: BackportConfig,
    messages: Sequence[str] = (),
    comments: Sequence[RequestComment] = (),
    own: str | None = None,
) -> RequestSources:
    """What a pull request's labels, title, description, commits and comments say of backports.

    Args:
        messages: of the pull request's commits.
        own: the label with ``{branch}`` that a run itself gives for suitable branches.
    """
    override = [config.override] if config.override else []
    apart = [*override, *([own] if own else [])]
    said = [
        *of_labels(pull.labels, config.labels, apart),
        *_texts(pull, comments, trailers=config.trailers),
        *(
            request
            for one in messages
            if config.trailers
            for request in of_message(one, "a commit")
        ),
    ]
    spoken = [pull.body, *messages] if config.trailers else []
    fixes = dict.fromkeys(sha for text in spoken for sha in repaired(text))
    approvals = of_pattern(pull.labels, override)
    return RequestSources(tuple(dict.fromkeys(said)), tuple(approvals), tuple(fixes))


def _texts(
    pull: PullRequest, comments: Sequence[RequestComment], *, trailers: bool
) -> Iterator[BackportRequest]:
    author = f"@{pull.author}" if pull.author else "the author"
    yield from of_title(pull.title, f"{author} in the title")
    yield from of_text(pull.body, author, trailers=trailers)
    for comment in comments:
        yield from of_text(comment.text, f"@{comment.author}", trailers=False)


def requests_of(
    requests: RequestSources, branch: str, branches: Sequence[str] = ()
) -> FoundRequests:
    """What the wishes mean for a branch.

    Args:
        branches: all branches that may be meant, so that ``1.2.3`` means that very branch where
            there is one; the branch alone if not known.
    """
    names = branches if branch in branches else [*branches, branch]
    ours = [request for request in requests.said if _means(request, branch, names)]
    approved = next((str(one) for one in requests.approvals if _means(one, branch, names)), "")
    refusals = [request for request in ours if request.answer == "no"]
    counting = refusals or [request for request in ours if request.answer == "yes"]
    by_label = any(request.source == THE_LABEL for request in counting)
    answer: Literal["yes", "no"] = "no" if refusals else "yes"
    return FoundRequests(
        answer if counting else None, tuple(map(str, counting)), approved, by_label
    )


def _means(request: BackportRequest, branch: str, branches: Sequence[str]) -> bool:
    if request.target is None or request.target == EVERYWHERE:
        return request.target is not None
    # What a branch is not meant by alone, it is not meant by among others: most wishes end here.
    return bool(meant(request.target, [branch])) and branch in meant(request.target, branches)


def requested_branches(
    requests: RequestSources, branch: str, branches: Sequence[str] = ()
) -> Check:
    """The check that a branch passes unless somebody refuses the change for it."""
    found = requests_of(requests, branch, branches)
    words = [*([found.approved] if found.approved else []), *found.by]
    if found.answer == "no":
        message = f"not wanted there ({_quoted(words)})"
        return Check("asked-for", passed=False, message=message, evidence=_evidence(words))
    if words:
        return _told(f"asked for ({_quoted(words)})", words)
    if general := [str(request) for request in requests.said if request.target is None]:
        return _told(f"nobody has named this branch; none is named by {_quoted(general)}", general)
    return _told("nobody has asked for it")


def _told(message: str, words: Sequence[str] = ()) -> Check:
    return Check(
        "asked-for", passed=True, message=message, severity="hint", evidence=_evidence(words)
    )


def _evidence(words: Sequence[str]) -> str | None:
    return "\n".join(words[:_MOST_SHOWN]) or None


def _quoted(words: Sequence[str]) -> str:
    more = len(words) - _MOST_QUOTED
    some = [*words[:_MOST_QUOTED], *([f"{more} more"] if more > 0 else [])]
    return visible("; ".join(some))
