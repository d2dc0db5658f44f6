"""What files declare by name; `test_bumps` of the backport judge has every kind of file."""

from __future__ import annotations

import pytest

from prjury.manifests.action_pins import read_workflow_pins
from prjury.manifests.declared import Purpose, list_declared
from prjury.manifests.formats import read_tool_versions

POM = """\
<project>
  <parent>
    <groupId>org.springframework.boot</groupId>
    <artifactId>spring-boot-parent</artifactId>
    <version>3.4.0</version>
  </parent>
  <artifactId>own</artifactId>
  <version>1.0.0-SNAPSHOT</version>
  <properties>
    <jackson.version>2.17.1</jackson.version>
    <maven-surefire-plugin.version>3.2.5</maven-surefire-plugin.version>
  </properties>
  <dependencies>
    <dependency>
      <groupId>a.b</groupId>
      <artifactId>c</artifactId>
      <version>1.0</version>
      <exclusions>
        <exclusion>
          <groupId>x</groupId>
          <artifactId>y</artifactId>
        </exclusion>
      </exclusions>
    </dependency>
    <dependency>
      <groupId>a.b</groupId>
      <artifactId>d</artifactId>
      <version>2.0</version>
      <scope>test</scope>
    </dependency>
  </dependencies>
</project>
"""


def read(path: str, text: str) -> list[tuple[str, str, Purpose]]:
    found = list_declared(path, text.encode())
    assert found is not None
    return [(each.name, each.version, each.purpose) for each in found]


def test_a_version_in_a_pom_belongs_to_the_element_around_it() -> None:
    assert read("pom.xml", POM) == [
        ("org.springframework.boot:spring-boot-parent", "3.4.0", Purpose.LIBRARY),
        ("the project itself", "1.0.0-SNAPSHOT", Purpose.OWN),
        ("jackson.version", "2.17.1", Purpose.LIBRARY),
        ("a.b:c", "1.0", Purpose.LIBRARY),
        ("maven-surefire-plugin.version", "3.2.5", Purpose.TOOL),
        ("a.b:d", "2.0", Purpose.TOOL),
    ]


@pytest.mark.parametrize(
    ("path", "text", "name", "purpose"),
    [
        ("build.gradle", "implementation 'a.b:c:1.0'\n", "a.b:c", Purpose.LIBRARY),
        ("build.gradle", "testImplementation 'a.b:c:1.0'\n", "a.b:c", Purpose.TOOL),
        ("build.gradle", "version = '1.0'\n", "the project itself", Purpose.OWN),
        ("package.json", '{\n"packageManager": "yarn@4.0"\n}\n', "yarn", Purpose.TOOL),
        ("requirements.txt", "a[b]==1.0\n", "a", Purpose.LIBRARY),
        ("requirements-dev.txt", "a==1.0\n", "a", Purpose.TOOL),
        ("tests/requirements.txt", "a==1.0\n", "a", Purpose.TOOL),
        ("Cargo.toml", '[dev-dependencies]\na = "1.0"\n', "a", Purpose.TOOL),
        ("Cargo.toml", '[package]\nversion = "1.0"\n', "the project itself", Purpose.OWN),
        ("Cargo.toml", '[dependencies]\nversion = "1.0"\n', "version", Purpose.LIBRARY),
        ("pyproject.toml", '[project]\ndependencies = ["a>=1.0"]\n', "a", Purpose.LIBRARY),
        ("pyproject.toml", '[dependency-groups]\ntest = ["a>=1.0"]\n', "a", Purpose.TOOL),
    ],
)
def test_a_name_says_what_for(path: str, text: str, name: str, purpose: Purpose) -> None:
    assert [(found, what) for found, _, what in read(path, text)] == [(name, purpose)]


def test_a_file_of_another_name_declares_nothing() -> None:
    assert list_declared("notes.txt", b"a==1.0\n") is None


def test_thousands_of_properties_are_read_in_time() -> None:
    text = "".join(f"a{number}.version=1.0\n" for number in range(10_000))

    assert len(list_declared("gradle.properties", text.encode()) or ()) == 10_000


SHA = "8e5e7e5ab8b370d6c329ec480221332ada57f0ab"


def told(text: str) -> list[tuple[str, str | None, tuple[int, ...]]]:
    return [(c.artifact, c.version, c.lines) for c in read_workflow_pins(text.encode()).coordinates]


