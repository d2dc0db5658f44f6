from __future__ import annotations

from pathlib import Path

import pytest

from fakes.roots import root_of
from prjury.judges.builds.ci import CiJob
from prjury.judges.builds.toolchains import (
    Toolchains,
    ToolChoice,
    choose_tools,
    list_wanted_versions,
)


def make(root: Path, *files: str, **texts: str) -> None:
    for name in files:
        path, _, text = name.partition(":")
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)


def shown(here: Toolchains, tool: str) -> list[tuple[str, str, bool]]:
    return [(".".join(map(str, o.version)), o.source, o.current) for o in here.of(tool)]


def test_jdks_are_found_wherever_they_are_installed(tmp_path: Path) -> None:
    make(
        tmp_path,
        'jdk/release:JAVA_VERSION="17.0.9"',
        'usr/lib/jvm/eight/release:JAVA_VERSION="1.8.0_392"',
        'cache/Java_Temurin-Hotspot_jdk/21.0.2-13/x64/release:JAVA_VERSION="21.0.2"',
        "mise/installs/java/temurin-23.0.1/bin/java:",
    )  # fmt: skip
    environ = {
        "PATH": "",
        "JAVA_HOME": str(tmp_path / "jdk"),
        "JAVA_HOME_17_X64": str(tmp_path / "jdk"),
        "RUNNER_TOOL_CACHE": str(tmp_path / "cache"),
        "MISE_DATA_DIR": str(tmp_path / "mise"),
    }
    here = Toolchains(environ, tmp_path)
    assert shown(here, "java") == [
        ("17.0.9", "JAVA_HOME", True),
        ("23.0.1", "mise", False),
        ("21.0.2", "setup-java", False),
        ("8.0", "/usr/lib/jvm", False),
    ]
    far = [here.distance("java", v) for v in ("17", "21", "1.8", "11", "25")]
    assert far == [0, 0.1, 0.1, 301, 201]
    assert here.distance("cobol", "1") == 0
    assert here.distance("java", "lts/*") == 0


def test_a_program_on_path_is_the_current_one(tmp_path: Path) -> None:
    node = (
        "#define NODE_MAJOR_VERSION 20\n#define NODE_MINOR_VERSION 1\n#define NODE_PATCH_VERSION 0"
    )
    make(
        tmp_path,
        "n/bin/node:",
        f"n/include/node/node_version.h:{node}",
        "p/bin/python3.12:",
        "g/bin/go:",
        "g/VERSION:go1.22.3\ntime x",
        "nvm/versions/node/v22.4.0/bin/node:",
    )
    (tmp_path / "p/bin/python3").symlink_to("python3.12")
    path = ":".join(str(tmp_path / name / "bin") for name in "npg")
    here = Toolchains({"PATH": path, "NVM_DIR": str(tmp_path / "nvm")}, tmp_path)
    assert shown(here, "node") == [("20.1.0", "PATH", True), ("22.4.0", "nvm", False)]
    assert shown(here, "python") == [("3.12", "PATH", True)]
    assert shown(here, "go") == [("1.22.3", "PATH", True)]
    assert here.distance("node", "20.9") == 0
    assert here.distance("python", "3.11") == 2


@pytest.mark.parametrize(
    ("chosen", "version"), [("3.11.4\n", "3.11.4"), ("3.12.1:3.11.4", "3.12.1")]
)
def test_the_stand_in_of_pyenv_starts_what_is_chosen(
    tmp_path: Path, chosen: str, version: str
) -> None:
    make(tmp_path, "shims/python3:", f"version:{chosen}")
    make(tmp_path, "versions/3.11.4/bin/python3:", "versions/3.12.1/bin/python3:")
    environ = {"PATH": str(tmp_path / "shims"), "PYENV_ROOT": str(tmp_path)}
    assert shown(Toolchains(environ, tmp_path), "python")[0] == (version, "PATH", True)


def test_steps_find_another_jdk(tmp_path: Path) -> None:
    make(tmp_path, "usr/lib/jvm/x/release:JAVA_VERSION=21")
    (jdk,) = Toolchains({"PATH": ""}, tmp_path).of("java")
    assert jdk.environment("/x", "/bin") == {"PATH": "/x/bin:/bin", "JAVA_HOME": "/x"}


@pytest.fixture
def here(tmp_path: Path) -> Toolchains:
    """JDK 17, which is the current one, 21 besides, and Node 20."""
    jdks = (f"usr/lib/jvm/{name}/release:JAVA_VERSION={name}" for name in ("17.0.9", "21.0.2"))
    make(tmp_path, *jdks, "v20.1.0/bin/node:")
    path = str(tmp_path / "v20.1.0/bin")
    return Toolchains({"JAVA_HOME": str(tmp_path / "usr/lib/jvm/17.0.9"), "PATH": path}, tmp_path)


def chosen(
    here: Toolchains, tool: str, files: dict[str, str], ci: dict[str, str] | None = None
) -> ToolChoice:
    root, texts = root_of(files), ci or {}
    by_file = {name: text for name, text in texts.items() if text in files}
    versions = {name: text for name, text in texts.items() if text not in files}
    job = CiJob("ci.yml", "test", versions=versions, version_files=by_file)
    wanted = list_wanted_versions(root, "", job.list_wanted_versions(root))
    (choice,) = choose_tools((tool,), wanted, here)
    return choice


