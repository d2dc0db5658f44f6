"""The commits and pull requests that a commit message names as its origin."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import takewhile

from msgspec import Struct

#: Characters of a line and lines of a message that are read.
_LONGEST = 1_000
_MOST_LINES = 2_000

_SHA = r"[0-9a-f]{7,64}"
_SHAS = rf"{_SHA}(?:(?: ?, ?| and | ){_SHA})*"
_PICKED = r"(?:cherry[- ]?pick(?:ed|s)?|back[- ]?port(?:ed|s)?)"
_REPO = r"https?://[^\s/]{1,80}/[^\s/]{1,80}/[^\s/]{1,100}"
#: Commits, as `git cherry-pick -x`, people and the kernel's stable branches name them.
_COMMITS = (
    rf"{_PICKED} (?:of |from |commits? ){{1,3}}`?(?P<shas>{_SHAS})\b",
    rf"{_PICKED} from [\w./-]{{1,80}} \((?P<branched>{_SHA})\)",
    rf"^\[? ?(?:upstream )?commit (?P<upstream>{_SHA})(?: upstream\.?| ?\]) ?$",
    rf"{_PICKED} (?:of |from )?{_REPO}/(?:pull/\d{{1,9}}/)?commits?/(?P<address>{_SHA})\b",
    rf"\[PR #\d{{1,9}}/(?P<patchback>{_SHA}) backport\]",
)
_FROM_COMMITS = re.compile("|".join(_COMMITS), re.IGNORECASE)

_NUMBER = rf"(?:(?:PRs?|pull requests?) ?(?:#|gh-)?|#|gh-|{_REPO}/pull/)\d{{1,9}}(?![\w/])"
_NUMBERS = rf"{_NUMBER}(?:(?: ?, ?(?:and )?| and | ?& ?| ){_NUMBER})*"
#: Pull requests, as tools and people name them.
_PULLS = (
    rf"{_PICKED} ?:? ?(?:of )?(?P<named>{_NUMBERS})",
    rf"{_PICKED} (?:the )?(?:changes?|commits?|fix(?:es)?) from (?P<after>{_NUMBERS})",
    r"\[PRs?(?P<bracketed>(?:[ ,]{1,2}#\d{1,9})+)(?:/[0-9a-f]{7,64})?(?: backport)?\]",
)
_OF_PULLS = re.compile("|".join(_PULLS), re.IGNORECASE)
_ADDRESS = re.compile(r"https?://[^\s/]+/[^\s/]+/[^\s/]+/pull/(\d{1,9})")
_DIGITS = re.compile(r"\d{1,9}")

#: Words before a statement that negate it, or make it a plan or a part.
_NEGATED = re.compile(
    r"\b(?:un-?do(?:es|ing)?|undid|skip(?:ped|s|ping)?|todo|not|no|never|without|can|could|should"
    r"|will|would|must|may|might|needs?|to|partial(?:ly)?|in part|before|after|until|instead of"
    r"|next)"
    r"(?: (?:the|a|an|this|that|we|us|it|be|for|of))* ?[:(]?$",
    re.IGNORECASE,
)
#: Words after a statement that make it a plan.
_TO_COME = re.compile(r"\W{0,3}(?:follows?|later|to come|is (?:open|pending|planned|needed))\b")
#: Every statement contains one of these.
_HINT = re.compile(r"[Pp][Ii][Cc][Kk]|[Pp][Oo][Rr][Tt]|[Uu]pstream|UPSTREAM|\[PR")

#: Numbers after a title: of the pull request, and of its backport.
_AFTER_TITLE = re.compile(r"(?:\(#\d{1,9}\))+")
_MERGED = re.compile(r"Merge (?:pull request #\d{1,9} from|branch|remote-tracking branch) '?(\S+)")
_TOOLS_BRANCH = re.compile(r"back-?port|cherry-?pick|/bp/", re.IGNORECASE)
_PR_IN_BRANCH = re.compile(r"pr-?#?(\d{1,9})(?!\d)", re.IGNORECASE)
_NUMBERS_IN_BRANCH = re.compile(
    r"(?:backport|back-port|cherry-?pick)s?(?:[-_/]of)?((?:[-_/]\d{2,9}(?![\d.]))+)",
    re.IGNORECASE,
)
_REVERT = re.compile(r"(?:Revert|Reapply)\b", re.IGNORECASE)


class Origins(Struct, frozen=True):
    """The named origins of a commit: object names (in lower case, or short) and pull requests."""

    shas: tuple[str, ...] = ()
    pulls: tuple[int, ...] = ()


def read_origins(message: str) -> Origins:
    """Return the origins that a commit message names, the numbers after its title among them.

    Partial backports do not count, nor does what the title of a revert names.
    """
    subject, _, body = message.strip().partition("\n")
    title = "" if _REVERT.match(subject) else " ".join(subject.split())[:_LONGEST]
    shas: list[str] = []
    pulls: list[int] = []
    for line in [title, *_candidates(body)]:
        for match in _find_statements(_FROM_COMMITS, line):
            for quoted in filter(None, match.groups()):
                shas += re.findall(_SHA, quoted.lower())
        for match in _find_statements(_OF_PULLS, line):
            quoted = "".join(filter(None, match.groups()))
            pulls += map(int, _ADDRESS.findall(quoted) or _DIGITS.findall(quoted))
    pulls += _read_branch(title)
    words = takewhile(_AFTER_TITLE.fullmatch, reversed(title.split()))
    pulls += (int(number) for word in reversed([*words]) for number in _DIGITS.findall(word))
    return Origins(tuple(dict.fromkeys(shas)), tuple(dict.fromkeys(pulls)))


def _candidates(body: str) -> list[str]:
    if not _HINT.search(body):
        return []
    lines = body.split("\n", _MOST_LINES)[:_MOST_LINES]
    short = (" ".join(line.split())[:_LONGEST] for line in lines if _HINT.search(line))
    # Bots quote other projects' changes as HTML.
    return [line for line in short if not line.startswith(("<", ">", "|"))]


def _find_statements(patterns: re.Pattern[str], line: str) -> Iterator[re.Match[str]]:
    """Yield the statements of a line that are not negated."""
    for match in patterns.finditer(line) if _HINT.search(line) else ():
        before = line[max(0, match.start() - 60) : match.start()].rstrip()
        if not (_NEGATED.search(before) or _TO_COME.match(line, match.end())):
            yield match


def _read_branch(title: str) -> list[int]:
    merged = _MERGED.match(title)
    if merged is None or not _TOOLS_BRANCH.search(merged[1]):
        return []
    numbers = _NUMBERS_IN_BRANCH.search(merged[1])
    digits = _PR_IN_BRANCH.findall(merged[1]) or _DIGITS.findall(numbers[1] if numbers else "")
    return [int(number) for number in digits]
