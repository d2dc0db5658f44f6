"""What files declare by name; `test_bumps` of the backport judge has every kind of file."""

from __future__ import annotations

import pytest

from prjury.manifests.declared import Purpose, list_declared

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
