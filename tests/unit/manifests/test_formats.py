"""Which files are build files, and that nothing in one breaks its reader."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakes.repository import BASE, FakeRepository, pull_between
from fakes.roots import root_of, touching
from prjury.code.languages import LANGUAGES, language_of
from prjury.judges.backport.checks.dependencies import compare_bumps, find_dependency_changes
from prjury.judges.builds.planner import detect_builds
from prjury.manifests.formats import find_format, find_project_directory, reader_of
from prjury.manifests.manifest import ECOSYSTEMS, FAMILIES, Manifest, ManifestError
from prjury.manifests.project import Project
from prjury.manifests.spans import SPANS
from unit.manifests.spellings import LOCKS, SPELLINGS, Spelling

NAMES = [
    "pom.xml", "build.gradle", "gradle/libs.versions.toml",
    "gradle/wrapper/gradle-wrapper.properties",
    "pyproject.toml", "setup.cfg", "setup.py", "Pipfile", "requirements.txt", "constraints.txt",
    "uv.lock", "Pipfile.lock", ".python-version", "package.json", "pnpm-workspace.yaml",
    "package-lock.json", "yarn.lock", "pnpm-lock.yaml", ".nvmrc", "go.mod", "Cargo.toml",
    "Cargo.lock", "rust-toolchain", "App.csproj", "global.json", "Dockerfile",
    ".github/workflows/ci.yml",
]  # fmt: skip


def read(path: str, content: bytes) -> Manifest | None:
    """What the path's reader makes of it; None where it refuses with a reason."""
    kind = find_format(path)
    language = language_of(path)
    reader = kind.reader if kind else reader_of(path, language.name if language else "")
    try:
        return reader(content)
    except ManifestError as error:
        reason = str(error)
    assert reason
    assert "\n" not in reason
    return None


WORDS = st.sampled_from(
    ["[", "]", "{", "}", '"', "'", "=", ":", "\n", "\r", "\\", "#", "<", ">", "@", ",", "${a}",
     "dependencies", "project", "package", "version", "1.0", "require (", "uses: a/b@v1", "\t", " "]
)  # fmt: skip


@pytest.mark.parametrize("path", NAMES)
@settings(max_examples=30)
@given(content=st.one_of(st.binary(max_size=60), st.lists(WORDS, max_size=30).map("".join)))
def test_no_content_breaks_a_reader(path: str, content: bytes | str) -> None:
    read(path, content.encode() if isinstance(content, str) else content)


#: Mostly of one line that is not quite too long.
HOSTILE = {
    "long": b"x" * 500_000,
    "repeated": (b"[" + b" " * 9_000 + b'"' * 9_000 + b"\n") * 10,
    "brackets": b"[" * 19_000,
    "braces": b'{"a":' * 3_900,
    "quotes": b'"\\"\\"\n' * 100_000,
    "pairs": b'{"a": [' + b'"' + b'\\"' * 9_000 + b'"]}',
    "spaces": b"[" + b" " * 19_000 + b"x",
    "dots": b"a." * 9_000,
    "at": b"uses: " + b"a/" * 9_000 + b"@",
    "colons": b": " * 9_000,
    "commas": b",uses :" * 2_000,
    "lines": b"a\n" * 250_000,
    "continued": b"a\\\n" * 150_000,
    "xml": b"<a>" * 100_000,
    "options": b" -r " * 4_000,
    "backslashes": b"\\" * 19_000,
}


@pytest.mark.slow
@pytest.mark.parametrize("path", NAMES)
@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_content_is_refused_or_read_in_time(path: str, kind: str) -> None:
    start = time.process_time()
    read(path, HOSTILE[kind])
    assert time.process_time() - start < 5


@pytest.mark.parametrize(
    ("path", "family"),
    [
        ("a/requirements-dev.txt", "python"),
        ("a/requirements/extras/x.txt", "python"),
        ("a/dev_requirements.in", "python"),
        ("a/constraints.txt", "python"),
        ("a/notes.txt", None),
        ("a/App.fsproj", "dotnet"),
        ("a/libs.versions.toml", None),
        ("a/gradle/libs.versions.toml", "jvm"),
        ("a/gradle/wrapper/gradle-wrapper.properties", "jvm"),
        ("a/.github/workflows/ci.yml", None),
        ("a/Cargo.toml.orig", None),
    ],
)
def test_what_is_a_build_file(path: str, family: str | None) -> None:
    kind = find_format(path)
    assert (kind.family if kind else None) == family


@pytest.mark.parametrize(
    ("path", "directory"),
    [
        ("pom.xml", ""),
        ("a/b/package.json", "a/b"),
        ("requirements/dev.txt", ""),
        ("a/requirements/extras/x.txt", "a"),
        ("a/requirements.txt", "a"),
        ("a/gradle/libs.versions.toml", "a"),
        ("gradle/wrapper/gradle-wrapper.properties", ""),
    ],
)
def test_the_directory_of_a_build_file(path: str, directory: str) -> None:
    assert find_project_directory(path) == directory


def test_an_ecosystem_is_complete() -> None:
    """Without a family no pattern reads its requirements, without a span every version is one."""
    assert {key.partition(":")[0] for key in SPANS} == set(ECOSYSTEMS)
    assert set(FAMILIES.values()) <= {language.family for language in LANGUAGES.values()}
    assert set(ECOSYSTEMS) - {"action", "runtime"} <= set(FAMILIES)


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
    bumps = find_dependency_changes(pull_between(before, after), repository)
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
    bumps = find_dependency_changes(pull_between(before, after), repository)
    assert (bumps.lock_files, bumps.changed) == ((spelling.path,), ())
    files = {**spelling.files, spelling.path: spelling.at(0)}
    plans = detect_builds(root_of(files), touching(spelling.path)).plans
    assert [plan.modules for plan in plans] == [()] * len(plans) != []
