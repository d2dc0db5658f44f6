from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from prjury.judges.builds.lent_tools import lend_tools


@pytest.mark.parametrize(
    ("name", "there", "printed"),
    [
        ("pnpm", ("corepack", "npx"), "npx --yes pnpm@10.1.0 install"),
        ("pnpm", ("corepack",), "corepack pnpm install"),
        ("yarn", ("corepack", "npx"), "corepack yarn install"),
        ("yarn", ("npx",), "npx --yes yarn install"),
        ("bun", ("corepack", "npx"), "npx --yes bun install"),
        ("pnpm", ("corepack", "npx", "pnpm"), "pnpm install"),
        ("pnpm", (), ""),
    ],
    ids=["pnpm", "no npx", "Yarn", "no Corepack", "Bun", "it is there", "nothing is there"],
)
def test_a_package_manager_that_is_missing_is_lent(
    tmp_path: Path, name: str, there: tuple[str, ...], printed: str
) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    for each in there:
        (programs / each).write_text(f"#!/bin/sh\necho {each} $@\n")
        (programs / each).chmod(0o755)
    versions = {"pnpm": "10.1.0", "yarn": "4"}
    env = lend_tools(frozenset({name}), tmp_path / "lent", {"PATH": str(programs)}, versions)
    run = subprocess.run(
        ["/bin/sh", "-c", f"{name} install"], env=env, capture_output=True, text=True, check=False
    )
    assert run.stdout.strip() == printed
    if not there:
        assert (run.returncode, run.stderr) == (127, f"{name}: command not found\n")


def test_other_tools_are_not_lent(tmp_path: Path) -> None:
    env = {"PATH": "/usr/bin"}
    assert lend_tools(frozenset({"npm", "mvn"}), tmp_path / "lent", env) == env
