"""The maintainers' word: who asked for the change on a branch, or refused it there.

A refusal outweighs every request, and a request that names no branch counts for none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from posixpath import dirname
from typing import Literal

from msgspec import Struct

from prjury.judges.backport.requests.branches import match_branches
from prjury.judges.backport.requests.labels import EVERYWHERE, BackportRequest, read_labels
from prjury.judges.backport.requests.texts import of_message, of_text, of_title
from prjury.jury.judgment import Check
from prjury.policy.schema import BackportConfig
from prjury.snapshot.model import FileStatus, PullRequest, visible

#: A milestone that is a version or a release line.
_VERSION = re.compile(r"v?\d{1,4}(?:\.\d{1,4}){1,4}(?:\.[xy])?|v?\d{1,4}\.[xy]", re.IGNORECASE)
CHANGELOG = re.compile(
    r"(^|/)\.?(changes?|changelogs?|news|newsfragments?|whats[_-]?new|release[_-]?notes?|releases"
    r"|upcoming_changes|changelog\.d|chloggen)/"
    r"|(^|/)(changes|changelog|history|news|release[_-]?notes|whats-?new)[^/]*$",
    re.IGNORECASE,
)
#: A release in the path of a changelog entry.
_RELEASE = r"(?<![\w.])v?\d{1,4}\.\d{1,4}(?:\.\d{1,4})?(?!\w)"
#: The commit that brought what a change mends, as the kernel writes it, or takes back.
_FIXES = re.compile(r"^(?:Fixes: |This reverts commit )([0-9a-f]{7,64})\b", re.MULTILINE)
_NOTES = "the changelog entry"
#: So many requests stand in the message, and so many as evidence.
_MOST_QUOTED, _MOST_SHOWN = 4, 20


class RequestSources(Struct, frozen=True):
    """What people ask for on any branch, and the commits that the change fixes or reverts."""

    requests: tuple[BackportRequest, ...] = ()
    mended: tuple[str, ...] = ()


class FoundRequests(Struct, frozen=True):
    """What people say about one branch: an answer with its quotes; ``unnamed`` names no branch."""

    answer: Literal["yes", "no"] | None
    by: tuple[str, ...] = ()
    unnamed: bool = False
    elsewhere: bool = False  # its changelog entry stands under another release


def find_requests(
    pull: PullRequest,
    config: BackportConfig,
    messages: Sequence[str] = (),
    own_label: str | None = None,
    *,
    trust_texts: bool = True,
) -> RequestSources:
    """Read labels but this program's own, milestone, messages and, if trusted, title and body."""
    author = f"@{pull.author}" if pull.author else "the author"
    requests = list(read_labels(pull.labels, config.labels, [own_label] if own_label else []))
    milestone = pull.milestone or ""
    version = milestone.strip().rpartition(" ")[2]
    if _VERSION.fullmatch(version):
        requests.append(BackportRequest("yes", version, "the milestone", milestone))
    requests += _list_changelog_requests(pull)
    if trust_texts:
        requests += of_title(pull.title, f"{author} in the title")
        requests += of_text(pull.body, author)
    for message in messages:
        requests += of_message(message, "a commit")
    mended = [sha for message in messages for sha in _FIXES.findall(message)]
    return RequestSources(tuple(dict.fromkeys(requests)), tuple(dict.fromkeys(mended)))


def _list_changelog_requests(pull: PullRequest) -> Iterator[BackportRequest]:
    """Yield releases to whose notes a change adds; a new file that one names holds all of them."""
    noted = [file for file in pull.files if CHANGELOG.search(file.path)]
    for file in noted if len(noted) < len(pull.files) else ():
        if any(True for _ in file.added_lines):
            place = dirname(file.path) if file.status is FileStatus.ADDED else file.path
            for match in re.finditer(_RELEASE, place):
                yield BackportRequest("yes", match[0], _NOTES, file.path)


def list_requested_branches_and_notes(
    sources: RequestSources, branches: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the branches that requests name, and a note on each request that names none."""
    names: list[str] = []
    notes: list[str] = []
    for request in sources.requests:
        if request.answer != "yes" or request.target in {None, EVERYWHERE}:
            continue
        matches = match_branches(request.target or "", branches)
        names += matches
        if not matches and request.source not in {"the milestone", _NOTES}:  # maybe the base's own
            notes.append(visible(f"no branch is meant by {request}"))
    return tuple(dict.fromkeys(names)), tuple(dict.fromkeys(notes))


def read_answer_for_branch(
    sources: RequestSources, branch: str, branches: Sequence[str] = ()
) -> FoundRequests:
    """Return what the requests mean for one of the judged branches."""
    names = branches if branch in branches else [*branches, branch]
    own = [request for request in sources.requests if _means(request, branch, names)]
    unnamed = any(one.answer == "yes" and one.target is None for one in sources.requests)
    answers: tuple[Literal["no", "yes"], ...] = ("no", "yes")
    for answer in answers:
        if quotes := tuple(str(request) for request in own if request.answer == answer):
            return FoundRequests(answer, quotes, unnamed)
    elsewhere = any(request.source == _NOTES for request in sources.requests)
    return FoundRequests(None, (), unnamed, elsewhere)


def _means(request: BackportRequest, branch: str, branches: Sequence[str]) -> bool:
    if request.target is None or request.target == EVERYWHERE:
        return request.target is not None
    # The cheap test first: a target that does not mean the branch alone never means it at all.
    return bool(match_branches(request.target, [branch])) and branch in match_branches(
        request.target, branches
    )


def check_not_refused(sources: RequestSources, requests: FoundRequests) -> Check:
    """Return the check ``asked-for``, which fails on a refusal only."""
    refused, quotes = requests.answer == "no", list(requests.by)
    what = "refused for this branch" if refused else "asked for"
    if not refused and not quotes:
        quotes = [str(request) for request in sources.requests if request.target is None]
        what = "asked for without naming this branch"
    shown = quotes[:_MOST_QUOTED]
    if len(quotes) > _MOST_QUOTED:
        shown.append(f"{len(quotes) - _MOST_QUOTED} more")
    return Check(
        "asked-for",
        passed=not refused,
        message=f"{what} ({visible('; '.join(shown))})" if quotes else "nobody has asked for it",
        severity="error" if refused else "hint",
        evidence="\n".join(quotes[:_MOST_SHOWN]) or None,
    )
