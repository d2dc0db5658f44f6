"""What a change does to versions of dependencies, beside what a branch has."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from fakes.repository import BASE, HEAD, FakeRepository, Files, pull_between
from prjury.judges.backport.checks.dependencies import (
    BumpOnBranch,
    Bumps,
    check_moved_versions,
    check_unread_files,
    compare_bumps,
    find_dependency_changes,
)
from prjury.jury.judgment import Check

TIP = "d" * 40


def pom(version: str, artifact: str = "jackson-databind", around: str = "dependency") -> str:
    return (
        "<project>\n <dependencies>\n"
        f"  <{around}>\n   <groupId>g</groupId>\n   <artifactId>{artifact}</artifactId>\n"
        f"   <version>{version}</version>\n  </{around}>\n </dependencies>\n</project>\n"
    )


def plugin(version: str) -> str:
    text = pom(version, around="plugin")
    text = text.replace("<dependencies>", "<build><plugins>")
    return text.replace("</dependencies>", "</plugins></build>")


def prop(name: str, version: str) -> str:
    return f"<project>\n <properties>\n  <{name}>{version}</{name}>\n </properties>\n</project>\n"


def package(version: str, section: str = "dependencies") -> str:
    return f'{{\n "{section}": {{\n  "react": "{version}"\n }}\n}}\n'


def found(before: Files, after: Files, branch: Files) -> tuple[Bumps, tuple[BumpOnBranch, ...]]:
    repository = FakeRepository({BASE: before, HEAD: after, TIP: branch})
    bumps = find_dependency_changes(pull_between(before, after), repository)
    return bumps, compare_bumps(bumps, TIP, repository)


def check(path: str, before: str, after: str, branch: str | None) -> Check:
    there = {} if branch is None else {path: branch}
    return first(*found({path: before}, {path: after}, there))


def checks_of(bumps: Bumps, there: Sequence[BumpOnBranch], branch: str) -> list[Check]:
    moved = check_moved_versions(there, branch) if there else None
    return [one for one in (moved, check_unread_files(bumps, there)) if one]


def first(bumps: Bumps, there: Sequence[BumpOnBranch], branch: str = "1.0.x") -> Check:
    return checks_of(bumps, there, branch)[0]


@pytest.mark.parametrize(
    ("path", "before", "after", "name"),
    [
        ("pom.xml", pom("2.17.1"), pom("2.17.2"), "g:jackson-databind"),
        (
            "a/pom.xml",
            prop("jackson.version", "2.1"),
            prop("jackson.version", "2.2"),
            "jackson.version",
        ),
        ("build.gradle", "api 'a.b:c:1.0'\n", "api 'a.b:c:1.1'\n", "a.b:c"),
        ("build.gradle.kts", 'id("x.y") version "1.0"\n', 'id("x.y") version "1.1"\n', "x.y"),
        ("gradle.properties", "kotlinVersion=1.0\n", "kotlinVersion=1.1\n", "kotlinVersion"),
        (
            "gradle/libs.versions.toml",
            '[versions]\nguava = "32.0"\n',
            '[versions]\nguava = "33.0"\n',
            "guava",
        ),
        ("package.json", package("^18.1.0"), package("^18.2.0"), "react"),
        (
            "pyproject.toml",
            '[project]\ndependencies = [\n  "numpy>=1.20",\n]\n',
            '[project]\ndependencies = [\n  "numpy>=1.21",\n]\n',
            "numpy",
        ),
        (
            "pyproject.toml",
            '[build-system]\nrequires = ["setuptools>=61", "wheel"]\n',
            '[build-system]\nrequires = ["setuptools>=77", "wheel"]\n',
            "setuptools",
        ),
        ("requirements.txt", "numpy==1.20\n", "numpy==1.21\n", "numpy"),
        (
            "setup.cfg",
            "[options]\ninstall_requires =\n  numpy>=1.20\n",
            "[options]\ninstall_requires =\n  numpy>=1.21\n",
            "numpy",
        ),
        (
            "Cargo.toml",
            '[dependencies]\nserde = "1.0"\n',
            '[dependencies]\nserde = "1.1"\n',
            "serde",
        ),
        (
            "Cargo.toml",
            '[dependencies.serde]\nversion = "1.0"\n',
            '[dependencies.serde]\nversion = "1.1"\n',
            "serde",
        ),
        ("go.mod", "require (\n\ta.b/c v1.0.0\n)\n", "require (\n\ta.b/c v1.0.1\n)\n", "a.b/c"),
        ("go.mod", "require a.b/c v1.0.0\n", "require a.b/c v1.0.1\n", "a.b/c"),
        (
            ".github/workflows/ci.yml",
            "steps:\n- uses: actions/cache@v3\n",
            "steps:\n- uses: actions/cache@v4\n",
            "actions/cache",
        ),
        (
            ".pre-commit-config.yaml",
            "repos:\n- repo: https://a/b\n  rev: v1.0\n",
            "repos:\n- repo: https://a/b\n  rev: v1.1\n",
            "https://a/b",
        ),
    ],
)
def test_a_version_is_found_wherever_it_is_declared(
    path: str, before: str, after: str, name: str
) -> None:
    bumps, there = found({path: before}, {path: after}, {path: before})

    assert [bump.name for bump in bumps.changed] == [name]
    assert [each.have for each in there] == [bumps.changed[0].old]


@pytest.mark.parametrize(
    ("branch", "told"),
    [
        ("2.17.1", "1.0.x is at 2.17.1, a patch version away"),
        ("2.17.2", "1.0.x is already at 2.17.2"),
        ("2.18.0", "1.0.x is already at 2.18.0"),
        ("2.15.4", "1.0.x is at 2.15.4, a minor version away"),
        ("1.9", "1.0.x is at 1.9, a major version away"),
        ("tip", "1.0.x is at tip, which cannot be compared"),
        ("2.17.1.acme", "1.0.x is at 2.17.1.acme, which cannot be compared"),
    ],
)
def test_the_branch_has_its_own_version(branch: str, told: str) -> None:
    files = {"pom.xml": pom(branch)}

    bumps, there = found({"pom.xml": pom("2.17.1")}, {"pom.xml": pom("2.17.2")}, files)

    message = first(bumps, there).message
    assert message == f"moves g:jackson-databind from 2.17.1 to 2.17.2; {told}"


@pytest.mark.parametrize(
    ("before", "after", "branch", "severity"),
    [
        ("2.1.0", "2.1.1", "2.1.0", None),
        ("2.1.0", "2.1.1", "2.0.0", "warning"),
        ("2.1.0", "2.2.0", "2.1.0", "warning"),
        ("2.1.0", "3.0.0", "2.1.0", "error"),
        ("2.1.0", "3.0.0", "3.1.0", None),
        ("2.1.0", "2.0.0", "2.1.0", "error"),
        ("2.1.0", "2.0.0", "1.9.0", None),
    ],
)
def test_the_length_of_the_jump_on_the_branch_is_what_matters(
    before: str, after: str, branch: str, severity: str | None
) -> None:
    told = check("pom.xml", pom(before), pom(after), pom(branch))

    assert told.passed is (severity is None)
    assert told.passed or told.severity == severity


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("pom.xml", plugin("1.0"), plugin("2.0")),
        ("package.json", package("^1.0", "devDependencies"), package("^2.0", "devDependencies")),
        (".github/workflows/a.yml", "x:\n- uses: a/b@v1\n", "x:\n- uses: a/b@v2\n"),
        ("requirements/test.txt", "a==1\n", "a==2\n"),
    ],
)
def test_what_only_builds_or_tests_matters_less(path: str, old: str, new: str) -> None:
    told = check(path, old, new, old)

    assert (told.passed, told.severity) == (False, "warning")


@pytest.mark.parametrize(
    ("name", "old", "new", "beyond"),
    [
        ("a", "2.1.0", "2.1.1", False),
        ("a", "2.1.0", "2.2.0", True),
        ("a", "2.1.0", "3.0.0", True),
        ("a", "2.2.0", "2.1.0", False),
        ("certifi", "2023.7.22", "2024.7.4", False),
    ],
)
def test_a_version_moves_beyond_a_patch_of_the_branch(
    name: str, old: str, new: str, beyond: bool
) -> None:
    before, after = ({"requirements.txt": f"{name}=={version}\n"} for version in (old, new))

    _, there = found(before, after, before)

    assert [one.is_beyond_patch for one in there] == [beyond]


def test_an_added_dependency_is_told() -> None:
    told = check("requirements.txt", "a==1\n", "a==1\nb==2\n", "a==1\n")

    assert told.message == "adds b 2; 1.0.x does not have it in requirements.txt"
    assert (told.passed, told.severity) == (False, "warning")


def test_a_removed_dependency_that_the_branch_has_is_told() -> None:
    told = check("requirements.txt", "a==1\nb==2\n", "a==1\n", "a==1\nb==2\n")

    assert told.message == "removes b 2; 1.0.x has 2"
    assert not told.passed


def test_the_projects_own_version_is_no_dependency() -> None:
    old, new = (f'{{\n "version": "{version}"\n}}\n' for version in ("1.0.0", "1.0.1"))

    told = check("package.json", old, new, old)

    assert told.message.startswith("moves the project itself from 1.0.0 to 1.0.1")
    assert (told.passed, told.severity) == (False, "warning")


def test_a_name_that_stands_in_many_places_is_told_once() -> None:
    line = "- uses: actions/checkout@v{}\n"
    before, after = ("steps:\n" + line.format(number) * 3 for number in (3, 4))

    bumps, _ = found({"action.yml": before}, {"action.yml": after}, {})

    assert [(bump.old, bump.new) for bump in bumps.changed] == [("v3", "v4")]


def test_a_pinned_commit_is_told_by_the_version_in_its_remark() -> None:
    line = "- uses: a/b@{} # {}\n"
    before, after = line.format("a" * 40, "v1.2.0"), line.format("b" * 40, "v1.3.0")

    told = check("action.yml", before, after, before)

    assert told.message.startswith("moves a/b from v1.2.0 to v1.3.0")


def test_a_pinned_commit_whose_remark_stays_is_compared_as_a_commit() -> None:
    line = "- uses: a/b@{} # v1\n"
    before, after = line.format("a" * 40), line.format("b" * 40)

    bumps, there = found({"action.yml": before}, {"action.yml": after}, {"action.yml": before})

    assert [(bump.old, bump.new) for bump in bumps.changed] == [("a" * 12, "b" * 12)]
    assert first(bumps, there).severity == "hint"


@pytest.mark.parametrize(
    ("name", "old", "new", "severity"),
    [
        ("certifi", "2023.7.22", "2024.7.4", None),
        ("certifi", "2024.7.4", "2023.7.22", "error"),
        ("pip", "23.3", "24.0", None),
        ("flask", "23.3", "24.0", "error"),
    ],
)
def test_versions_that_are_dates_have_no_major_jumps(
    name: str, old: str, new: str, severity: str | None
) -> None:
    told = check("requirements.txt", f"{name}=={old}\n", f"{name}=={new}\n", f"{name}=={old}\n")
    assert (told.passed, told.severity) == (severity is None, severity or "hint")


@pytest.mark.parametrize("content", [b"\xff\xfe", None])
def test_a_manifest_that_cannot_be_read_is_not_looked_into(content: bytes | None) -> None:
    before: Files = {"requirements.txt": "a==1\n"}
    after: Files = {"requirements.txt": content or "a==2\n"}
    pull = pull_between(before, after)
    gone = {pull.files[0].new_blob or ""} if content is None else set()
    repository = FakeRepository({BASE: before, HEAD: after, TIP: before}, gone=gone)

    bumps = find_dependency_changes(pull, repository)

    told = first(bumps, compare_bumps(bumps, TIP, repository))
    assert (told.passed, told.message) == (
        False,
        "not checked: no version can be read in requirements.txt",
    )


def test_what_could_be_read_is_told_beside_what_could_not() -> None:
    before: Files = {"a/requirements.txt": "a==1\n", "b/requirements.txt": "a==1\n"}
    after: Files = {"a/requirements.txt": "a==2\n", "b/requirements.txt": b"\xff"}

    bumps, there = found(before, after, before)

    moved, unread = checks_of(bumps, there, "1.x")
    assert moved.message.startswith("moves a from 1 to 2; ")
    assert unread.message == "not checked: no version can be read in b/requirements.txt"
    assert (unread.passed, unread.severity) == (False, "hint")


ONE_LINE_POM = (
    "<project><dependencies><dependency><groupId>g</groupId><artifactId>a</artifactId>"
    "<version>{}</version></dependency></dependencies></project>\n"
)
#: Spellings that only a parser reads, with the dependency's name.
PARSED = {
    "hashes": ("requirements.txt", "django=={} \\\n    --hash=sha256:ab\n", "django"),
    "json": ("package.json", '{{"dependencies": {{"react": "^{}"}}}}\n', "react"),
    "map": ("build.gradle", 'api group: "g", name: "a", version: "{}"\n', "g:a"),
    "kotlin map": ("build.gradle.kts", 'api(group = "g", name = "a", version = "{}")\n', "g:a"),
    "pom": ("pom.xml", ONE_LINE_POM, "g:a"),
}


@pytest.mark.parametrize("spelling", PARSED)
def test_a_spelling_that_the_line_reader_does_not_know_is_parsed(spelling: str) -> None:
    path, text, name = PARSED[spelling]

    told = check(path, text.format("4.2.1"), text.format("5.2.1"), text.format("4.2.1"))

    assert (told.passed, told.severity) == (False, "error")
    assert told.message.startswith(f"moves {name} from ")
    assert told.message.endswith(", a major version away")


def test_a_change_without_manifests_reads_nothing() -> None:
    before, after = {"a.py": "x = 1\n"}, {"a.py": "x = 2\n"}
    repository = FakeRepository({BASE: before, HEAD: after, TIP: before})

    bumps = find_dependency_changes(pull_between(before, after), repository)

    assert compare_bumps(bumps, TIP, repository) == ()
    assert checks_of(bumps, (), "1.x") == []
    assert repository.reads == []


def test_names_reach_people_without_characters_that_hide_text() -> None:
    old, new = (f"- uses: a/b@v{version}\n" for version in (1, 2))
    before, after = {"\u202ex/action.yml": old}, {"\u202ex/action.yml": new}

    bumps, there = found(before, after, {})

    assert "\u202e" not in first(bumps, there, "1\u202e.x").message
