"""What of a change counts for whether people bring it to release branches."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from prjury.judges.backport.score.title_features import classes, title_of, words
from prjury.snapshot.model import FileChange, FileKind, FileStatus, PullRequest

Part = Literal["notes", "tests", "ci", "build", "docs", "source"]

#: Where projects keep what changed: a file, or a folder of one fragment for each change.
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

#: What a fragment of a changelog is about, by its name (`12.bugfix.rst`) or a heading in it.
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
#: A line that declares something others may call.
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
    """What of the change counts; nothing of it depends on a branch.

    Attributes:
        words: of the title, for what became of earlier changes with such words.
        kinds: what the title says: `fix`, `feature`, `docs`, `tests`, `build`, `dependency`,
            `tidying`, `removal`, `typing`, `security`, `revert`.
        notes: what its changelog entries are about: `fix`, `feature`, `breaking`.
        only: the one part of the project that it touches besides the changelog, if it is one.
        lines: added and removed lines.
        new_files: files that it adds.
        declared: added lines that declare something public.
        bot: whether a program proposed it.
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
    """What of a pull request counts."""
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
    """Whether a title is one of those that programs write."""
    return _BUMP.match(title) is not None


def part_of(file: FileChange) -> Part:
    """The part of the project that a file belongs to."""
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
