from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from prjury.judges.builds.step_environment import touch_and_read_env, write_tool_wrappers


def run(directory: Path, programs: tuple[str, ...], command: str, **versions: str) -> str:
    """What a line of the shell prints, with stand-ins for these programs."""
    path = directory / "bin"
    path.mkdir()
    for name in programs:
        (path / name).write_text(f'#!/bin/sh\necho {name} "$@"\n')
        (path / name).chmod(0o755)
    words, place = frozenset(command.split()), directory / "lent"
    env = write_tool_wrappers(words, place, {"PATH": f"{path}:/usr/bin:/bin"}, versions)
    shell = ["/bin/sh", "-c", f"{command} 2>&1; echo $?"]
    captured = subprocess.run(
        shell, env=env, capture_output=True, text=True, check=True, start_new_session=True
    )
    return captured.stdout


@pytest.mark.parametrize(
    ("command", "programs", "versions", "printed"),
    [
        ("pnpm install", ["npx"], {"pnpm": "10.1.0"}, "npx --yes pnpm@10.1.0 install"),
        ("yarn install", ["npx"], {"yarn": "^1"}, "npx --yes yarn install"),
        ("bun install", ["npx"], {}, "npx --yes bun install"),
        ("pnpm install", ["npx", "pnpm"], {"pnpm": "10.1.0"}, "pnpm install"),
        (
            "yarn install", ["npx", "yarn"], {"yarn": "4.5.3"},
            "npx --yes @yarnpkg/cli-dist@4.5.3 install",
        ),
        ("yarn install", ["npx", "yarn"], {"yarn": "1.22.0"}, "yarn install"),
        ("yarn install", ["npx"], {"yarn": "1.22.0"}, "npx --yes yarn@1.22.0 install"),
        ("uvx coverage report", ["uv"], {}, "uv tool run coverage report"),
        ("pipx run nox", ["uv"], {}, "uv tool run pipx run nox"),
        ("tox -e py", ["uv"], {}, "uv tool run tox -e py"),
        ("go test ./...", ["go"], {}, "go test -json ./..."),
        ("go test -C a ./...", ["go"], {}, "go test -C a ./..."),
        ("go vet ./...", ["go"], {}, "go vet ./..."),
        ("go test ./... | cat", ["go"], {}, "go test ./..."),
    ],
)  # fmt: skip
def test_a_tool_is_lent_where_it_is_missing_and_told_to_name_its_tests(
    tmp_path: Path, command: str, programs: list[str], versions: dict[str, str], printed: str
) -> None:
    assert run(tmp_path, tuple(programs), command, **versions) == f"{printed}\n0\n"


def test_nothing_is_lent_without_a_lender(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    place, path = tmp_path / "lent", {"PATH": str(tmp_path / "empty")}
    env = write_tool_wrappers(frozenset({"pnpm"}), place, path, {})
    command = ["/bin/sh", "-c", "pnpm install"]
    failed = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert (failed.returncode, failed.stderr) == (127, "pnpm: command not found\n")


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    names = ("GITHUB_ENV", "GITHUB_PATH", "GITHUB_OUTPUT")
    return {"PATH": "/bin", "HOME": "/h", **{name: str(tmp_path / "f" / name) for name in names}}


def test_variables_and_places_reach_the_next_step(env: dict[str, str]) -> None:
    touch_and_read_env(env)
    Path(env["GITHUB_ENV"]).write_text("A=1=2\nB<<END\nx=1\ny\nEND\nA=3\nno name=4\nlonely\n")
    Path(env["GITHUB_PATH"]).write_text("/first\nrelative\n/second\n")
    later = touch_and_read_env(env)
    assert (later["A"], later["B"], later["PATH"]) == ("3", "x=1\ny", "/second:/first:/bin")
    assert later.keys() == {*env, "A", "B"}


def test_what_is_no_file_says_nothing(env: dict[str, str], tmp_path: Path) -> None:
    touch_and_read_env(env)
    Path(env["GITHUB_ENV"]).unlink()
    (tmp_path / "secret").write_text("A=1\n")
    Path(env["GITHUB_ENV"]).symlink_to(tmp_path / "secret")
    assert touch_and_read_env(env) == env
