"""The built wheel in a fresh environment: templates and rules travel with it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from fakes.history import History

ROOT = Path(__file__).resolve().parents[2]


def _run(*argv: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*map(str, argv)], cwd=cwd, capture_output=True, text=True, check=False, timeout=300
    )


def _uv() -> str | None:
    """uv where the README puts it, else on the PATH."""
    own = ROOT / ".uv" / "bin" / "uv"
    return str(own) if own.is_file() else shutil.which("uv")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    uv = _uv()
    if uv is None:
        pytest.skip("uv is not installed")
    out = tmp_path_factory.mktemp("dist")
    built = _run(uv, "build", "--quiet", "--wheel", "--out-dir", out, ROOT, cwd=out)
    assert built.returncode == 0, built.stderr
    return next(out.glob("*.whl"))


def test_it_holds_the_data_and_no_stray_files(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert any(name.startswith("prjury/_templates/") for name in names)
    written = ("workflows/prjury.yml.j2", "workflows/prjury-judge.yml.j2")
    assert {f"prjury/_templates/{name}" for name in written} <= set(names)
    assert "prjury/rules/jakarta.yml" in names
    assert {"prjury/_pages/judges/merge.md", "prjury/_pages/gate.md"} <= {*names}
    assert not [name for name in names if name.endswith(".cases.yml")]
    assert "prjury/judges/builds/results/problems.json" in names
    assert "prjury/judges/builds/results/runners.yml" in names
    assert any(name.startswith("prjury/demo/sample/base/") for name in names)
    assert "prjury/py.typed" in names
    assert not [
        name for name in names if "__pycache__" in name or "tests/" in name.split("sample")[0]
    ]


def test_its_description_stands_alone(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    (metadata,) = [name for name in archive.namelist() if name.endswith("/METADATA")]
    text = archive.read(metadata).decode()
    links = re.findall(r"\]\(([^)]+)\)|(?:src|srcset)=\"([^\"]+)\"", text)
    assert len(links) > 20
    assert [link for pair in links for link in pair if link and "://" not in link] == []
    urls = dict(re.findall(r"^Project-URL: (\w+), (\S+)$", text, re.MULTILINE))
    assert {"Documentation", "Changelog", "Issues", "Source"} <= urls.keys()


@pytest.mark.slow
def test_it_reviews_a_fixture_from_a_fresh_environment(wheel: Path, tmp_path: Path) -> None:
    uv = _uv() or ""
    place = tmp_path / "venv"
    python = place / "bin" / "python"
    assert (
        _run(uv, "venv", "--quiet", "--python", sys.executable, place, cwd=tmp_path).returncode == 0
    )
    installed = _run(uv, "pip", "install", "--quiet", "--python", python, wheel, cwd=tmp_path)
    assert installed.returncode == 0, installed.stderr
    history = History(tmp_path / "calc")
    history.commit({"calc.py": "ONE = 1\n", "test_calc.py": "def test(): pass\n"})
    history.switch("change", create=True)
    history.commit({"calc.py": "ONE = 1\nTWO = 2\n"})
    args = ("review", "--repo", history.path, "--no-build", "--format", "json")
    done = _run(
        place / "bin" / "prjury", *args, "--output", f"html={tmp_path}/r.html", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["verdict"]["status"] == "pass"
    assert (tmp_path / "r.html").stat().st_size > 1_000
    tested = _run(place / "bin" / "prjury", "rules", "test", cwd=tmp_path)
    assert (tested.returncode, "Name a pack of your own" in tested.stderr) == (2, True)
    explained = _run(place / "bin" / "prjury", "explain", "coverage_floor", cwd=tmp_path)
    assert "coverage: {exempt:" in explained.stdout