def pom(release: str) -> str:
    inside = f"<maven.compiler.release>{release}</maven.compiler.release>"
    return f"<project><properties>{inside}</properties></project>"


NODE = '{"engines": {"node": "%s"}}'


@pytest.mark.parametrize(
    ("tool", "files", "ci", "version", "text"),
    [
        ("java", {}, {}, "17.0.9", ""),
        ("java", {"pom.xml": pom("8")}, {}, "17.0.9", ""),
        ("java", {"pom.xml": pom("21")}, {}, "21.0.2", ""),
        ("java", {"pom.xml": pom("17")}, {"java": "21"}, "21.0.2", ""),
        ("java", {".java-version": "17\n", "pom.xml": pom("17")}, {"java": "21"}, "17.0.9", ""),
        ("java", {".sdkmanrc": "java=21.0.1-tem\n"}, {}, "21.0.2", ""),
        (
            "java", {"pom.xml": pom("8"), ".github/.java-version": "21\n"},
            {"java": ".github/.java-version"}, "21.0.2", ".github/.java-version: 21",
        ),
        # a manifest that allows it outweighs a pin, and a newer one than the pinned will do
        *(
            ("node", {".nvmrc": "22", "package.json": NODE % text}, {}, "20.1.0", "")
            for text in (">=18", "^20 || ^22", ">= 18.0.0", "^18")
        ),
        ("node", {".nvmrc": "18"}, {}, "20.1.0", ""),
        # tools that choose for themselves are only named
        (
            "rust", {"Cargo.toml": '[package]\nname = "a"\nrust-version = "1.99"\n'}, {}, "",
            "Rust: Cargo.toml: 1.99",
        ),
    ],
)  # fmt: skip
def test_the_version_that_is_used(
    here: Toolchains, tool: str, files: dict[str, str], ci: dict[str, str], version: str, text: str
) -> None:
    choice = chosen(here, tool, files, ci)
    assert (choice.version, choice.missing) == (version, "")
    assert text in choice.text


def test_a_jdk_that_is_not_here(here: Toolchains) -> None:
    choice = chosen(here, "java", {"pom.xml": pom("25")})
    assert choice.missing == (
        "this project wants JDK 25 (pom.xml); here is 17.0.9, 21.0.2: add actions/setup-java with "
        "java-version: 25 before the build"
    )
    named = chosen(here, "java", {"pom.xml": pom("24")}, {"java": "26"})
    assert "java-version: 26" in named.missing


def test_an_older_node_than_the_pinned_one(here: Toolchains) -> None:
    """It is tried all the same: most of what runs with a newer one runs with it."""
    choice = chosen(here, "node", {".nvmrc": "22"})
    assert (choice.missing, choice.version) == ("", "20.1.0")
    assert "wants Node 22 (.nvmrc); here is 20.1.0: add actions/setup-node with " in choice.older


def test_the_python_that_is_used(tmp_path: Path) -> None:
    """The current one unless the manifest refuses it; uv chooses for itself."""
    for name in ("path/bin/python3.11", "pyenv/versions/3.13.1/bin/python3"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).touch()
    (tmp_path / "path/bin/python3").symlink_to("python3.11")
    (tmp_path / "uv/cpython-3.12.4-linux-x86_64-gnu").mkdir(parents=True)
    environ = {
        "PATH": str(tmp_path / "path/bin"),
        "PYENV_ROOT": str(tmp_path / "pyenv"),
        "UV_PYTHON_INSTALL_DIR": str(tmp_path / "uv"),
    }
    here = Toolchains(environ, tmp_path)

    def used(system: str, requires: str, pin: str = "") -> tuple[str, str]:
        project = f'[project]\nname = "a"\nrequires-python = "{requires}"\n'
        files = {"pyproject.toml": project, **({".python-version": pin} if pin else {})}
        wanted = list_wanted_versions(root_of(files), "")
        (choice,) = choose_tools(("python",), wanted, here, system)
        return choice.text.split(":")[0], choice.missing

    assert used("pytest", ">=3.9") == ("Python 3.11 (PATH)", "")
    assert used("pytest", ">=3.12") == ("Python 3.13.1 (pyenv)", "")
    assert used("uv", ">=3.12") == ("Python", "")
    missing = used("pytest", ">=3.14")[1]
    assert "wants Python >=3.14 (pyproject.toml); here is 3.11, 3.13.1, 3.12.4: add " in missing
    assert "python-version: 3.14 before" in missing


@pytest.mark.parametrize(
    ("engines", "ci", "version"),
    [
        ("^22.13.0 || >=24", "20", "22.13"),
        ("^22.13.0 || >=24", "24", "24"),
        (">=22", "", "22"),
        (">=22.1", "lts/*", "22.1"),
    ],
)
def test_the_remedy_names_a_version_that_the_manifest_allows(
    here: Toolchains, engines: str, ci: str, version: str
) -> None:
    choice = chosen(here, "node", {"package.json": NODE % engines}, {"node": ci} if ci else {})
    assert f"add actions/setup-node with node-version: {version} before" in choice.older
