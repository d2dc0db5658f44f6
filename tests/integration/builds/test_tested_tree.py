"""Tests that would run against another copy of the project than the tree that is judged."""

from __future__ import annotations

import os
import sysconfig
import venv
from pathlib import Path

import pytest

from integration.builds.court import Court, write
from integration.builds.sample import Tree
from prjury.errors import CannotJudgeError
from prjury.judges.builds.workplace import ImportedCode, find_packages_or_modules
from prjury.jury.judgment import Status

PYPROJECT = '[project]\nname = "shop"\nversion = "1"\n'
PRICE = "def price():\n    return 1\n"
BROKEN = "def price():\n    return 2\n"
TEST = "from shop import price\n\n\ndef test_price():\n    assert price() == 1\n"
SRC: Tree = {
    "pyproject.toml": PYPROJECT,
    "src/shop/__init__.py": PRICE,
    "tests/test_shop.py": TEST,
}
FLAT: Tree = {"pyproject.toml": PYPROJECT, "shop/__init__.py": PRICE, "tests/test_shop.py": TEST}
#: What some build backends install for an editable project: it comes before any path.
FINDER = """
import importlib.util, sys
class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == "shop":
            return importlib.util.spec_from_file_location(name, {!r})
sys.meta_path.insert(0, Finder)
"""


@pytest.fixture
def site(tmp_path: Path, court: Court) -> Path:
    """Where packages are installed that the workflow has prepared, pytest among them."""
    place = tmp_path / "prepared"
    venv.create(place, symlinks=True)
    paths = {"base": str(place), "platbase": str(place)}
    site = Path(sysconfig.get_path("purelib", vars=paths))
    (site / "pytest.pth").write_text(sysconfig.get_path("purelib") + "\n")
    script = place / "bin" / "pytest"
    script.write_text(f"#!{place}/bin/python\nimport sys, pytest\nsys.exit(pytest.main())\n")
    script.chmod(0o755)
    court.environ["PATH"] = f"{place}/bin{os.pathsep}{os.environ['PATH']}"
    return site


@pytest.fixture
def court(tmp_path: Path) -> Court:
    court = Court.at(tmp_path / "court")
    court.level = "L1"  # at L2 nothing beside the tree is seen at all
    return court


#: Without our own plugin: in the site of these tests its package is not installed.
OWN = "pytest -q -p no:prjury tests"


def edited(site: Path, tmp_path: Path, tree: Tree, below: str = "") -> None:
    """An editable install of another checkout, which holds this tree."""
    write(tmp_path / "checkout", tree)
    (site / "shop.pth").write_text(f"{tmp_path / 'checkout' / below}\n")


@pytest.mark.needs("pytest")
@pytest.mark.usefixtures("site")
def test_a_package_that_pytest_brings_along_does_not_hide_the_tree_s_own(court: Court) -> None:
    """A syntax error in a src layout, where a release of the project is installed."""
    base: Tree = {
        "pyproject.toml": '[project]\nname = "iniconfig"\nversion = "3"\n',
        "src/iniconfig/__init__.py": "class IniConfig:\n    pass\n",
        "tests/test_it.py": "import iniconfig as ini\n\n\ndef test():\n    assert ini.IniConfig\n",
    }
    broken = base["src/iniconfig/__init__.py"]
    judged = court.judge(base, {"src/iniconfig/__init__.py": f"{broken}\ndef broken(:\n"})

    assert judged.build.status is Status.FAIL
    assert any("src/iniconfig/__init__.py" in str(check) for check in judged.causes)


@pytest.mark.needs("pytest")
def test_an_editable_install_of_the_head_does_not_hide_the_tree_s_own(
    court: Court, site: Path, tmp_path: Path
) -> None:
    edited(site, tmp_path, {**SRC, "src/shop/__init__.py": BROKEN}, "src")
    judged = court.judge(SRC, {"src/shop/__init__.py": BROKEN})

    assert judged.build.status is Status.FAIL
    assert judged.states == {"new"}


@pytest.mark.needs("pytest")
@pytest.mark.usefixtures("site")
def test_a_src_layout_that_is_not_installed_is_judged(court: Court) -> None:
    assert court.judge(SRC, {"src/shop/more.py": "x = 1\n"}).build.status is Status.PASS
    assert court.judge(SRC, {"src/shop/__init__.py": BROKEN}).states == {"new"}


