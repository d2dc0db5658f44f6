"""Labels that ask for a backport or refuse one, in the conventions of common tools and projects.

They are read word by word: leading words, the verb, following words, the branch.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal, TypeAlias

from msgspec import Struct

from prjury.snapshot.model import visible

Answer: TypeAlias = Literal["yes", "no", "state"]

#: A target that stands for all branches.
EVERYWHERE = "*"
_LONGEST_QUOTE = 120


class BackportRequest(Struct, frozen=True):
    """A statement: its answer, the branch as written (`EVERYWHERE`, None), and where it stands."""

    answer: Answer
    target: str | None
    source: str
    text: str

    def __str__(self) -> str:
        text = visible(" ".join(self.text.split()))
        short = text if len(text) <= _LONGEST_QUOTE else f"{text[: _LONGEST_QUOTE - 1]}…"
        return f"{self.source}: {short}"


#: Characters that are read; GitHub allows 50.
_LONGEST = 200

#: Verbs and refusals that are several words for some and one for others.
_ONE_WORD = (
    (re.compile(r"cherry[-_ ]?pick", re.IGNORECASE), "cherrypick"),
    (re.compile(r"back[-_ ]port", re.IGNORECASE), "backport"),
    (re.compile(r"forward[-_ ]?port", re.IGNORECASE), "forwardport"),
    (re.compile(r"\b(?:don['’]?t|do[-_ ]not|wo?n['’]t|never)\b", re.IGNORECASE), "dont"),
    (re.compile(r"\bnot[-_ ]approved\b", re.IGNORECASE), "pending"),
    (re.compile(r"\bon[-_ ]merge\b", re.IGNORECASE), "auto"),
    (re.compile(r"\bpick[-_ ]into\b", re.IGNORECASE), "cherrypick to"),
    (re.compile(r"\blts[-_ ]watch\b", re.IGNORECASE), "backport"),
    (re.compile(r"\bdont[-_ ]land[-_ ]on\b", re.IGNORECASE), "dont backport"),
)
_WORD = re.compile(r"[^\s:_/>→=-]+")
_VERB = re.compile(r"(?:backport|cherrypick|forwardport)(?:s|ing|able)?", re.IGNORECASE)
_DONE = re.compile(r"(?:backport|cherrypick|forwardport)ed", re.IGNORECASE)
_REFUSING = frozenset("no not non skip skipped without dont".split())
_LEADING = frozenset(
    "auto automatic automated need needs needed please request requested requests want wants "
    "wanted to should must can candidate for pending proposed propose approved potential possible "
    "maybe manual".split()
)
_FOLLOWING = frozenset(
    "to onto into for on in request requested needed wanted required approved candidate nominated "
    "proposed potential possible pending please todo branch branches".split()
)
_REFUSED = frozenset(
    "none no not skip skipped never rejected declined denied refused unwanted wontfix ignore "
    "n/a na".split()
)
#: States of an earlier backport, which ask for nothing.
_STATE = frozenset(
    "failed failure open opened conflict conflicts blocked done complete completed created missing "
    "success merged manually".split()
)
_ALL = frozenset({"all", "all-open", "everywhere"})
#: Words of tools that take the branch from another label, a milestone or a command line.
_NO_BRANCH = frozenset("version prev-minor prev-major current manual pr".split())
#: Rust nominates for channels, which are branches.
_NOMINATED = re.compile(r"(beta|stable)-(nominated|accepted)", re.IGNORECASE)
_SCOPE = re.compile(r"[^:/]{1,40}[:/]\s*")
#: ``v8.1.0`` beside a label that asks for a backport without a branch, as Elastic has it.
_RELEASE = re.compile(r"v\d{1,4}\.\d{1,4}\.\d{1,4}", re.IGNORECASE)
_VERSIONS_COUNT = re.compile(r"auto-backport(?:-and-merge)?|backport[:-]version", re.IGNORECASE)
_DECORATION = re.compile(r"[^\w(\[{}]+$|^[^\w(\[@{}]+", re.ASCII)


def read_labels(
    labels: Sequence[str], patterns: Sequence[str], excluded: Sequence[str]
) -> Iterator[BackportRequest]:
    """Read the labels of a pull request by the policy's patterns, but excluded ones."""
    requests = [one for one in labels if not any(read_label_branch(it, one) for it in excluded)]
    versions_count = any(_VERSIONS_COUNT.fullmatch(label.strip()) for label in requests)
    for label in requests:
        if by_policy := [to for one in patterns if (to := read_label_branch(one, label))]:
            yield BackportRequest("yes", by_policy[0], "the label", label)
        elif _RELEASE.fullmatch(label.strip()):
            if versions_count:
                yield BackportRequest("yes", label.strip(), "the label", label)
        else:
            readings = read_label(label)
            yield from (BackportRequest(answer, to, "the label", label) for answer, to in readings)


def read_label_branch(pattern: str, label: str) -> str | None:
    """Return the branch in a label of this pattern, None for another label."""
    before, _, after = (part.casefold() for part in pattern.partition("{branch}"))
    folded = label.strip().casefold()
    length = len(before) + len(after)
    if len(folded) <= length or not (folded.startswith(before) and folded.endswith(after)):
        return None
    return label.strip()[len(before) : len(folded) - len(after)].strip() or None


def read_label(label: str) -> list[tuple[Answer, str | None]]:
    """Return the answers and branches of a label or a phrase like one; none for another text."""
    text = _DECORATION.sub("", label.strip()[:_LONGEST])
    if nominated := _NOMINATED.fullmatch(text):
        return [("yes", nominated[1].lower())]
    for pattern, word in _ONE_WORD:
        text = pattern.sub(word, text)
    scope = _SCOPE.match(text)
    return _read_phrase(text) or (_read_phrase(text[scope.end() :]) if scope else [])


def _read_phrase(text: str) -> list[tuple[Answer, str | None]]:
    words = list(_WORD.finditer(text))
    answer: Answer = "yes"
    for index, word in enumerate(words):
        lower = word[0].casefold()
        done = _DONE.fullmatch(lower)
        if done or _VERB.fullmatch(lower):
            return _read_answer_and_targets(text, words[index + 1 :], "state" if done else answer)
        if lower in _REFUSING:
            answer = "no"
        elif lower in _STATE:
            answer = "state"
        elif lower not in _LEADING:
            break
    return []


def _read_answer_and_targets(
    text: str, words: Sequence[re.Match[str]], answer: Answer
) -> list[tuple[Answer, str | None]]:
    """Return the branches after the verb; words between may change the answer."""
    for word in words:
        lower = word[0].casefold()
        if lower in _REFUSED:
            answer = "no"
        elif lower in _STATE:
            answer = "state" if answer == "yes" else answer
        elif lower not in _FOLLOWING:
            rest = re.sub(r"\s+branch$", "", text[word.start() :].strip(), flags=re.IGNORECASE)
            return [(answer, target) for target in _targets(rest, answer)]
    return [(answer, EVERYWHERE if answer == "no" else None)]


def _targets(rest: str, answer: Answer) -> list[str | None]:
    if rest.casefold() in _ALL:
        return [EVERYWHERE]
    if rest.casefold() in _NO_BRANCH:
        return [EVERYWHERE if answer == "no" else None]
    return [part for part in re.split(r"\s*[,&]\s*|\s+and\s+|\s+", rest) if part] or [None]
