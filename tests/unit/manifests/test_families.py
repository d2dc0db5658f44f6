"""Which module a file belongs to, where a repository has several kinds of build files."""

from __future__ import annotations

import json

import pytest

from fakes.repository import BASE, FakeRepository, Files, pull_between
from prjury.manifests.gradle import Catalog, read_script
from prjury.manifests.images import read_dockerfile_runtimes
from prjury.manifests.manifest import Manifest
from prjury.manifests.maven import read_pom
from prjury.manifests.module import ManifestModule, Requirement, Sides, Truth
from prjury.manifests.project import Project
from unit.judges.patterns.bench import pom


def read(base: Files, after: Files, *paths: str) -> Project:
    """The project of a pull request that also changes the paths."""
    head = {**after, **dict.fromkeys(paths, "x")}
    repository = FakeRepository({BASE: base, "head": head})
    return Project.read(pull_between(base, head), repository, list(paths))


def sides_of(base: Files, path: str, after: Files | None = None) -> Sides:
    return read(base, base if after is None else after, path).of_file[path]


def truth(module: ManifestModule, requirement: str) -> Truth:
    return module.truth(Requirement.parse(requirement))


def package(name: str = "app", **more: object) -> str:
    return json.dumps({"name": name, **more}, indent=2)


def react(version: str) -> str:
    return package(dependencies={"react": version})


def csproj(version: str | None = None, framework: str = "net8.0") -> str:
    told = f' Version="{version}"' if version else ""
    return (
        f"<Project><PropertyGroup><TargetFramework>{framework}</TargetFramework></PropertyGroup>"
        f'<ItemGroup><PackageReference Include="Serilog"{told} /></ItemGroup></Project>'
    )


POLYGLOT = {
    "pom.xml": pom("4.1.1"),
    "package.json": react("^18.2.0"),
    "pyproject.toml": "[project]\nname = 'app'\ndependencies = ['numpy>=2']\n",
    "go.mod": "module example.org/app\ngo 1.22\nrequire github.com/a/b v1.5.0\n",
    "Cargo.toml": "[package]\nname = 'app'\nedition = '2021'\n[dependencies]\nrand = '0.8'\n",
    "App.csproj": csproj("3.1.0"),
}


@pytest.mark.parametrize(
    ("path", "build_file", "holds", "other"),
    [
        ("src/A.java", "pom.xml", "maven:org.springframework.boot >=4", "npm:react"),
        ("src/a.ts", "package.json", "npm:react >=18 <19", "pypi:numpy"),
        ("src/a.py", "pyproject.toml", "pypi:numpy >=2", "npm:react"),
        ("src/a.go", "go.mod", "go:github.com/a/b >=1.5", "cargo:rand"),
        ("src/a.rs", "Cargo.toml", "cargo:rand >=0.8 <0.9", "go:github.com/a/b"),
        ("App.csproj", "App.csproj", "nuget:serilog >=3", "npm:react"),
    ],
)
def test_a_directory_of_many_languages(path: str, build_file: str, holds: str, other: str) -> None:
    repository = FakeRepository({BASE: POLYGLOT})
    pull = pull_between(POLYGLOT, {**POLYGLOT, "z.md": "x"})
    module = Project.read(pull, repository, [path]).of_file[path].head
    assert module.path == build_file
    assert truth(module, holds) is Truth.YES
    assert truth(module, other) is Truth.ABSENT


