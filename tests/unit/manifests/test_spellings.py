"""Patterns and backports see the same versions, however they are written."""

from __future__ import annotations

import pytest

from fakes.repository import BASE, FakeRepository, pull_between
from fakes.roots import root_of, touching
from prjury.code.languages import language_of
from prjury.judges.backport.checks.dependencies import compare_bumps, find_bumps
from prjury.judges.builds.planner import detect_builds
from prjury.manifests.formats import find_format, reader_of
from prjury.manifests.project import Project
from unit.manifests.spellings import LOCKS, SPELLINGS, Spelling

TIP = "d" * 40
PROBES = {
    "jvm": "A.java",
    "python": "a.py",
    "node": "a.js",
    "go": "a.go",
    "rust": "a.rs",
    "dotnet": "A.cs",
}


def names(spelling: Spelling) -> str:
    return f"{spelling.path}: {spelling.way}"


def as_patterns_see(spelling: Spelling, number: int) -> list[tuple[str, str | None]]:
    """The names and versions that hold for a file of the module."""
    kind = find_format(spelling.path)
    text = spelling.at(number)
    if kind is None:
        language = language_of(spelling.path)
        manifest = reader_of(spelling.path, language.name if language else "")(text.encode())
        return [(str(each), each.version) for each in manifest.coordinates]
    probe = PROBES[kind.family]
    base = {**spelling.files, spelling.path: text}
    head = {**base, probe: "x"}
    pull = pull_between(base, head)
    repository = FakeRepository({BASE: base, "head": head})
    module = Project.read(pull, repository, [probe]).of_file[probe].head
    return [(str(each), each.version) for each in module.declared]


def is_seen_by_patterns(spelling: Spelling) -> bool:
    bare = [version.lstrip("v") for version in spelling.versions]
    return all(
        any(name == spelling.name and bare[number].split(",")[0].lstrip("^>=") in (version or "")
            for name, version in as_patterns_see(spelling, number))
        for number in range(3)
    )  # fmt: skip


def is_seen_by_backports(spelling: Spelling) -> bool:
    before, after = ({spelling.path: spelling.at(number)} for number in (0, 1))
    repository = FakeRepository({BASE: before, "head": after, TIP: before})
    bumps = find_bumps(pull_between(before, after), repository)
    there = compare_bumps(bumps, TIP, repository)
    return [(each.name, each.old, each.new) for each in bumps.changed] == [
        (spelling.known_as, *(_plain(version) for version in spelling.versions[:2]))
    ] and [each.have for each in there] == [bumps.changed[0].old]


def _plain(version: str) -> str:
    """PEP 440 has no order among bounds, the reader's is alphabetical."""
    return ",".join(sorted(version.split(",")))


@pytest.mark.parametrize("spelling", SPELLINGS, ids=names)
def test_all_judges_see_the_same(spelling: Spelling) -> None:
    assert is_seen_by_patterns(spelling) if spelling.patterns else True
    assert is_seen_by_backports(spelling)


@pytest.mark.parametrize("spelling", LOCKS, ids=names)
def test_lock_files_are_lock_files_for_all(spelling: Spelling) -> None:
    before, after = ({spelling.path: spelling.at(number)} for number in (0, 1))
    repository = FakeRepository({BASE: before, "head": after})

    assert is_seen_by_patterns(spelling)
    bumps = find_bumps(pull_between(before, after), repository)
    assert (bumps.lock_files, bumps.changed) == ((spelling.path,), ())
    files = {**spelling.files, spelling.path: spelling.at(0)}
    plans = detect_builds(root_of(files), touching(spelling.path)).plans
    assert [plan.modules for plan in plans] == [()] * len(plans) != []
