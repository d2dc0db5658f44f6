"""Copies of the operator's caches."""

from __future__ import annotations

from pathlib import Path

import pytest

from prjury.sandbox.caches import copy_caches


def fill(place: Path, *paths: str) -> None:
    for path in paths:
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_text("downloaded")


def files(home: Path) -> list[str]:
    return sorted(str(path.relative_to(home)) for path in home.rglob("*") if path.is_file())


@pytest.fixture
def operator(tmp_path: Path) -> Path:
    place = tmp_path / "operator"
    fill(
        place,
        ".local/share/pnpm/store/v10/files/00/a",
        ".cache/yarn/v6/b",
        ".cache/pypoetry/cache/c",
        ".cache/pypoetry/virtualenvs/d",
        ".config/pypoetry/auth.toml",
        ".npmrc",
    )
    return place


def test_where_variables_put_them(tmp_path: Path, operator: Path) -> None:
    fill(tmp_path / "elsewhere", "yarn/v6/e")
    home = tmp_path / "home"
    environ = {"HOME": str(operator), "XDG_CACHE_HOME": str(tmp_path / "elsewhere")}
    copy_caches(environ, {"yarn"}, home)
    assert files(home) == [".cache/yarn/v6/e"]


def test_a_large_one_is_left_out(tmp_path: Path, operator: Path) -> None:
    fill(operator, *(f".cache/yarn/v6/{number}" for number in range(20)))
    copy_caches({"HOME": str(operator)}, {"yarn", "pnpm"}, tmp_path / "home", most_files=10)
    assert files(tmp_path / "home") == [".local/share/pnpm/store/v10/files/00/a"]