NESTED = [
    (
        "python",
        {
            "requirements.txt": "numpy==1.26\nDjango==4.2\n",
            "svc/pyproject.toml": "[project]\nname='svc'\ndependencies=['numpy>=2']\n",
        },
        "svc/pkg/a.py",
        {"pypi:numpy >=2": Truth.YES, "pypi:django >=4 <5": Truth.YES},
    ),
    (
        "python with lists of requirements",
        {
            "pyproject.toml": "[project]\nname='a'\ndynamic=['dependencies']\n",
            "requirements/default.txt": "-r extras/more.txt\nnumpy>=2\n",
            "requirements/extras/more.txt": "scipy==1.10\n",
            ".python-version": "3.12\n",
        },
        "a/b.py",
        {
            "pypi:numpy >=2": Truth.YES,
            "pypi:scipy >=2": Truth.NO,
            "runtime:python >=3.12": Truth.YES,
        },
    ),
    (
        "python with a lock",
        {
            "pyproject.toml": "[project]\nname='a'\ndependencies=['numpy', 'scipy>=1']\n",
            "uv.lock": '[[package]]\nname = "numpy"\nversion = "2.1.0"\n\n'
            '[[package]]\nname = "scipy"\nversion = "3.0"\n',
        },
        "a.py",
        {"pypi:numpy >=2": Truth.YES, "pypi:scipy >=2": Truth.SOME},
    ),
    (
        "python that asks for less in its own list",
        {
            "pyproject.toml": "[project]\nname='a'\ndependencies=['numpy>=1.20']\n",
            "requirements.txt": "numpy==2.1\n",
        },
        "a.py",
        {"pypi:numpy >=2": Truth.SOME},
    ),
    (
        "python that includes a list from elsewhere",
        {
            "svc/requirements.txt": "-r ../common/requirements.txt\n-r ../../../etc/passwd\n",
            "common/requirements.txt": "-r ../svc/requirements.txt\nnumpy==1.26\n",
        },
        "svc/a.py",
        {"pypi:numpy >=2": Truth.NO},
    ),
    (
        "node",
        {
            "package.json": package(
                devDependencies={"typescript": "~5.4.0"}, engines={"node": "^20"}
            ),
            "pnpm-workspace.yaml": "catalog:\n  react: ^18.2.0\n",
            "packages/a/package.json": package(dependencies={"react": "catalog:", "express": "^4"}),
        },
        "packages/a/src/a.ts",
        {
            "npm:react >=18 <19": Truth.YES,
            "npm:express >=5": Truth.NO,
            "npm:typescript >=5 <6": Truth.YES,
            "runtime:node >=20": Truth.YES,
        },
    ),
    (
        "node with an override at the root",
        {
            "package.json": package(overrides={"semver": "7.5.2"}),
            "a/package.json": package(dependencies={"semver": "^6"}),
        },
        "a/x.js",
        {"npm:semver >=7": Truth.YES},
    ),
    (
        "node with a lock",
        {
            "package.json": package(dependencies={"react": "latest"}),
            "package-lock.json": json.dumps(
                {"packages": {f"node_modules/{n}": {"version": "18.3.1"} for n in ("react", "x")}}
            ),
            ".nvmrc": "v20.1.0\n",
        },
        "a.jsx",
        {"npm:react >=18": Truth.YES, "npm:x": Truth.ABSENT, "runtime:node >=20": Truth.YES},
    ),
    (
        "go",
        {
            "go.work": "go 1.22\n",
            "go.mod": "module m\ngo 1.20\n",
            "tools/go.mod": "module t\nrequire (\n\ta.b/c v1.0.0 // indirect\n)\n",
        },
        "tools/a.go",
        {
            "runtime:go >=1.20": Truth.YES,
            "runtime:go >=1.21": Truth.SOME,
            "go:a.b/c >=1": Truth.YES,
        },
    ),
    (
        "rust",
        {
            "Cargo.toml": "[workspace.package]\nedition = '2024'\nrust-version = '1.85'\n"
            "[workspace.dependencies]\nrand = '0.9'\n",
            "Cargo.lock": '[[package]]\nname = "serde"\nversion = "1.0.200"\n',
            "a/Cargo.toml": "[package]\nname='a'\nedition.workspace=true\n"
            "rust-version.workspace=true\n[dependencies]\nrand.workspace=true\nserde='*'\n",
        },
        "a/src/lib.rs",
        {
            "cargo:rand >=0.9": Truth.YES,
            "cargo:serde >=1 <2": Truth.YES,
            "runtime:rust >=1.85": Truth.YES,
            "runtime:rust-edition >=2024": Truth.YES,
        },
    ),
    (
        "dotnet",
        {
            "Directory.Packages.props": "<Project><PropertyGroup><V>4.0</V></PropertyGroup>"
            '<ItemGroup><PackageVersion Include="Serilog" Version="$(V)"/></ItemGroup></Project>',
            "global.json": '{"sdk": {"version": "9.0.100"}}',
            "src/App/App.csproj": csproj(),
        },
        "src/App/App.csproj",
        {"nuget:serilog >=4": Truth.YES, "runtime:dotnet >=8 <9": Truth.YES},
    ),
    (
        "gradle",
        {
            "build.gradle": "sourceCompatibility = '17'\n",
            "settings.gradle": "",
            "gradle/wrapper/gradle-wrapper.properties": "distributionUrl=https\\://x/gradle-9.0-bin.zip",
            "a/build.gradle": "plugins { id 'org.jetbrains.kotlin.jvm' version '2.1.0' }\n",
        },
        "a/src/A.kt",
        {
            "runtime:java >=17": Truth.YES,
            "runtime:gradle >=9": Truth.YES,
            "runtime:kotlin >=2": Truth.YES,
        },
    ),
    (
        "maven",
        {"pom.xml": pom(None, more="<properties><java.version>1.8</java.version></properties>")},
        "src/A.java",
        {"runtime:java >=17": Truth.NO},
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("base", "path", "expected"), [case[1:] for case in NESTED], ids=[case[0] for case in NESTED]
)
def test_what_is_declared_above_holds_as_well(
    base: Files, path: str, expected: dict[str, Truth]
) -> None:
    repository = FakeRepository({BASE: base})
    project = Project.read(pull_between(base, {**base, "z.md": "x"}), repository, [path])
    module = project.of_file[path].head
    assert module.notes == ()
    assert {text: truth(module, text) for text in expected} == expected
    blobs = [blob for batch in repository.reads for blob in batch]
    assert len(blobs) == len(set(blobs))


MOVES = [
    ("a.js", "package.json", react("^17"), react("^18"), "npm:react >=18"),
    ("a.py", "requirements.txt", "numpy==1.26\n", "numpy==2.0\n", "pypi:numpy >=2"),
    ("a.py", "setup.py", "setup(install_requires='numpy<2')", "setup(install_requires='numpy==2')",
     "pypi:numpy >=2"),
    ("a.go", "go.mod", "module a\nrequire b.c/d v1.0.0\n", "module a\nrequire b.c/d v2.0.0\n",
     "go:b.c/d >=2"),
    ("a.rs", "Cargo.toml", "[dependencies]\nrand='0.7'\n", "[dependencies]\nrand='0.8'\n",
     "cargo:rand >=0.8"),
    ("A.csproj", "A.csproj", csproj("2.0"), csproj("3.0"), "nuget:serilog >=3"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "build_file", "old", "new", "requirement"), MOVES)
def test_both_sides_of_a_pull_request_that_moves_a_version(
    path: str, build_file: str, old: str, new: str, requirement: str
) -> None:
    repository = FakeRepository({BASE: {build_file: old}, "head": {build_file: new}})
    pull = pull_between({build_file: old}, {build_file: new})
    sides = Project.read(pull, repository, [path]).of_file[path]
    assert truth(sides.base, requirement) is Truth.NO
    assert truth(sides.head, requirement) is Truth.YES
    assert (sides.head.at, sides.base.at) == ("head", "base")
    back = pull_between({build_file: new}, {build_file: old})
    other = FakeRepository({BASE: {build_file: new}, "head": {build_file: old}})
    assert Project.read(back, other, [path]).of_file[path].moves([Requirement.parse(requirement)])


def test_a_second_build_file_in_a_directory_grants_no_exemption() -> None:
    base = {"setup.py": "setup(install_requires=['numpy>=2'])"}
    after = {**base, "pyproject.toml": "[project]\nname='a'\ndependencies=['old']\n"}
    sides = sides_of(base, "a.py", after)
    assert sides.head.path == "pyproject.toml"
    assert [str(declared) for declared in sides.head.requested] == ["numpy"]
    assert truth(sides.base, "pypi:numpy >=2") is Truth.YES


def test_a_module_in_a_directory_of_its_own_is_fresh_and_has_the_one_above_as_its_base() -> None:
    base = {"package.json": react("^18")}
    after = {**base, "packages/new/package.json": react("^17")}
    sides = sides_of(base, "packages/new/a.js", after)
    assert (sides.head.path, sides.base.path) == ("packages/new/package.json", "package.json")
    assert sides.fresh
    assert truth(sides.head, "npm:react >=18") is Truth.NO
    assert truth(sides.base, "npm:react >=18") is Truth.YES
    assert (sides.head.names, sides.head.requested) == ((), ())


def test_a_fresh_module_with_none_above_it_is_alone() -> None:
    base = {"pom.xml": pom()}
    sides = sides_of(base, "web/a.js", {**base, "web/package.json": react("^17")})
    assert sides.head is sides.base
    assert sides.head.requested == ()


def test_where_the_base_has_no_build_files_the_head_is_all_there_is() -> None:
    after = {"web/package.json": react("^17"), "requirements.txt": "six\n"}
    project = read({"a.md": "x"}, after, "web/a.js", "a.py")
    heads = [project.of_file[path].head for path in ("web/a.js", "a.py")]
    assert [str(declared) for head in heads for declared in head.requested] == ["react", "six"]
    assert heads[0].names == ("web", "app")


def test_a_module_that_is_renamed_has_its_old_self_as_its_base() -> None:
    base = {"package.json": react("^18"), "old/package.json": react("^17"), "old/a.js": "x"}
    after = {
        "package.json": base["package.json"],
        "new/package.json": react("^17"),
        "new/a.js": "y",
        "new/b.js": "z",
    }
    renamed = {f"new/{name}": f"old/{name}" for name in ("package.json", "a.js")}
    repository = FakeRepository({BASE: base, "head": after})
    pull = pull_between(base, after, renamed=renamed)
    project = Project.read(pull, repository, ["new/a.js", "new/b.js"])
    for sides in project.of_file.values():
        assert (sides.head.path, sides.base.path) == ("new/package.json", "old/package.json")
        assert sides.head.names == ("old", "app")
        assert not sides.fresh


def test_a_declaration_that_is_deleted_leaves_the_base_its_say() -> None:
    base = {"pyproject.toml": "[project]\nname='a'\n", "requirements.txt": "numpy==2.0\n"}
    sides = sides_of(base, "a.py", {"pyproject.toml": base["pyproject.toml"]})
    assert truth(sides.head, "pypi:numpy >=2") is Truth.ABSENT
    assert truth(sides.base, "pypi:numpy >=2") is Truth.YES


def test_a_broken_build_file_makes_nothing_sure() -> None:
    base = {"pyproject.toml": "[", "requirements.txt": "numpy==2.0\n"}
    module = sides_of(base, "a.py").head
    assert module.broken
    assert truth(module, "pypi:django") is Truth.UNKNOWN
    assert truth(module, "runtime:python >=3.10") is Truth.UNKNOWN
    assert truth(module, "npm:react") is Truth.ABSENT
    assert truth(module, "runtime:node >=20") is Truth.ABSENT
    assert truth(module, "pypi:numpy >=2") is Truth.YES
    assert module.notes[0].startswith("pyproject.toml: not TOML")


def test_a_changed_build_file_that_cannot_be_read_is_told() -> None:
    project = read({"package.json": react("^18")}, {"package.json": "{"}, "a.js")
    assert project.unread["package.json"].startswith("build file: not JSON")


def test_the_repository_of_a_library_is_the_library() -> None:
    base = {"pyproject.toml": "[project]\nname = 'NumPy'\nversion = '2.1.0'\n"}
    module = sides_of(base, "numpy/a.py").head
    assert module.is_itself([Requirement.parse("pypi:numpy >=2")])
    assert not module.is_itself([Requirement.parse("pypi:scipy")])


def test_two_modules_of_one_directory_are_two_places() -> None:
    project = read(POLYGLOT, POLYGLOT, "a.py", "b.ts", "c.yml")
    assert [sides.head.path for sides in project.places] == ["", "package.json", "pyproject.toml"]


def runtimes(manifest: Manifest) -> list[tuple[str, str | None]]:
    return [(c.artifact, c.version) for c in manifest.coordinates if c.ecosystem == "runtime"]


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("sourceCompatibility = JavaVersion.VERSION_17", [("java", "17")]),
        ("sourceCompatibility = JavaVersion.VERSION_1_8", [("java", "1.8")]),
        ("sourceCompatibility = '11'", [("java", "11")]),
        ("sourceCompatibility 1.8", [("java", "1.8")]),
        ("languageVersion = JavaLanguageVersion.of(21)", [("java", "21")]),
        ("kotlin { jvmToolchain(17) }", [("java", "17")]),
        ("options.release = 11\nlanguageVersion = JavaLanguageVersion.of(21)", [("java", "11")]),
        ("options.release.set(11)", [("java", "11")]),
        ("// sourceCompatibility = '11'", []),
        ('kotlin("jvm") version "2.0.21"', [("kotlin", "2.0.21")]),
        ("id 'org.jetbrains.kotlin.jvm' version '1.9.0'", [("kotlin", "1.9.0")]),
        ("sourceCompatibility = javaVersion", []),
    ],
)
def test_a_gradle_script(script: str, expected: list[tuple[str, str]]) -> None:
    assert runtimes(read_script(script, Catalog())) == expected


