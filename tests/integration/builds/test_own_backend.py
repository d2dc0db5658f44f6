"""A project whose set-up reads its sources: its build backend lies in the tree."""

from __future__ import annotations

from pathlib import Path

import pytest

from integration.builds.court import Court
from integration.builds.python import PYPI
from integration.builds.sample import Tree
from integration.builds.toolbox import answers
from prjury.jury.judgment import Status

BACKEND = """import pathlib
import zipfile

from steps import NAME


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    name = f"{NAME}-1.0-py3-none-any.whl"
    info = f"{NAME}-1.0.dist-info"
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / name, "w") as wheel:
        wheel.writestr(f"{NAME}.pth", str(pathlib.Path.cwd()))
        about = f"Metadata-Version: 2.1\\nName: {NAME}\\nVersion: 1.0\\n"
        wheel.writestr(f"{info}/METADATA", about)
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\\nTag: py3-none-any\\n")
        wheel.writestr(f"{info}/RECORD", "")
    return name
"""
PROJECT: Tree = {
    "pyproject.toml": (
        '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
        '[project]\nname = "own"\nversion = "1.0"\n'
    ),
    "backend.py": BACKEND,
    "steps.py": 'NAME = "own"\n',
    "test_own.py": "import steps\n\n\ndef test_own():\n    assert steps.NAME\n",
}


def court_for(tmp_path: Path) -> Court:
    court = Court.at(tmp_path)
    if not all(map(court.toolbox.has, ("python3", "uv"))):
        pytest.skip("not installed: python3 or uv")
    if not answers(PYPI):
        pytest.skip(f"does not answer: {PYPI}")
    return court


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "place", "message"),
    [
        ({"steps.py": 'NAME = "own\n'}, "steps.py:1", "SyntaxError"),
        ({"steps.py": 'NAME = "own"\n\nraise ValueError(NAME)\n'}, "steps.py:3", "ValueError"),
        ({"steps.py": 'NAMES = "own"\n'}, "backend.py:4", "cannot import name"),
    ],
    ids=["syntax", "raised", "renamed"],
)
def test_what_breaks_the_installation_is_the_changes(
    change: Tree, place: str, message: str, tmp_path: Path
) -> None:
    judged = court_for(tmp_path).judge(PROJECT, change)
    assert judged.build.status is Status.FAIL, judged.build.reasoning
    assert judged.states == {"new"}
    assert str(judged.causes[0].location) == place
    assert message in judged.build.reasoning


@pytest.mark.slow
def test_what_leaves_the_installation_alone(tmp_path: Path) -> None:
    judged = court_for(tmp_path).judge(PROJECT, {"steps.py": 'NAME = "own"\nMORE = 1\n'})
    assert judged.build.status is Status.PASS, judged.build.reasoning
