"""What a step hands to later ones through the files that GitHub's runner names."""

from __future__ import annotations

from pathlib import Path

import pytest

from prjury.judges.builds.runner_files import step_environment


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    names = ("GITHUB_ENV", "GITHUB_PATH", "GITHUB_OUTPUT")
    return {"PATH": "/bin", "HOME": "/h", **{name: str(tmp_path / "f" / name) for name in names}}


def test_variables_and_places_reach_the_next_step(env: dict[str, str]) -> None:
    step_environment(env)
    Path(env["GITHUB_ENV"]).write_text("A=1=2\nB<<END\nx=1\ny\nEND\nA=3\nno name=4\nlonely\n")
    Path(env["GITHUB_PATH"]).write_text("/first\nrelative\n/second\n")
    later = step_environment(env)
    assert (later["A"], later["B"], later["PATH"]) == ("3", "x=1\ny", "/second:/first:/bin")
    assert later.keys() == {*env, "A", "B"}


def test_what_is_no_file_says_nothing(env: dict[str, str], tmp_path: Path) -> None:
    step_environment(env)
    Path(env["GITHUB_ENV"]).unlink()
    (tmp_path / "secret").write_text("A=1\n")
    Path(env["GITHUB_ENV"]).symlink_to(tmp_path / "secret")
    assert step_environment(env) == env
