"""Titles of changes: the words a person wrote, and the classes of change that they name."""

from __future__ import annotations

import re
from functools import lru_cache

_LONGEST = 300
_MERGE = re.compile(
    r"Merge (pull request|PR|MR|branch|remote-tracking branch|topic)\b", re.IGNORECASE
)
_MERGED_BRANCH = re.compile(
    r"Merge (?:pull request|PR) \S+ from (?:[\w.-]+[/:])?(\S+)"
    r"|Merge (?:remote-tracking )?branch '?(?:origin/)?([^\s']+)",
    re.IGNORECASE,
)
_TRAILER = re.compile(r"(co-|signed-|reviewed-|change-)[\w-]+:", re.IGNORECASE)
_NUMBER = re.compile(r"\s*\((?:#|!|gh-)\d+\)$", re.IGNORECASE)
_PREFIX = re.compile(r"\s*\[?([a-z][\w -]{0,20}?)\]?(?:\([^)]{0,40}\))?!?\s*:", re.IGNORECASE)
#: What tools and people write around the title of a change that they bring to a branch.
_BROUGHT = re.compile(
    r"(?:(?:[\[(][^\])]{1,40}[\])]|(?:manual |v?\d[\w.]* )?(?:back-?port|cherry-?pick)(?:ed)?"
    r"(?: of)?(?=\W)):?\s*)+(.+?)(?: into [\w./-]+)?",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]{2,}")

_CLASSES = {
    "fix": r"\b(bug|fix(e[sd]|ing|up)?|bug-?fix(es)?|hot-?fix|regressions?|crash(es|ing)?|prevent"
    r"|correct(s|ed|ly)?|avoid(s|ing)?|broken|leaks?|deadlocks?|repair|segfaults?|typos?)\b",
    "feature": r"\b(add(s|ed|ing)?|feat(ure)?s?|enh(ance(ment)?s?)?|introduce[sd]?|implement(s|ed)?"
    r"|support for|new|allow(s|ing)?)\b",
    "docs": r"\b(docs?|document(s|ed|ation|ing)?|docstrings?|readme|changelog|typos?)\b",
    "tests": r"\b(tests?|tst|testing|flaky|coverage|xfail)\b",
    "build": r"\b(ci|build|bld|workflows?|pipelines?|github actions?|azure|pre-commit)\b",
    "dependency": r"\b(bump(s|ed)?|deps?(-dev)?|dependenc(y|ies)|dependabot|renovate|upgrade[sd]?"
    r"|update .{1,60} to v?\d)",
    "tidying": r"\b(refactor(s|ed|ing)?|clean-?up|tidy|style|sty|chore|maint|mnt|simplif(y|ies|ied)"
    r"|renam(e|es|ed|ing)|mov(e|es|ed|ing)|ruff|lint(er|ing)?|modernise|modernize|rework)\b",
    "removal": r"\b(remov(e|es|ed|al|ing)|deprecat(e|es|ed|ion|ions|ing)|drop(s|ped)?|breaking"
    r"|expire|delete[sd]?)\b|^[\w() -]+!:",
    "typing": r"\b(typ(e|ing)s?|typed|annotations?|mypy|stubs?)\b",
    "security": r"\b(security|cve-\d|vulnerabilit(y|ies)|xss|sanitiz|sanitise)",
    "revert": r"^\W*revert",
}
_PATTERNS = {name: re.compile(pattern, re.IGNORECASE) for name, pattern in _CLASSES.items()}


def strip_title_number(title: str, merge_body: str = "") -> str:
    """Return the title without a number; of a merge the first line of its body, or its branch."""
    first = title.strip()[:_LONGEST]
    if _MERGE.match(first):
        branch = _MERGED_BRANCH.match(first)
        name = (branch[1] or branch[2] or "") if branch else ""
        first = _read_heading(merge_body) or name or first
    return _NUMBER.sub("", first).strip()


def strip_branch(title: str) -> str:
    """Return the title without `[1.2]`, `(cherry-pick)`, `Backport of … into v1.2` around it."""
    match = _BROUGHT.fullmatch(title)
    return match[1] if match else title


def _read_heading(body: str) -> str:
    """Return the first line of a body unless it is a trailer."""
    for line in body.strip().split("\n")[:5]:
        if line.strip():
            return "" if _TRAILER.match(line.strip()) else line.strip()[:_LONGEST]
    return ""


def classify_title(title: str) -> frozenset[str]:
    """Return the classes of a title that `strip_title_number` made."""
    spaced = title.replace("_", " ").replace("/", " ")
    return frozenset(name for name, pattern in _PATTERNS.items() if pattern.search(spaced))


@lru_cache(8_192)  # branches share most earlier changes
def tokenise_title(title: str) -> frozenset[str]:
    """Return the words of a title, ``word:`` before a colon, and ``<class>`` for its classes."""
    words = {*_WORD.findall(title.lower()), *(f"<{name}>" for name in classify_title(title))}
    if prefix := _PREFIX.match(title):
        words.add(f"{prefix[1].lower()}:")
    return frozenset(words)
