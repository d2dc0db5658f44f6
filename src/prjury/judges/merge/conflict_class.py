"""Whether a conflict is mechanical or needs a human, decided from what both sides wrote.

A mechanical conflict can be resolved without knowing the code. The class opens no gate: it tells a
maintainer what kind of work is waiting.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from prjury.code.languages import kin_of
from prjury.judges.merge.mechanical import WhiteSpace, only_imports
from prjury.manifests.version_conflicts import only_versions
from prjury.snapshot.kinds import kind_of
from prjury.snapshot.model import FileKind, visible
from prjury.snapshot.threeway import (
    BASE_AND_HEAD,
    Classified,
    Lines,
    Region,
    SideNames,
    ThreeWay,
)

_CHANGELOG = re.compile(r"(changelog|changes|news|history|release[-_ ]?notes)([-_.]|$)")
_LONGEST_SECTION = 60
_MOST_REGIONS = 1_000
#: The command that writes a lock file anew.
_REGENERATE: Mapping[str, str] = {
    "package-lock.json": "npm install --package-lock-only",
    "npm-shrinkwrap.json": "npm install --package-lock-only",
    "pnpm-lock.yaml": "pnpm install --lockfile-only",
    "yarn.lock": "yarn install",
    "bun.lock": "bun install --lockfile-only",
    "bun.lockb": "bun install --lockfile-only",
    "cargo.lock": "cargo update --workspace",
    "poetry.lock": "poetry lock",
    "uv.lock": "uv lock",
    "pdm.lock": "pdm lock --update-reuse",
    "pipfile.lock": "pipenv lock",
    "composer.lock": "composer update --lock",
    "gemfile.lock": "bundle lock",
    "go.sum": "go mod tidy",
    "gradle.lockfile": "gradle dependencies --write-locks",
    "packages.lock.json": "dotnet restore --force-evaluate",
    "flake.lock": "nix flake lock",
    "mix.lock": "mix deps.get",
    "pubspec.lock": "dart pub get",
    "podfile.lock": "pod install",
}


def regenerate(path: str) -> str | None:
    """The command that writes this lock file anew; None for any other file."""
    return _REGENERATE.get(PurePosixPath(path).name.lower())


def classify(path: str, file: ThreeWay, names: SideNames = BASE_AND_HEAD) -> Classified:
    """Whether the conflict is mechanical, which it is only if every one of its regions is."""
    count = len(file.regions)
    if command := regenerate(path):
        reason = f"a lock file: take either side's and run `{command}`"
        return Classified(mechanical=True, reason=reason, regions=(True,) * count)
    if not file.regions or count > _MOST_REGIONS:
        many = f"{count} regions, more than are looked into"
        reason = many if count else "the sides collide as a whole, not line by line"
        return Classified(mechanical=False, reason=reason, regions=(False,) * count)
    reasons = list(_reasons(path, file, names))
    easy = tuple(reason is not None for reason in reasons)
    if not all(easy):
        return Classified(
            mechanical=False, reason=_collision(path, file, easy, names), regions=easy
        )
    every = "; ".join(dict.fromkeys(reason for reason in reasons if reason))
    return Classified(mechanical=True, reason=every, regions=easy)


def _reasons(path: str, file: ThreeWay, names: SideNames) -> Iterator[str | None]:
    """For each region why it is mechanical, or None."""
    white_space = WhiteSpace(path, file)
    regions = zip(file.regions, only_imports(path, file), only_versions(path, file), strict=True)
    for region, imports, versions in regions:
        base, ours, theirs = file.texts(region)
        if found := white_space.only(region, names.onto, names.head):
            yield found
        elif imports:
            yield imports
        elif versions:
            yield "version numbers only: take the newer one"
        elif is_changelog(path) and _both_add(base, ours, theirs):
            yield "changelog entries: keep both"
        else:
            yield None


def is_changelog(path: str) -> bool:
    """Whether the file is a changelog."""
    name = PurePosixPath(path).name.lower()
    return _CHANGELOG.match(name) is not None and kind_of(path) is FileKind.DOCS


def _both_add(base: Lines, ours: Lines, theirs: Lines) -> bool:
    """Whether both sides add lines and leave every line of the base as it was.

    The last line of the base may have had no end.
    """
    was, mine, yours = ([line.rstrip("\r\n") for line in lines] for lines in (base, ours, theirs))
    more = min(len(mine), len(yours)) > len(was)
    return more and _within(was, mine) and _within(was, yours)


def _within(few: Lines, many: Lines) -> bool:
    """Whether all of the few lines stand among the many, in their order."""
    remaining = iter(many)
    return all(line in remaining for line in few)


def _collision(path: str, file: ThreeWay, easy: Sequence[bool], names: SideNames) -> str:
    """What collides at the first place that needs a human, and how many such places there are."""
    hard = [region for region, done in zip(file.regions, easy, strict=True) if not done]
    count = len(file.regions)
    if file.base is None:
        return f"both sides add the file, with different lines in {_places(count)}"
    first = _what_collides(file, hard[0], names) + _below(path, hard[0])
    if count == 1:
        return first
    if len(hard) == 1:
        return f"1 of {count} regions needs a human: {first}"
    return f"{len(hard)} of {count} regions need a human: in the first of them {first}"


def _places(count: int) -> str:
    return "one place" if count == 1 else f"{count} places"


def _below(path: str, region: Region) -> str:
    """The heading above the region; git knows headings of code only."""
    section = visible(region.section.strip())
    if not section or kin_of(path) is None:
        return ""
    cut = section[:_LONGEST_SECTION]
    return f", below `{cut}{'…' * (cut != section)}`"


def _what_collides(file: ThreeWay, region: Region, names: SideNames) -> str:
    base, ours, theirs = file.texts(region)
    if base and not (ours and theirs):
        deletes, changes = (names.onto, names.head) if not ours else (names.head, names.onto)
        what = "a line" if len(base) == 1 else _lines(base)
        return f"{deletes} deletes {what} that {changes} changes"
    if not base and _within(theirs, ours):
        return _superset(names.onto, names.head, len(ours) - len(theirs))
    if not base and _within(ours, theirs):
        return _superset(names.head, names.onto, len(theirs) - len(ours))
    if not base:
        return "both sides add different lines at the same place"
    return f"both sides change the same {_lines(base)}"


def _superset(more: str, less: str, count: int) -> str:
    return f"{more} adds all that {less} adds, and {count} line{'s' * (count != 1)} more"


def _lines(lines: Lines) -> str:
    return "line" if len(lines) == 1 else f"{len(lines)} lines"
