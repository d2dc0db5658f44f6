from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from prjury.judges.builds.lent_tools import lend_tools


@pytest.mark.parametrize(
    ("name", "there", "printed"),
    [
        ("pnpm", ("npx",), "npx --yes pnpm@10.1.0 install"),
        ("yarn", ("npx",), "npx --yes yarn install"),
        ("bun", ("npx",), "npx --yes bun install"),
        ("pnpm", ("npx", "pnpm"), "pnpm install"),
        ("pnpm", (), ""),
    ],
)
def test_a_package_manager_that_is_missing_is_lent(
    tmp_path: Path, name: str, there: tuple[str, ...], printed: str
) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    for each in there:
        (programs / each).write_text(f"#!/bin/sh\necho {each} $@\n")
        (programs / each).chmod(0o755)
    versions = {"pnpm": "10.1.0", "yarn": "^1"}
    env = lend_tools(frozenset({name}), tmp_path / "lent", {"PATH": str(programs)}, versions)
    run = subprocess.run(
        ["/bin/sh", "-c", f"{name} install"], env=env, capture_output=True, text=True, check=False
    )
    assert run.stdout.strip() == printed
    if not there:
        assert (run.returncode, run.stderr) == (127, f"{name}: command not found\n")


@pytest.mark.parametrize(
    ("there", "version", "printed"),
    [
        (("npx", "yarn"), "4.5.3", "npx --yes @yarnpkg/cli-dist@4.5.3 install"),
        (("npx", "yarn"), "1.22.0", "yarn install"),
        (("npx",), "1.22.0", "npx --yes yarn@1.22.0 install"),
    ],
)
def test_a_modern_yarn_comes_before_the_machines_yarn_1(
    tmp_path: Path, there: tuple[str, ...], version: str, printed: str
) -> None:
    for each in there:
        (tmp_path / each).write_text(f"#!/bin/sh\necho {each} $@\n")
        (tmp_path / each).chmod(0o755)
    path = {"PATH": str(tmp_path)}
    env = lend_tools(frozenset({"yarn"}), tmp_path / "lent", path, {"yarn": version})
    run = subprocess.run(
        ["/bin/sh", "-c", "yarn install"], env=env, capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == printed


@pytest.mark.parametrize(
    ("command", "printed"),
    [
        ("uvx coverage report", "uv tool run coverage report"),
        ("pipx run nox", "uv tool run pipx run nox"),
        ("tox -e py", "uv tool run tox -e py"),
    ],
)
def test_what_runs_tools_of_python_is_lent_by_uv(
    tmp_path: Path, command: str, printed: str
) -> None:
    (tmp_path / "uv").write_text('#!/bin/sh\necho uv "$@"\n')
    (tmp_path / "uv").chmod(0o755)
    words = frozenset(command.split())
    env = lend_tools(words, tmp_path / "lent", {"PATH": f"{tmp_path}:/usr/bin:/bin"}, {})
    run = subprocess.run(
        ["/bin/sh", "-c", command], env=env, capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == printed