@pytest.mark.parametrize(
    ("line", "name", "version"),
    [
        ("- uses: actions/checkout@v4", "actions/checkout", "v4"),
        ("  uses: actions/checkout@v4.1.2", "actions/checkout", "v4.1.2"),
        ("-   uses:   'actions/checkout@v4'  # comment", "actions/checkout", "v4"),
        ('- "uses": "Actions/Checkout@v4"', "actions/checkout", "v4"),
        ("- - uses: a/b@v1", "a/b", "v1"),
        (f"- uses: a/b@{SHA} # v4.1.2", "a/b", "v4.1.2"),
        (f"- uses: a/b@{SHA} # tag=v3", "a/b", "v3"),
        (f"- uses: a/b@{SHA} # pin@v2.1", "a/b", "v2.1"),
        (f"- uses: a/b@{SHA} # ratchet:a/b@v5", "a/b", "v5"),
        (f"- uses: a/b@{SHA} # main", "a/b", SHA),
        (f"- uses: a/b@{SHA}", "a/b", SHA),
        ("- uses: a/b@main # v4", "a/b", "main"),
        ("- uses: a/b@release/v1", "a/b", "release/v1"),
        ("- uses: github/codeql-action/init@v3", "github/codeql-action/init", "v3"),
        ("uses: o/r/.github/workflows/x.yml@v2", "o/r/.github/workflows/x.yml", "v2"),
        ("- { name: x, uses: a/b@v1, with: {} }", "a/b", "v1"),
        ("- uses: &anchor a/b@v1", "a/b", "v1"),
        ("\t- uses: a/b@v1", "a/b", "v1"),
        (r'- uses: "a\/b@v1"', "a/b", "v1"),
        (r'- uses: "a\x2fb\u0040v1"', "a/b", "v1"),
    ],
)
def test_what_is_used(line: str, name: str, version: str) -> None:
    assert told(f"jobs:\n{line}\n") == [(name, version, (2,))]


@pytest.mark.parametrize(
    "line",
    [
        "# - uses: a/b@v1",
        "- uses: ./local",
        "- uses: docker://alpine:3.8",
        "- uses: a/b",
        "- uses: a/b@${{ matrix.ref }}",
        "- uses: *anchor",
        "- run: echo uses a/b@v1",
        "- name: x # uses: a/b@v1",
        "- confuses: a/b@v1",
    ],
)
def test_what_is_not(line: str) -> None:
    assert told(f"jobs:\n{line}\n") == []


def test_a_script_is_no_workflow() -> None:
    text = """\
steps:
  - name: x
    run: |
      uses: a/b@v1

      - uses: a/b@v2
    # a comment
  - run: >-
      uses: a/b@v3
  - uses: a/b@v4
    with:
      script: |2 # text
        uses: a/b@v5
      other: a
"""
    assert told(text) == [("a/b", "v4", (10,))]


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        (".tool-versions", "nodejs 20.11.1 18.0.0\n# x 1\njava temurin-21.0.2+13\nruby ref:main\n",
         [("node", "20.11.1"), ("java", "21.0.2")]),
        ("mise.toml", '[tools]\nnode = "22"\npython = ["3.12", "3.11"]\ngo = {version = "1.22"}\n',
         [("node", "22"), ("python", "3.12"), ("go", "1.22")]),
        (".sdkmanrc", "# comment\njava=17.0.9-tem\nmaven=3.9.6\n",
         [("java", "17.0.9"), ("maven", "3.9.6")]),
        (".java-version", "21\n", [("java", "21")]),
        (".java-version", "temurin64-17.0.2\n", [("java", "17.0.2")]),
        (".ruby-version", "ruby-3.3.0\n", [("ruby", "3.3.0")]),
        (".nvmrc", "v20.11\n", [("node", "20.11")]),
        (".nvmrc", "lts/*\n", []),
        ("package.json", '{"engines": {"node": ">=18"}, "packageManager": "pnpm@9.1.0+sha512.x"}',
         [("node", ">=18"), ("pnpm", "9.1.0")]),
        ("pom.xml", "<project><properties><java.version>21</java.version></properties></project>",
         [("java", "21")]),
        ("pom.xml", "no pom", []),
        ("go.mod", "module x\n\ngo 1.22\n", [("go", "1.22")]),
    ],
)  # fmt: skip
def test_the_versions_that_a_file_names(
    path: str, text: str, expected: list[tuple[str, str]]
) -> None:
    found = read_tool_versions(f"a/{path}", text.encode())
    assert [(one.artifact, one.version) for one in found] == expected
