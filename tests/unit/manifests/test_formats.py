"""Which files are build files, and that nothing in one breaks its reader."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prjury.code.languages import LANGUAGES, language_of
from prjury.manifests.formats import find_format, find_project_directory, reader_of
from prjury.manifests.manifest import ECOSYSTEMS, FAMILIES, Manifest, ManifestError
from prjury.manifests.spans import SPANS

NAMES = [
    "pom.xml", "build.gradle", "gradle/libs.versions.toml",
    "gradle/wrapper/gradle-wrapper.properties",
    "pyproject.toml", "setup.cfg", "setup.py", "Pipfile", "requirements.txt", "constraints.txt",
    "uv.lock", "Pipfile.lock", ".python-version", "package.json", "pnpm-workspace.yaml",
    "package-lock.json", "yarn.lock", "pnpm-lock.yaml", ".nvmrc", "go.mod", "Cargo.toml",
    "Cargo.lock", "rust-toolchain", "App.csproj", "global.json",
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
    assert set(SPANS) == set(ECOSYSTEMS)
    assert set(FAMILIES.values()) <= {language.family for language in LANGUAGES.values()}
    assert set(ECOSYSTEMS) - {"action", "runtime"} <= set(FAMILIES)
