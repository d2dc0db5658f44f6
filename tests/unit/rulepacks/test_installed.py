"""Packs of installed distributions: found by entry points, checked as any other."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint, distributions
from pathlib import Path

import pytest

from prjury.errors import ConfigError
from prjury.rulepacks.find import GROUP, list_provided_packs
from unit.rulepacks.test_load import PACK

MODULE = """
from pathlib import Path
DIRECTORY = Path(__file__).parent / "acme_packs"
FILE = str(DIRECTORY / "mine.yml")
NUMBER = 7
RELATIVE = "packs"

def directory():
    return DIRECTORY

def crash():
    raise RuntimeError("no disk")
"""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A directory of installed distributions."""
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "acme_rules.py").write_text(MODULE)
    (tmp_path / "acme_packs").mkdir()
    (tmp_path / "acme_packs" / "mine.yml").write_text(PACK)
    yield tmp_path
    sys.modules.pop("acme_rules", None)


def installed(site: Path, *values: str, name: str = "acme-rules") -> list[EntryPoint]:
    """The entry points of all distributions there, one more of them installed."""
    info = site / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    points = "\n".join(f"p{number} = {value}" for number, value in enumerate(values))
    (info / "entry_points.txt").write_text(f"[{GROUP}]\n{points}\n")
    found = (dist.entry_points.select(group=GROUP) for dist in distributions(path=[str(site)]))
    return [point for points in found for point in points]


@pytest.mark.parametrize("value", ["DIRECTORY", "FILE", "directory"])
def test_a_path_or_what_returns_one_is_taken(site: Path, value: str) -> None:
    points = installed(site, f"acme_rules:{value}")
    assert [pack.id for pack in list_provided_packs("auto", points)] == ["mine"]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("acme_gone:FILE", "ModuleNotFoundError: No module named 'acme_gone'"),
        ("acme_rules:GONE", "AttributeError"),
        ("acme_rules:NUMBER", "TypeError"),
        ("acme_rules:crash", "RuntimeError: no disk"),
        ("acme_rules:RELATIVE", "'packs', which is not absolute"),
    ],
)
def test_a_broken_entry_point_names_its_distribution(site: Path, value: str, words: str) -> None:
    points = installed(site, value)
    with pytest.raises(ConfigError) as error:
        list_provided_packs("auto", points)
    assert words in str(error.value)
    assert f"acme-rules (entry point p0 = {value})" in str(error.value)


def test_a_wrong_pack_names_its_distribution_file_and_line(site: Path) -> None:
    (site / "acme_packs" / "mine.yml").write_text(PACK.replace("kind: identifier", "kind: nope"))
    points = installed(site, "acme_rules:FILE")
    with pytest.raises(ConfigError, match=r"a pack of acme-rules .*mine.yml line 11: .*`nope`"):
        list_provided_packs(["jakarta"], points)


def test_two_distributions_with_one_pack(site: Path) -> None:
    installed(site, "acme_rules:FILE")
    points = installed(site, "acme_rules:DIRECTORY", name="copy-rules")
    with pytest.raises(ConfigError, match=r"-rules .* and .*-rules .* both bring a pack mine"):
        list_provided_packs("auto", points)