def project(inside: str) -> Manifest:
    return read_pom(f"<project><artifactId>a</artifactId>{inside}</project>".encode())


def test_a_pom() -> None:
    java = "<properties><java.version>17</java.version><kotlin.version>2.0.0</kotlin.version>"
    assert runtimes(project(f"{java}</properties>")) == [
        ("java", "${java.version}"),
        ("kotlin", "${kotlin.version}"),
    ]
    release = "<maven.compiler.release>21</maven.compiler.release></properties>"
    assert runtimes(project(f"{java}{release}"))[0] == ("java", "${maven.compiler.release}")


def test_the_plugins_of_a_pom() -> None:
    compiler = (
        "<plugin><artifactId>maven-compiler-plugin</artifactId>"
        "<configuration><source>8</source><release>11</release></configuration></plugin>"
    )
    kotlin = (
        "<plugin><groupId>org.jetbrains.kotlin</groupId>"
        "<artifactId>kotlin-maven-plugin</artifactId><version>1.9.0</version></plugin>"
    )
    found = project(f"<build><plugins>{compiler}{kotlin}</plugins></build>")
    assert runtimes(found) == [("java", "11"), ("kotlin", "1.9.0")]


@pytest.mark.parametrize(
    ("image", "expected"),
    [
        ("FROM python:3.12-slim AS app", [("python", "==3.12.*")]),
        ("from --platform=linux/amd64 docker.io/library/node:22", [("node", "22")]),
        ("FROM eclipse-temurin:21-jre", [("java", "21")]),
        ("FROM golang:1.24.1-alpine\nFROM rust:1.80", [("go", "1.24.1"), ("rust", "1.80")]),
        ("ARG V=3.11\nFROM python:${V}-slim", [("python", "==3.11.*")]),
        ("ARG V\nFROM python:${V:-3.10}", [("python", "==3.10.*")]),
        ("ARG V\nFROM python:${V}", []),
        ("FROM python:latest", []),
        ("FROM shop/python:3", []),
        ("# FROM python:3.12", []),
        ("COPY --from=node:22 /a /a", []),
        ("FROM scratch", []),
    ],
)
def test_an_image(image: str, expected: list[tuple[str, str]]) -> None:
    assert runtimes(read_dockerfile_runtimes(f"{image}\n".encode())) == expected


def test_an_image_decides_where_no_build_file_does() -> None:
    image = "FROM python:3.12-slim\n"
    base = {"requirements.txt": "requests\n", "Dockerfile": image}
    assert truth(sides_of(base, "app/a.py").head, "runtime:python >=3.12") is Truth.YES
    assert truth(sides_of(base, "app/a.py").head, "runtime:python >=3.13") is Truth.NO
    ranges = {**base, "pyproject.toml": "[project]\nname = 'a'\nrequires-python = '>=3.8'\n"}
    assert truth(sides_of(ranges, "app/a.py").head, "runtime:python >=3.12") is Truth.SOME
    two = {**base, "Dockerfile": image + "FROM python:3.9\n"}
    assert truth(sides_of(two, "app/a.py").head, "runtime:python >=3.12") is Truth.UNKNOWN
    elsewhere = {"requirements.txt": "", "docs/Dockerfile": image}
    assert truth(sides_of(elsewhere, "app/a.py").head, "runtime:python >=3.12") is Truth.ABSENT
