"""Features of a change for the score: its size, kinds of files, title and changelog entry."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from prjury.snapshot.model import FileChange, FileKind, FileStatus, PullRequest

Part = Literal["notes", "tests", "ci", "build", "docs", "source"]

#: Changelogs: a file, or a folder with one fragment a change.
_NOTES = re.compile(
    r"(^|/)(changes?|changelogs?|news|newsfragments?|whats[_-]?new|release[_-]?notes?"
    r"|upcoming_changes|changelog\.d)/"
    r"|(^|/)(changes|changelog|history|news|release[_-]?notes|whats-?new)[^/]*$",
    re.IGNORECASE,
)
_CI = re.compile(
    r"^\.(github|circleci|azure-pipelines|gitlab|buildkite)/|(^|/)\.(travis|appveyor|gitlab-ci"
    r"|pre-commit-config|cirrus|codecov)\.ya?ml$|(^|/)(azure-pipelines[^/]*\.yml|tox\.ini"
    r"|Jenkinsfile|noxfile\.py)$"
)
_BUILD = re.compile(
    r"(^|/)(pyproject\.toml|setup\.(py|cfg)|package\.json|pom\.xml|build\.gradle(\.kts)?"
    r"|(requirements|constraints)[^/]*\.txt|environment\.ya?ml|cargo\.toml|go\.mod|gemfile"
    r"|composer\.json|[^/]*\.lock|package-lock\.json|go\.sum|libs\.versions\.toml"
    r"|gradle\.properties)$|(^|/)requirements/",
    re.IGNORECASE,
)
_DOCS = re.compile(r"(^|/)docs?/|\.(md|rst|adoc|asciidoc)$", re.IGNORECASE)

#: The kind of a changelog fragment by its name (`12.bugfix.rst`) or a heading.
_FRAGMENT_NAMES = {
    "fix": re.compile(r"\.(bugfix(es)?|fix(ed)?|security|bug)(\.\d+)?(\.\w+)?$", re.IGNORECASE),
    "feature": re.compile(
        r"\.(feature|added|improvement|new_feature|new_function|highlight|perf(ormance)?|enhancement)"
        r"(\.\d+)?\.\w+$",
        re.IGNORECASE,
    ),
    "breaking": re.compile(
        r"\.(api|c_api|breaking|removal|removed|deprecat\w+|change|compatibility|expired)"
        r"(\.\d+)?\.\w+$",
        re.IGNORECASE,
    ),
}
_FRAGMENT_HEADINGS = {
    "fix": re.compile(r"^\W*(bug ?-?_?fix(es)?|security_fixes|fixed|fixes)\W*$", re.IGNORECASE),
    "feature": re.compile(
        r"^\W*(minor_changes|major_changes|new features?|features?|added|enhancements?)\W*$",
        re.IGNORECASE,
    ),
    "breaking": re.compile(
        r"^\W*(breaking[_ ]changes|removed_features|deprecated_features|deprecations?|removed"
        r"|removals?|api changes)\W*$",
        re.IGNORECASE,
    ),
}
#: A public declaration.
_DECLARES = re.compile(
    r"\s*(async\s+)?(def|class)\s+[A-Za-z]|\s*(public|protected|export)\s|func\s+(\([^)]*\)\s*)?[A-Z]"
    r"|\s*pub\s+(fn|struct|enum|trait)\s"
)
_BUMP = re.compile(
    r"(bump|update) .{1,120} from \S+ to \S+|(build|chore|fix)\(deps|\[pre-commit\.ci\]"
    r"|update (dependency|module|rust crate) ",
    re.IGNORECASE,
)
_FEW_DECLARED = 5_000


@dataclass(frozen=True, slots=True)
class ChangeFeatures:
    """The features of a change.

    Attributes:
        kinds: what the title says, by the classes of titles below.
        notes: the kinds of its changelog entries: `fix`, `feature`, `breaking`.
        only: the part of the project if it touches only one besides the changelog.
        declared: added lines that declare something public.
    """

    words: frozenset[str] = frozenset()
    kinds: frozenset[str] = frozenset()
    notes: frozenset[str] = frozenset()
    only: Part | None = None
    files: int = 0
    lines: int = 0
    new_files: int = 0
    declared: int = 0
    bot: bool = False


def change_features(pull: PullRequest) -> ChangeFeatures:
    """Return the features of a pull request."""
    title = title_of(pull.title, pull.body)
    return ChangeFeatures(
        words=words(title),
        kinds=classes(title),
        notes=frozenset(kind for file in pull.files for kind in _notes(file)),
        only=_only(pull),
        files=len(pull.files),
        lines=pull.additions + pull.deletions,
        new_files=sum(file.status is FileStatus.ADDED for file in pull.files),
        declared=sum(map(_declared, pull.files)),
        bot=(pull.author or "").endswith("[bot]") or is_bump(title),
    )


def is_bump(title: str) -> bool:
    """Whether a bot writes such titles."""
    return _BUMP.match(title) is not None


def part_of(file: FileChange) -> Part:
    """Return the part of the project that a file belongs to."""
    path = file.path
    named: tuple[tuple[Part, Callable[[str], object]], ...] = (
        ("notes", _NOTES.search),
        ("tests", lambda _: file.kind is FileKind.TEST),
        ("ci", _CI.search),
        ("build", _BUILD.search),
        ("docs", lambda name: file.kind is FileKind.DOCS or _DOCS.search(name)),
    )
    return next((part for part, is_it in named if is_it(path)), "source")


def _only(pull: PullRequest) -> Part | None:
    parts = {part_of(file) for file in pull.files}
    others = parts - {"notes"}
    if len(others) == 1:
        return others.pop()
    return "docs" if parts == {"notes"} else None


def _notes(file: FileChange) -> Iterator[str]:
    if part_of(file) != "notes" or file.status is FileStatus.DELETED:
        return
    named = [kind for kind, pattern in _FRAGMENT_NAMES.items() if pattern.search(file.path)]
    yield from named
    if not named:
        for line in file.added_lines:
            yield from (
                kind for kind, is_it in _FRAGMENT_HEADINGS.items() if is_it.match(line.text)
            )


def _declared(file: FileChange) -> int:
    if file.kind is not FileKind.SOURCE or file.additions > _FEW_DECLARED:
        return 0
    return sum(_DECLARES.match(line.text) is not None for line in file.added_lines)


_LONGEST = 300
#: Branches share most earlier changes, so titles repeat.
_TITLES = 8_192
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
_IS = {name: re.compile(pattern, re.IGNORECASE) for name, pattern in _CLASSES.items()}


def title_of(title: str, body: str = "") -> str:
    """Return the title without a number; of a merge the first line of its body, or its branch."""
    first = title.strip()[:_LONGEST]
    if _MERGE.match(first):
        branch = _MERGED_BRANCH.match(first)
        name = next(filter(None, branch.groups()), "") if branch else ""
        first = _first_line(body) or name or first
    return _NUMBER.sub("", first).strip()


def _first_line(body: str) -> str:
    """Return the first line unless it is a trailer."""
    lines = (line.strip() for line in body.strip().split("\n")[:5])
    first = next(filter(None, lines), "")
    return "" if _TRAILER.match(first) else first[:_LONGEST]


def classes(title: str) -> frozenset[str]:
    """Return the classes of a title that `title_of` made."""
    spaced = title.replace("_", " ").replace("/", " ")
    return frozenset(name for name, pattern in _IS.items() if pattern.search(spaced))


@lru_cache(_TITLES)
def words(title: str) -> frozenset[str]:
    """Return the words of a title, ``word:`` before a colon, and ``<class>`` for its classes."""
    found = {*_WORD.findall(title.lower()), *(f"<{name}>" for name in classes(title))}
    if prefix := _PREFIX.match(title):
        found.add(f"{prefix[1].lower()}:")
    return frozenset(found)
