"""pytest: which trees use it, and its options. Pure."""

from __future__ import annotations

from configparser import ConfigParser, Error
from contextlib import suppress

from prjury.judges.builds.systems.source_tree import SourceTree, nearest
from prjury.snapshot.model import printable

#: Options that pytest gets after the tree's own, so that they win: to write a report with files and
#: lines (only the older family has them), and to continue after failures.
PYTEST_ENV = {
    "PYTEST_ADDOPTS": "--junitxml={reports}/pytest.xml -o junit_family=xunit1 --maxfail=0"
}
#: pytest's exit code if all tests ran and some failed.
TESTS_FAILED = 1

_TABLES = ("[tool.pytest", "[tool:pytest")
_PLACES = (("pyproject.toml", _TABLES), ("setup.cfg", _TABLES), ("tox.ini", ("[pytest]",)))


def read_ini(text: str) -> ConfigParser:
    """A file of settings in sections; nothing for one that cannot be read."""
    parser = ConfigParser(
        interpolation=None, strict=False, allow_no_value=True, default_section="\0"
    )
    with suppress(Error):
        parser.read_string(text.replace("\r", ""))
    return parser


def find_configuration(root: SourceTree) -> str | None:
    """The file in the root that configures pytest."""
    if root.has("pytest.ini"):
        return "pytest.ini"
    for path, sections in _PLACES:
        if any(line.startswith(sections) for line in root.text(path).splitlines()):
            return path
    return None


def find_test_file(root: SourceTree, others: frozenset[str]) -> str | None:
    """The first file with tests for pytest by its name, outside of the other directories."""
    homes = others | {""}
    for path in root.files:
        stem, dot, suffix = path.rpartition("/")[2].rpartition(".")
        is_test = stem.startswith("test_") or stem.endswith("_test")
        if (dot, suffix) == (".", "py") and is_test and (not others or nearest(path, homes) == ""):
            return path
    return None


def find_tests(root: SourceTree, others: frozenset[str]) -> str | None:
    """A reason to run pytest, or None."""
    if path := find_configuration(root):
        return f"{path} configures pytest"
    test = find_test_file(root, others)
    return f"{printable(test)} is a test" if test else None
