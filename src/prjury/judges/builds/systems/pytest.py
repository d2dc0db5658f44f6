"""pytest: which trees use it, and its options. Pure."""

from __future__ import annotations

from configparser import ConfigParser, Error
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase

from prjury.judges.builds.systems.source_tree import SourceTree, nearest
from prjury.manifests.syntax import strings, table
from prjury.snapshot.model import printable

#: Options that pytest gets after the tree's own, so that they win: to write a report with files and
#: lines (only the older family has them), and to continue after failures.
_OPTIONS = "--junitxml={{reports}}/{}.xml -o junit_family=xunit1 --maxfail=0"
PYTEST_ENV = {"PYTEST_ADDOPTS": _OPTIONS.format("pytest")}
#: The same for tox, which runs pytest in each environment; pytest fills in the name.
TOX_PYTEST_ENV = {"PYTEST_ADDOPTS": _OPTIONS.format("pytest-$TOX_ENV_NAME")}
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


def configuration(root: SourceTree) -> str | None:
    """The file in the root that configures pytest."""
    if root.has("pytest.ini"):
        return "pytest.ini"
    for path, sections in _PLACES:
        if any(line.startswith(sections) for line in root.text(path).splitlines()):
            return path
    return None


def configured(root: SourceTree, key: str) -> tuple[str, ...]:
    """The configured words of an option; empty if there are none."""
    path = configuration(root)
    if path == "pyproject.toml":
        value = table(root.settings(path), "tool", "pytest", "ini_options").get(key)
        return tuple(value.split()) if isinstance(value, str) else strings(value) or ()
    settings = read_ini(root.text(path)) if path else ConfigParser()
    section = next((name for name in ("pytest", "tool:pytest") if settings.has_section(name)), "")
    return tuple((settings.get(section, key, fallback="") or "").split()) if section else ()


@dataclass(frozen=True)
class PytestFiles:
    """The names of files in which pytest looks for tests.

    Attributes:
        patterns: the configured ones, or pytest's own.
    """

    patterns: tuple[str, ...] = ("test_*.py", "*_test.py")

    @classmethod
    def of(cls, root: SourceTree) -> PytestFiles:
        """As configured in the root."""
        return cls(configured(root, "python_files") or cls.patterns)

    def has(self, path: str) -> bool:
        """Whether pytest looks for tests in a file."""
        name = path.rpartition("/")[2]
        fits = (fnmatchcase(path if "/" in one else name, one) for one in self.patterns)
        return path.endswith(".py") and any(fits)

    def first(self, root: SourceTree, others: frozenset[str]) -> str | None:
        """The first file with tests outside of the other directories."""
        homes = others | {""}
        own = filter(self.has, root.files)
        return next((path for path in own if not others or nearest(path, homes) == ""), None)


def find_tests(root: SourceTree, others: frozenset[str]) -> str | None:
    """Why there are tests for pytest, or None."""
    if path := configuration(root):
        return f"{path} configures pytest"
    test = PytestFiles().first(root, others)
    return f"{printable(test)} is a test" if test else None
