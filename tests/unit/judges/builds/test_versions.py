from __future__ import annotations

from pathlib import Path

import pytest

from fakes.roots import root_of
from prjury.judges.builds.ci import CiJob
from prjury.judges.builds.toolchains import Toolchains
from prjury.judges.builds.versions import ToolChoice, choose_tools, list_wanted_versions


@pytest.fixture
def here(tmp_path: Path) -> Toolchains:
    """JDK 17, which is the current one, 21 besides, and Node 20."""
    for name in ("17.0.9", "21.0.2"):
        (tmp_path / "usr/lib/jvm" / name).mkdir(parents=True)
        (tmp_path / "usr/lib/jvm" / name / "release").write_text(f'JAVA_VERSION="{name}"')
    node = tmp_path / "v20.1.0/bin/node"
    node.parent.mkdir(parents=True)
    node.touch()
    environ = {"JAVA_HOME": str(tmp_path / "usr/lib/jvm/17.0.9"), "PATH": str(node.parent)}
    return Toolchains(environ, tmp_path)


def chosen(
    here: Toolchains, tool: str, files: dict[str, str], ci: dict[str, str] | None = None
) -> ToolChoice:
    wanted = list_wanted_versions(root_of(files), "", CiJob("ci.yml", "test", versions=ci or {}))
    (choice,) = choose_tools((tool,), wanted, here)
    return choice


def pom(release: str) -> str:
    inside = f"<maven.compiler.release>{release}</maven.compiler.release>"
    return f"<project><properties>{inside}</properties></project>"


@pytest.mark.parametrize(
    ("files", "ci", "version"),
    [
        ({}, {}, (17, 0, 9)),
        ({"pom.xml": pom("8")}, {}, (17, 0, 9)),
        ({"pom.xml": pom("21")}, {}, (21, 0, 2)),
        ({"pom.xml": pom("17")}, {"java": "21"}, (21, 0, 2)),
        ({".java-version": "17\n", "pom.xml": pom("17")}, {"java": "21"}, (17, 0, 9)),
        ({".sdkmanrc": "java=21.0.1-tem\n"}, {}, (21, 0, 2)),
    ],
)
def test_the_jdk_that_is_used(
    here: Toolchains, files: dict[str, str], ci: dict[str, str], version: tuple[int, ...]
) -> None:
    choice = chosen(here, "java", files, ci)
    assert choice.toolchain
    assert (choice.toolchain.version, choice.missing) == (version, "")


def test_the_jdk_in_a_file_that_the_ci_names(here: Toolchains) -> None:
    ci = CiJob("ci.yml", "test", version_files={"java": ".github/workflows/.java-version"})
    files = {"pom.xml": pom("8"), ".github/workflows/.java-version": "21\n"}
    (choice,) = choose_tools(("java",), list_wanted_versions(root_of(files), "", ci), here)
    assert choice.toolchain
    assert choice.toolchain.version == (21, 0, 2)
    assert ".github/workflows/.java-version: 21" in choice.text


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
        wanted = list_wanted_versions(root_of(files), "", None)
        (choice,) = choose_tools(("python",), wanted, here, system)
        return choice.text.split(":")[0], choice.missing

    assert used("pytest", ">=3.9") == ("Python 3.11 (PATH)", "")
    assert used("pytest", ">=3.12") == ("Python 3.13.1 (pyenv)", "")
    assert used("uv", ">=3.12") == ("Python", "")
    missing = used("pytest", ">=3.14")[1]
    assert "wants Python >=3.14 (pyproject.toml); here is 3.11, 3.13.1, 3.12.4: add " in missing
    assert "python-version: 3.14 before" in missing


@pytest.mark.parametrize("range_", [">=18", "^20 || ^22", ">= 18.0.0", "^18"])
def test_a_manifest_that_allows_it_outweighs_a_pin(here: Toolchains, range_: str) -> None:
    files = {".nvmrc": "22", "package.json": f'{{"engines": {{"node": "{range_}"}}}}'}
    choice = chosen(here, "node", files)
    assert (choice.missing, choice.version) == ("", "20.1.0")


def test_a_newer_node_than_the_pinned_one_will_do(here: Toolchains) -> None:
    choice = chosen(here, "node", {".nvmrc": "18"})
    assert (choice.missing, choice.version) == ("", "20.1.0")


def test_tools_that_choose_for_themselves_are_only_named(here: Toolchains) -> None:
    choice = chosen(here, "rust", {"Cargo.toml": '[package]\nname = "a"\nrust-version = "1.99"\n'})
    assert (choice.missing, choice.text) == ("", "Rust: Cargo.toml: 1.99")


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
    files = {"package.json": f'{{"engines": {{"node": "{engines}"}}}}'}
    choice = chosen(here, "node", files, {"node": ci} if ci else {})
    assert f"add actions/setup-node with node-version: {version} before" in choice.older
