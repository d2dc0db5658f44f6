"""Check 3: has anybody asked for the change on this branch, or refused it there?

`find_requests` reads the texts once, `requests_of` says what they mean for a branch. A refusal wins
over any request, and a request that names no branch stands for none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from prjury.judges.backport.requests.labels import of_labels, of_pattern, read
from prjury.judges.backport.requests.lines import meant
from prjury.judges.backport.requests.request import EVERYWHERE, THE_LABEL, Answer, BackportRequest
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

#: Characters of a line beyond which it is prose.
_LONGEST = 300

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_QUOTED = re.compile(r"(?: {4}|\t| {0,3}>)")

_VERB = r"(?P<verb>back-?port|cherry-?pick)"
_SLASH = re.compile(rf"/(?P<no>no-|skip-|dont-)?{_VERB}(?:\s+(?P<rest>\S.*))?", re.IGNORECASE)
_MENTION = re.compile(
    rf"@(?P<bot>[\w-]{{1,60}}(?:\[bot\])?)[,:]?\s+(?:please\s+)?{_VERB}(?:\s+(?P<rest>\S.*))?",
    re.IGNORECASE,
)
_RUSTBOT = re.compile(r"@rustbot\s+(?:label|modify labels):?\s+(?P<rest>\S.*)", re.IGNORECASE)

_TRAILER = re.compile(
    r"(?:auto-?)?(?:back-?ports?|cherry-?pick)(?:-to)?\s?:\s*(?P<rest>\S.*)", re.IGNORECASE
)
_SENTENCE = re.compile(
    r"(?:auto[- ]?)?(?:cherry-?pick|back-?port)\s+(?:in)?to:?\s+(?P<rest>\S.*)", re.IGNORECASE
)
_STABLE = re.compile(
    r"Cc:\s*<?(?:[\w.+-]+-)?stable@[\w.-]+>?(?:\s*#\s*(?P<rest>\S.*))?", re.IGNORECASE
)
_FIXES = re.compile(r"Fixes:\s+(?P<sha>[0-9a-f]{8,64})\b(?:\s+\(.*)?", re.IGNORECASE)

_NAME = re.compile(r"[\w][\w./+*-]*")
_VERSION = re.compile(r"v?\d+(?:\.\d+)*(?:\.[xy])?\+?", re.IGNORECASE)
_SEPARATOR = re.compile(r"\s*[,;&]\s*|\s+and\s+|\s+")
_NOISE = frozenset("please thanks and also too to onto into branch branches the".split())
_NOWHERE = frozenset("none no never skip n/a na false".split())
_SOMEWHERE = frozenset("yes true maybe required needed all".split())
_IN_TITLE = re.compile(r"[\[(]([^\[\]()]{1,80})[\])]")


def of_title(title: str, source: str) -> Iterator[BackportRequest]:
    """What stands in brackets in a title; one that names no branch is no wish."""
    for match in _IN_TITLE.finditer(title):
        yield from (
            BackportRequest(answer, target, source, match[0])
            for answer, target in read(match[1])
            if target is not None and "#" not in match[1]
        )


def of_text(text: str, source: str, *, trailers: bool) -> Iterator[BackportRequest]:
    """What the commands in a description or a comment ask for, and its trailers if they count."""
    for line in spoken(text):
        yield from _of_command(line, source)
        if trailers:
            yield from _of_trailer(line, source)


def of_message(message: str, source: str) -> Iterator[BackportRequest]:
    """What the trailers of a commit message ask for."""
    _, _, body = message.strip().partition("\n")
    for line in spoken(body):
        yield from _of_trailer(line, source)


def repaired(message: str) -> Iterator[str]:
    """The commits that a change repairs, by its ``Fixes:`` trailers."""
    for line in spoken(message):
        if match := _FIXES.fullmatch(line):
            yield match["sha"].lower()


def spoken(text: str) -> Iterator[str]:
    """The lines that are the writer's own words, without emphasis."""
    fence = ""
    for line in _COMMENT.sub("", text.replace("\r\n", "\n")).split("\n"):
        opening = _FENCE.match(line)
        if fence:
            if opening and opening[1].startswith(fence) and not line[opening.end() :].strip():
                fence = ""
        elif opening:
            fence = opening[1]
        elif len(line) <= _LONGEST and not _QUOTED.match(line):
            yield line.strip().strip("*_").strip()


def _of_command(line: str, source: str) -> Iterator[BackportRequest]:
    if match := _SLASH.fullmatch(line):
        answer: Answer = "no" if match["no"] else "yes"
        general = EVERYWHERE if answer == "no" else None
        named: list[str | None] = [*_names(match["rest"] or "")] or [general]
        yield from (BackportRequest(answer, name, source, line) for name in named)
    elif match := _MENTION.fullmatch(line):
        yield from (
            BackportRequest("yes", name, source, line) for name in _names(match["rest"] or "")
        )
    elif match := _RUSTBOT.fullmatch(line):
        for word in match["rest"].split():
            added = word.lstrip("+") if not word.startswith("-") else ""
            yield from (
                BackportRequest(answer, name, source, line)
                for answer, name in read(added.strip(","))
            )


def _of_trailer(line: str, source: str) -> Iterator[BackportRequest]:
    if stable := _STABLE.fullmatch(line):
        since = filter(_VERSION.fullmatch, _names(stable["rest"] or ""))
        named: list[str | None] = [*since] or [None]
        yield from (BackportRequest("yes", name, source, line) for name in named)
        return
    match = _TRAILER.fullmatch(line) or _SENTENCE.fullmatch(line)
    words = [word.strip("`'\"*.") for word in _SEPARATOR.split(match["rest"])] if match else []
    if len(words) == 1 and words[0].casefold() in _NOWHERE:
        yield BackportRequest("no", EVERYWHERE, source, line)
    elif len(words) == 1 and words[0].casefold() in _SOMEWHERE:
        yield BackportRequest(
            "yes", EVERYWHERE if words[0].casefold() == "all" else None, source, line
        )
    elif words and all(map(_is_branch, words)):
        yield from (BackportRequest("yes", word, source, line) for word in words)


def _is_branch(word: str) -> bool:
    """Whether a word is a branch's name rather than prose: it has a digit or a slash."""
    return bool(_NAME.fullmatch(word)) and bool(re.search(r"[\d/]", word))


def _names(rest: str) -> Iterator[str]:
    """The names in what follows a command; prose after them ends the list."""
    for number, raw in enumerate(_SEPARATOR.split(rest.strip())):
        word = raw.strip("`'\"*.:")
        if word.casefold() in _NOISE:
            continue
        if not _NAME.fullmatch(word) or (number > 1 and not _is_branch(word)):
            return
        yield word


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