@pytest.mark.parametrize("change", [BROKEN, PRICE + "\n\nMORE = 1\n"], ids=["broken", "harmless"])
def test_another_checkout_that_comes_first_is_an_error(
    court: Court, site: Path, tmp_path: Path, change: str
) -> None:
    edited(site, tmp_path, {**FLAT, "shop/__init__.py": change})
    judged = court.judge(FLAT, {"shop/__init__.py": change}, command=OWN)

    assert judged.build.status is Status.ERROR
    assert judged.build.metadata["reason"] == "tested_elsewhere"
    assert f"another copy of `shop`, in `{tmp_path}/checkout/shop`" in judged.build.reasoning
    assert judged.report.gate.exit_code == 3


def test_a_finder_that_comes_before_every_path_is_an_error(
    court: Court, site: Path, tmp_path: Path
) -> None:
    edited(site, tmp_path, SRC, "src")
    origin = str(tmp_path / "checkout" / "src" / "shop" / "__init__.py")
    (site / "sitecustomize.py").write_text(FINDER.format(origin))
    judged = court.judge(SRC, {"src/shop/__init__.py": BROKEN}, command=OWN)

    assert judged.build.metadata["reason"] == "tested_elsewhere"


def origins(tmp_path: Path, origin: Path) -> ImportedCode:
    found = ImportedCode(
        tmp_path / "probe", tmp_path / "tree", "", frozenset({"src/shop/__init__.py"})
    )
    found.write_probe_and_make_path("pytest", {})
    (tmp_path / "probe" / "seen-1.json").write_text(f'{{"shop": ["{origin}"]}}')
    return found


def test_a_copy_that_was_installed_from_the_tree_is_the_tree_s(tmp_path: Path) -> None:
    site = tmp_path / "lib" / "site-packages"
    found = origins(tmp_path, site / "shop" / "__init__.py")
    with pytest.raises(CannotJudgeError, match="another copy of `shop`"):
        found.refuse_foreign_imports()
    (site / "shop-1.dist-info").mkdir(parents=True)
    direct = site / "shop-1.dist-info" / "direct_url.json"
    direct.write_text(f'{{"url": "file://{tmp_path}/tree", "dir_info": {{}}}}')
    found.refuse_foreign_imports()


@pytest.mark.parametrize(
    "noted",
    [
        *(b"", b"[]", b"{", b'{"shop": 1}', b'{"shop": null}', b'{"shop": [1]}'),
        *(b'{"shop": ["\xff"]}', b'{"shop": ["\\u0000"]}'),
    ],
)
def test_notes_that_are_none_say_nothing(tmp_path: Path, noted: bytes) -> None:
    found = origins(tmp_path, tmp_path)
    (tmp_path / "probe" / "seen-1.json").write_bytes(noted)
    found.refuse_foreign_imports()


@pytest.mark.parametrize(
    "path",
    [
        "lib/shop/__init__.py",
        "python/shop/__init__.py",
        "packages/a/shop/__init__.py",
        "services/api/src/shop/__init__.py",
        "lib/shop.py",
        "shop.py",
    ],
)
def test_another_checkout_is_found_wherever_the_package_begins(
    court: Court, site: Path, tmp_path: Path, path: str
) -> None:
    manifest = "services/api/pyproject.toml" if "services" in path else "pyproject.toml"
    tree: Tree = {manifest: PYPROJECT, path: PRICE, "tests/test_shop.py": TEST}
    begins = path.removesuffix("/__init__.py").rpartition("/")[0]
    edited(site, tmp_path, tree, begins)
    judged = court.judge(tree, {path: PRICE + "def broken(:\n"}, command="pytest -q")
    assert judged.build.status is not Status.PASS
    assert judged.report.gate.exit_code != 0


@pytest.mark.parametrize(
    "path",
    [
        "backend/app/__init__.py",
        "app/__init__.py",
        "packages/a/src/app/__init__.py",
        "backend/src/app.py",
        "python/app.py",
        "app.py",
    ],
)
def test_the_topmost_packages_or_modules_are_the_project_s(path: str) -> None:
    below = path.replace("__init__.py", "api/__init__.py")
    assert find_packages_or_modules({path, below, "tests/app/test_it.py", "backend/run.py"}) == {
        "app"
    }


@pytest.mark.parametrize(
    "path", ["third_party/shop/__init__.py", "tests/data/src/shop/__init__.py"]
)
def test_a_copy_of_a_library_says_nothing_of_the_tree(tmp_path: Path, path: str) -> None:
    known = frozenset({path, "app/__init__.py", "queue.py", "setup.py"})
    code = ImportedCode(tmp_path / "seen", tmp_path, "", known)
    assert "shop" not in code.write_probe_and_make_path("pytest", {}).get("PYTHONPATH", "")
    assert (tmp_path / "seen" / "names.json").read_text() == '["app"]'
