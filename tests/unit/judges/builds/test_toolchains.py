from __future__ import annotations

from pathlib import Path

import pytest

from prjury.judges.builds.toolchains import Toolchains


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
